"""Times and lengths as users write them: of windows, of waits, and where a part of a trace ends."""

from __future__ import annotations

import re
import warnings
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.errors import DfoptError, DfoptWarning, MethodError
from dfopt.structs import Record, replace
from dfopt.time_units import NANOSECONDS, readable_time
from dfopt.trace import Trace, between
from dfopt.trace.between import (
    MARK,
    ClockTime,
    clock_range,
    clock_time,
    parse_clock_time,
    since_beginning,
)
from dfopt.trace.trace import UNMANAGED

_SPELLINGS = re.compile(r"0*(?P<number>[0-9]{1,19})\s*(?P<unit>[a-zµμ]*)")

STEPS = (5, 10, 20)
"""The first windows of a foresight curve, in dispatches; the next are these times 10."""

MILLISECOND = 1000
"""In microseconds."""


class WindowKind(StrEnum):
    """The measure of a window's length."""

    WHOLE = "whole"
    DISPATCHES = "dispatches"
    TIME = "time"


class Window(Record):
    """A length of windows.

    Parameters
    ----------
    kind
        What the length is measured in; a whole trace has only the windows between its gaps.
    length
        Managed dispatches, or nanoseconds; 0 for the whole trace.
    label
        As the user wrote it.
    """

    kind: WindowKind
    length: int = 0
    label: str


WHOLE = Window(kind=WindowKind.WHOLE, label="whole")


def parse_window(text: str) -> Window:
    """Return the window that a text such as ``100``, ``10ms`` or ``whole`` stands for.

    Raises
    ------
    DfoptError
        When the text stands for no window.
    """
    if text == WHOLE.label:
        return WHOLE
    number, unit = _number_and_unit(text)
    if number is not None:
        length = number * NANOSECONDS.get(unit, 1)
        if 0 < length < LARGEST_TOTAL:
            kind = WindowKind.TIME if unit else WindowKind.DISPATCHES
            return Window(kind=kind, length=length, label=text)
    raise DfoptError(
        f"{described(text)} is no window; write a number of dispatches (100), a time (500us, "
        "10ms, 1s) or 'whole'",
        place="window",
    )


def _number_and_unit(text: str) -> tuple[int | None, str]:
    """Return the number and the unit that a text consists of; None if it does not."""
    found = _SPELLINGS.fullmatch(text)
    if found is None or found["unit"] not in ("", *NANOSECONDS):
        return None, ""
    return int(found["number"]), found["unit"]


def _in_unit_of(trace: Trace, number: int, unit: str, said: str, instead: str) -> int:
    """Return a time in the trace's unit; refuse it, in these words, if that cannot express it."""
    own = trace.header.time_unit or "ns"
    if own not in NANOSECONDS:
        raise MethodError(f"{said} in a trace whose times are in {described(own)}; {instead}")
    length, rest = divmod(number * NANOSECONDS[unit], NANOSECONDS[own])
    if rest:
        raise MethodError(
            f"{said} in a trace whose times are whole {own}; give a multiple of 1{own}"
        )
    return length


def foresight_windows(trace: Trace) -> tuple[Window, ...]:
    """Return windows of 5, 10, 20, 50 … dispatches, up to the whole trace."""
    managed = int((trace.fragment != UNMANAGED).sum())
    lengths = []
    factor = 1
    while STEPS[0] * factor < managed:
        lengths += [step * factor for step in STEPS if step * factor < managed]
        factor *= 10
    return (
        *(
            Window(kind=WindowKind.DISPATCHES, length=length, label=str(length))
            for length in lengths
        ),
        WHOLE,
    )


def in_unit_of(trace: Trace, window: Window) -> Window:
    """Return a window with its length in the trace's unit of time, if it is a time.

    Raises
    ------
    MethodError
        When the trace's unit cannot express it.
    """
    if window.kind is not WindowKind.TIME:
        return window
    said = f"no window can last {window.label}"
    length = _in_unit_of(trace, window.length, "ns", said, "give a number of dispatches")
    return replace(window, length=length)


