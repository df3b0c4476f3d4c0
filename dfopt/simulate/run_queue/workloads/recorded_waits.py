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
    task, start, end = _wide(trace.task[rows]), trace.start[rows], trace.end[rows]
    first = np.diff(task, prepend=-1) != 0
    began = int(start.min()) if len(rows) else 0
    since = np.where(first, began, np.roll(end, 1))
    runs = _Runs(trace, rows)
    wake = _first_wakeups(trace, task, since, start)
    is_woken = wake != NOBODY
    known = np.flatnonzero(is_woken)
    kind = np.full(len(rows), Wait.PREEMPTED, np.int64)
    time = np.zeros(len(rows), np.int64)
    by = np.full(len(rows), NOBODY, np.int64)
    at = np.zeros(len(rows), np.int64)
    at[known] = trace.wakeups.time[wake[known]]
    kind[known] = Wait.TIMED
    time[known] = at[known] - since[known]
    unknown = ~is_woken & (start > since) & (first | _may_have_missed(trace, since, start))
    kind[unknown] = Wait.TIMED
    time[unknown] = (start - since)[unknown]
    by[known] = runs.at(_wide(trace.wakeups.waker[wake[known]]), at[known], not_of=task[known])
    kind[by != NOBODY] = Wait.WOKEN
    places = np.flatnonzero(first)
    made, parents, times = _forks(
        trace, runs, dict(zip(task[places].tolist(), places.tolist(), strict=True)), start
    )
    kind[made], by[made], at[made] = Wait.FORKED, parents, times
    waits = Waits(
        rows=rows, first=first, kind=kind, time=time, by=by, at=at,
        order=np.where(is_woken, wake, NOBODY),
    )  # fmt: skip
    _follow_the_file(waits)
    return waits


class _Runs:
    """Dispatches by task, to be found by time."""

    def __init__(self, trace: Trace, rows: Integers) -> None:
        self._task, self._start, self._end = trace.task[rows], trace.start[rows], trace.end[rows]
        bounds = np.searchsorted(self._task, np.arange(len(trace.tasks) + 1))
        self._bounds = bounds.tolist()

    def at(self, tasks: Integers, times: Integers, *, not_of: Integers) -> Integers:
        """Return the first dispatch of each task that a time lies in; ``NOBODY`` for none."""
        found = np.full(len(tasks), NOBODY, np.int64)
        for place, (task, time, other) in enumerate(
            zip(tasks.tolist(), times.tolist(), not_of.tolist(), strict=True)
        ):
            if task in (NOBODY, other):
                continue
            low, high = self._bounds[task], self._bounds[task + 1]
            run = low + int(np.searchsorted(self._end[low:high], time))
            if run < high and self._start[run] <= time:
                found[place] = run
        return found


def _first_wakeups(trace: Trace, task: Integers, since: Integers, until: Integers) -> Integers:
    """Return the number of the first wake-up of each task in each stretch of time."""
    wakeups = trace.wakeups
    found = np.full(len(task), NOBODY, np.int64)
    if not len(wakeups.time):
        return found
    order = np.argsort(wakeups.woken, kind="stable")
    bounds = np.searchsorted(wakeups.woken[order], np.arange(len(trace.tasks) + 1)).tolist()
    times = wakeups.time[order]
    for stretch, (woken, low_time, high_time) in enumerate(
        zip(task.tolist(), since.tolist(), until.tolist(), strict=True)
    ):
        low, high = bounds[woken], bounds[woken + 1]
        first = low + int(np.searchsorted(times[low:high], low_time))
        if first < high and times[first] <= high_time:
            found[stretch] = order[first]
    return found


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


def _forks(
    trace: Trace, runs: _Runs, first: dict[int, int], start: Integers
) -> tuple[list[int], list[int], list[int]]:
    """Return the first dispatches of forked threads, the dispatches that fork them, and when.

    ``first`` has the first dispatch of each task.
    """
    forks = trace.forks
    children = _wide(forks.child)
    parents = runs.at(_wide(forks.parent), forks.time, not_of=children)
    made: dict[int, tuple[int, int]] = {}
    for child, parent, time in zip(
        children.tolist(), parents.tolist(), forks.time.tolist(), strict=True
    ):
        row = first.get(child)
        if row is not None and parent != NOBODY and time <= start[row]:
            made[row] = parent, time
    return list(made), [parent for parent, _ in made.values()], [time for _, time in made.values()]


def _wide(numbers: Numbers) -> Integers:
    return numbers.astype(np.int64)


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
