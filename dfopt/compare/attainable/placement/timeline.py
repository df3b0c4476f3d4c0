"""What is placed on a given timeline: dispatches and evicting blocks, each with its CPUs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule
from dfopt.compare.dispatches import Rows
from dfopt.errors import DfoptError
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Flags, Integers, Numbers

NO_FRAGMENT = -1
"""What an evicting block leaves in the cache."""

FOREIGN = -2
"""The fragment of an evicting block: no CPU ever holds it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedTimeline:
    """Items (dispatches and evicting blocks) in the order of their starts, then of their ends.

    What an idle CPU can still cost depends on the fragment it holds and on the costs after its
    last dispatch. Dispatches that agree in all of these leave the same *content*.

    Parameters
    ----------
    cpus
        Number of CPUs.
    row
        The row of each item in the arrivals, or their number plus the row of the block.
    start, end
        When it runs.
    given
        The CPU that it has in the given schedule.
    allowed
        Whether each item may run on each CPU: no block lies in between; shape (items, CPUs).
    fragment
        What it uses.
    entry, first
        Paid by an item that follows another fragment; by the first one of a CPU.
    content
        The number of the content that it leaves.
    content_fragment, content_exit, content_always, content_last
        Of each content: the fragment, what is paid before another fragment, before any other item,
        and at the end of the CPU.
    matrix
        Under a matrix, the cost of fragment ``column`` after fragment ``row``; otherwise of shape
        (0, 0).
    cut_cpu, cut_time
        In the order of the times.
    """

    cpus: int
    row: Rows
    start: Integers
    end: Integers
    given: Integers
    allowed: Flags
    fragment: Integers
    entry: Integers
    first: Integers
    content: Integers
    content_fragment: Integers
    content_exit: Integers
    content_always: Integers
    content_last: Integers
    matrix: NDArray[np.int64]
    cut_cpu: Integers
    cut_time: Integers

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.row)

    @property
    def cpus_differ(self) -> bool:
        """Whether it matters which CPU is which: there are blocks in the way, or cuts."""
        return bool(len(self.cut_time)) or not bool(self.allowed.all())

    @property
    def cuts_before(self) -> Integers:
        """The number of cuts that come before what follows each item, and 0 in front of all."""
        numbers = np.searchsorted(self.cut_time, self.start, side="right")
        return np.concatenate([[0], numbers])

    def on(self, cpus: Integers, cpu: Integers) -> tuple[Rows, FixedTimeline]:
        """Return the items that a placement puts on some CPUs, and the timeline of these alone."""
        own = np.flatnonzero(np.isin(cpu, cpus))
        number = np.full(self.cpus, -1)
        number[cpus] = np.arange(len(cpus))
        cuts = np.flatnonzero(np.isin(self.cut_cpu, cpus))
        return own, replace(
            self,
            cpus=len(cpus),
            row=self.row[own],
            start=self.start[own],
            end=self.end[own],
            given=number[cpu[own]],
            allowed=np.ascontiguousarray(self.allowed[np.ix_(own, cpus)]),
            fragment=self.fragment[own],
            entry=self.entry[own],
            first=self.first[own],
            content=self.content[own],
            cut_cpu=number[self.cut_cpu[cuts]],
            cut_time=self.cut_time[cuts],
        )

    def cost(self) -> int:
        """Return what the given CPUs cost."""
        return int(
            _cost(
                self.cpus, self.start, self.given, self.fragment, self.entry, self.first,
                self.content, self.content_fragment, self.content_exit, self.content_always,
                self.content_last, self.matrix, self.cut_cpu, self.cut_time,
            )
        )  # fmt: skip


@compiled
def _cost(
    cpus: int, start: Integers, cpu: Integers, fragment: Integers, entry: Integers,
    first: Integers, content: Integers, content_fragment: Integers, content_exit: Integers,
    content_always: Integers, content_last: Integers, matrix: NDArray[np.int64],
    cut_cpu: Integers, cut_time: Integers,
) -> int:  # fmt: skip
    """Return what CPUs cost that are given for each item."""
    fresh, unknown = -1, -2
    holds = np.full(cpus, fresh)
    cost = cut = 0
    for item in range(len(start)):
        while cut < len(cut_time) and cut_time[cut] <= start[item]:
            holds[cut_cpu[cut]] = unknown
            cut += 1
        before = holds[cpu[item]]
        if before == fresh:
            cost += first[item]
        elif before >= 0 and len(matrix):
            cost += matrix[content_fragment[before], fragment[item]]
        elif before >= 0:
            cost += content_always[before]
            if content_fragment[before] != fragment[item]:
                cost += content_exit[before] + entry[item]
        holds[cpu[item]] = content[item]
    for other in cut_cpu[cut:]:
        holds[other] = unknown
    for number in range(cpus):
        if holds[number] >= 0:
            cost += content_last[holds[number]]
    return cost


