"""Times of a trace's own clock, as perf and ftrace print them: ``@14510.651211``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dfopt.checks import described
from dfopt.errors import DfoptError, MethodError
from dfopt.time_units import NANOSECONDS
from dfopt.trace.trace import Trace

MARK = "@"
"""What a time begins with that is no time since the beginning of the trace."""

SPELLING = re.compile(rf"{MARK}([0-9]{{1,18}})(?:\.([0-9]{{1,9}}))?", re.ASCII)

DIGITS = 9
"""Decimal places of a second in nanoseconds."""

FEWEST_DIGITS = 6
"""Decimal places that kernel traces show at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTime:
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
