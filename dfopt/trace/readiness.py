"""When the tasks of a trace were ready to run, as far as its events tell.

A task that slept is ready once it is woken. One that was preempted is ready at once: its dispatches
from a wake-up to the next sleep are a *burst*, and all of them have the ready times of the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfopt.errors import DfoptError
from dfopt.render import counted
from dfopt.trace.events import Columns, Flags, Integers, Numbers, Stop, Stops
from dfopt.trace.moments import Moments
from dfopt.trace.trace import REQUEST_LOG, Trace

Rows = NDArray[np.intp]

NO_ROW = -1
"""Stands for the row of a dispatch where there is none."""

NEVER = np.iinfo(np.int64).min
"""A time before all others."""

LATEST = np.iinfo(np.int64).max
"""A time after all others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readiness(Columns):
    """When each dispatch of a trace was ready, as columns with a row for each dispatch.

    Parameters
    ----------
    previous
        The row of the same task's dispatch before it, or ``NO_ROW``.
    previous_end
        When that one ended; ``NEVER`` if there is none.
    continues
        Whether it goes on with what the dispatch before it was preempted in.
    ready_from, ready_by
        It was certainly not ready before the first time, and certainly ready at the second one,
        which is no later than its start.
    known
        Whether the trace tells when it was ready, or that it was preempted before.
    waker, waker_offset
        The row of the dispatch that woke it, and how long this one had run by then. ``NO_ROW`` and
        0 where it goes on, where an interrupt woke it, or where the waker did not run at that time.
    warnings
        What a user needs to know before trusting these times, a line each.
    """

    previous: Rows
    previous_end: Integers
    continues: Flags
    ready_from: Integers
    ready_by: Integers
    known: Flags
    waker: Rows
    waker_offset: Integers
    warnings: tuple[str, ...] = ()


def without_wakeups(trace: Trace) -> str | None:
    """Return how to get wake-ups into a trace that has none; None if it has some."""
    if len(trace.wakeups.time) or len(trace.first_wakeups.time):
        return None
    if trace.header.source == REQUEST_LOG:
        return "import the log with `arrival`, too"
    return "record sched:sched_waking, too"


def unknown_readiness(trace: Trace) -> Readiness:
    """Return that nothing is known: each dispatch may have become ready when it started."""
    count = len(trace)
    begin = int(trace.start.min()) if count else 0
    return Readiness(
        previous=np.full(count, NO_ROW, np.intp),
        previous_end=np.full(count, NEVER),
        continues=np.zeros(count, bool),
        ready_from=np.full(count, begin, np.int64),
        ready_by=trace.start,
        known=np.zeros(count, bool),
        waker=np.full(count, NO_ROW, np.intp),
        waker_offset=np.zeros(count, np.int64),
    )


