"""Finds the collections in a folder: each problem with what was published about it."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from dfopt import replace
from dfopt.bench import PublishedBounds
from dfopt.errors import DfoptError, FileError
from dfopt.files.imported import import_instance
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from docs.reproduction.outside.values import ATSP, LARGER_TSP, SOP, STG, STG_CPUS, TSP
from docs.reproduction.outside.workbook import rows_of

UNNAMED = "BPPMCF, class unnamed"
"""Rows that do not say which of several files they are about."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """A problem from outside, under a name of its own, and the bounds that were published."""

    collection: str
    name: str
    published: PublishedBounds
    source: Path
    read: Callable[[], Instance]

    @property
    def is_open(self) -> bool:
        """Whether two published bounds differ, so that nobody knew the optimum."""
        lower, upper = self.published.lower, self.published.upper
        known = lower is None or upper is None or lower == upper
        return not known and self.collection != UNNAMED

    def instance(self) -> Instance:
        """Return the instance, named like the truth.

        Raises
        ------
        DfoptError
            When the file cannot be imported.
        """
        return replace(self.read(), name=self.name)


def between(lower: int | None, upper: int | None) -> PublishedBounds:
    """Return published bounds."""
    return PublishedBounds(lower=lower, upper=upper)


def files(folder: Path, pattern: str) -> dict[str, list[Path]]:
    """Return the files below a folder by their names without ending; a name may come often."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob(pattern)):
        found.setdefault(path.name.rpartition(".")[0], []).append(path)
    return found


def first_readable(paths: Iterable[Path]) -> Instance:
    """Return the instance of the first file that can be imported."""
    problems = []
    for path in paths:
        try:
            return import_instance(path)
        except DfoptError as error:
            problems.append(error)
    raise problems[0]


def tours(
    collection: str, published: Mapping[str, tuple[int, int]]
) -> Callable[[Path], Iterator[Truth]]:
    """Return what yields those tours or orderings of TSPLIB whose bounds are given."""

    def truths(folder: Path) -> Iterator[Truth]:
        for name, paths in files(folder, f"*.{collection.lower()}").items():
            if name in published:
                yield Truth(
                    collection=collection,
                    name=name,
                    published=between(*published[name]),
                    source=paths[0],
                    read=lambda paths=paths: first_readable(paths),
                )

    return truths


def exactly(optima: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return optima as bounds that meet."""
    return {name: (optimum, optimum) for name, optimum in optima.items()}


def published_tours(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the length of each published tour in its imported instance, and the listed optimum."""
    optima = TSP | LARGER_TSP
    instances = files(folder, "*.tsp")
    for stem, tours in files(folder, "*.opt.tour").items():
        name = stem.removesuffix(".opt")
        if name in optima and name in instances:
            text = tours[0].read_text().partition("TOUR_SECTION")[2]
            cities = text.partition("-1")[0].split()
            yield name, length_of(first_readable(instances[name]), cities), optima[name]


def length_of(instance: Instance, cities: list[str]) -> int:
    """Return the length of a tour through the first city and those that are tasks.

    Raises
    ------
    FileError
        When the cities of the two are not the same.
    """
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyMatrix)
    assert penalty.start is not None
    assert penalty.finish is not None
    column = {name: position for position, name in enumerate(penalty.types)}
    depots = [position for position, city in enumerate(cities) if city not in column]
    if len(depots) != 1 or len(cities) != len(column) + 1:
        raise FileError("is a tour through other cities")
    order = [column[city] for city in cities[depots[0] + 1 :] + cities[: depots[0]]]
    inner = sum(penalty.switch[one][other] for one, other in pairwise(order))
    return penalty.start[order[0]] + inner + penalty.finish[order[-1]]


def stg(folder: Path) -> Iterator[Truth]:
    """Yield the task graphs, on the numbers of processors for which an optimum was published."""
    for count, graphs in STG.items():
        for number, makespans in enumerate(graphs):
            file = f"rand{number:04d}"
            for path in sorted(folder.rglob(f"{count}/{file}.stg"))[:1]:
                for cpus, makespan in zip(STG_CPUS, makespans, strict=False):
                    yield Truth(
                        collection="STG",
                        name=f"stg{count}-{file}-m{cpus}",
                        published=between(makespan, makespan),
                        source=path,
                        read=lambda path=path, cpus=cpus: import_instance(path, cpus=cpus),
                    )


