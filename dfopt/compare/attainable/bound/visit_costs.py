"""What visits to a fragment cost at least in a stretch of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.trace.events import Integers

NO_ENTRY = -1
"""The cost where no visit can begin."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VisitCosts:
    """The least costs of visits to a fragment in a stretch.

    Parameters
    ----------
    entry
        Of an entry in each slot between the fragment's points of time; -1 where no visit can begin.
    exit, cheaper
        The different costs of exits, in increasing order, and for each of them how many dispatches
        there are with a lower one. Two visits never end with the same dispatch.
    first, last
        Of holding the fragment when the stretch begins, and when it ends.
    """

    entry: Integers
    exit: Integers
    cheaper: Integers
    first: int
    last: int


def exit_costs(cost: Integers) -> tuple[Integers, Integers]:
    """Return the different costs of exits above 0, and the number of lower ones for each.

    Parameters
    ----------
    cost
        The cost of an exit after each dispatch of the fragment that may start in the stretch.
    """
    costs = np.unique(cost[cost > 0])
    return costs, np.searchsorted(np.sort(cost), costs)


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
