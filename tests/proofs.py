"""Proofs as tests write them down: leaves by what they weigh, not by numbers."""

from collections.abc import Iterable, Mapping, Sequence

from dfopt.problem.certificate import (
    Certificate,
    CrossingCount,
    EntryCount,
    Leaf,
    Node,
    Over,
    Proof,
    ProofRows,
    TaskClass,
    VisitCount,
)


def by_contents(  # noqa: PLR0913 - each is a part of a leaf
    weights: Mapping[TaskClass, int],
    bins: Sequence[int] = (),
    *,
    charges: Mapping[TaskClass, int] | None = None,
    visits: Mapping[str, int] | None = None,
    scale: int = 1,
    threshold: int | None = None,
) -> Proof:
    """Return a proof of a single leaf: weights, charges on entries and prices of visits."""
    rows = ProofRows(Over.CONTENTS)
    weighed = tuple((rows.of(row), weight) for row, weight in weights.items())
    entries = [
        (rows.count(EntryCount(classes=(rows.of(row),))), -charge)
        for row, charge in (charges or {}).items()
    ]
    visited = [
        (rows.count(VisitCount(classes=(rows.of(TaskClass(df=df)),))), price)
        for df, price in (visits or {}).items()
    ]
    leaf = Leaf(weights=weighed, prices=(*entries, *visited), bin_weights=tuple(bins), scale=scale)
    return rows.proof([leaf], threshold)


def by_supports(
    types: str, sets: Sequence[str], nodes: Iterable[Node], costs: Mapping[str, int] | None = None
) -> Proof:
    """Return a proof over supports; each letter is a type, and some letters are a set."""
    classes = (TaskClass(type=name, least_cost=(costs or {}).get(name, 0)) for name in types)
    return Proof(
        over=Over.SUPPORTS,
        classes=tuple(classes),
        counts=tuple(VisitCount(classes=tuple(map(types.index, names))) for names in sets),
        nodes=tuple(nodes),
    )


def by_orders(
    names: Iterable[str], counts: Iterable[CrossingCount], nodes: Iterable[Node]
) -> Proof:
    """Return a proof over orders of some nodes, which are numbered from 1 on."""
    return Proof(
        over=Over.ORDERS,
        classes=(TaskClass(), *(TaskClass(node=name) for name in names)),
        counts=tuple(counts),
        nodes=tuple(nodes),
    )


def by_sizes(weights: Mapping[int, int], cpu_weight: int) -> Proof:
    """Return a proof that tasks do not fit."""
    return Proof(
        over=Over.SIZES,
        classes=tuple(TaskClass(size=size) for size in weights),
        nodes=(Leaf(weights=tuple(enumerate(weights.values())), bin_weights=(cpu_weight,)),),
    )


def over_of(certificate: Certificate | None) -> Over | None:
    """Return what a proof is over; None where there is another certificate, or none."""
    return certificate.over if isinstance(certificate, Proof) else None


def is_tree(certificate: Certificate | None) -> bool:
    """Return whether a certificate is a proof with forks."""
    return isinstance(certificate, Proof) and len(certificate.nodes) > 1


def only_leaf(certificate: Certificate | None) -> Leaf:
    """Return the leaf of a proof without forks."""
    assert isinstance(certificate, Proof)
    (leaf,) = certificate.nodes
    assert isinstance(leaf, Leaf)
    return leaf