def timeline_of(arrivals: Arrivals, schedule: TimedSchedule) -> FixedTimeline:
    """Return what is to be placed if every dispatch starts as in a schedule.

    Raises
    ------
    DfoptError
        When dispatches or blocks of the schedule overlap on a CPU.
    """
    costs, blocks = arrivals.costs, arrivals.blocks
    evicting = np.flatnonzero(blocks.evicts)
    none = np.zeros(len(evicting), np.int64)
    row = np.concatenate([arrivals.row, blocks.row[evicting]])
    start = np.concatenate([schedule.start, blocks.start[evicting]]).astype(np.int64)
    end = np.concatenate([schedule.start + arrivals.length, blocks.end[evicting]])
    order = np.lexsort((row, end, start))

    def joined(of_dispatches: Integers | Numbers, of_blocks: Integers | Numbers) -> Integers:
        both: Integers = np.concatenate([of_dispatches, of_blocks])[order].astype(np.int64)
        return both

    given = joined(schedule.cpu, blocks.cpu[evicting])
    is_block = order >= len(arrivals)
    start, end = start[order], end[order].astype(np.int64)
    allowed = _without_blocks(arrivals, start, end)
    allowed[is_block] = given[is_block, None] == np.arange(arrivals.cpus)
    by_cpu = np.lexsort((np.arange(len(order)), given))
    before, after = by_cpu[:-1], by_cpu[1:]
    if ((given[before] == given[after]) & (end[before] > start[after])).any():
        raise DfoptError("two dispatches of the schedule overlap on a CPU")
    if not allowed[np.arange(len(order)), given].all():
        raise DfoptError("a dispatch of the schedule overlaps with a block on its CPU")
    left = joined(arrivals.fragment, none + NO_FRAGMENT)
    always, last = joined(costs.always, none), joined(costs.last, blocks.last[evicting])
    leaving = joined(costs.exit, blocks.exit[evicting])
    if costs.matrix.size:
        always, leaving = np.zeros_like(always), np.zeros_like(leaving)
    sample, content = content_classes(left, leaving, always, last)
    cuts = np.argsort(arrivals.cut_time, kind="stable")
    return FixedTimeline(
        cpus=arrivals.cpus,
        row=order,
        start=start,
        end=end,
        given=given,
        allowed=allowed,
        fragment=joined(arrivals.fragment, none + FOREIGN),
        entry=joined(costs.entry, blocks.entry[evicting]),
        first=joined(costs.first, blocks.first[evicting]),
        content=content,
        content_fragment=left[sample],
        content_exit=leaving[sample],
        content_always=always[sample],
        content_last=last[sample],
        matrix=costs.matrix,
        cut_cpu=arrivals.cut_cpu[cuts].astype(np.int64),
        cut_time=arrivals.cut_time[cuts],
    )


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


def content_classes(*columns: Integers) -> tuple[Rows, Integers]:
    """Return a row of each class of equal rows, and the class of each row."""
    order = np.lexsort(columns[::-1])
    is_new = np.zeros(len(order), bool)
    is_new[:1] = True
    for column in columns:
        is_new[1:] |= column[order][1:] != column[order][:-1]
    classes = np.empty(len(order), np.int64)
    classes[order] = np.cumsum(is_new) - 1
    return order[is_new], classes


def with_cpus(
    arrivals: Arrivals, given: TimedSchedule, items: FixedTimeline, cpu: Integers
) -> TimedSchedule:
    """Return a schedule with other CPUs, which are given for each item."""
    cpus = np.empty(len(arrivals), np.int32)
    managed = items.row < len(arrivals)
    cpus[items.row[managed]] = cpu[managed]
    return TimedSchedule(cpu=cpus, start=given.start)
