"""Results of the format ``dfopt-result/1``: their certificates are read into those of today.

To end that, delete this file, its line in :mod:`dfopt.files.result_document`, and ``OLDER`` in
:mod:`dfopt.files.formats`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from dfopt.errors import DfoptError, InstanceError
from dfopt.files.strict_json import Document
from dfopt.problem.certificate import (
    ArcCount,
    Certificate,
    CompleteSearch,
    Count,
    Counting,
    CrossingCount,
    EntryCount,
    EvenShares,
    Exhaustive,
    Fork,
    GroupResource,
    Leaf,
    MeetingCount,
    Node,
    Over,
    Pair,
    Proof,
    ProofRows,
    TaskClass,
    UseCount,
    VisitCount,
)
from dfopt.structs import DocumentPart, Natural, Signed, document_of, either, replace, written
from dfopt.type_reader import reader


class _Class(DocumentPart):
    df: str
    leaves: str | None = None
    lines: Natural | None = None
    exec: Natural | None = None
    size: Natural | None = None


class _Weighted(_Class):
    weight: Signed


class _Charged(_Class):
    charge: Natural


class _VisitPrice(DocumentPart):
    df: str
    price: Signed


class _Claim(DocumentPart, tag_field="kind"):
    threshold: Signed | None = None


class _DualWeights(_Claim, tag="dual-weights"):
    lower_bound: Signed | None = None
    bin_weights: tuple[Natural, ...]
    weights: tuple[_Weighted, ...]
    entry_charges: tuple[_Charged, ...] = ()
    visit_prices: tuple[_VisitPrice, ...] = ()
    scale: Natural = 1


class _Visits(DocumentPart, tag_field="kind", tag="visits"):
    df: str


class _Meetings(DocumentPart, tag_field="kind", tag="meetings"):
    df: str
    other: str


class _Entries(DocumentPart, tag_field="kind", tag="entries"):
    classes: tuple[Natural, ...]


class _Holdings(DocumentPart, tag_field="kind", tag="holdings"):
    classes: tuple[Natural, ...]
    tasks: Natural


class _Branching(_Claim, tag="branching"):
    classes: tuple[_Class, ...]
    counts: tuple[_Visits | _Meetings | _Entries | _Holdings, ...] = written(())
    nodes: tuple[Node, ...]


class _FullGroups(_Claim, tag="full-groups"):
    sizes: tuple[Pair, ...] = ()
    room: Natural = 0
    longer: Natural = 0
    plain: Natural = 0


class _SizeWeights(DocumentPart, tag_field="kind", tag="size-weights"):
    weights: tuple[Pair, ...]
    cpu_weight: Natural


class _TypeWeight(DocumentPart):
    type: str
    weight: Signed


class _TypeCost(DocumentPart):
    type: str
    cost: Natural


class _SetWeight(DocumentPart):
    types: tuple[str, ...]
    weight: Signed


class _SupportWeights(DocumentPart):
    unit: Natural = 0
    tasks: tuple[_TypeWeight, ...] = ()
    counted: tuple[_TypeWeight, ...] = ()
    least_costs: tuple[_TypeCost, ...] = ()
    sets: tuple[_SetWeight, ...]
    bin_weights: tuple[Signed, ...]


class _SupportSplit(DocumentPart):
    types: tuple[str, ...]
    most: Natural
    below: _SupportProof
    above: _SupportProof


if TYPE_CHECKING:
    _SupportProof = _SupportWeights | _SupportSplit
else:
    _SupportProof = either(_SupportWeights, _SupportSplit)


class _Supports(_Claim, tag="supports"):
    proof: _SupportProof


class _ArcFork(DocumentPart):
    before: Natural
    after: Natural
    at_most: Natural


class _ArcWeights(DocumentPart):
    leaving: tuple[Signed, ...]
    entering: tuple[Signed, ...]
    cuts: tuple[Pair, ...] = ()
    scale: Natural = 1
    beginnings: bool = False


if TYPE_CHECKING:
    _ArcNode = _ArcFork | _ArcWeights
else:
    _ArcNode = either(_ArcWeights, _ArcFork)


class _Tour(_Claim, tag="tour"):
    nodes: tuple[str, ...]
    cuts: tuple[CrossingCount, ...] = ()
    tree: tuple[_ArcNode, ...]


_Tree = _DualWeights | _Branching | _Supports | _Tour | _FullGroups


class _EvenShares(_Claim, tag="even-shares"):
    total_penalty: Natural
    proof: _Tree | Counting | Exhaustive


_Old = _Tree | _SizeWeights | Counting | Exhaustive | CompleteSearch | _EvenShares


def of_today(document: Document) -> Document:
    """Return a result of the format ``dfopt-result/1`` as one of today's.

    Raises
    ------
    InstanceError
        With place and remedy, where its certificate has none of the old forms.
    """
    given = document.get("certificate")
    if given is None:
        return document
    try:
        certificate = _translated(reader(_Old)(given))
    except DfoptError as error:
        raise error.within("certificate") from None
    return {**document, "certificate": document_of(certificate)}


def _translated(old: Any) -> Certificate:  # noqa: PLR0911 - one for each kind
    match old:
        case _DualWeights():
            return _weights(old)
        case _Branching():
            return _branching(old)
        case _Supports():
            least_costs: dict[str, int] = {}
            _find_least_costs(old.proof, least_costs)
            rows = ProofRows(Over.SUPPORTS)
            return rows.proof(_support_nodes(rows, old.proof, least_costs), old.threshold)
        case _Tour():
            return _tour(old)
        case _FullGroups():
            rows = ProofRows(Over.GROUPS)
            leaf = Leaf(
                weights=tuple(
                    (rows.of(TaskClass(fragment_size=size)), price) for size, price in old.sizes
                ),
                prices=tuple(
                    (rows.count(UseCount(of=of)), getattr(old, of)) for of in GroupResource
                ),
            )
            return rows.proof([leaf], old.threshold)
        case _SizeWeights():
            rows = ProofRows(Over.SIZES)
            weights = tuple((rows.of(TaskClass(size=size)), weight) for size, weight in old.weights)
            return rows.proof([Leaf(weights=weights, bin_weights=(old.cpu_weight,))], None)
        case _EvenShares():
            proof: Any = _translated(old.proof)
            return EvenShares(threshold=old.threshold, total_penalty=old.total_penalty, proof=proof)
    certificate: Certificate = old
    return certificate


def _weights(old: _DualWeights) -> Proof:
    rows = ProofRows(Over.CONTENTS)

    def number(row: _Class) -> int:
        return rows.of(TaskClass(**{key: getattr(row, key) for key in _Class.__struct_fields__}))

    weights = tuple((number(row), row.weight) for row in old.weights)
    prices = [
        (rows.count(EntryCount(classes=(number(row),))), -row.charge) for row in old.entry_charges
    ]
    prices += [(rows.count(_visits(rows, row.df)), row.price) for row in old.visit_prices]
    bins, bound = old.bin_weights, old.lower_bound
    leaf = Leaf(weights=weights, prices=tuple(prices), scale=old.scale, bin_weights=bins)
    return rows.proof([leaf], old.threshold if bound is None else bound - 1)


def _visits(rows: ProofRows, df: str) -> VisitCount:
    return VisitCount(classes=(rows.of(TaskClass(df=df)),))


def _branching(old: _Branching) -> Proof:
    rows = ProofRows(Over.CONTENTS)
    numbers = rows.all_of(TaskClass(**asdict(row)) for row in old.classes)

    def count(given: _Visits | _Meetings | _Entries | _Holdings) -> Count:
        match given:
            case _Visits(df=df):
                return _visits(rows, df)
            case _Meetings(df=df, other=other):
                pair = (rows.of(TaskClass(df=fragment)) for fragment in (df, other))
                return MeetingCount(classes=(next(pair), next(pair)))
        classes = tuple(numbers[number] for number in given.classes)
        if isinstance(given, _Entries):
            return EntryCount(classes=classes)
        return VisitCount(classes=classes, tasks=given.tasks)

    try:
        counts = [rows.count(count(given)) for given in old.counts]
    except IndexError:
        raise InstanceError("names a class that is not there", place="counts") from None

    def renamed(pairs: tuple[Pair, ...], names: Sequence[int]) -> tuple[Pair, ...]:
        return tuple((names[number], value) for number, value in pairs)

    def node(given: Node) -> Node:
        if isinstance(given, Fork):
            return Fork(count=counts[given.count], at_most=given.at_most)
        return replace(
            given, weights=renamed(given.weights, numbers), prices=renamed(given.prices, counts)
        )

    try:
        return rows.proof(map(node, old.nodes), old.threshold)
    except IndexError:
        raise InstanceError("names a class or a count that is not there", place="nodes") from None


def _find_least_costs(proof: Any, found: dict[str, int]) -> None:
    """Collect what tasks of a type cost at least; it is the same in all cases."""
    if isinstance(proof, _SupportSplit):
        _find_least_costs(proof.below, found)
        _find_least_costs(proof.above, found)
        return
    found.update({row.type: row.cost for row in proof.least_costs})
    if proof.unit:
        found.update({row.type: row.weight // proof.unit for row in proof.tasks})


def _support_nodes(rows: ProofRows, proof: Any, least_costs: dict[str, int]) -> Iterator[Node]:
    """Yield the nodes of a proof by supports, each fork before its first case."""

    def number(name: str) -> int:
        return rows.of(TaskClass(type=name, least_cost=least_costs.get(name, 0)))

    def visits(types: tuple[str, ...]) -> int:
        return rows.count(VisitCount(classes=tuple(map(number, types))))

    if isinstance(proof, _SupportSplit):
        yield Fork(count=visits(proof.types), at_most=proof.most)
        yield from _support_nodes(rows, proof.below, least_costs)
        yield from _support_nodes(rows, proof.above, least_costs)
        return
    weighed = (*proof.tasks, *proof.counted)
    yield Leaf(
        weights=tuple((number(row.type), row.weight) for row in weighed),
        prices=tuple((visits(row.types), row.weight) for row in proof.sets),
        scale=proof.unit,
        bin_weights=proof.bin_weights,
    )


def _tour(old: _Tour) -> Proof:
    rows = ProofRows(Over.ORDERS)
    # Class 0 has no keys: it is the start of the order, and its end.
    rows.all_of([TaskClass(), *(TaskClass(node=name) for name in old.nodes)])
    cuts = [rows.count(cut) for cut in old.cuts]

    def node(given: _ArcFork | _ArcWeights) -> Node:
        if isinstance(given, _ArcFork):
            arc = ArcCount(before=given.before, after=given.after)
            return Fork(count=rows.count(arc), at_most=given.at_most)
        return Leaf(
            leaving=tuple(enumerate(given.leaving)),
            weights=tuple(enumerate(given.entering)),
            prices=tuple((cuts[number], weight) for number, weight in given.cuts),
            scale=given.scale,
            beginnings=given.beginnings,
        )

    try:
        return rows.proof(map(node, old.tree), old.threshold)
    except IndexError:
        raise InstanceError("names a cut that is not there", place="tree") from None
