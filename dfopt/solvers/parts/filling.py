"""Cuts a group of fragments into parts that fill a group of CPUs: the theorem of the groups.

A *group* is a set of fragments with CPUs of their own, e of them with room for k tasks each.
If no CPU may hold more than L parts, connected groups have at most (L − 1)·e + 1 fragments;
and every group with no more fragments, and no more than e·k tasks, can be packed. Proof and
algorithm stand in the documentation under "Packing parts".
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence


def fill(
    fragments: Iterable[tuple[int, int]], limits: Sequence[int], capacity: int
) -> list[dict[int, int]]:
    """Return what each CPU of a group holds: how many tasks of which fragments.

    Parameters
    ----------
    fragments
        Sizes and names of the fragments; at most Σ(limit − 1) + 1 of them.
    limits
        The most parts that each CPU may hold, in ascending order, the last one at most one more
        than the first.
    capacity
        The most tasks that a CPU may hold; enough for all fragments on all CPUs.
    """
    items = sorted(fragments)
    places = sum(limits) - len(limits) + 1
    slack = len(limits) * capacity - sum(size for size, _ in items)
    assert len(items) <= places, "more fragments than a group can hold"
    assert slack >= 0, "more tasks than a group can hold"
    # The free room counts as tasks of the largest fragment for now, so that all CPUs get full.
    largest, name = items.pop()
    items = [(0, -1)] * (places - 1 - len(items)) + [*items, (largest + slack, name)]
    contents = []
    for limit in limits:
        first = _first_window(items, limit, capacity)
        taken = items[first : first + limit]
        del items[first : first + limit]
        size, cut = taken.pop()
        parts = {one: number for number, one in taken if number}
        rest = capacity - sum(parts.values())
        assert 0 <= rest <= size, "no window to fill a CPU with"
        if rest:
            parts[cut] = rest
        insort(items, (size - rest, cut) if size > rest else (0, -1))
        contents.append(parts)
    _take_out(contents, name, slack)
    return [parts for parts in contents if parts]


def _first_window(items: Sequence[tuple[int, int]], length: int, capacity: int) -> int:
    """Return where the first ``length`` neighbours begin that fill a CPU together."""
    return bisect_left(
        range(len(items) - length + 1),
        capacity,
        key=lambda first: sum(size for size, _ in items[first : first + length]),
    )


def _take_out(contents: Sequence[dict[int, int]], fragment: int, number: int) -> None:
    """Take tasks of ``fragment`` out again, from its smallest parts first."""
    holding = [parts for parts in contents if fragment in parts]
    for parts in sorted(holding, key=lambda parts: parts[fragment]):
        taken = min(number, parts[fragment])
        number -= taken
        parts[fragment] -= taken
        if not parts[fragment]:
            del parts[fragment]


def wrap(fragments: Iterable[tuple[int, int]], capacity: int) -> list[dict[int, int]]:
    """Return contents of as few CPUs as possible, filled one after the other.

    This cuts f fragments on e CPUs into no more than f + e − 1 parts.
    """
    contents: list[dict[int, int]] = []
    room = 0
    for size, fragment in fragments:
        left = size
        while left:
            if not room:
                contents.append({})
                room = capacity
            contents[-1][fragment] = taken = min(left, room)
            left -= taken
            room -= taken
    return contents