def readiness_of(trace: Trace) -> Readiness:
    """Return when each dispatch of a trace was ready.

    Raises
    ------
    DfoptError
        When a task runs on two CPUs at once.

    Notes
    -----
    The first rule that fits decides:

    - The task was woken after the dispatch before ended, or before its first dispatch: ready from
      the first of these wake-ups, and certainly by the last one. If there are several, the task
      ran unseen between them. If the dispatch before was preempted, the task was about to sleep,
      or went on unseen: ready from the time from which that one was.
    - The task's dispatch before was preempted: ready as that one.
    - It was woken while the dispatch before ran: ready then. (The kernel may wake a task that is
      about to sleep.)
    - It was forked, and no first wake-up is recorded: ready from the fork, and by its start.
    - Nothing is known: ready from the end of the dispatch before, and by its start. If it is not
      known that this one slept, from the time from which it was ready itself.

    In any case it was not ready before the end of a gap in which its task ran last.
    """
    runs = _TaskRuns(trace)
    wakeups = _TaskWakeups(trace)
    task, first = runs.task, np.flatnonzero(runs.is_first)
    preempted = runs.stop_before == Stop.PREEMPTED
    # Places among the wake-ups of all tasks: the first one after each start, and after each end.
    started, ended = wakeups.after(task, runs.start), wakeups.after(task, runs.end)
    # Those from `low` to just before `started` came since the task's dispatch before.
    low = runs.before(ended, 0)
    low[first] = wakeups.first(task[first])
    is_woken = started > low
    continues = preempted & ~is_woken
    is_early = _woken_early(runs, wakeups, started, low, is_woken | continues)
    waking = np.where(is_woken, started - 1, np.where(is_early, low - 1, NO_ROW))
    forks = Moments(trace.forks.child, trace.forks.time)
    fork = np.full(len(task), NO_ROW, np.int64)
    fork[first] = forks.after(task[first], runs.start[first]) - 1
    fork[first[fork[first] < forks.first(task[first])]] = NO_ROW
    is_forked = (fork != NO_ROW) & ~is_woken

    known = is_woken | is_early | is_forked
    begin = int(trace.start.min(initial=LATEST))
    ready_from = np.where(runs.is_first, begin, runs.end_before)
    ready_from[is_woken] = wakeups.time[low[is_woken]]
    ready_from[is_early] = wakeups.time[waking[is_early]]
    ready_from[is_forked] = forks.time[fork[is_forked]]
    ready_by = np.where(waking == NO_ROW, runs.start, wakeups.time_of(waking))
    at, offset = runs.running(
        *_wakers(trace, wakeups, forks, waking, np.where(is_forked, fork, NO_ROW))
    )
    # A wake-up shortly after the start of a dispatch that nothing woke is its own, and too late.
    lag = wakeups.time_of(np.minimum(started, len(wakeups.time))) - runs.start
    late = ~(known | continues | runs.is_first) & (started < ended)
    late &= lag < runs.end - runs.start - lag
    # A dispatch that goes on, or may go on, is ready from the time of the one before.
    may_continue = ~known & (runs.stop_before == Stop.NOT_GIVEN) & ~runs.is_first
    ready_from = ready_from[_latest(~(preempted | may_continue))]
    ready_by = ready_by[_latest(~continues)]
    unseen_until = _unseen_until(trace, runs)
    return Readiness(
        previous=runs.scattered(runs.row_before),
        previous_end=runs.scattered(runs.end_before),
        continues=runs.scattered(continues),
        ready_from=runs.scattered(np.maximum(ready_from, unseen_until)),
        ready_by=runs.scattered(np.maximum(ready_by, unseen_until)),
        known=runs.scattered(known | continues),
        waker=runs.scattered(at),
        waker_offset=runs.scattered(offset),
        warnings=_warnings(trace, lag[late]),
    )


class _TaskWakeups(Moments):
    """All wake-ups of a trace, by task and time."""

    def __init__(self, trace: Trace) -> None:
        wakeups = trace.wakeups.joined(trace.first_wakeups)
        super().__init__(wakeups.woken, wakeups.time)
        self.waker = wakeups.waker[self.order]

    def time_of(self, number: Integers) -> Integers:
        """Return the times of wake-ups; of ``NO_ROW`` any time."""
        return np.append(self.time, 0)[number]


