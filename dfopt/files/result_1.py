"""Results of the format ``dfopt-result/1``: their certificates are read into those of today.

To end that, delete this file, its line in :mod:`dfopt.files.documents`, and ``OLDER`` in
:mod:`dfopt.files.formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dfopt.errors import InstanceError
from dfopt.files.strict import Document

CLASS_KEYS = ("df", "leaves", "lines", "exec", "size")


def of_today(document: Document) -> Document:
    """Return a result of the format ``dfopt-result/1`` as one of today's.

    Raises
    ------
    InstanceError
        Where its certificate has none of the old forms.
    """
    old = document.get("certificate")
    if old is None:
        return document
    try:
        return {**document, "certificate": _certificate(old)}
    except (AttributeError, IndexError, KeyError, TypeError):
        problem = "has none of the forms that results of the format dfopt-result/1 have"
        raise InstanceError(problem, place="certificate") from None


def _certificate(old: Document) -> Document:
    kind = old["kind"]
    if kind == "even-shares":
        return {**old, "proof": _certificate(old["proof"])}
    if kind not in TRANSLATIONS:
        return old
    over, translated = TRANSLATIONS[kind]
    rows = _Rows()
    nodes = list(translated(rows, old))
    proof = {"kind": "proof", "over": over, "nodes": nodes, **rows.document}
    threshold = old.get("threshold", old["lower_bound"] - 1 if "lower_bound" in old else None)
    return proof if threshold is None else {**proof, "threshold": threshold}


class _Rows:
    """The classes and counts of a proof, collected while its nodes are translated."""

    def __init__(self) -> None:
        self.document: dict[str, list[Document]] = {"classes": [], "counts": []}
        self._places: dict[str, int] = {}

    def of(self, **keys: Any) -> int:
        """Return the number of a class."""
        return self._place("classes", keys)

    def count(self, kind: str, **keys: Any) -> int:
        """Return the number of a count."""
        return self._place("counts", {"kind": kind, **keys})

    def visits(self, **keys: Any) -> int:
        """Return the number of the count of visits to a class."""
        return self.count("visits", classes=[self.of(**keys)])

    def _place(self, key: str, row: Document) -> int:
        place = self._places.setdefault(repr(row), len(self.document[key]))
        if place == len(self.document[key]):
            self.document[key].append(row)
        return place


def _dual_weights(rows: _Rows, old: Document) -> Iterable[Document]:
    def number(row: Document) -> int:
        return rows.of(**{key: row[key] for key in CLASS_KEYS if key in row})

    yield {
        "weights": [[number(row), row["weight"]] for row in old["weights"]],
        "prices": [
            *(
                [rows.count("entries", classes=[number(row)]), -row["charge"]]
                for row in old.get("entry_charges", ())
            ),
            *([rows.visits(df=row["df"]), row["price"]] for row in old.get("visit_prices", ())),
        ],
        "scale": old.get("scale", 1),
        "bin_weights": old["bin_weights"],
    }


def _branching(rows: _Rows, old: Document) -> Iterable[Document]:
    classes = [rows.of(**row) for row in old["classes"]]

    def count(row: Document) -> int:
        if row["kind"] == "visits":
            return rows.visits(df=row["df"])
        if row["kind"] == "meetings":
            return rows.count("meetings", classes=[rows.of(df=row[key]) for key in ("df", "other")])
        own = {"classes": [classes[number] for number in row["classes"]]}
        if row["kind"] == "entries":
            return rows.count("entries", **own)
        return rows.count("visits", **own, tasks=row["tasks"])

    counts = [count(row) for row in old.get("counts", ())]
    for node in old["nodes"]:
        if "count" in node:
            yield {**node, "count": counts[node["count"]]}
            continue
        yield {
            **node,
            "weights": [[classes[number], weight] for number, weight in node.get("weights", ())],
            "prices": [[counts[number], price] for number, price in node.get("prices", ())],
        }


def _supports(rows: _Rows, old: Document) -> Iterable[Document]:
    """Yield the nodes of cases within cases, each fork before its first case."""
    least_costs: dict[str, int] = {}
    nodes: list[Document] = []
    cases = [old["proof"]]
    while cases:
        case = cases.pop()
        nodes.append(case)
        if "most" in case:
            cases += [case["above"], case["below"]]
            continue
        # What tasks are taken to cost is the same in all cases.
        least_costs |= {row["type"]: row["cost"] for row in case.get("least_costs", ())}
        if case["unit"]:
            least_costs |= {row["type"]: row["weight"] // case["unit"] for row in case["tasks"]}

    def number(name: str) -> int:
        return rows.of(type=name, least_cost=least_costs.get(name, 0))

    def visits(types: Iterable[str]) -> int:
        return rows.count("visits", classes=[number(name) for name in types])

    for case in nodes:
        if "most" in case:
            yield {"count": visits(case["types"]), "at_most": case["most"]}
            continue
        weighed = (*case["tasks"], *case.get("counted", ()))
        yield {
            "weights": [[number(row["type"]), row["weight"]] for row in weighed],
            "prices": [[visits(row["types"]), row["weight"]] for row in case["sets"]],
            "scale": case["unit"],
            "bin_weights": case["bin_weights"],
        }


def _tour(rows: _Rows, old: Document) -> Iterable[Document]:
    # Class 0 has no keys: it is the start of the order, and its end.
    for keys in ({}, *({"node": name} for name in old["nodes"])):
        rows.of(**keys)
    cuts = [rows.count("crossings", **cut) for cut in old.get("cuts", ())]
    for node in old["tree"]:
        if "at_most" in node:
            arc = {key: node[key] for key in ("before", "after")}
            yield {"count": rows.count("arcs", **arc), "at_most": node["at_most"]}
            continue
        yield {
            "leaving": [[number, weight] for number, weight in enumerate(node["leaving"])],
            "weights": [[number, weight] for number, weight in enumerate(node["entering"])],
            "prices": [[cuts[number], weight] for number, weight in node.get("cuts", ())],
            "scale": node.get("scale", 1),
            "beginnings": node.get("beginnings", False),
        }


def _full_groups(rows: _Rows, old: Document) -> Iterable[Document]:
    yield {
        "weights": [[rows.of(fragment_size=size), price] for size, price in old.get("sizes", ())],
        "prices": [
            [rows.count("uses", of=of), old[of]] for of in ("room", "longer", "plain") if of in old
        ],
    }


def _size_weights(rows: _Rows, old: Document) -> Iterable[Document]:
    yield {
        "weights": [[rows.of(size=size), weight] for size, weight in old["weights"]],
        "bin_weights": [old["cpu_weight"]],
    }


TRANSLATIONS: Mapping[str, tuple[str, Callable[[_Rows, Document], Iterable[Document]]]] = {
    "dual-weights": ("contents", _dual_weights),
    "branching": ("contents", _branching),
    "supports": ("supports", _supports),
    "tour": ("orders", _tour),
    "full-groups": ("groups", _full_groups),
    "size-weights": ("sizes", _size_weights),
}
"""What each old kind is over today, and the nodes that it becomes."""
