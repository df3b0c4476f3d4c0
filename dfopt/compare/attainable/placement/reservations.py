"""CPUs that items keep, because they or others would otherwise find none."""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.placement.timeline import FixedTimeline
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Flags, Integers


class Reservations:
    """The CPUs that each item may still take.

    An item with one CPU takes that CPU from all items that overlap with it in time; if this leaves
    another item with one CPU, the same holds for it (unit propagation). At the beginning this
    loses no placement.

    Parameters
    ----------
    items
        What is to be placed. The given CPUs are always possible.

    Attributes
    ----------
    allowed
        Whether each item may take each CPU; shape (items, CPUs).
    """

    def __init__(self, items: FixedTimeline) -> None:
        self._items = items
        self.allowed: Flags = items.allowed.copy()
        count = len(items)
        self._oldest = oldest_running(items)
        self._left = items.allowed.sum(axis=1)
        self._queue = np.empty(count, np.int64)
        alone = np.flatnonzero(self._left == 1)
        self._queue[: len(alone)] = alone
        self._propagate(len(alone))

    def reserve(self, item: int) -> int:
        """Reserve an item its given CPU; return the first item that has fewer CPUs now."""
        self.allowed[item] = np.arange(self._items.cpus) == self._items.given[item]
        self._left[item] = 1
        self._queue[0] = item
        return self._propagate(1)

    def _propagate(self, waiting: int) -> int:
        items = self._items
        return _propagate(
            waiting, items.start, items.end, items.given, self._oldest, self.allowed, self._left,
            self._queue,
        )  # fmt: skip


def oldest_running(items: FixedTimeline) -> Integers:
    """Return for each item the first one that has not ended when it starts, perhaps itself."""
    oldest = np.empty(len(items), np.int64)
    _fill_oldest(items.start, items.end, oldest)
    return oldest


@compiled
def _fill_oldest(start: Integers, end: Integers, oldest: Integers) -> None:
    first = 0
    for item in range(len(start)):
        while first < item and end[first] <= start[item]:
            first += 1
        oldest[item] = first


@compiled
def _propagate(
    waiting: int, start: Integers, end: Integers, given: Integers, oldest: Integers,
    allowed: Flags, left: Integers, queue: Integers,
) -> int:  # fmt: skip
    """Take the CPUs of items that have only one from those that overlap with them.

    Return the first item that lost a CPU, or the number of items.
    """
    earliest = len(start)
    while waiting:
        waiting -= 1
        item = queue[waiting]
        cpu = given[item]
        other = oldest[item]
        while other < len(start) and (other <= item or start[other] < end[item]):
            overlaps = other > item or (other < item and end[other] > start[item])
            if overlaps and allowed[other, cpu]:
                allowed[other, cpu] = False
                left[other] -= 1
                earliest = min(earliest, other)
                if left[other] == 1:
                    queue[waiting] = other
                    waiting += 1
            other += 1
    return earliest
