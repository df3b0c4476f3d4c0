"""How much of a trace had the same fragment on several CPUs at once."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Integers, Numbers
from dfopt.trace.service import SHOWN_DIGITS
from dfopt.trace.trace import UNMANAGED, Trace


def same_fragment_share(trace: Trace) -> float | None:
    """Return the share of the time in which several CPUs ran the same fragment at once.

    It is None where no dispatch with a fragment takes any time.
    """
    rows = (trace.fragment != UNMANAGED) & (trace.end > trace.start)
    if not rows.any():
        return None
    start, end, cpus = _stretches(trace.fragment[rows], trace.start[rows], trace.end[rows])
    shared = _union(start[cpus > 1], end[cpus > 1])
    return round(shared / int(trace.end.max() - trace.start.min()), SHOWN_DIGITS)


def parallel_share(trace: Trace) -> float | None:
    """Return the share of the run time that ran beside its own fragment on another CPU.

    The run time is that of all dispatches with a fragment. It is None where there is none.
    """
    rows = trace.fragment != UNMANAGED
    return parallel_share_of(trace.fragment[rows], trace.start[rows], trace.end[rows])


def parallel_share_of(fragment: Numbers, start: Integers, end: Integers) -> float | None:
    """Return the same for dispatches that all have a fragment."""
    rows = end > start
    if not rows.any():
        return None
    begins, ends, cpus = _stretches(fragment[rows], start[rows], end[rows])
    beside = int((cpus * (ends - begins))[cpus > 1].sum())
    return round(beside / int((end - start).sum()), SHOWN_DIGITS)


def _stretches(
    fragment: Numbers, start: Integers, end: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return stretches of each fragment: start, end, and how many CPUs run it meanwhile."""
    time = np.concatenate([start, end])
    step = np.repeat([1, -1], len(start))
    order = np.lexsort((time, np.tile(fragment, 2)))
    # The steps of each fragment add up to 0, so that all can be added in one go, and nothing runs
    # between the last end of a fragment and the first start of the next one.
    return time[order][:-1], time[order][1:], np.cumsum(step[order])[:-1]


def _union(start: Integers, end: Integers) -> int:
    """Return the time that lies in at least one of these stretches."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    # What lies before the latest end so far has been counted already.
    counted_until = np.maximum.accumulate(np.concatenate([start[:1], end[:-1]]))
    return int(np.maximum(end - np.maximum(start, counted_until), 0).sum())
