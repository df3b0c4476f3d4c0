"""Times of a trace in other units."""

from __future__ import annotations

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.trace.trace import Trace

NANOSECONDS = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

UNITS = ("s", "ms", "us", "ns")
"""The units in which users write times."""


def nanoseconds_per_unit(trace: Trace) -> int:
    """Return the number of nanoseconds in a trace's unit of time.

    It is 1 for units that are no fraction of a second, such as cycles or lines.

    Raises
    ------
    FileError
        When a time of the trace in nanoseconds is beyond 2^62.
    """
    factor = NANOSECONDS.get(trace.header.time_unit or "ns", 1)
    latest = max(int(np.max(column, initial=0)) for column in (trace.end, trace.gaps.end))
    if latest * factor > LARGEST_TOTAL:
        raise FileError(
            f"the trace ends at {latest} {trace.header.time_unit}, in nanoseconds beyond 2^62; "
            "write it as .jsonl"
        )
    return factor


def exact_time(length: int, unit: str | None) -> str:
    """Return a time in the largest unit in which it is a whole number."""
    if unit not in NANOSECONDS:
        return f"{length}{unit or ''}"
    nanoseconds = length * NANOSECONDS[unit]
    name = next(name for name in UNITS if nanoseconds % NANOSECONDS[name] == 0) if length else "s"
    return f"{nanoseconds // NANOSECONDS[name]}{name}"
