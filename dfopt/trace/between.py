"""A part of a trace: what ran between two times."""

from __future__ import annotations

import numpy as np

from dfopt.errors import DfoptError
from dfopt.structs import replace
from dfopt.trace.events import Flags, Integers, Numbers, Stop, Wakeups, latest_of_same
from dfopt.trace.moments import Moments
from dfopt.trace.trace import Trace

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
    gaps = gaps.chosen(lies_inside | ((gaps.start < end) & (gaps.end > begin)))
    kept_forks = _counts(trace, rows, forks.child, forks.time, begin, end)
    wakeups = _wakeups(trace, trace.wakeups, rows, begin, end)
    wakeups = wakeups.joined(_preempted(trace, rows, begin, end))
    by_time = np.lexsort((wakeups.woken, wakeups.waker, wakeups.time))
    return replace(
        trace.chosen(rows),
        gaps=replace(gaps, start=np.maximum(gaps.start, begin), end=np.minimum(gaps.end, end)),
        wakeups=wakeups.chosen(by_time),
        first_wakeups=_wakeups(trace, trace.first_wakeups, rows, begin, end),
        forks=replace(forks, time=np.maximum(forks.time, begin)).chosen(kept_forks),
        marks=trace.marks.chosen(trace.marks.time <= end),
    )


def _wakeups(trace: Trace, wakeups: Wakeups, rows: Flags, begin: int, end: int) -> Wakeups:
    kept = _counts(trace, rows, wakeups.woken, wakeups.time, begin, end)
    is_earlier = wakeups.time < begin
    moved = replace(
        wakeups,
        time=np.maximum(wakeups.time, begin),
        waker=np.where(is_earlier, np.int32(BY_NOBODY_SEEN), wakeups.waker),
    )
    return moved.chosen(kept)


def _preempted(trace: Trace, rows: Flags, begin: int, end: int) -> Wakeups:
    """Return wake-ups of tasks that were preempted before the part, or in it after its beginning.

    The first ones go on in the part; the last dispatch of the others runs over its beginning.
    """
    if trace.stop is None:
        return Wakeups()
    preempted = trace.stop == Stop.PREEMPTED
    over = preempted & (trace.start < begin) & (trace.end > begin) & (trace.end <= end)
    earlier = np.append(preempted & (trace.start < begin) & (trace.end <= begin), False)
    goes_on = rows & earlier[latest_of_same(trace.task)]  # the last one stands for no dispatch
    task = np.concatenate((trace.task[goes_on], trace.task[over]))
    return Wakeups(
        time=np.concatenate((np.full(goes_on.sum(), begin), trace.end[over])),
        waker=np.full_like(task, BY_NOBODY_SEEN),
        woken=task,
    )


def _counts(  # noqa: PLR0913, PLR0917 - columns and limits
    trace: Trace, rows: Flags, task: Numbers, time: Integers, begin: int, end: int
) -> Flags:
    """Return which events count: those after ``begin``, and earlier ones that have no effect yet.

    These are about tasks whose next dispatch is in the part.
    """
    following = Moments(trace.task, trace.start).following(task, time)
    in_part = np.append(rows, False)[following]  # the last one stands for no dispatch
    return np.where(time <= begin, in_part, time <= end)
