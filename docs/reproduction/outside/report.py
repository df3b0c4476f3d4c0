"""Solves published problems, compares with what was published, and writes a page about it.

``python docs/reproduction/outside/report.py FOLDER WORK`` looks for the files of the collections
anywhere below FOLDER and fetches nothing. In WORK it keeps the instances, the published bounds,
and a row for each instance that is done, so that the same command goes on after an interrupt.
A file that cannot be read is named and left out. With ``--page`` the page is written at the end.
The exit code is 1 if a result contradicts what was published or the checker refutes one, and 4
if the run was interrupted.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[3]))

from dfopt import __version__
from dfopt.bench import (
    JudgedInstance,
    Report,
    RunProgress,
    Settings,
    Verdict,
    judged,
    read_published,
    read_set,
    run,
    verdict_counts,
)
from dfopt.errors import DfoptError
from dfopt.files import write_instance
from docs.reproduction.outside.collections_of import (
    COLLECTIONS,
    Truth,
    published_tours,
    write_published,
)

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "background" / "outside-truths.md"
INTERRUPTED, WRONG = 4, 1
SHOWN_WHOLE = ("ATSP", "SOP", "TSP", "STG")
"""Collections of which the page shows every instance; of the others, those that stay open."""

UNCHECKED = {"", "search"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit code."""
    options = options_of(arguments)
    work = Path(options.work)
    truths = sampled(options)
    written = written_truths(truths, work)
    if not written:
        print("no published problem was found there", file=sys.stderr)
        return WRONG
    write_published(written, work / "published.csv")
    settings = Settings(time_limit_s=options.time_limit, workers=options.workers, seed=options.seed)
    rows = work / "rows.csv"
    report = run(
        read_set(*(work / "set" / f"{truth.name}.json" for truth in written)),
        rows,
        settings,
        resume=rows.exists(),
        results=work / "results",
        verify=True,
        on_progress=tell,
    )
    verdicts = judged(report.rows, read_published(work / "published.csv"))
    for line in table(verdicts):
        print(line)
    counts = verdict_counts(verdicts)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    wrong = [item for item in verdicts if is_wrong(item)]
    for item in wrong:
        print(f"WRONG: {item.row.instance}: {item.verdict} {item.row.error}", file=sys.stderr)
    if options.page:
        Path(options.page).write_text(page(verdicts, written, report, options), "utf-8")
    if wrong:
        return WRONG
    return 0 if report.is_complete else INTERRUPTED


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the files of the collections are")
    parser.add_argument("work", help="a folder for instances, rows and results")
    parser.add_argument("--collection", action="append", choices=list(COLLECTIONS))
    parser.add_argument("--sample", type=int, help="problems of each collection, drawn at random")
    parser.add_argument("--open", action="store_true", help="only where two bounds differ")
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--page", nargs="?", const=str(PAGE), help=f"write the page, by default {PAGE.name}"
    )
    return parser.parse_args(arguments)


def sampled(options: argparse.Namespace) -> list[Truth]:
    """Return the problems in the folder, or some of each collection."""
    truths = []
    for name in options.collection or COLLECTIONS:
        found = list(COLLECTIONS[name](Path(options.folder)))
        if options.open:
            found = [truth for truth in found if truth.is_open]
        if options.sample is not None and options.sample < len(found):
            chosen = random.Random(f"{name} {options.seed}").sample(found, options.sample)
            found = [truth for truth in found if truth in chosen]
        truths += found
    return truths


def written_truths(truths: Sequence[Truth], work: Path) -> list[Truth]:
    """Write an instance for each problem; return those of which that was possible."""
    folder = work / "set"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for truth in truths:
        target = folder / f"{truth.name}.json"
        try:
            if not target.exists():
                write_instance(truth.instance(), target)
        except DfoptError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        written.append(truth)
    return written


def tell(progress: RunProgress) -> None:
    """Say which instance begins."""
    names = ", ".join(progress.at_work)
    if names:
        print(f"{progress.done + 1} of {progress.total}: {names}", file=sys.stderr, flush=True)


def is_wrong(item: JudgedInstance) -> bool:
    """Whether a result contradicts what was published, or its own instance."""
    return item.verdict is Verdict.CONTRADICTION or item.row.verified == "no"


HEADINGS = ("instance", "published", "dfopt", "time", "proof", "verdict")


def cells(item: JudgedInstance) -> tuple[str, ...]:
    """Return the line of an instance in a table."""
    row, lower, upper = item.row, item.lower, item.upper
    if lower is None or upper is None:
        statement = f"≤ {upper}" if lower is None else f"≥ {lower}"
    else:
        statement = interval(lower, upper)
    ours = interval(row.lower_bound, row.objective)
    return (
        row.instance,
        statement,
        ours if row.objective is not None or row.lower_bound is not None else str(row.status),
        f"{row.wall_time_s:.1f} s",
        row.certificate or "–",
        str(item.verdict),
    )


