"""What an entry to a fragment costs at least, by the time at which it happens."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Integers

FORBIDDEN = 2**60
"""The cost of an entry where no visit can begin: more than all sums of other costs."""


def slot_costs(points: Integers, first: Integers, last: Integers, cost: Integers) -> Integers:
    """Return for each slot (points[i], points[i + 1]] the least cost of a dispatch that may start.

    It is :data:`FORBIDDEN` where none may start.

    Parameters
    ----------
    points
        Increasing times.
    first, last, cost
        Times between which each dispatch of the fragment starts, and what an entry costs with it.
    """
    slots = len(points) - 1
    # From the slot that contains the first start to the one that contains the last start.
    begin = np.maximum(np.searchsorted(points, first) - 1, 0)
    end = np.minimum(np.searchsorted(points, last), slots)
    inside = begin < end
    begin, end, cost = begin[inside], end[inside], cost[inside]
    # A range is covered by two ranges whose length is a power of two; those of each power are
    # collected first, then handed down to the two halves of each range.
    level = np.log2(np.maximum(end - begin, 1)).astype(np.int64)
    least = np.full(slots, FORBIDDEN)
    for power in range(int(level.max(initial=0)), -1, -1):
        own, length = level == power, 1 << power
        np.minimum.at(least, begin[own], cost[own])
        np.minimum.at(least, end[own] - length, cost[own])
        if power:
            half = length // 2
            least[half:] = np.minimum(least[half:], least[:-half])
    return least


def entry_costs(
    first: Integers, last: Integers, cost: Integers, begin: int, end: int
) -> tuple[Integers, Integers]:
    """Return times at which the least cost of an entry changes, and the cost from each of them on.

    The first time is just after ``begin``; no entry is at ``end`` or later.
    """
    edges = np.clip(np.concatenate([[begin, end - 1], first - 1, last]), begin, end - 1)
    points = np.unique(edges)
    if len(points) == 1:
        return points + 1, np.full(1, FORBIDDEN)
    values = slot_costs(points, first, last, cost)
    changes = np.diff(values, prepend=-1) != 0
    return points[:-1][changes] + 1, values[changes]
