"""The managed dispatches of a trace, with the times at which each could have started."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches, Rows, dispatches_of
from dfopt.errors import DfoptError
from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.labels.kernel_threads import bound_kernel_threads
from dfopt.trace.readiness import (
    NO_ROW,
    Readiness,
    readiness_of,
    unknown_readiness,
    without_wakeups,
)
from dfopt.trace.trace import UNMANAGED, Trace

NONE = -1
"""Stands for a dispatch where there is none."""

MOST_UNKNOWN = 0.05
"""A trace is refused if it is unknown when more than this share of its dispatches were ready."""

ALWAYS = np.iinfo(np.int64).max
"""The latest start of a dispatch that nothing follows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwitchCosts:
    """The costs of one dispatch after another on a CPU, as columns with a row for each dispatch.

    Parameters
    ----------
    entry
        Paid by a dispatch that follows one of another fragment.
    exit
        Paid after a dispatch that is followed by one of another fragment.
    always
        Paid after a dispatch that is followed by any other one.
    first, last
        Paid by the first dispatch of a CPU, and after its last one.
    matrix
        Under a matrix, the cost of fragment ``column`` after fragment ``row``; it replaces
        ``entry``, ``exit`` and ``always``. Otherwise of shape (0, 0).
    """

    entry: Integers
    exit: Integers
    always: Integers
    first: Integers
    last: Integers
    matrix: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedBlocks:
    """What keeps its CPU and its time in every schedule, ordered by CPU and start.

    These are the dispatches of tasks without a fragment, those of threads of the kernel that run
    on one CPU only, and the gaps of the recording. Only those that evict may have no length.

    Parameters
    ----------
    row
        The row in the trace, or ``NONE`` for a gap.
    cpu, start, end
        The CPU is taken from ``start`` to just before ``end``.
    evicts
        Whether it leaves none of the fragments in the cache.
    entry, exit
        If it evicts: its own costs, and the cost after it if another dispatch follows.
    first, last
        If it evicts: the costs if it is the first of its CPU, and after it if it is the last.
    """

    row: Rows
    cpu: Numbers
    start: Integers
    end: Integers
    evicts: Flags
    entry: Integers
    exit: Integers
    first: Integers
    last: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrivals:
    """The managed dispatches of a trace, and when each was ready.

    They are ordered by recorded start, those of no length first. So each stands after ``previous``
    and ``waker``.

    A task runs its dispatches in their order. One that was woken became ready at some time from
    ``ready_from`` to ``ready_by``; the two are equal where the wake-up is recorded. A dispatch that
    was preempted goes on as the next dispatch of its task, which has the ready times of the first
    one: in other schedules it may follow directly.

    Parameters
    ----------
    cpus
        Number of CPUs that appear in the trace; here they are numbered from 0.
    cpu_number
        The number of each of them in the trace.
    row
        The row of each dispatch in the trace.
    fragment, task
        As in the trace.
    cpu, start
        Where and when it ran.
    length
        The time for which it ran.
    ready_from, ready_by
        It was certainly not ready before the first time, and certainly ready at the second one.
    previous
        The dispatch of the same task before it, which ends before it starts; or ``NONE``.
    previous_end
        The recorded end of the task's dispatch before it, managed or not; the smallest integer if
        there is none.
    waker, waker_offset
        The dispatch that woke it, and how long this one had run by then. It starts only after
        its waker has run for that time. ``NONE`` and 0 where an interrupt or a block woke it.
    continues
        Whether it goes on with what the dispatch before it was preempted in.
    latest
        It starts at the latest then, because something that keeps its time follows it; the largest
        integer if there is nothing.
    costs
        What switches cost.
    blocks
        What keeps its place in every schedule.
    cut_cpu, cut_time
        Nothing is known about the cache of this CPU at this time: no switch across it is charged.
    unknown
        The number of dispatches of which it is unknown when they were ready.
    kept
        The number of dispatches that have a fragment and keep their place all the same, because
        they are of threads of the kernel that run on one CPU only.
    warnings
        What a user needs to know before trusting the ready times, a line each.
    """

    cpus: int
    cpu_number: Numbers
    row: Rows
    fragment: Numbers
    task: Numbers
    cpu: Numbers
    start: Integers
    length: Integers
    ready_from: Integers
    ready_by: Integers
    previous: Rows
    previous_end: Integers
    waker: Rows
    waker_offset: Integers
    continues: Flags
    latest: Integers
    costs: SwitchCosts
    blocks: FixedBlocks
    cut_cpu: Numbers
    cut_time: Integers
    unknown: int = 0
    kept: int = 0
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of dispatches."""
        return len(self.row)

    def followers(self) -> tuple[Rows, Rows, Rows]:
        """Return the next dispatch of each one's task, and those that each one wakes.

        The next one is ``NONE`` where there is none. Dispatch j wakes those in the second column
        from place ``j`` of the third one to just before place ``j + 1``.
        """
        following = np.full(len(self), NONE, np.intp)
        rows = np.flatnonzero(self.previous != NONE)
        following[self.previous[rows]] = rows
        woken = np.flatnonzero(self.waker != NONE)
        woken = woken[np.argsort(self.waker[woken], kind="stable")]
        return following, woken, np.searchsorted(self.waker[woken], np.arange(len(self) + 1))

    def latest_starts(self, wait: int | None) -> Integers:
        """Return when each dispatch may start at the latest if ``wait`` is permitted.

        That is ``wait`` after it was ready in the recording, or its recorded start if that is
        later. Where it is unknown when it was ready, the earliest possible time counts. If ``wait``
        is None, only what follows it limits a dispatch.
        """
        if wait is None:
            return self.latest
        ready = np.maximum(self.ready_from, self.previous_end)
        times: Integers = np.minimum(self.latest, np.maximum(self.start, ready + wait))
        return times

    def latest_starts_for_bounds(self, wait: int) -> Integers:
        """Return times that are no earlier than :meth:`latest_starts`, whatever was missing."""
        ready = np.maximum(self.ready_by, self.previous_end)
        times: Integers = np.maximum(self.start, ready + wait)
        return times


def arrivals_of(trace: Trace, model: CostModel, *, timeline_only: bool = False) -> Arrivals:
    """Return the managed dispatches of a trace, and when each was ready.

    Parameters
    ----------
    trace
        Labelled.
    model
        What switches cost, and whether tasks without a fragment evict.
    timeline_only
        Do not ask when dispatches were ready: each counts as ready at its start. This is enough
        for schedules in which every dispatch keeps its start, and no trace is refused.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment, or it is unknown when too many of them were ready.
    InstanceError
        When the model does not say what a dispatch costs.
    """
    dispatches = dispatches_of(trace, model)
    readiness = unknown_readiness(trace) if timeline_only else readiness_of(trace)
    labelled = trace.fragment != UNMANAGED
    managed = labelled & ~bound_kernel_threads(trace)[trace.task]
    row = np.lexsort((trace.end, trace.start))
    row = row[managed[row]]
    if not len(row):
        raise DfoptError(
            "only threads of the kernel have a fragment, and each of them runs on one CPU only; "
            "label those of programs, too (`labels`)"
        )
    unknown = int((~readiness.known[row]).sum())
    if not timeline_only:
        _check_known(trace, readiness, unknown, len(row))
    # The place of each row of the trace among the managed ones; the last entry is for NO_ROW.
    place = np.full(len(trace) + 1, NONE, np.intp)
    place[row] = np.arange(len(row))
    length = (trace.end - trace.start)[row]
    before = readiness.previous[row]
    previous = place[before]
    # A block does not move, so what follows it in its task is ready once it has ended.
    after_block = (before != NO_ROW) & (previous == NONE)
    block_end = np.where(after_block, readiness.previous_end[row], readiness.ready_from[row])
    waker = place[readiness.waker[row]]

    # What a dispatch precedes or wakes, and what does not move, limits its start.
    others = np.flatnonzero(~managed)
    latest = np.full(len(row), ALWAYS)
    followed = place[readiness.previous[others]]
    chosen = followed != NONE
    np.minimum.at(latest, followed[chosen], trace.start[others[chosen]] - length[followed[chosen]])
    wakes = place[readiness.waker[others]]
    chosen = wakes != NONE
    at = trace.start[others[chosen]] - readiness.waker_offset[others[chosen]]
    np.minimum.at(latest, wakes[chosen], at)

    cpu_number, cpu = np.unique(trace.cpu, return_inverse=True)
    costs, blocks = _costs(trace, model, dispatches, row, others)
    cut_cpu, cut_time = _cuts(dispatches, cpu_number)
    return Arrivals(
        cpus=len(cpu_number),
        cpu_number=cpu_number,
        row=row,
        fragment=trace.fragment[row],
        task=trace.task[row],
        cpu=cpu[row].astype(np.int32),
        start=trace.start[row],
        length=length,
        ready_from=np.maximum(readiness.ready_from[row], block_end),
        ready_by=np.maximum(readiness.ready_by[row], block_end),
        previous=previous,
        previous_end=readiness.previous_end[row],
        waker=waker,
        waker_offset=np.where(waker == NONE, 0, readiness.waker_offset[row]),
        continues=readiness.continues[row],
        latest=latest,
        costs=costs,
        blocks=blocks,
        cut_cpu=cut_cpu,
        cut_time=cut_time,
        unknown=unknown,
        kept=int((labelled & ~managed).sum()),
        warnings=readiness.warnings,
    )


def arrivals_or_timeline(trace: Trace, model: CostModel) -> tuple[Arrivals, str | None]:
    """Return what :func:`arrivals_of` does, or only the timeline where it refuses the trace.

    Returns
    -------
    tuple
        The dispatches, and why it is not known when they were ready; None if it is known.

    Raises
    ------
    DfoptError, InstanceError
        When not even the timeline can be compared.
    """
    try:
        return arrivals_of(trace, model), None
    except DfoptError as error:
        # If it is not about waking up, it comes again here.
        return arrivals_of(trace, model, timeline_only=True), error.problem


def _check_known(trace: Trace, readiness: Readiness, unknown: int, count: int) -> None:
    """Refuse a trace that does not tell when its dispatches were ready."""
    left = "only the same timeline and the order-free figures exist"
    no_wakeups = without_wakeups(trace)
    if no_wakeups is not None:
        raise DfoptError(f"the trace has no wake-ups, so that {left}; {no_wakeups}")
    if unknown > MOST_UNKNOWN * count:
        remedy = (
            "; record sched:sched_waking and sched:sched_wakeup_new on all CPUs, with a larger "
            "buffer"
        )
        if readiness.warnings:
            remedy = f". {', '.join(readiness.warnings)}"
        raise DfoptError(
            f"it is unknown when {unknown} of {count} dispatches were ready, more than "
            f"{MOST_UNKNOWN:.0%}, so that {left}{remedy}"
        )


def _costs(
    trace: Trace, model: CostModel, dispatches: Dispatches, row: Rows, others: Rows
) -> tuple[SwitchCosts, FixedBlocks]:
    """Return the costs of the managed dispatches, and the blocks with theirs."""

    def by_row(column: Integers) -> Integers:
        found = np.zeros(len(trace), np.int64)
        found[dispatches.row] = column
        return found

    own = switch_costs(dispatches, model)
    entry, leaving, always = by_row(own.entry), by_row(own.exit), by_row(own.always)
    first, last = by_row(own.first), by_row(own.last)
    costs = SwitchCosts(
        entry=entry[row],
        exit=leaving[row],
        always=always[row],
        first=first[row],
        last=last[row],
        matrix=own.matrix,
    )
    evicts = model.unmanaged == "evict"
    if not evicts:
        others = others[trace.end[others] > trace.start[others]]
    cpu_number = np.unique(trace.cpu)
    gap_cpu, gap_start, gap_end = _gaps(trace, cpu_number)
    none = np.zeros(len(gap_cpu), np.int64)

    def joined(column: Integers) -> Integers:
        return np.concatenate([column[others] * evicts, none])

    cpu = np.concatenate([trace.cpu[others], gap_cpu])
    start = np.concatenate([trace.start[others], gap_start])
    end = np.concatenate([trace.end[others], gap_end])
    order = np.lexsort((end, start, cpu))
    blocks = FixedBlocks(
        row=np.concatenate([others, np.full(len(none), NONE)])[order],
        cpu=np.searchsorted(cpu_number, cpu[order]).astype(np.int32),
        start=start[order],
        end=end[order],
        evicts=np.concatenate([np.full(len(others), evicts), none != 0])[order],
        entry=joined(entry)[order],
        exit=joined(leaving + always)[order],
        first=joined(first)[order],
        last=joined(last)[order],
    )
    return costs, blocks


def switch_costs(dispatches: Dispatches, model: CostModel) -> SwitchCosts:
    """Return the costs of dispatches that count under a model."""
    entry, leaving, always = dispatches.entry, dispatches.exit, dispatches.always
    first = entry * model.cold_start
    last = (leaving + always) * model.final_write_back
    matrix = np.zeros((0, 0), np.int64)
    if dispatches.types is not None:
        matrix = np.array(dispatches.types.switch, np.int64)
        fragment = dispatches.fragment
        first = np.array(dispatches.types.start, np.int64)[fragment] * model.cold_start
        last = np.array(dispatches.types.finish, np.int64)[fragment] * model.final_write_back
    return SwitchCosts(
        entry=entry, exit=leaving, always=always, first=first, last=last, matrix=matrix
    )


def _gaps(trace: Trace, cpu_number: Numbers) -> tuple[Numbers, Integers, Integers]:
    """Return CPU, start and end of the gaps of these CPUs, cut so that they do not overlap."""
    gaps = trace.gaps
    start = gaps.start.copy()
    for number in np.unique(gaps.cpu):
        own = np.flatnonzero(gaps.cpu == number)
        over = np.maximum.accumulate(gaps.end[own])
        start[own[1:]] = np.maximum(start[own[1:]], over[:-1])
    chosen = (start < gaps.end) & np.isin(gaps.cpu, cpu_number)
    return gaps.cpu[chosen], start[chosen], gaps.end[chosen]


def _cuts(dispatches: Dispatches, cpu_number: Numbers) -> tuple[Numbers, Integers]:
    """Return CPUs and times across which nothing is charged, by CPU and time."""
    cpu, time = dispatches.gap_cpu, dispatches.gap_end
    # A gap with no dispatch after it cuts nothing.
    chosen = (time <= dispatches.start[-1]) & np.isin(cpu, cpu_number)
    cpu, time = cpu[chosen], time[chosen]
    order = np.lexsort((time, cpu))
    return np.searchsorted(cpu_number, cpu[order]).astype(np.int32), time[order]
