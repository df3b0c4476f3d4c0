"""Parts of a trace: what ran between two times, and the times of a trace's own clock."""

from __future__ import annotations

import re

import numpy as np

from dfopt.checks import described
from dfopt.errors import DfoptError, MethodError
from dfopt.structs import Record, replace
from dfopt.time_units import NANOSECONDS
from dfopt.trace.events import Flags, Integers, Numbers, Stop, Wakeups, latest_of_same
from dfopt.trace.moments import Moments
from dfopt.trace.trace import Trace

MARK = "@"
"""What a time begins with that is no time since the beginning of the trace."""

SPELLING = re.compile(rf"{MARK}([0-9]{{1,18}})(?:\.([0-9]{{1,9}}))?", re.ASCII)

DIGITS = 9
"""Decimal places of a second in nanoseconds."""

FEWEST_DIGITS = 6
"""Decimal places that kernel traces show at least."""


class ClockTime(Record):
    """A time of the clock by which a trace was recorded.

    Parameters
    ----------
    whole, fraction
        The digits before and behind the point; the latter may be missing.
    """

    whole: str
    fraction: str = ""

    def __str__(self) -> str:
        """Return the time as users write it."""
        return f"{MARK}{self.whole}{'.' if self.fraction else ''}{self.fraction}"


def parse_clock_time(text: str) -> ClockTime:
    """Return the time that a text such as ``@14510.651211`` stands for.

    Raises
    ------
    DfoptError
        When the text stands for no such time.
    """
    found = SPELLING.fullmatch(text)
    if found is None:
        raise DfoptError(
            f"{described(text)} is no time of a clock; write @ and seconds as perf prints them "
            "(@14510.651211)"
        )
    return ClockTime(whole=found[1], fraction=found[2] or "")


def since_beginning(trace: Trace, time: ClockTime) -> int:
    """Return how long after the beginning of a trace its clock showed a time, in its unit.

    The clock shows seconds; in a trace whose unit is no fraction of a second, it shows this unit.

    Raises
    ------
    MethodError
        When the trace does not last from before this time until after it.
    """
    size = NANOSECONDS.get(trace.header.time_unit or "ns")
    if size is None:
        if time.fraction:
            raise MethodError(
                f"{time} is no time in a trace whose times are whole {trace.header.time_unit}; "
                "leave out what stands behind the point"
            )
        shown = int(time.whole)
    else:
        shown = int(f"{time.whole}{time.fraction:0<{DIGITS}}") // size
    first, last = clock_range(trace)
    if not first <= shown <= last:
        raise MethodError(
            f"{time} is no time of this trace, whose clock goes from {clock_time(trace, first)} to "
            f"{clock_time(trace, last)}; choose a time between them"
        )
    return shown - first


def clock_range(trace: Trace) -> tuple[int, int]:
    """Return when the first dispatch of a trace starts and the last one ends, in its unit."""
    first = int(trace.start[0]) if len(trace) else 0
    return first, int(trace.end.max(initial=first))


def clock_time(trace: Trace, time: int) -> ClockTime:
    """Return what a trace's clock showed at a time in its unit."""
    size = NANOSECONDS.get(trace.header.time_unit or "ns")
    if size is None:
        return ClockTime(whole=str(time))
    seconds, rest = divmod(time * size, 10**DIGITS)
    fraction = f"{rest:0{DIGITS}}"
    kept = max(FEWEST_DIGITS, len(fraction.rstrip("0")))
    return ClockTime(whole=str(seconds), fraction=fraction[:kept])


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
