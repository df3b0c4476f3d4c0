"""What all schedules within a waiting limit have in common: intervals with visits.

For a fragment, x(t) CPUs *hold* it at time t, and e(u, v] visits to it start later than u and not
later than v, see :mod:`dfopt.compare.attainable.bound.proof`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.bound.start_windows import StartWindows
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Flags, Integers

STEPS_A_WAIT = 16
"""A permitted wait is divided into this number of steps, and the ends of intervals are rounded."""

NO_ROW = -1
"""In the column ``dispatch``: no single dispatch is meant."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentConditions:
    """Conditions x(begin) + e(begin, end] ≥ count of one fragment, as columns.

    Parameters
    ----------
    fragment
        Its number.
    begin, end, count
        The intervals. Those with equal ends demand that CPUs hold the fragment then.
    dispatch
        The dispatch that makes a hit; else :data:`NO_ROW`.
    """

    fragment: int
    begin: Integers
    end: Integers
    count: Integers
    dispatch: Rows


def conditions_of(
    fragment: int,
    windows: StartWindows,
    stretch: tuple[int, int],
    step: int,
    *,
    uses_lengths: bool,
) -> FragmentConditions:
    """Return the conditions of one fragment.

    Parameters
    ----------
    fragment
        Its number.
    windows
        Its dispatches that start in the stretch.
    stretch
        It is from the first time to just before the second one.
    step
        Intervals of hits are made longer, until their ends are multiples of it.
    uses_lengths
        Whether dispatches are as long as recorded.
    """
    # A longer interval makes a weaker condition. Many of them are equal or contain each other.
    due = windows.part(np.flatnonzero(windows.last < stretch[1]))
    begin = np.maximum(due.seen_from // step * step, stretch[0])
    end = np.minimum(-(-due.last // step) * step, stretch[1] - 1)
    minimal = np.flatnonzero(_is_minimal(begin, end))
    minimal = minimal[np.argsort(begin[minimal])]
    tables = [np.column_stack([begin, end, np.ones_like(begin), due.dispatch])[minimal]]
    if uses_lengths:
        tables.append(_held(due, stretch[1]))
    table = np.concatenate(tables)
    return FragmentConditions(
        fragment=fragment,
        begin=table[:, 0].copy(),
        end=table[:, 1].copy(),
        count=table[:, 2].copy(),
        dispatch=table[:, 3].copy(),
    )


def running(first: Integers, last: Integers, length: Integers, times: Integers) -> Integers:
    """Return how many dispatches certainly run at each time: those with d ≤ t < r + p."""
    certain = last < first + length
    begun = np.searchsorted(np.sort(last[certain]), times, side="right")
    ended = np.searchsorted(np.sort((first + length)[certain]), times, side="right")
    return np.asarray(begun - ended, np.int64)


def _held(windows: StartWindows, end: int) -> Integers:
    """Return the conditions that dispatches are running, when each begins and just before it ends.

    Ordered by the number of dispatches, then by time.
    """
    first, last, length = windows.first, windows.last, windows.length
    certain = last < first + length
    times = np.unique(np.concatenate([last[certain], (first + length)[certain] - 1]))
    times = times[times < end]
    count = running(first, last, length, times)
    order = np.lexsort((times, count))
    order = order[count[order] > 0]
    times, count = times[order], count[order]
    return np.column_stack([times, times, count, np.full(len(times), NO_ROW)])


def _is_minimal(begin: Integers, end: Integers) -> Flags:
    """Return which intervals contain no other one; of equal ones, one counts."""
    order = np.lexsort((-begin, end))
    latest = np.maximum.accumulate(begin[order])
    flags = np.ones(len(begin), np.bool_)
    flags[order[1:]] = begin[order[1:]] > latest[:-1]
    return flags