def window_starts(dispatches: Dispatches, window: Window) -> Rows:
    """Return the dispatches at which windows begin; every window holds at least one dispatch.

    A gap on any CPU ends every window. Under a length in dispatches only managed ones count; a
    time is in the trace's unit, and counted from the first dispatch.
    """
    stretch = np.searchsorted(dispatches.cuts.time, dispatches.start, side="right")
    match window.kind:
        case WindowKind.WHOLE:
            number = np.zeros(len(dispatches), np.int64)
        case WindowKind.TIME:
            number = (dispatches.start - dispatches.start[0]) // window.length
        case WindowKind.DISPATCHES:
            count = np.cumsum(dispatches.managed)
            first = np.flatnonzero(np.diff(stretch, prepend=-1))
            before = np.concatenate([[0], count])[first]
            earlier = np.repeat(before, np.diff(first, append=len(dispatches)))
            number = np.maximum(count - earlier - 1, 0) // window.length
    begins = (np.diff(stretch, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0)
    return np.flatnonzero(begins)


class PermittedWait(Record):
    """For how long a dispatch may wait.

    Parameters
    ----------
    length
        In ``unit``.
    unit
        A fraction of a second such as ``ms``; empty for the trace's own unit of time.
    """

    length: int
    unit: str = ""


def parse_wait(text: str, what: str = "wait") -> PermittedWait:
    """Return the wait that a text such as ``1ms`` or ``500`` stands for.

    Parameters
    ----------
    text
        What a user wrote.
    what
        What it means, for errors.

    Raises
    ------
    DfoptError
        When the text stands for no wait.
    """
    number, unit = _number_and_unit(text)
    if number is not None and number * NANOSECONDS.get(unit, 1) <= LARGEST_TOTAL:
        return PermittedWait(length=number, unit=unit)
    raise DfoptError(
        f"{described(text)} is no {what}; write a time from 0 on (500us, 1ms), or a number in the "
        "trace's own unit",
        place=what,
    )


def wait_in(trace: Trace, wait: PermittedWait) -> int:
    """Return a permitted wait in the trace's unit of time.

    Raises
    ------
    MethodError
        When the trace's unit cannot express it, or the trace does not last longer.
    """
    length = length_in(trace, wait)
    lasts = int(trace.end.max()) - int(trace.start.min())
    if length >= lasts:
        raise MethodError(
            f"a wait of {wait.length}{wait.unit} is no limit in a trace that lasts "
            f"{readable_time(lasts, trace.header.time_unit)}; permit less"
        )
    return length


def length_in(trace: Trace, wait: PermittedWait) -> int:
    """Return a time in the trace's unit.

    A number without a unit that is shorter than every dispatch is warned of: whoever writes ``1``
    for a trace in nanoseconds has more in mind.

    Raises
    ------
    MethodError
        When the trace's unit cannot express it.
    """
    length = wait.length
    if wait.unit:
        said = f"{length}{wait.unit} cannot be said"
        length = _in_unit_of(trace, length, wait.unit, said, "give a number in this unit")
    _warn_of_short(trace, wait)
    return length


def _warn_of_short(trace: Trace, wait: PermittedWait) -> None:
    own = trace.header.time_unit
    lengths = trace.end - trace.start
    shortest = int(lengths.min(initial=LARGEST_TOTAL, where=lengths > 0))
    if own in NANOSECONDS and not wait.unit and 0 < wait.length < shortest:
        warnings.warn(
            f"{wait.length} without a unit means {wait.length} {own}, shorter than every "
            f"dispatch; other times need their unit ({wait.length}us, {wait.length}ms)",
            DfoptWarning,
            stacklevel=3,
        )


def usual_waits(trace: Trace) -> tuple[PermittedWait, ...]:
    """Return waits that show the course of a frontier: powers of ten around what matters there.

    That is 1 ms, or the median length of a dispatch where this is longer. In a unit that is no
    fraction of a second they are the largest powers of ten below a tenth of the trace.
    """
    lasts = int(trace.end.max()) - int(trace.start.min())
    own = trace.header.time_unit or "ns"
    if own not in NANOSECONDS:
        lengths = (10**power for power in range(len(str(lasts)) - 1))
        return tuple(PermittedWait(length=length) for length in [*lengths][-3:])
    in_us = NANOSECONDS[own] / NANOSECONDS["us"]
    median = int(np.median(trace.end - trace.start) * in_us)
    middle = max(MILLISECOND, 10 ** (len(str(median)) - 1))
    return tuple(
        PermittedWait(length=length, unit="us")
        for length in (middle // 10, middle, 10 * middle)
        if in_us <= length and 2 * length < lasts * in_us
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
