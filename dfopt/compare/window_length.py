"""Windows: how far ahead one may look, as a number of dispatches or a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dfopt.checks import described
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.errors import DfoptError, MethodError
from dfopt.structs import replace
from dfopt.time_units import NANOSECONDS
from dfopt.trace import Trace
from dfopt.trace.trace import UNMANAGED

SPELLINGS = re.compile(r"0*(?P<number>[0-9]{1,19})\s*(?P<unit>[a-zµμ]*)")

STEPS = (5, 10, 20)
"""The first windows of a foresight curve, in dispatches; the next are these times 10."""

LARGEST_WINDOW = 2**62


class WindowKind(StrEnum):
    """The measure of a window's length."""

    WHOLE = "whole"
    DISPATCHES = "dispatches"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareProgress:
    """The progress of a comparison: current length of window, windows done, and all windows."""

    window: str
    done: int
    total: int


def parse_window(text: str) -> Window:
    """Return the window that a text such as ``100``, ``10ms`` or ``whole`` stands for.

    Raises
    ------
    DfoptError
        When the text stands for no window.
    """
    if text == WHOLE.label:
        return WHOLE
    found = SPELLINGS.fullmatch(text)
    if found is not None and found["unit"] in ("", *NANOSECONDS):
        unit = found["unit"]
        length = int(found["number"]) * NANOSECONDS.get(unit, 1)
        if 0 < length < LARGEST_WINDOW:
            kind = WindowKind.TIME if unit else WindowKind.DISPATCHES
            return Window(kind=kind, length=length, label=text)
    raise DfoptError(
        f"{described(text)} is no window; write a number of dispatches (100), a time (500us, "
        "10ms, 1s) or 'whole'",
        place="window",
    )


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
    unit = trace.header.time_unit or "ns"
    if unit not in NANOSECONDS:
        raise MethodError(
            f"no window can last {window.label} in a trace whose times are in {described(unit)}; "
            "give a number of dispatches"
        )
    length, rest = divmod(window.length, NANOSECONDS[unit])
    if rest:
        raise MethodError(
            f"no window can last {window.label} in a trace whose times are whole {unit}; "
            f"give a multiple of 1{unit}"
        )
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
