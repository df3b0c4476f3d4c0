"""A part of a trace: what ran between two times."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from dfopt.errors import DfoptError
from dfopt.structs import replace
from dfopt.trace.events import Flags, Integers, Numbers, Stop
from dfopt.trace.latest_of_same import latest_of_same
from dfopt.trace.trace import Gaps, TaskForks, TaskMarks, TaskWakeups, Trace

Columns = TypeVar("Columns", Trace, Gaps, TaskForks, TaskMarks, TaskWakeups)

BY_NOBODY_SEEN = -1
"""The waker of a task that waits when the part begins, as if an interrupt had woken it."""


def between(trace: Trace, begin: int, end: int) -> Trace:
    """Return a trace as if everything had begun at ``begin`` and ended at ``end``.

    It has the dispatches that lie in this time as a whole, and the wake-ups and forks of this
    time. Gaps are cut at both limits. Tasks and fragments keep their numbers. Marks before
    ``begin`` stay, since they hold from then on.

    Parameters
    ----------
    trace
        Any trace. Label it before: a part may show too little to infer labels from.
    begin, end
        In the trace's unit, as in its columns ``start`` and ``end``.

    Raises
    ------
    DfoptError
        When ``end`` does not come after ``begin``.

    Notes
    -----
    A task that was woken or forked before ``begin``, and still waits for its next dispatch, is
    woken or forked at ``begin``. A task that was preempted before is woken at ``begin``, too, or
    when it was preempted, if it ran over ``begin``. So no schedule of the part can use the time
    before it, and waits count from there. On each CPU the first dispatch is a first load.
    """
    if end <= begin:
        raise DfoptError(
            f"the part from {begin:,} to {end:,} ends before it begins; let it end later"
        )
    rows = (trace.start >= begin) & (trace.end <= end)
    gaps, forks = trace.gaps, trace.forks
    lies_inside = (gaps.start >= begin) & (gaps.end <= end)
    gaps = _chosen(gaps, lies_inside | ((gaps.start < end) & (gaps.end > begin)))
    kept_forks = _counts(trace, rows, forks.child, forks.time, begin, end)
    return replace(
        _chosen(trace, rows),
        gaps=replace(gaps, start=np.maximum(gaps.start, begin), end=np.minimum(gaps.end, end)),
        wakeups=_together(
            _wakeups(trace, trace.wakeups, rows, begin, end), _preempted(trace, rows, begin, end)
        ),
        first_wakeups=_wakeups(trace, trace.first_wakeups, rows, begin, end),
        forks=_chosen(replace(forks, time=np.maximum(forks.time, begin)), kept_forks),
        marks=_chosen(trace.marks, trace.marks.time <= end),
    )


def _wakeups(trace: Trace, wakeups: TaskWakeups, rows: Flags, begin: int, end: int) -> TaskWakeups:
    kept = _counts(trace, rows, wakeups.woken, wakeups.time, begin, end)
    is_earlier = wakeups.time < begin
    moved = replace(
        wakeups,
        time=np.maximum(wakeups.time, begin),
        waker=np.where(is_earlier, np.int32(BY_NOBODY_SEEN), wakeups.waker),
    )
    return _chosen(moved, kept)


def _preempted(trace: Trace, rows: Flags, begin: int, end: int) -> TaskWakeups:
    """Return wake-ups of tasks that were preempted before the part, or in it after its beginning.

    The first ones go on in the part; the last dispatch of the others runs over its beginning.
    """
    if trace.stop is None:
        return TaskWakeups()
    preempted = trace.stop == Stop.PREEMPTED
    over = preempted & (trace.start < begin) & (trace.end > begin) & (trace.end <= end)
    earlier = np.append(preempted & (trace.start < begin) & (trace.end <= begin), False)
    goes_on = rows & earlier[latest_of_same(trace.task)]  # the last one stands for no dispatch
    task = np.concatenate((trace.task[goes_on], trace.task[over]))
    return TaskWakeups(
        time=np.concatenate((np.full(goes_on.sum(), begin), trace.end[over])),
        waker=np.full_like(task, BY_NOBODY_SEEN),
        woken=task,
    )


def _together(one: TaskWakeups, other: TaskWakeups) -> TaskWakeups:
    """Return the wake-ups of both, ordered by time."""
    time = np.concatenate((one.time, other.time))
    waker = np.concatenate((one.waker, other.waker))
    woken = np.concatenate((one.woken, other.woken))
    order = np.lexsort((woken, waker, time))
    return TaskWakeups(time=time[order], waker=waker[order], woken=woken[order])


def _counts(  # noqa: PLR0913, PLR0917 - columns and limits
    trace: Trace, rows: Flags, task: Numbers, time: Integers, begin: int, end: int
) -> Flags:
    """Return which events count: those after ``begin``, and earlier ones that have no effect yet.

    These are about tasks whose next dispatch is in the part.
    """
    following = _next_row(trace, task, time)
    in_part = np.append(rows, False)[following]  # the last one stands for no dispatch
    return np.where(time <= begin, in_part, time <= end)


def _next_row(trace: Trace, task: Numbers, time: Integers) -> Integers:
    """Return for each event the next dispatch of its task, or -1."""
    # Events and dispatches in one order, by task and time; an event comes before a dispatch.
    count = len(task)
    tasks = np.concatenate((task, trace.task))
    is_row = np.arange(len(tasks)) >= count
    order = np.lexsort((is_row, np.concatenate((time, trace.start)), tasks))
    places = np.flatnonzero(is_row[order])
    found = np.append(order[places], -1)[np.searchsorted(places, np.arange(len(order)))]
    following = np.empty(len(order), np.int64)
    following[order] = found
    of_events = following[:count]
    same = (of_events >= 0) & (tasks[of_events] == task)
    return np.where(same, of_events - count, -1)


def _chosen(columns: Columns, kept: Flags) -> Columns:
    """Return some of the rows of all columns."""
    values = {field.name: getattr(columns, field.name) for field in fields(columns)}
    chosen: dict[str, Any] = {
        name: value[kept] for name, value in values.items() if isinstance(value, np.ndarray)
    }
    return replace(columns, **chosen)
