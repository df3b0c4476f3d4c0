"""The dispatches of a trace as one table: what each uses and costs, and when it was ready.

A schedule of a trace is this table with other CPUs and starts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import described
from dfopt.compare.cost_model import CostModel, switch_costs
from dfopt.errors import DfoptError
from dfopt.problem.cache import CLEAN, DIRTY, INVALIDATED
from dfopt.structs import replace
from dfopt.trace import Trace
from dfopt.trace.events import Columns, Flags, Integers, Numbers
from dfopt.trace.labels.kernel_threads import bound_kernel_threads
from dfopt.trace.readiness import (
    NO_ROW,
    Readiness,
    readiness_of,
    unknown_readiness,
    without_wakeups,
)
from dfopt.trace.trace import BROKEN_CHAIN, UNMANAGED

Rows = NDArray[np.intp]

NONE = NO_ROW
"""Stands for a dispatch where there is none; before the first one of a CPU the cache is as at the
beginning of the trace."""

UNKNOWN = -2
"""Stands before the first dispatch after a cut: nothing is known about the cache."""

TRANSPARENT = -2
"""The fragment of what keeps a CPU and leaves its cache as it is."""

MOST_UNKNOWN = 0.05
"""A trace is refused if it is unknown when more than this share of its dispatches were ready."""

ALWAYS = np.iinfo(np.int64).max
"""The latest start of a dispatch that nothing follows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cuts(Columns):
    """At these times nothing is known about the cache of a CPU: no switch across is charged.

    Parameters
    ----------
    cpu, time
        Ordered by time, then CPU.
    """

    cpu: Numbers
    time: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dispatches(Columns):
    """Dispatches of a trace, with a schedule: on which CPU each runs, and from when on.

    Parameters
    ----------
    cpus
        Number of CPUs; here they are numbered from 0.
    cpu_number
        The number of each of them in the trace.
    row
        The row of each dispatch in the trace; ``NONE`` for a gap.
    task
        As in the trace.
    fragment
        As in the trace; ``UNMANAGED`` for one that evicts whatever it finds, ``TRANSPARENT`` for
        one that leaves caches as they are.
    cpu, start
        Where and when it runs.
    recorded
        When it started in the recording.
    length
        The time for which it runs.
    entry
        Paid by a dispatch that follows one of another fragment.
    exit
        Paid after a dispatch that is followed by one of another fragment.
    always
        Paid after a dispatch that is followed by any other one.
    first, last
        Paid by the first dispatch of a CPU, and after its last one.
    ready_from, ready_by
        It was certainly not ready before the first time, and certainly ready at the second one.
        The two are equal where the wake-up is recorded. A dispatch that goes on with what the one
        before it was preempted in has the ready times of the first one: in other schedules it may
        follow directly.
    previous
        The dispatch of the same task before it, which ends before it starts; or ``NONE``.
    previous_end
        The recorded end of the task's dispatch before it, in this table or not; the smallest
        integer if there is none.
    known
        Whether the recording tells when it was ready, or that it was preempted before.
    waker, waker_offset
        The dispatch that woke it, and how long this one had run by then. It starts only after
        its waker has run for that time. ``NONE`` and 0 where an interrupt woke it, or what is
        fixed.
    continues
        Whether it goes on with what the dispatch before it was preempted in.
    latest
        It starts at the latest then, because something that is fixed follows it; the largest
        integer if there is nothing.
    matrix
        Under a matrix, the cost of fragment ``column`` after fragment ``row``; it replaces
        ``entry``, ``exit`` and ``always``. Otherwise of shape (0, 0).
    cuts
        Where nothing is known about caches.
    around
        What is fixed, see :attr:`fixed`; None: nothing.
    kept
        The number of dispatches that have a fragment and are fixed all the same, because they are
        of threads of the kernel that run on one CPU only.
    warnings
        What a user needs to know before trusting the ready times, a line each.
    """

    cpus: int
    cpu_number: tuple[int, ...]
    row: Rows
    task: Numbers
    fragment: Numbers
    cpu: Numbers
    start: Integers
    recorded: Integers
    length: Integers
    entry: Integers
    exit: Integers
    always: Integers
    first: Integers
    last: Integers
    ready_from: Integers
    ready_by: Integers
    previous: Rows
    previous_end: Integers
    known: Flags
    waker: Rows
    waker_offset: Integers
    continues: Flags
    latest: Integers
    matrix: NDArray[np.int64]
    cuts: Cuts
    around: Dispatches | None = None
    kept: int = 0
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of dispatches, without those that are fixed."""
        return len(self.row)

    @property
    def end(self) -> Integers:
        """When each dispatch ends."""
        return self.start + self.length

    @property
    def unknown(self) -> int:
        """The number of dispatches of which it is unknown when they were ready."""
        return int((~self.known).sum())

    @property
    def managed(self) -> Flags:
        """Whether each dispatch has a fragment that others share."""
        return np.greater_equal(self.fragment, 0)

    @property
    def leaves(self) -> Integers:
        """The state in which each leaves its fragment, as an index; clean where that is free."""
        return np.select([self.exit > 0, self.always > 0], [DIRTY, INVALIDATED], CLEAN)

    def moved(self, cpu: NDArray[np.integer], start: Integers) -> Dispatches:
        """Return another schedule of the same dispatches."""
        return replace(self, cpu=cpu.astype(np.int32), start=start)

    @property
    def fixed(self) -> Dispatches:
        """What keeps its CPU and its time in every schedule, ordered by CPU and start.

        These are the dispatches of tasks without a fragment, those of threads of the kernel that
        run on one CPU only, and the gaps of the recording. Only those that evict may have no
        length.
        """
        return self.chosen(self.row[:0]) if self.around is None else self.around

    @property
    def with_fixed(self) -> Dispatches:
        """These dispatches, and then those that are fixed."""
        return self if self.around is None else replace(self.joined(self.around), around=None)

    @property
    def paying(self) -> Dispatches:
        """The dispatches that pay for switches: these, and then what is fixed and evicts."""
        every = self.with_fixed
        return every.chosen(every.fragment != TRANSPARENT)

    @property
    def waits(self) -> Integers:
        """For how long each dispatch is ready before it starts.

        It is ready when it was woken in the recording, and its task's dispatch before it has ended.
        """
        ends = np.where(self.previous == NONE, self.ready_by, self.end[self.previous])
        return self.start - np.maximum(self.ready_by, ends)

    def latest_starts(self, wait: int | None) -> Integers:
        """Return when each dispatch may start at the latest if ``wait`` is permitted.

        That is ``wait`` after it was ready in the recording, or its recorded start if that is
        later. Where it is unknown when it was ready, the earliest possible time counts. If ``wait``
        is None, only what follows it limits a dispatch.
        """
        if wait is None:
            return self.latest
        ready = np.maximum(self.ready_from, self.previous_end)
        times: Integers = np.minimum(self.latest, np.maximum(self.recorded, ready + wait))
        return times

    def latest_starts_for_bounds(self, wait: int) -> Integers:
        """Return times that are no earlier than :meth:`latest_starts`, whatever was missing."""
        ready = np.maximum(self.ready_by, self.previous_end)
        times: Integers = np.maximum(self.recorded, ready + wait)
        return times


def dispatches_of(trace: Trace, model: CostModel) -> Dispatches:
    """Return the dispatches of a labelled trace that count under a model, in their order.

    Nothing is asked about when they were ready, and nothing is fixed.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment, or this is no trace.
    InstanceError
        When the model does not say what a dispatch costs.
    """
    _check_trace(trace)
    every = _every_row(trace, model, unknown_readiness(trace))
    return every if model.unmanaged == "evict" else every.chosen(every.managed)


def movable_dispatches(
    trace: Trace, model: CostModel, *, timeline_only: bool = False
) -> Dispatches:
    """Return the dispatches of a labelled trace that a schedule may move, and what is fixed.

    They are ordered by recorded start, those of no length first. So each stands after ``previous``
    and ``waker``. CPUs that the trace does not use are left out.

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
    readiness = unknown_readiness(trace) if timeline_only else readiness_of(trace)
    every = _every_row(trace, model, readiness)
    numbers, cpu = np.unique(trace.cpu, return_inverse=True)
    cuts = every.cuts.chosen(np.isin(every.cuts.cpu, numbers))
    every = replace(
        every,
        cpus=len(numbers),
        cpu_number=tuple(numbers.tolist()),
        cpu=cpu.astype(np.int32),
        cuts=replace(cuts, cpu=np.searchsorted(numbers, cuts.cpu).astype(np.int32)),
    )
    movable = every.managed & ~bound_kernel_threads(trace)[trace.task]
    row = np.lexsort((every.end, every.start))
    row = row[movable[row]]
    if not len(row):
        raise DfoptError(
            "only threads of the kernel have a fragment, and each of them runs on one CPU only; "
            "label those of programs, too (`labels`)"
        )
    own = every.chosen(row)
    if not timeline_only:
        _check_known(trace, readiness, own.unknown, len(own))
    # The place of each row of the trace among the movable ones; the last entry is for NO_ROW.
    place = np.full(len(trace) + 1, NONE, np.intp)
    place[row] = np.arange(len(row))
    # What is fixed does not move, so what follows it in its task is ready once it has ended.
    previous, waker = place[own.previous], place[own.waker]
    after_fixed = (own.previous != NONE) & (previous == NONE)
    fixed_end = np.where(after_fixed, own.previous_end, own.ready_from)

    # What a dispatch precedes or wakes, and what is fixed, limits its start.
    others = np.flatnonzero(~movable)
    latest, after, woken = np.full(len(row), ALWAYS), place[every.previous], place[every.waker]
    for cause, lag in ((after, own.length[after]), (woken, every.waker_offset)):
        limited = others[cause[others] != NONE]
        np.minimum.at(latest, cause[limited], (every.start - lag)[limited])
    if model.unmanaged == "transparent":
        others = others[every.length[others] > 0]
    return replace(
        own,
        ready_from=np.maximum(own.ready_from, fixed_end),
        ready_by=np.maximum(own.ready_by, fixed_end),
        previous=previous,
        waker=waker,
        waker_offset=np.where(waker == NONE, 0, own.waker_offset),
        latest=latest,
        around=_fixed(every, others, trace, model),
        kept=int((every.managed & ~movable).sum()),
        warnings=readiness.warnings,
    )


