"""The part of a trace between two times, by its beginning or by its own clock."""

from __future__ import annotations

from typing import TypeAlias

from dfopt.checks import LARGEST_TOTAL
from dfopt.compare.attainable.permitted_wait import PermittedWait, length_in, parse_wait
from dfopt.errors import DfoptError
from dfopt.time_units import readable_time
from dfopt.trace import Trace, between
from dfopt.trace.clock_time import (
    MARK,
    ClockTime,
    clock_range,
    clock_time,
    parse_clock_time,
    since_beginning,
)

Limit: TypeAlias = PermittedWait | ClockTime


def parse_limit(text: str) -> Limit:
    """Return a limit: a time after the beginning of a trace, or one of its own clock.

    Raises
    ------
    DfoptError
        When the text stands for neither.
    """
    if text.startswith(MARK):
        return parse_clock_time(text)
    try:
        return parse_wait(text, what="time")
    except DfoptError as error:
        hint = "a time of the trace's own clock begins with @ (@14510.651211)"
        raise DfoptError(f"{error.problem}; {hint}") from None


def time_in(trace: Trace, limit: Limit) -> int:
    """Return a limit in the trace's unit, counted from its beginning.

    Raises
    ------
    DfoptError
        When the trace's unit cannot express the limit, its clock does not show it, or the limit
        seems to be one of the trace's own clock.
    """
    if isinstance(limit, ClockTime):
        return since_beginning(trace, limit)
    length = length_in(trace, limit)
    first, last = clock_range(trace)
    if last - first < length and first <= length <= last:
        raise DfoptError(
            f"{limit.length:,}{limit.unit} after the beginning is after the end; a time of the "
            f"trace's own clock begins with @ and is in seconds: {clock_time(trace, length)}"
        )
    return length


def part_of(trace: Trace, begin: Limit | None, end: Limit | None) -> Trace:
    """Return the part of a trace between two limits; the trace itself where there are none.

    Raises
    ------
    DfoptError
        As for :func:`time_in`; also if no dispatch lies between the limits as a whole.
    """
    lower, upper = (None if limit is None else time_in(trace, limit) for limit in (begin, end))
    if (lower is None and upper is None) or not len(trace):
        return trace
    first, last = int(trace.start.min()), int(trace.end.max())
    part = between(
        trace,
        -LARGEST_TOTAL if lower is None else first + lower,
        LARGEST_TOTAL if upper is None else first + upper,
    )
    if not len(part):
        raise DfoptError(
            "no dispatch lies in this part as a whole; choose another part of the trace, which "
            f"lasts {readable_time(last - first, trace.header.time_unit)}"
        )
    return part
