"""The least cost of an entry to a fragment in each slot between its points of time."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Integers

NO_ENTRY = -1
"""The cost where no visit can begin."""


def slot_costs(points: Integers, first: Integers, last: Integers, cost: Integers) -> Integers:
    """Return for each slot (points[i], points[i + 1]] the least cost of a dispatch that may start.

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
    none = np.iinfo(np.int64).max
    least = np.full(slots, none)
    for power in range(int(level.max(initial=0)), -1, -1):
        own, length = level == power, 1 << power
        np.minimum.at(least, begin[own], cost[own])
        np.minimum.at(least, end[own] - length, cost[own])
        if power:
            half = length // 2
            least[half:] = np.minimum(least[half:], least[:-half])
    return np.where(least == none, NO_ENTRY, least)
