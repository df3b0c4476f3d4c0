"""Permitted waits, as a user writes them: a time such as ``1ms``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.compare.window_length import SPELLINGS
from dfopt.errors import DfoptError, DfoptWarning, MethodError
from dfopt.time_units import NANOSECONDS, readable_time
from dfopt.trace.trace import Trace

MILLISECOND = 1000
"""In microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermittedWait:
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
    found = SPELLINGS.fullmatch(text)
    if found is not None and found["unit"] in ("", *NANOSECONDS):
        length, unit = int(found["number"]), found["unit"]
        if length * NANOSECONDS.get(unit, 1) <= LARGEST_TOTAL:
            return PermittedWait(length=length, unit=unit)
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
    own = trace.header.time_unit or "ns"
    named = f"{wait.length}{wait.unit}"
    length, rest = wait.length, 0
    if wait.unit:
        if own not in NANOSECONDS:
            raise MethodError(
                f"{named} means nothing in a trace whose times are in {described(own)}; "
                "give a number in this unit"
            )
        length, rest = divmod(wait.length * NANOSECONDS[wait.unit], NANOSECONDS[own])
    if rest:
        raise MethodError(
            f"{named} cannot be said in a trace whose times are whole {own}; give a multiple "
            f"of 1{own}"
        )
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
