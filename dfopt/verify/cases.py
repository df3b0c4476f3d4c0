"""Proofs in cases: each is looked at, so that a false one is never hidden by one that is too large.

A fork of a tree counts something in a schedule. In its first case the count is at most a limit, in
its second case it is larger. All nodes of the first case follow the fork, then those of the
second. One of the two holds in every schedule, so a tree is complete by its form alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from dfopt.errors import MethodError

Counted = TypeVar("Counted")
Node = TypeVar("Node")

Range = tuple[int, int]
"""The least and the largest number of times."""


class UnprovenError(MethodError):
    """Says why a certificate proves nothing, however small the instance is.

    Any other :class:`~dfopt.errors.MethodError` of the checker says that a claim is too large.
    """


def first_flaw(cases: Iterable[tuple[str, Callable[[], str | None]]]) -> list[str]:
    """Return the first flaw in any case, with its place; none if there is none.

    Raises
    ------
    MethodError
        When no case has a flaw, but one is too large.
    """
    too_large = None
    for place, flaw_of in cases:
        try:
            flaw = flaw_of()
        except UnprovenError as error:
            flaw = f": {error}"
        except MethodError as error:
            too_large = too_large or error
            continue
        if flaw:
            return [f"{place}{flaw}"]
    if too_large:
        raise too_large
    return []


def leaves(
    nodes: Sequence[Node],
    fork: Callable[[Node], tuple[Counted, int] | None],
    known: Callable[[Counted], Range],
    place: str,
) -> Iterator[tuple[int, Mapping[Counted, Range], Node]]:
    """Yield the leaves of a tree: position, ranges of what is counted above it, and node.

    Parameters
    ----------
    nodes
        The tree.
    fork
        What a fork counts, and its limit; None for a leaf.
    known
        The range of a count in every schedule.
    place
        What the tree is called.

    Raises
    ------
    UnprovenError
        When a case is missing, or one is too many.
    """
    ranges: dict[Counted, Range] = {}
    narrowed: list[tuple[Counted, Range]] = []  # what forks above have narrowed, and from what
    # For each case that is still to come: the number of forks above it, and its own.
    open_cases: list[tuple[int, tuple[Counted, Range] | None]] = [(0, None)]
    for position, node in enumerate(nodes):
        if not open_cases:
            raise UnprovenError(f"{place}[{position}]: the tree is complete without this node")
        depth, case = open_cases.pop()
        while len(narrowed) > depth:
            counted, before = narrowed.pop()
            ranges[counted] = before
        if case:
            counted, narrow = case
            narrowed.append((counted, ranges[counted]))
            ranges[counted] = narrow
        branches = fork(node)
        if branches is None:
            if all(least <= most for least, most in ranges.values()):  # else there is no schedule
                yield position, ranges, node
            continue
        counted, limit = branches
        least, most = ranges.setdefault(counted, known(counted))
        depth = len(narrowed)
        open_cases.append((depth, (counted, (max(least, limit + 1), most))))
        open_cases.append((depth, (counted, (least, min(most, limit)))))
    if open_cases:
        raise UnprovenError(f"{place}: ends before all cases have weights")