class _TaskRuns:
    """The dispatches of a trace by task and time.

    Attributes
    ----------
    row
        Row of each in the trace.
    task, start, end
        As in the trace.
    is_first
        Whether it is the first of its task.
    row_before, start_before, end_before, stop_before
        Of the same task's dispatch before; where that went on at once on the same CPU and the
        trace does not say why it stopped, it was preempted.
    """

    def __init__(self, trace: Trace) -> None:
        self.row = np.lexsort((trace.end, trace.start, trace.task))
        self.task = trace.task[self.row]
        self.start, self.end = trace.start[self.row], trace.end[self.row]
        self.is_first = np.diff(self.task, prepend=-1) != 0
        self.row_before = self.before(self.row, NO_ROW)
        self.start_before = self.before(self.start, NEVER)
        self.end_before = self.before(self.end, NEVER)
        self._check(trace)
        cpu = trace.cpu[self.row]
        stop: Stops = np.full(len(cpu), Stop.NOT_GIVEN, np.int8)
        if trace.stop is not None:
            stop = trace.stop[self.row]
        stop = self.before(stop, Stop.NOT_GIVEN)
        goes_on = (self.end_before == self.start) & (self.before(cpu, NO_ROW) == cpu)
        stop[goes_on & (stop == Stop.NOT_GIVEN)] = Stop.PREEMPTED
        self.stop_before = stop

    def before(self, column: NDArray[Any], nothing: int) -> NDArray[Any]:
        """Return a column's values of the same task's dispatch before, or ``nothing``."""
        before = np.roll(column, 1)
        before[self.is_first] = nothing
        return before

    def _check(self, trace: Trace) -> None:
        overlaps = np.flatnonzero(self.start < self.end_before)
        if len(overlaps):
            place = overlaps[np.argmin(self.start[overlaps])]
            row, before = self.row[place], self.row_before[place]
            raise DfoptError(
                f"task {trace.tasks[self.task[place]].name} runs on CPU {trace.cpu[before]} until "
                f"{self.end_before[place]}, but starts at {self.start[place]} on CPU "
                f"{trace.cpu[row]}; record all CPUs with one clock, such as mono"
            )

    def scattered(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column in the order of the trace's rows."""
        rows = np.empty_like(column)
        rows[self.row] = column
        return rows

    def running(self, waker: Numbers, time: Integers) -> tuple[Rows, Integers]:
        """Return the row of the dispatch that a waker runs at a time, and how long it has run.

        No dispatch is woken by its own task, or by one that stands after it.
        """
        # The dispatches of a task do not overlap, so their ends have the same order.
        place = Moments(self.task, self.end).following(waker, time)
        offset = time - self.start[place]
        runs = (place >= 0) & (waker != self.task)
        runs &= (self.start[place] <= time) & (time <= self.end[place])
        same = self.start[place] == self.start
        later = np.where(
            self.end[place] == self.end, self.row[place] > self.row, self.end[place] > self.end
        )
        runs &= ~(same & later)
        return np.where(runs, self.row[place], NO_ROW), np.where(runs, offset, 0)


def _unseen_until(trace: Trace, runs: _TaskRuns) -> Integers:
    """Return the end of the last gap before each dispatch in which its task ran last; or NEVER."""
    gaps = trace.gaps
    until = np.full(len(runs.row), NEVER)
    if gaps.task is not None:
        known = gaps.task >= 0
        moments = Moments(gaps.task[known], gaps.end[known])
        last = moments.after(runs.task, runs.start) - 1
        ran = last >= moments.first(runs.task)
        until[ran] = moments.time[last[ran]]
    return until


def _latest(flags: Flags) -> Integers:
    """Return for each place the latest one, up to itself, that has a flag; the first has one."""
    return np.maximum.accumulate(np.where(flags, np.arange(len(flags)), 0))


def _wakers(
    trace: Trace, wakeups: _TaskWakeups, forks: Moments, waking: Integers, fork: Integers
) -> tuple[Numbers, Integers]:
    """Return the task that woke or made each dispatch's task, or ``NO_ROW``, and when."""
    waker = np.append(wakeups.waker, NO_ROW)[waking]
    parent = np.append(trace.forks.parent[forks.order], NO_ROW)[fork]
    time = np.where(waking == NO_ROW, np.append(forks.time, 0)[fork], wakeups.time_of(waking))
    return np.where(waking == NO_ROW, parent, waker), time


def _woken_early(
    runs: _TaskRuns, wakeups: _TaskWakeups, started: Integers, low: Integers, ready: Flags
) -> Flags:
    """Return the dispatches whose tasks were woken while the dispatch before ran, and then slept.

    If nothing else woke the dispatch before, and its start is nearer than its end, then the wake-up
    is its own and comes too late.
    """
    number = low - runs.before(started, 0)
    time = wakeups.time_of(low - 1)
    nearer = time - runs.start_before < runs.end_before - time
    lonely = ~runs.before(ready | runs.is_first, 0) & (number == 1)
    slept = runs.stop_before == Stop.SLEEPS
    early: Flags = slept & ~ready & (number > 0) & ~(nearer & lonely)
    return early


def _warnings(trace: Trace, lag: Integers) -> tuple[str, ...]:
    """Return a warning if wake-ups came later than the dispatches that they caused."""
    if not len(lag):
        return ()
    return (
        f"{counted(len(lag), 'wake-up')} came after the dispatch that it caused, by up to "
        f"{lag.max()} {trace.header.time_unit or 'units'}: the clocks of the CPUs differ; record "
        "with one clock, such as mono",
    )
