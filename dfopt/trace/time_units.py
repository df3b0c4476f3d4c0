"""Times of a trace in nanoseconds."""

from __future__ import annotations

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.time_units import NANOSECONDS
from dfopt.trace.trace import Trace


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