def bpps(folder: Path) -> Iterator[Truth]:
    """Yield two statements for each bin packing problem with setups, but without setup costs.

    K bins are enough, so the fullest of K need not hold more than the capacity d; and if K was
    proven to be the least number, the fullest of K - 1 must hold more.
    """
    known: dict[str, tuple[int, bool]] = {}
    for path in sorted(folder.rglob("computational_results.xlsx"))[:1]:
        for row in rows_of(path):
            if row.get("A", "").endswith(".txt") and row.get("G") == "no":
                known[row["A"]] = int(row["J"]), row["K"] == "yes"
    for path in sorted(folder.rglob("bpps_*f0_*.txt")):
        if path.name not in known:
            continue
        bins, is_proven = known[path.name]
        capacity = int(path.read_text().split()[2])
        statements = [(bins, between(None, capacity))]
        if is_proven and bins > 1:
            statements.append((bins - 1, between(capacity + 1, None)))
        for cpus, published in statements:
            yield Truth(
                collection="BPPS",
                name=f"{path.stem}-m{cpus}",
                published=published,
                source=path,
                read=lambda path=path, cpus=cpus: import_instance(path, cpus=cpus),
            )


def bppmcf(folder: Path) -> Iterator[Truth]:
    """Yield bin packing problems with colours, with the bounds of the sheets old and new.

    A star in the name of a data set stands for the least number of bins with which the items fit.
    Of data sets 3 and 4 the old sheet has three rows of one name, since it leaves out the class of
    the file: about each of the three files it says that the optimum is between the least and the
    largest of these bounds.
    """
    least: dict[str, int] = {}
    for path in sorted(folder.rglob("minNumberOfBinsPerInstance.txt"))[:1]:
        for line in path.read_text("utf-8-sig").splitlines():
            file, _, bins = line.rpartition(";")
            if file:
                least[file.partition("/")[2]] = int(bins)
    rows: dict[str, list[PublishedBounds]] = {}
    for path in sorted(folder.rglob("Best LBs and UBs.xlsx"))[:1]:
        for row in rows_of(path):
            if row.get("A", "").endswith(".txt"):
                rows.setdefault(row["A"], []).append(between(int(row["B"]), int(row["C"])))
    roots = sorted(path for path in folder.rglob("InstancesBPPMCF") if path.is_dir())[:1]
    for title, published in rows.items():
        file = title.replace("*", "").replace("Dataset 5/", "Triplets/")
        if len(published) > 1:
            size, number = file.rpartition("/")[2].rsplit("-", 1)
            file = f"{file.partition('/')[0]}/{size}-*/{size}-*-{number}"
        found = [path for root in roots for path in sorted(root.glob(file))]
        if len(found) != len(published):
            continue
        bounds = between(
            min(item.lower or 0 for item in published), max(item.upper or 0 for item in published)
        )
        for path in found:
            cpus = least.get(file) if "*" in title else None
            if "*" in title and cpus is None:
                continue
            data_set = title.partition("/")[0].replace("Dataset ", "D").replace("*", "s")
            yield Truth(
                collection="BPPMCF" if len(published) == 1 else UNNAMED,
                name=f"{data_set}-{path.stem}",
                published=bounds,
                source=path,
                read=lambda path=path, cpus=cpus: import_instance(path, cpus=cpus),
            )


COLLECTIONS: dict[str, Callable[[Path], Iterator[Truth]]] = {
    "ATSP": tours("ATSP", exactly(ATSP)),
    "SOP": tours("SOP", SOP),
    "TSP": tours("TSP", exactly(TSP)),
    "STG": stg,
    "BPPS": bpps,
    "BPPMCF": bppmcf,
}


def write_published(truths: Iterable[Truth], path: Path) -> None:
    """Write what was published as a table that ``dfopt bench`` reads."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["instance", "lower", "upper", "collection"])
        for truth in truths:
            bounds = (truth.published.lower, truth.published.upper)
            table.writerow([truth.name, *bounds, truth.collection])