def interval(lower: int | None, upper: int | None) -> str:
    """Return what lies between two bounds."""
    if lower == upper:
        return str(lower)
    return f"{'?' if lower is None else lower}..{'?' if upper is None else upper}"


def table(verdicts: Sequence[JudgedInstance]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield "|---|---|---|---|---|---|"
    for item in verdicts:
        yield f"| {' | '.join(cells(item))} |"


def page(
    verdicts: Sequence[JudgedInstance],
    truths: Sequence[Truth],
    report: Report,
    options: argparse.Namespace,
) -> str:
    """Return the page."""
    drawn = [f"--time-limit {options.time_limit:g}", f"--workers {options.workers}"]
    drawn += [f"--collection {name}" for name in options.collection or ()]
    if options.open:
        drawn.append("--open")
    if options.sample is not None:
        drawn.append(f"--sample {options.sample}")
    collection = {truth.name: truth.collection for truth in truths}
    groups: dict[str, list[JudgedInstance]] = {}
    for item in verdicts:
        groups.setdefault(collection[item.row.instance], []).append(item)
    shown = []
    for name, group in groups.items():
        listed = group
        title = f"### {name}"
        if name not in SHOWN_WHOLE:
            listed = [item for item in group if item.verdict is not Verdict.CONFIRMED]
            title += ": what is not confirmed" if listed else ": all confirmed"
        shown += [title, "", *(table(listed) if listed else ())]
        shown.append("")
    template = Template((HERE / "outside-truths.md.in").read_text(encoding="utf-8"))
    return template.substitute(
        date=datetime.now(UTC).date().isoformat(),
        version=__version__,
        limit=f"{options.time_limit:g}",
        workers=f"{options.workers} worker{'s' if options.workers > 1 else ''}",
        instances=len(report.rows),
        summary="\n".join(summary(groups)),
        command=" ".join(["python docs/reproduction/outside/report.py FOLDER WORK --page", *drawn]),
        sampled=sample_sentence(options.sample),
        tours=tour_sentence(Path(options.folder)),
        verdict=verdict_sentence(verdicts, report),
        tables="\n".join(shown).rstrip(),
    )


def sample_sentence(sample: int | None) -> str:
    """Return what the page says of the choice of instances."""
    if sample is None:
        return "All of them were solved."
    return f"Of each collection {sample} statements were drawn at random."


def tour_sentence(folder: Path) -> str:
    """Return what the page says of published tours."""
    lengths = list(published_tours(folder))
    if not lengths:
        return "No published tour was there."
    other = [f"{name} {length} instead of {listed}" for name, length, listed in lengths
             if length != listed]  # fmt: skip
    shown = f"but for {', '.join(other)}" if other else "all of them"
    return (
        f"TSPLIB has shortest tours of some instances. Counted in the imported instances, their "
        f"{len(lengths)} lengths are the listed optima, {shown}."
    )


def verdict_sentence(verdicts: Sequence[JudgedInstance], report: Report) -> str:
    """Return what the page says of the whole."""
    contradictions = [
        item.row.instance for item in verdicts if item.verdict is Verdict.CONTRADICTION
    ]
    unchecked = [
        row.instance
        for row in report.rows
        if row.status == "optimal" and row.certificate in UNCHECKED
    ]
    findings = {
        "Contradictions": contradictions,
        "Refuted by the checker": [row.instance for row in report.rows if row.verified == "no"],
        "Errors": [row.instance for row in report.rows if row.status == "error"],
        "Optimal, but by a search that cannot be checked": unchecked,
    }
    found = [f"{what}: {', '.join(names)}." for what, names in findings.items() if names]
    if not contradictions:
        found.insert(0, "No result contradicts what was published.")
    return f"**{' '.join(found)}**"


def summary(groups: dict[str, list[JudgedInstance]]) -> Iterator[str]:
    """Yield the lines of the table of collections."""
    yield (
        "| collection | instances | confirmed | sharper | within | contradictions | no result "
        "| optimal | of these checked | median time |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, group in groups.items():
        counts = verdict_counts(group)
        optimal = [item.row for item in group if item.row.status == "optimal"]
        checked = [
            row for row in optimal if row.verified == "yes" and row.certificate not in UNCHECKED
        ]
        median = statistics.median(item.row.wall_time_s for item in group)
        numbers = (len(group), *(counts[str(verdict)] for verdict in Verdict))
        yield (
            f"| {name} | {' | '.join(map(str, numbers))} | {len(optimal)} | {len(checked)} "
            f"| {median:.1f} s |"
        )


if __name__ == "__main__":
    sys.exit(main())
