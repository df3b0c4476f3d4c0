"""A schedule of a trace's dispatches as a trace of its own."""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule, waits_of
from dfopt.structs import replace
from dfopt.trace.events import Flags, Integers, Marks, Numbers, Wakeups
from dfopt.trace.trace import Trace


def schedule_trace(
    trace: Trace, arrivals: Arrivals, schedule: TimedSchedule, *, policy: str | None = None
) -> Trace:
    """Return the trace that would have been recorded if the dispatches had run as scheduled.

    Parameters
    ----------
    trace
        The labelled trace of which the schedule is.
    arrivals, schedule
        What :func:`~dfopt.compare.attainable.arrivals.arrivals_of` says of it, and when and where
        each of these dispatches runs. All other dispatches, and the gaps, keep their places.
    policy
        The name of what decided so; by default that of the trace.

    Notes
    -----
    Each dispatch that does not go on with another one is woken when it is ready in the schedule.
    Marks are left out, because the dispatches have their labels.
    """
    cpu, start, end = trace.cpu.copy(), trace.start.copy(), trace.end.copy()
    cpu[arrivals.row] = arrivals.cpu_number[schedule.cpu]
    start[arrivals.row] = schedule.start
    end[arrivals.row] = schedule.start + arrivals.length
    _leave_runs_whole(cpu, start, end)
    order = np.lexsort((end, start))
    columns = {
        name: column[order]
        for name in ("task", "fragment", "comm", "lines", "leaves", "stop")
        if (column := getattr(trace, name)) is not None
    }
    moved = np.zeros(len(trace.tasks), bool)
    moved[arrivals.task] = True
    wakeups = trace.wakeups
    if len(wakeups.time):
        wakeups = _joined(_kept(wakeups, moved), _ready(arrivals, schedule))
    return replace(
        trace,
        cpu=cpu[order],
        start=start[order],
        end=end[order],
        **columns,
        wakeups=wakeups,
        first_wakeups=_kept(trace.first_wakeups, moved),
        marks=Marks(),
        header=replace(trace.header, policy=policy or trace.header.policy, assumed=None),
    )


def _leave_runs_whole(cpu: Numbers, start: Integers, end: Integers) -> None:
    """Move what has no length and now lies within a run to the end of this run."""
    empty = np.flatnonzero(start == end)
    for number in np.unique(cpu[empty]):
        runs = np.flatnonzero((cpu == number) & (start < end))
        runs = runs[np.argsort(start[runs], kind="stable")]
        own = empty[cpu[empty] == number]
        before = np.searchsorted(start[runs], start[own]) - 1
        own, run = own[before >= 0], runs[before[before >= 0]]
        inside = end[run] > start[own]
        start[own[inside]] = end[own[inside]] = end[run[inside]]


def _ready(arrivals: Arrivals, schedule: TimedSchedule) -> Wakeups:
    """Return a wake-up for each dispatch that does not go on, at the time when it is ready."""
    waker, woken = arrivals.waker, ~arrivals.continues
    return Wakeups(
        time=(schedule.start - waits_of(arrivals, schedule))[woken],
        waker=np.where(waker == NONE, NONE, arrivals.task[waker])[woken].astype(np.int32),
        woken=arrivals.task[woken],
    )


def _kept(wakeups: Wakeups, moved: Flags) -> Wakeups:
    """Return the wake-ups of the tasks of which no dispatch moves."""
    kept = ~moved[wakeups.woken] | (wakeups.woken < 0)
    return Wakeups(time=wakeups.time[kept], waker=wakeups.waker[kept], woken=wakeups.woken[kept])


def _joined(*parts: Wakeups) -> Wakeups:
    time = np.concatenate([part.time for part in parts])
    order = np.argsort(time, kind="stable")
    return Wakeups(
        time=time[order],
        waker=np.concatenate([part.waker for part in parts])[order],
        woken=np.concatenate([part.woken for part in parts])[order],
    )