def movable_or_timeline(trace: Trace, model: CostModel) -> tuple[Dispatches, str | None]:
    """Return what :func:`movable_dispatches` does, or only the timeline where it refuses the trace.

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
        return movable_dispatches(trace, model), None
    except DfoptError as error:
        # If it is not about waking up, it comes again here.
        return movable_dispatches(trace, model, timeline_only=True), error.problem


def _check_trace(trace: object) -> None:
    """Refuse what callers without a type checker may take for a trace."""
    if not isinstance(trace, Trace):
        problem = f"must be a Trace, not {described(trace)}; dfopt.read_trace(path) reads a file"
        raise DfoptError(problem, place="trace")


def _every_row(trace: Trace, model: CostModel, readiness: Readiness) -> Dispatches:
    """Return every dispatch of a labelled trace, in the order of the trace."""
    if (trace.fragment == UNMANAGED).all():
        raise DfoptError(
            "no dispatch has a fragment; dfopt.label(trace, source) says which ones threads use"
        )
    counts = (trace.fragment != UNMANAGED) | (model.unmanaged == "evict")
    gaps = trace.gaps
    cutting = np.ones(len(gaps), bool)
    if model.broken_chains == "bridge" and BROKEN_CHAIN in gaps.reasons:
        cutting = gaps.reason != gaps.reasons.index(BROKEN_CHAIN)
    # A gap with no dispatch after it cuts nothing.
    cutting &= gaps.end <= trace.start[counts][-1]
    cuts = Cuts(cpu=gaps.cpu[cutting], time=gaps.end[cutting])
    costs, matrix = switch_costs(trace, model)
    return Dispatches(
        cpus=trace.cpus,
        cpu_number=tuple(range(trace.cpus)),
        row=np.arange(len(trace)),
        task=trace.task,
        fragment=trace.fragment,
        cpu=trace.cpu,
        start=trace.start,
        recorded=trace.start,
        length=trace.end - trace.start,
        **costs,
        **readiness.columns(),
        latest=trace.start,
        matrix=matrix,
        cuts=cuts.chosen(np.lexsort((cuts.cpu, cuts.time))),
    )


def _fixed(every: Dispatches, others: Rows, trace: Trace, model: CostModel) -> Dispatches:
    """Return what is fixed, by CPU and start: these rows of a trace, and its gaps."""
    gap_cpu, gap_start, gap_end = _gaps(trace, every.cpu_number)
    # Of gaps everything is replaced that is taken from the first row here.
    fixed = every.chosen(np.append(others, np.zeros(len(gap_cpu), np.intp)))
    is_gap = np.arange(len(fixed)) >= len(others)
    evicts = ~is_gap & (model.unmanaged == "evict")
    start = np.append(every.start[others], gap_start)
    fixed = replace(
        fixed,
        row=np.where(is_gap, NONE, fixed.row),
        fragment=np.where(evicts, UNMANAGED, TRANSPARENT).astype(np.int32),
        cpu=np.append(every.cpu[others], gap_cpu).astype(np.int32),
        start=start,
        recorded=start,
        length=np.append(every.end[others], gap_end) - start,
        entry=fixed.entry * evicts,
        # Whatever follows is of another fragment.
        exit=(fixed.exit + fixed.always) * evicts,
        always=np.zeros(len(fixed), np.int64),
        first=fixed.first * evicts,
        last=fixed.last * evicts,
    )
    return fixed.chosen(np.lexsort((fixed.end, fixed.start, fixed.cpu)))


def _gaps(trace: Trace, numbers: tuple[int, ...]) -> tuple[Rows, Integers, Integers]:
    """Return CPU, start and end of the gaps of these CPUs, cut so that they do not overlap."""
    gaps = trace.gaps
    start = gaps.start.copy()
    for number in np.unique(gaps.cpu):
        own = np.flatnonzero(gaps.cpu == number)
        over = np.maximum.accumulate(gaps.end[own])
        start[own[1:]] = np.maximum(start[own[1:]], over[:-1])
    chosen = (start < gaps.end) & np.isin(gaps.cpu, numbers)
    return np.searchsorted(numbers, gaps.cpu[chosen]), start[chosen], gaps.end[chosen]


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
