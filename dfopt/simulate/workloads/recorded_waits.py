"""The waits of the threads of a recorded trace between their dispatches.

A trace does not say when threads are blocked, but which thread woke which. So a thread that was
woken between two dispatches had been blocked, and a thread that was not woken was still runnable:
another one had taken its CPU. Where events are missing, by a gap or because the trace has no
wake-ups at all, neither is known.

Only wake-ups by threads that ran at that time are followed. So there are no deadlocks: in recorded
time a message is sent no later than it is received, and threads can always go on in the order of
the recording. Where a clock is too coarse to tell, the order of the file decides, and a wake-up
that contradicts it is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.moments import Moments
from dfopt.trace.trace import Trace

NOBODY = -1


class Wait(IntEnum):
    """Why a thread was away before a dispatch."""

    PREEMPTED = 0
    """It was runnable."""

    WOKEN = 1
    """A thread of the trace woke it."""

    TIMED = 2
    """It was blocked for a time of which no more is known."""

    FORKED = 3
    """It did not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waits:
    """The waits of a trace, one before each dispatch, task by task.

    Parameters
    ----------
    rows
        Numbers of the trace's dispatches in that order.
    first
        Whether each of them is the first of its task.
    kind
        Of the wait before each, a :class:`Wait`.
    time
        How long the thread was blocked: until it was woken, or until it ran where that is not
        known. Before a first dispatch: from the beginning of the trace.
    by
        For those that were woken, or made, the dispatch of the other thread in which that
        happened, as a place in ``rows``; else ``NOBODY``.
    at
        The time when that happened.
    order
        The order in which messages that are sent at one time are sent.
    """

    rows: Integers
    first: Flags
    kind: Integers
    time: Integers
    by: Integers
    at: Integers
    order: Integers


def recorded_waits(trace: Trace) -> Waits:
    """Return the waits of the threads of a trace."""
    rows = np.lexsort((trace.start, trace.task))
    task, start, end = trace.task[rows], trace.start[rows], trace.end[rows]
    first = np.diff(task, prepend=-1) != 0
    began = int(start.min()) if len(rows) else 0
    since = np.where(first, began, np.roll(end, 1))
    # The first wake-up of each wait.
    wakeups = Moments(trace.wakeups.woken, trace.wakeups.time)
    place = wakeups.since(task, since)
    is_woken = place < wakeups.after(task, start)
    wake = np.where(is_woken, np.append(wakeups.order, NOBODY)[place], NOBODY)
    at = np.where(is_woken, np.append(trace.wakeups.time, 0)[wake], 0)
    waker = np.append(trace.wakeups.waker, NOBODY)[wake]
    ends = Moments(task, end)
    by = _running(ends, start, waker, at, not_of=task)
    unknown = ~is_woken & (start > since) & (first | _may_have_missed(trace, since, start))
    kind = np.where(is_woken | unknown, Wait.TIMED, Wait.PREEMPTED)
    kind[by != NOBODY] = Wait.WOKEN
    time = np.where(is_woken, at, np.where(unknown, start, since)) - since
    forks = trace.forks
    first_row = np.full(len(trace.tasks), NOBODY)
    first_row[task[first]] = np.flatnonzero(first)
    child = first_row[forks.child]
    parent = _running(ends, start, forks.parent, forks.time, not_of=forks.child)
    made = (child != NOBODY) & (parent != NOBODY) & (forks.time <= np.append(start, 0)[child])
    child = child[made]
    kind[child], by[child], at[child] = Wait.FORKED, parent[made], forks.time[made]
    waits = Waits(rows=rows, first=first, kind=kind, time=time, by=by, at=at, order=wake)
    _follow_the_file(waits)
    return waits


def _running(
    ends: Moments, start: Integers, tasks: Numbers, times: Integers, *, not_of: Numbers
) -> Integers:
    """Return the first dispatch of each task that a time lies in; ``NOBODY`` for none.

    Parameters
    ----------
    ends, start
        Of the dispatches, task by task.
    tasks, times
        What is looked for.
    not_of
        The task that is woken or made in it, which does not count as its own waker.
    """
    if not len(start):
        return np.full(len(tasks), NOBODY)
    place = np.minimum(ends.since(tasks, times), len(start) - 1)
    runs = (tasks != not_of) & (ends.task[place] == tasks)
    runs &= (start[place] <= times) & (times <= ends.time[place])
    return np.where(runs, place, NOBODY)


def _may_have_missed(trace: Trace, since: Integers, until: Integers) -> Flags:
    """Return for each stretch whether the trace may have missed a wake-up."""
    if not len(trace.wakeups.time):
        return np.ones(len(since), bool)
    gaps = trace.gaps
    if not len(gaps):
        return np.zeros(len(since), bool)
    latest = np.maximum.accumulate(gaps.end)
    before = np.searchsorted(gaps.start, until)
    return (before > 0) & (latest[np.maximum(before - 1, 0)] > since)


def _follow_the_file(waits: Waits) -> None:
    """Drop a message if, in the file, it comes before the message that its sender waited for.

    Only messages of the same time are looked at: otherwise the times tell the order.
    """
    kind, order, by = waits.kind, waits.order, waits.by
    entered = np.where(kind == Wait.WOKEN, order, NOBODY)
    made = np.flatnonzero(kind == Wait.FORKED)
    for place in made[np.argsort(waits.at[made], kind="stable")].tolist():
        entered[place] = entered[by[place]]
    woken = np.flatnonzero(kind == Wait.WOKEN)
    early = woken[order[woken] <= entered[by[woken]]]
    kind[early] = Wait.TIMED
    by[early] = NOBODY
