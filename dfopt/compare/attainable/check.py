"""Check a schedule that keeps cause and effect, by the definitions alone.

Nothing here is shared with the searches, nor with :func:`~.timed_schedule.cost_of`: a mistake there
is not made again here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.trace.events import Integers

MOST_NAMED = 20
"""At most this number of dispatches are named for each rule that is broken."""


def check_schedule(arrivals: Arrivals, schedule: TimedSchedule, limit: WaitingLimit) -> list[str]:
    """Return what is wrong with a schedule, a sentence for each problem; none if all is well.

    Parameters
    ----------
    arrivals
        What was recorded.
    schedule
        Where and when each dispatch runs.
    limit
        How long dispatches may wait.

    Returns
    -------
    list of str
        Which dispatch (its row in the trace), where and why. Times are in the trace's unit.
    """
    dispatches = len(arrivals.row)
    for name, column in (("CPUs", schedule.cpu), ("starts", schedule.start)):
        if len(column) != dispatches:
            return [f"The schedule has {len(column)} {name} for {dispatches} dispatches."]
    unknown = (schedule.cpu < 0) | (schedule.cpu >= arrivals.cpus)
    problems = _each(
        unknown,
        lambda j: (
            f"{_name(arrivals, j)} is on CPU {schedule.cpu[j]} of a trace with "
            f"{arrivals.cpus} CPUs, which are counted from 0."
        ),
    )
    if problems:
        return problems
    problems += _early(arrivals, schedule)
    problems += _late(arrivals, schedule, limit)
    problems += _waits(arrivals, schedule, limit)
    problems += _overlaps(arrivals, schedule)
    return problems


def checked_cost(arrivals: Arrivals, schedule: TimedSchedule) -> int:
    """Return what all switches of a schedule cost, added up one after the other.

    Dispatches and evicting blocks of a CPU stand in the order of their starts. Where two start at
    once, the shorter one stands first, then the one in the earlier row of the trace.
    """
    on_cpu: list[list[tuple[int, int, int, int]]] = [[] for _ in range(arrivals.cpus)]
    lengths, rows, dispatches = arrivals.length.tolist(), arrivals.row.tolist(), len(arrivals.row)
    for j, (cpu, start) in enumerate(
        zip(schedule.cpu.tolist(), schedule.start.tolist(), strict=True)
    ):
        on_cpu[cpu].append((start, lengths[j], rows[j], j))
    blocks = arrivals.blocks
    for b in np.flatnonzero(blocks.evicts).tolist():
        start = int(blocks.start[b])
        length = int(blocks.end[b]) - start
        on_cpu[blocks.cpu[b]].append((start, length, int(blocks.row[b]), dispatches + b))
    cuts: list[list[int]] = [[] for _ in range(arrivals.cpus)]
    for cpu, time in zip(arrivals.cut_cpu.tolist(), arrivals.cut_time.tolist(), strict=True):
        cuts[cpu].append(time)
    return sum(
        _cost_of_cpu(arrivals, sorted(elements), sorted(times))
        for elements, times in zip(on_cpu, cuts, strict=True)
    )


def _cost_of_cpu(
    arrivals: Arrivals, elements: list[tuple[int, int, int, int]], cuts: list[int]
) -> int:
    """Return what the switches of one CPU cost; an element is (start, length, row, number).

    Numbers from the number of dispatches on stand for blocks.
    """
    costs, blocks, dispatches = arrivals.costs, arrivals.blocks, len(arrivals.row)
    fragments = arrivals.fragment

    def of(element: int, column: str) -> int:
        if element < dispatches:
            return int(getattr(costs, column)[element])
        return int(getattr(blocks, column)[element - dispatches])

    total, passed = 0, 0
    before = NONE
    for start, _, _, element in elements:
        cut = False
        while passed < len(cuts) and cuts[passed] <= start:
            passed, cut = passed + 1, True
        if before == NONE:
            if passed == 0:
                total += of(element, "first")
        elif not cut:
            managed = before < dispatches and element < dispatches
            if costs.matrix.size:
                total += int(costs.matrix[fragments[before], fragments[element]])
            else:
                if before < dispatches:
                    total += of(before, "always")
                if not (managed and fragments[before] == fragments[element]):
                    total += of(before, "exit") + of(element, "entry")
        before = element
    if before != NONE and passed == len(cuts):
        total += of(before, "last")
    return total


def _name(arrivals: Arrivals, j: int) -> str:
    """Return what a dispatch is called in a problem."""
    return f"The dispatch in row {arrivals.row[j]} (task {arrivals.task[j]})"


def _each(wrong: NDArray[np.bool_], sentence: Callable[[int], str]) -> list[str]:
    """Return a sentence for each dispatch that is wrong; at most ``MOST_NAMED``, and the rest."""
    numbers = np.flatnonzero(wrong).tolist()
    sentences = [sentence(j) for j in numbers[:MOST_NAMED]]
    if len(numbers) > MOST_NAMED:
        sentences.append(f"The same holds for {len(numbers) - MOST_NAMED} other dispatches.")
    return sentences


def _early(arrivals: Arrivals, schedule: TimedSchedule) -> list[str]:
    """Return which dispatches start before something that has to come first."""
    start, ready = schedule.start, arrivals.ready_by
    problems = _each(
        start < ready,
        lambda j: (
            f"{_name(arrivals, j)} starts at {start[j]}, but it was ready only at {ready[j]}."
        ),
    )
    previous, waker = arrivals.previous, arrivals.waker
    end = start[previous] + arrivals.length[previous]
    problems += _each(
        (previous != NONE) & (start < end),
        lambda j: (
            f"{_name(arrivals, j)} starts at {start[j]}, but the dispatch before it of the same "
            f"task, in row {arrivals.row[previous[j]]}, ends only at {end[j]}."
        ),
    )
    woken = start[waker] + arrivals.waker_offset
    problems += _each(
        (waker != NONE) & (start < woken),
        lambda j: (
            f"{_name(arrivals, j)} starts at {start[j]}, but the dispatch in row "
            f"{arrivals.row[waker[j]]} wakes it only at {woken[j]}."
        ),
    )
    return problems


def _late(arrivals: Arrivals, schedule: TimedSchedule, limit: WaitingLimit) -> list[str]:
    """Return which dispatches start later than they may."""
    start, latest = schedule.start, arrivals.latest
    problems = _each(
        start > latest,
        lambda j: (
            f"{_name(arrivals, j)} starts at {start[j]}, but something that keeps its time "
            f"follows it, so that it starts at {latest[j]} at the latest."
        ),
    )
    if limit.each is None:
        return problems
    permitted = np.maximum(arrivals.ready_from, arrivals.previous_end) + limit.each
    permitted = np.maximum(arrivals.start, permitted)
    problems += _each(
        start > permitted,
        lambda j: (
            f"{_name(arrivals, j)} starts at {start[j]}; if it may wait for {limit.each}, it has "
            f"to start by {permitted[j]}."
        ),
    )
    return problems


def _waits(arrivals: Arrivals, schedule: TimedSchedule, limit: WaitingLimit) -> list[str]:
    """Return which limits on all waits together are broken."""
    ready = arrivals.ready_by.copy()
    later = np.flatnonzero(arrivals.previous != NONE)
    before = arrivals.previous[later]
    ends = schedule.start[before] + arrivals.length[before]
    ready[later] = np.maximum(ready[later], ends)
    waits: Integers = schedule.start - ready
    problems = []
    total = int(waits.sum())
    if limit.total is not None and total > limit.total:
        problems.append(f"All dispatches wait for {total} together; permitted is {limit.total}.")
    if limit.long is not None and limit.most_long is not None:
        number = int((waits > limit.long).sum())
        if number > limit.most_long:
            problems.append(
                f"{number} dispatches wait longer than {limit.long}; permitted is that "
                f"{limit.most_long} do."
            )
    return problems


def _overlaps(arrivals: Arrivals, schedule: TimedSchedule) -> list[str]:
    """Return which dispatches start while their CPU is taken, or run into a block."""
    blocks, dispatches = arrivals.blocks, len(arrivals.row)
    cpu = np.concatenate([schedule.cpu, blocks.cpu])
    start = np.concatenate([schedule.start, blocks.start])
    end = np.concatenate([schedule.start + arrivals.length, blocks.end])
    overlapping = np.zeros(len(cpu), np.bool_)
    other = np.full(len(cpu), NONE)
    for number in range(arrivals.cpus):
        own = np.flatnonzero(cpu == number)
        own = own[np.lexsort((end[own], start[own]))]
        # The element before that ends last is the first one from which this end is known.
        ends = np.maximum.accumulate(end[own])
        latest = np.searchsorted(ends, ends, side="left")[:-1]
        # Blocks may overlap each other, as a gap does with what is known of the time within it.
        managed = (own[1:] < dispatches) | (own[latest] < dispatches)
        wrong = np.flatnonzero((start[own[1:]] < ends[:-1]) & managed)
        overlapping[own[1:][wrong]] = True
        other[own[1:][wrong]] = own[latest[wrong]]

    def describe(element: int) -> str:
        if element < dispatches:
            return f"the dispatch in row {arrivals.row[element]}"
        return "something that keeps its place"

    def sentence(element: int) -> str:
        what = describe(element)
        return (
            f"{what[0].upper()}{what[1:]} starts at {start[element]} on CPU "
            f"{arrivals.cpu_number[cpu[element]]}, which {describe(int(other[element]))} takes "
            f"until {end[other[element]]}."
        )

    return _each(overlapping, sentence)
