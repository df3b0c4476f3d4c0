"""The part of a trace that a chart shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.errors import DfoptError
from dfopt.trace.events import Integers
from dfopt.trace.fragment_titles import titles
from dfopt.trace.latest_of_same import latest_of_same
from dfopt.trace.lengths import Lengths
from dfopt.trace.time_units import readable_time
from dfopt.trace.trace import Trace

NO_FRAGMENT = "no fragment"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceWindow:
    """The part of a trace that is drawn; times count from the beginning of the trace.

    Parameters
    ----------
    begin, end
        The limits, in the trace's unit.
    rows
        The dispatches of the trace that lie in it, at least in part.
    start, stop
        When each of them begins, with its switch, and ends, inside the window.
    paid
        Until when each of them pays for its switch.
    group
        What each of them has its colour from: a fragment, or ``NO_FRAGMENT``.
    """

    begin: int
    end: int
    rows: Integers
    start: Integers
    stop: Integers
    paid: Integers
    group: tuple[str, ...]


def window_of(trace: Trace, costs: Integers | None, begin: int, end: int | None) -> TraceWindow:
    """Return the part of a trace that is to be drawn."""
    unit = trace.header.time_unit
    if end is not None and end <= begin:
        raise DfoptError(
            f"the part from {readable_time(begin, unit)} to {readable_time(end, unit)} ends before "
            "it begins; let it end later"
        )
    origin = int(trace.start.min(initial=np.iinfo(np.int64).max)) if len(trace) else 0
    last = int(trace.end.max(initial=origin)) - origin
    until = last if end is None else min(end, last)
    start, paid, stop = (times - origin for times in (*switch_times(trace, costs), trace.end))
    if begin == 0:
        begin = min(0, int(start.min(initial=0)))  # the first switches, too
    rows = np.flatnonzero((stop > begin) & (start < until))
    if not len(rows):
        upto = "on" if end is None else f"to {readable_time(end, unit)}"
        raise DfoptError(
            f"nothing ran from {readable_time(begin, unit)} {upto}; choose another part of the "
            f"trace, which lasts {readable_time(last, unit)}"
        )
    names = (*titles(trace), NO_FRAGMENT)  # UNMANAGED, which is -1, means the last
    return TraceWindow(
        begin=begin,
        end=until,
        rows=rows,
        start=np.clip(start[rows], begin, until),
        stop=np.clip(stop[rows], begin, until),
        paid=np.clip(paid[rows], begin, until),
        group=tuple(names[number] for number in trace.fragment[rows].tolist()),
    )


def switch_times(trace: Trace, costs: Integers | None) -> tuple[Integers, Integers]:
    """Return when the switch to each dispatch begins and ends.

    A switch that its dispatch's length does not include lies before the start, as far as the CPU
    was free then. Any other one begins with the dispatch, and lasts no longer than that.
    """
    if costs is None:
        return trace.start, trace.start
    if trace.header.lengths is not Lengths.WITHOUT_SWITCHES:
        return trace.start, np.minimum(trace.start + costs, trace.end)
    before = latest_of_same(trace.cpu)
    begins = trace.start - costs
    free = np.where(before >= 0, trace.end[before], begins)
    return np.maximum(begins, free), trace.start
