"""A hint where a part of a trace shows hardly anything: which part shows more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dfopt.trace import Trace

HARDLY = 0.01
"""A part with a smaller share of its CPU time in fragments shows hardly any of them."""


def fragments_elsewhere(trace: Trace, begin: int, end: int) -> str | None:
    """Return which part of a trace has more fragments, if hardly any ran in this one.

    Parameters
    ----------
    trace
        With labels.
    begin, end
        The part, counted from the trace's beginning.
    """
    import numpy as np

    length = end - begin
    managed = trace.fragment >= 0
    if length < 1 or not managed.any():
        return None
    first = int(trace.start.min())
    starts, ends = trace.start[managed] - first, trace.end[managed] - first
    inside = np.minimum(ends, end) - np.maximum(starts, begin)
    ran = int(inside[inside > 0].sum())
    # Parts of the same length, one behind the other; a dispatch counts where it starts.
    parts, numbers = np.unique(starts // length, return_inverse=True)
    ran_in = np.bincount(numbers, ends - starts)
    most = int(ran_in.argmax())
    if ran >= HARDLY * length * trace.cpus or ran_in[most] <= ran:
        return None
    other = int(parts[most]) * length
    limits = [written(time, trace.header.time_unit) for time in (other, other + length)]
    return (
        "hardly any dispatch with a fragment runs in this part; "
        f"--from {limits[0]} --to {limits[1]} shows more of them"
    )


def written(time: int, unit: str | None) -> str:
    """Return a time in a trace's unit as ``--from`` takes it."""
    from dfopt.trace.time_units import NANOSECONDS, exact_time

    own = unit or "ns"
    return exact_time(time, own) if own in NANOSECONDS else str(time)
