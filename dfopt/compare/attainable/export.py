"""A schedule of a trace's dispatches as a trace of its own."""

from __future__ import annotations

import numpy as np

from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.structs import replace
from dfopt.trace.events import Flags, Integers, Marks, Numbers, Wakeups
from dfopt.trace.trace import Trace


def schedule_trace(trace: Trace, dispatches: Dispatches, *, policy: str | None = None) -> Trace:
    """Return the trace that would have been recorded if the dispatches had run as scheduled.

    Parameters
    ----------
    trace
        The labelled trace of which the schedule is.
    dispatches
        Where and when each runs that may move. All others, and the gaps, keep their places.
    policy
        The name of what decided so; by default that of the trace.

    Notes
    -----
    Each dispatch that does not go on with another one is woken when it is ready in the schedule.
    Marks are left out, because the dispatches have their labels.
    """
    cpu, start, end = trace.cpu.copy(), trace.start.copy(), trace.end.copy()
    cpu[dispatches.row] = np.array(dispatches.cpu_number)[dispatches.cpu]
    start[dispatches.row] = dispatches.start
    end[dispatches.row] = dispatches.end
    _leave_runs_whole(cpu, start, end)
    order = np.lexsort((end, start))
    columns = {
        name: column[order]
        for name in ("task", "fragment", "comm", "lines", "leaves", "stop")
        if (column := getattr(trace, name)) is not None
    }
    moved = np.zeros(len(trace.tasks), bool)
    moved[dispatches.task] = True
    wakeups = trace.wakeups
    if len(wakeups.time):
        wakeups = _kept(wakeups, moved).joined(_ready(dispatches))
        wakeups = wakeups.chosen(np.argsort(wakeups.time, kind="stable"))
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


def _ready(dispatches: Dispatches) -> Wakeups:
    """Return a wake-up for each dispatch that does not go on, at the time when it is ready."""
    waker, task = dispatches.waker, dispatches.task
    wakeups = Wakeups(
        time=dispatches.start - dispatches.waits,
        waker=np.where(waker == NONE, NONE, task[waker]).astype(np.int32),
        woken=task,
    )
    return wakeups.chosen(~dispatches.continues)


def _kept(wakeups: Wakeups, moved: Flags) -> Wakeups:
    """Return the wake-ups of the tasks of which no dispatch moves."""
    return wakeups.chosen(~moved[wakeups.woken] | (wakeups.woken < 0))
