"""What is placed on a given timeline: dispatches and what evicts, each with its CPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.compare.paid import cost_of
from dfopt.trace.events import Flags
from dfopt.trace.trace import UNMANAGED

FOREIGN = -2
"""What a dispatch that evicts uses: no CPU ever holds it."""


class FixedTimeline:
    """Items (dispatches that pay) in the order of their starts, then of their ends.

    An item stands for a CPU that runs it, or holds what it left. After the items comes ``fresh``,
    which stands for a CPU before its first item; all larger numbers stand for CPUs of which nothing
    is known.

    Parameters
    ----------
    dispatches
        The items, in any order.
    allowed
        Whether each may run on each CPU; shape (items, CPUs).

    Attributes
    ----------
    items
        The items, with CPUs as recorded.
    order
        Which of the given dispatches each is.
    start, end, fragment, given
        Of the items; ``given`` is the CPU.
    left
        What it leaves in the cache.
    entry, exit, always, first, last, matrix
        What it costs.
    cuts
        Time and CPU of each cut.
    """

    def __init__(self, dispatches: Dispatches, allowed: Flags) -> None:
        self.order: Rows = np.lexsort((dispatches.row, dispatches.end, dispatches.start))
        self.items = items = dispatches.chosen(self.order)
        self.allowed, self.cpus, self.fresh = allowed[self.order], items.cpus, len(items)
        self.start: list[int] = items.start.tolist()
        self.end: list[int] = items.end.tolist()
        self.given: list[int] = items.cpu.tolist()
        self.left: list[int] = items.fragment.tolist()
        self.fragment = [FOREIGN if one == UNMANAGED else one for one in self.left]
        self.entry: list[int] = items.entry.tolist()
        self.exit: list[int] = items.exit.tolist()
        self.always: list[int] = items.always.tolist()
        self.first: list[int] = items.first.tolist()
        self.last: list[int] = items.last.tolist()
        self.matrix: list[list[int]] = items.matrix.tolist()
        cuts = items.cuts
        self.cuts = list(zip(cuts.time.tolist(), cuts.cpu.tolist(), strict=True))

    def switch_cost(self, before: int, item: int) -> int:
        """Return what it costs if an item follows on a CPU."""
        if before == self.fresh:
            return self.first[item]
        if before > self.fresh:
            return 0
        if self.matrix:
            return self.matrix[self.left[before]][self.fragment[item]]
        changes = self.left[before] != self.fragment[item]
        return self.always[before] + changes * (self.exit[before] + self.entry[item])

    def end_cost(self, holds: Iterable[int]) -> int:
        """Return what is paid at the end for what CPUs hold."""
        return sum(self.last[item] for item in holds if item < self.fresh)

    def cost(self, cpus: Iterable[int], own: Sequence[int] | slice = slice(None)) -> int:
        """Return what items, all or some, cost on these CPUs."""
        items = self.items.chosen(own)
        return cost_of(items.moved(np.fromiter(cpus, np.int32), items.start))


def timeline_of(dispatches: Dispatches) -> FixedTimeline:
    """Return what is to be placed if every dispatch starts as it does."""
    paying = dispatches.paying
    allowed = _without_fixed(paying, dispatches.fixed)
    is_fixed = np.arange(len(paying)) >= len(dispatches)
    allowed[is_fixed] = paying.cpu[is_fixed, None] == np.arange(dispatches.cpus)
    return FixedTimeline(paying, allowed)


def _without_fixed(items: Dispatches, fixed: Dispatches) -> Flags:
    """Return whether on each CPU nothing is fixed between the start and the end of each item."""
    free = np.ones((len(items), items.cpus), bool)
    for cpu in np.unique(fixed.cpu).tolist():
        own = fixed.chosen(fixed.cpu == cpu)
        # Of what starts before an item ends, does any end after the item starts?
        number = np.searchsorted(own.start, items.end, side="left")
        latest_end = np.maximum.accumulate(own.end)
        free[:, cpu] = (number == 0) | (latest_end[np.maximum(number, 1) - 1] <= items.start)
    return free
