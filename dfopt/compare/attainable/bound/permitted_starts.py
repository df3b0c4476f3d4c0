"""Between which times each dispatch of a trace starts, in every schedule within a waiting limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.bound.timetable import after_busy_times
from dfopt.compare.attainable.bound.work_ahead import after_work
from dfopt.trace.events import Integers

MOST_ROUNDS = 10
"""Earliest starts are raised at most this number of times."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PermittedStarts:
    """When dispatches start, as columns with a row for each dispatch.

    Parameters
    ----------
    earliest, latest
        Each starts neither before the one nor after the other.
    """

    earliest: Integers
    latest: Integers


def permitted_starts(arrivals: Arrivals, wait: int, *, uses_lengths: bool) -> PermittedStarts:
    """Return between which times dispatches start if none waits longer than ``wait``.

    If ``uses_lengths``, what a preempted task goes on with follows what it did before, and no
    dispatch starts before the CPUs can have time for it, or where no CPU has room for it. Otherwise
    it may start as soon as the first part was ready, since that part could have been shorter.
    """
    earliest = arrivals.ready_from
    if uses_lengths:
        earliest = _after_previous(arrivals, earliest)
    latest = arrivals.latest_starts_for_bounds(wait)
    if uses_lengths and len(arrivals):
        earliest = _where_cpus_have_time(arrivals, earliest, latest)
    return PermittedStarts(earliest=earliest, latest=latest)


def _where_cpus_have_time(arrivals: Arrivals, earliest: Integers, latest: Integers) -> Integers:
    """Return earliest starts, raised until no more is known, or for a number of rounds."""
    for _ in range(MOST_ROUNDS):
        before = earliest
        earliest = _after_previous(arrivals, after_work(arrivals, earliest, latest))
        earliest = _after_previous(arrivals, after_busy_times(arrivals, earliest, latest))
        if (earliest == before).all():
            break
    return earliest


def _after_previous(arrivals: Arrivals, ready: Integers) -> Integers:
    """Return ``ready``, or when the task's dispatch before ends at the earliest, if later."""
    times: list[int] = ready.tolist()
    length: list[int] = arrivals.length.tolist()
    for dispatch, previous in enumerate(arrivals.previous.tolist()):
        if previous != NONE:
            end = times[previous] + length[previous]
            times[dispatch] = max(times[dispatch], end)
    return np.array(times, np.int64)
