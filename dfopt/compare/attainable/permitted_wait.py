"""Permitted waits, as a user writes them: a time such as ``1ms``."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.compare.window_length import SPELLINGS
from dfopt.errors import DfoptError, MethodError
from dfopt.trace.time_units import NANOSECONDS
from dfopt.trace.trace import Trace


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
        own = trace.header.time_unit or "ns"
        raise MethodError(
            f"a wait of {wait.length}{wait.unit} is no limit in a trace that lasts {lasts:,} "
            f"{own}; permit less"
        )
    return length


def length_in(trace: Trace, wait: PermittedWait) -> int:
    """Return a time in the trace's unit.

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
    return length


def usual_waits(trace: Trace) -> tuple[PermittedWait, ...]:
    """Return waits that show the course of a frontier: times that matter to people, or powers.

    In a unit that is no fraction of a second they are powers of ten below a tenth of the trace.
    """
    lasts = int(trace.end.max()) - int(trace.start.min())
    own = trace.header.time_unit or "ns"
    if own not in NANOSECONDS:
        lengths = (10**power for power in range(len(str(lasts)) - 1))
        return tuple(PermittedWait(length=length) for length in [*lengths][-3:])
    waits = (PermittedWait(length=10**power, unit="us") for power in (2, 3, 4))
    return tuple(
        wait
        for wait in waits
        if NANOSECONDS[own] <= wait.length * NANOSECONDS["us"]
        and 2 * wait.length * NANOSECONDS["us"] < lasts * NANOSECONDS[own]
    )
