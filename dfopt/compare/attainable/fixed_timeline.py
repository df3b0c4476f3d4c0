"""What is placed on a given timeline: dispatches and evicting blocks, each with its CPUs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.timed_schedule import (
    FOREIGN,
    PayingItems,
    paying_items,
    recorded_schedule,
)
from dfopt.trace.events import Flags, Integers, Numbers

NO_FRAGMENT = -1
"""What an evicting block leaves in the cache."""


class FixedTimeline:
    """Items (dispatches and evicting blocks) in the order of their starts, then of their ends.

    An item stands for a CPU that runs it, or holds what it left. After the items comes ``fresh``,
    which stands for a CPU before its first item; all larger numbers stand for CPUs of which nothing
    is known.

    Parameters
    ----------
    items
        The items.
    allowed
        Whether each may run on each CPU: no block lies in between; shape (items, CPUs).
    cut_cpu, cut_time
        Nothing is known about the cache of this CPU at this time; in the order of the times.

    Attributes
    ----------
    start, end, fragment
        As in the items.
    given
        The CPU that each has in the recorded schedule.
    left
        What it leaves in the cache.
    entry, exit, always, first, last, matrix
        What it costs.
    cuts
        Time and CPU of each cut.
    """

    def __init__(
        self, items: PayingItems, *, allowed: Flags, cut_cpu: Numbers, cut_time: Integers
    ) -> None:
        costs, fragment = items.costs, items.fragment
        self.allowed, self.cpus, self.fresh = allowed, allowed.shape[1], len(fragment)
        self.start: list[int] = items.start.tolist()
        self.end: list[int] = items.end.tolist()
        self.given: list[int] = items.cpu.tolist()
        self.fragment: list[int] = fragment.tolist()
        self.left: list[int] = np.where(fragment == FOREIGN, NO_FRAGMENT, fragment).tolist()
        self.entry: list[int] = costs.entry.tolist()
        self.exit: list[int] = costs.exit.tolist()
        self.always: list[int] = costs.always.tolist()
        self.first: list[int] = costs.first.tolist()
        self.last: list[int] = costs.last.tolist()
        self.matrix: list[list[int]] = costs.matrix.tolist()
        self.cuts: list[tuple[int, int]] = list(
            zip(cut_time.tolist(), cut_cpu.tolist(), strict=True)
        )

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

    def cost(self, cpus: Iterable[tuple[int, int]]) -> int:
        """Return what some items cost on their CPUs, in the order of their starts."""
        unknown = self.fresh + 1
        holds: dict[int, int] = {}
        total = cut = 0
        for item, cpu in cpus:
            while cut < len(self.cuts) and self.cuts[cut][0] <= self.start[item]:
                holds[self.cuts[cut][1]] = unknown
                cut += 1
            total += self.switch_cost(holds.get(cpu, self.fresh), item)
            holds[cpu] = item
        holds.update((cpu, unknown) for _, cpu in self.cuts[cut:])
        return total + self.end_cost(holds.values())


def timeline_of(arrivals: Arrivals) -> tuple[FixedTimeline, Integers]:
    """Return what is to be placed if every dispatch starts as recorded, and its rows.

    The rows of blocks are counted from the number of dispatches on.
    """
    items = paying_items(arrivals, recorded_schedule(arrivals))
    allowed = _without_blocks(arrivals, items.start, items.end)
    is_block = items.element >= len(arrivals)
    allowed[is_block] = items.cpu[is_block, None] == np.arange(arrivals.cpus)
    cuts = np.argsort(arrivals.cut_time, kind="stable")
    timeline = FixedTimeline(
        items,
        allowed=allowed,
        cut_cpu=arrivals.cut_cpu[cuts],
        cut_time=arrivals.cut_time[cuts],
    )
    return timeline, items.element


def _without_blocks(arrivals: Arrivals, start: Integers, end: Integers) -> Flags:
    """Return whether each CPU has no block between a start and an end."""
    blocks = arrivals.blocks
    free = np.ones((len(start), arrivals.cpus), bool)
    for cpu in np.unique(blocks.cpu).tolist():
        own = blocks.cpu == cpu
        # Of the blocks that start before an item ends, does any end after the item starts?
        number = np.searchsorted(blocks.start[own], end, side="left")
        latest_end = np.maximum.accumulate(blocks.end[own])
        free[:, cpu] = (number == 0) | (latest_end[np.maximum(number, 1) - 1] <= start)
    return free
