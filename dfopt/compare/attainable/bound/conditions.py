"""What all schedules within a waiting limit have in common, as rows of a linear program.

For a fragment, x(t) CPUs *hold* it at time t, and e(u, v] visits to it start later than u and not
later than v, see :mod:`dfopt.compare.attainable.bound.proof`. The conditions here bound these
numbers from below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.bound.start_windows import StartWindows
from dfopt.compare.dispatches import Rows
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Flags, Integers

STEPS_A_WAIT = 16
"""A permitted wait is divided into this number of steps, and the ends of intervals are rounded."""

STEPS_A_DELAY = 4
"""The same for a delay that is told apart, if the total of all waits is limited."""

LONGEST_ENERGY = 20
"""At most this number of periods make an interval of an energy condition."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DelayConditions:
    """Conditions x(begin) + e(begin, end] ≥ 1, unless dispatches are delayed by more than some δ.

    Parameters
    ----------
    begin, end
        The intervals; each stands for all dispatches that have it.
    weight
        The number of dispatches x (δ - the next shorter δ): by at least this much they wait longer
        if the condition does not hold.
    dispatch, delay, interval
        For each of the dispatches: its row in the arrivals, the position of δ, and the position of
        its interval.
    """

    begin: Integers
    end: Integers
    weight: Integers
    dispatch: Rows
    delay: Rows
    interval: Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentConditions:
    """The conditions of one fragment in a stretch.

    Parameters
    ----------
    fragment
        Its number.
    windows
        Its dispatches.
    hits, hit_begin, hit_end
        Rows of ``windows``, and times with x(hit_begin) + e(hit_begin, hit_end] ≥ 1 because of the
        row. The conditions of other rows follow from them.
    begin, end, due, count
        x(begin) + e(begin, end] ≥ count, since ``count - 1`` CPUs cannot begin by ``end`` what must
        be begun, or, if ``due`` is not before ``begin``, not finish by ``due`` what must be
        finished.
    mandatory_begin, mandatory_end
        Times between which a dispatch certainly runs.
    period_begin, period_end, work
        In the periods from ``period_begin`` to just before ``period_end``, the fragment runs for at
        least ``work`` units of CPU time.
    delays
        Conditions that a dispatch may break if it waits.
    """

    fragment: int
    windows: StartWindows
    hits: Rows
    hit_begin: Integers
    hit_end: Integers
    begin: Integers
    end: Integers
    due: Integers
    count: Integers
    mandatory_begin: Integers
    mandatory_end: Integers
    period_begin: Rows
    period_end: Rows
    work: Integers
    delays: DelayConditions


NOTHING_DUE = np.iinfo(np.int64).min
"""In the column ``due``: only the starts count."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchTimes:
    """The times that the conditions of a stretch speak of.

    Parameters
    ----------
    begin, end
        The stretch is from ``begin`` to just before ``end``.
    step
        Intervals of hits are made longer, until their ends are multiples of it.
    grid
        The times that bound the periods of energy conditions. None: lengths are not known, so
        that there are only hits.
    delays
        The times δ by which dispatches may be delayed.
    """

    begin: int
    end: int
    step: int
    grid: Integers | None
    delays: Integers


def conditions_of(
    fragment: int, windows: StartWindows, cpus: int, times: StretchTimes
) -> FragmentConditions:
    """Return the conditions of one fragment.

    Parameters
    ----------
    fragment
        Its number.
    windows
        Its dispatches that start in the stretch.
    cpus
        The number of CPUs.
    times
        The times that the conditions speak of.
    """
    none = np.empty(0, np.int64)
    begin, end, due, count, mandatory_begin, mandatory_end = (none,) * 6
    period_begin, period_end, work = none, none, none
    # A longer interval makes a weaker condition. Many of them are equal or contain each other.
    due_rows = np.flatnonzero(windows.last < times.end)
    due_windows = windows.part(due_rows)
    hit_begin, hit_end = _rounded(due_windows.seen_from, due_windows.last, times.step, times)
    minimal = _is_minimal(hit_begin, hit_end)
    if times.grid is not None:
        begin, end, due, count = _multiplicities(due_windows, cpus)
        finished = np.minimum(due_windows.first + due_windows.length, times.end)
        runs = due_windows.last < finished
        mandatory_begin, mandatory_end = due_windows.last[runs], finished[runs]
        period_begin, period_end, work = _energies(due_windows, times.grid)
    return FragmentConditions(
        fragment=fragment,
        windows=windows,
        hits=due_rows[minimal],
        hit_begin=hit_begin[minimal],
        hit_end=hit_end[minimal],
        begin=begin,
        end=end,
        due=due,
        count=count,
        mandatory_begin=mandatory_begin,
        mandatory_end=mandatory_end,
        period_begin=period_begin,
        period_end=period_end,
        work=work,
        delays=_delays(windows, times),
    )


def _rounded(
    begin: Integers, end: Integers, step: int, times: StretchTimes
) -> tuple[Integers, Integers]:
    """Return longer intervals, whose ends are multiples of a step or ends of the stretch."""
    return (
        np.maximum(begin // step * step, times.begin),
        np.minimum(-(-end // step) * step, times.end - 1),
    )


def _delays(windows: StartWindows, times: StretchTimes) -> DelayConditions:
    """Return the conditions that delays may break."""
    tables, members = [np.empty((0, 3), np.int64)], [np.empty((0, 3), np.int64)]
    found = 0
    for delay, (length, gap) in enumerate(
        zip(times.delays.tolist(), np.diff(times.delays, prepend=0).tolist(), strict=True)
    ):
        # What cannot be delayed by one of the times cannot be delayed by longer ones.
        rows = np.flatnonzero((windows.slack >= length) & (windows.undelayed < times.end - length))
        begin, end = _rounded(
            windows.seen_from[rows],
            windows.undelayed[rows] + length,
            max(1, length // STEPS_A_DELAY),
            times,
        )
        intervals, of, counts = np.unique(
            np.column_stack([begin, end]), axis=0, return_inverse=True, return_counts=True
        )
        tables.append(np.column_stack([intervals, counts * gap]))
        members.append(
            np.column_stack([windows.dispatch[rows], np.full(len(rows), delay), found + of])
        )
        found += len(intervals)
    begin, end, weight = np.concatenate(tables).T
    dispatch, delays, interval = np.concatenate(members).T
    return DelayConditions(
        begin=begin, end=end, weight=weight, dispatch=dispatch, delay=delays, interval=interval
    )


def _is_minimal(begin: Integers, end: Integers) -> Flags:
    """Return which intervals contain no other one; of equal ones, one counts."""
    order = np.lexsort((-begin, end))
    latest = np.maximum.accumulate(begin[order])
    flags = np.ones(len(begin), np.bool_)
    flags[order[1:]] = begin[order[1:]] > latest[:-1]
    return flags


def _multiplicities(
    windows: StartWindows, cpus: int
) -> tuple[Integers, Integers, Integers, Integers]:
    """Return begin, end, due and count of intervals that need several CPUs."""
    rows = np.flatnonzero(windows.length > 0)
    first, last, length = windows.first[rows], windows.last[rows], windows.length[rows]
    begins = np.unique(first)[::-1]
    by_last, by_end = np.argsort(last), np.argsort(last + length)
    found = [np.empty((0, 4), np.int64)]
    for count in range(2, min(cpus, len(rows)) + 1):
        table = np.empty((len(begins), 3), np.int64)
        size = _intervals(first, last, length, begins, by_last, by_end, count - 1, table)
        if not size:
            break
        found.append(np.column_stack([table[:size], np.full(size, count)]))
    begin, end, due, counts = np.concatenate(found).T
    return begin, end, due, counts


@compiled
def _intervals(  # noqa: PLR0913, PLR0917
    first: Integers,
    last: Integers,
    length: Integers,
    begins: Integers,
    by_last: Rows,
    by_end: Rows,
    cpus: int,
    table: Integers,
) -> int:
    """Fill a table with intervals in which this number of CPUs is too small; return its length.

    Each row has begin, end, and the time by which the work cannot be finished. Intervals that
    contain another one are left out.

    A set of dispatches cannot be *finished* by t if its lengths add up to more than the CPUs have
    time. It cannot be *begun* by t if that is true without the last dispatch of each CPU, of which
    the lengths are at most those of the longest ones.
    """
    size = 0
    shortest = np.iinfo(np.int64).max
    longest = np.empty(cpus, np.int64)
    for begin in begins:
        found = shortest
        due = np.iinfo(np.int64).min
        total = 0
        longest[:] = 0
        for row in by_last:
            if last[row] >= found:
                break
            if first[row] < begin:
                continue
            total += length[row]
            smallest = np.argmin(longest)
            longest[smallest] = max(longest[smallest], length[row])
            if total - longest.sum() > cpus * (last[row] - begin):
                found = last[row]
                break
        total = 0
        latest = begin
        for row in by_end:
            if first[row] < begin:
                continue
            latest = max(latest, last[row])
            if latest >= found:
                break
            total += length[row]
            if total > cpus * (last[row] + length[row] - begin):
                found = latest
                due = last[row] + length[row]
                break
        if found < shortest:
            shortest = found
            table[size, 0] = begin
            table[size, 1] = found
            table[size, 2] = due
            size += 1
    return size


def _energies(windows: StartWindows, grid: Integers) -> tuple[Rows, Rows, Integers]:
    """Return intervals of periods, and the CPU time for which the fragment runs in them at least.

    Those that follow from the conditions of two shorter intervals are left out.
    """
    work = np.zeros((len(grid), LONGEST_ENERGY + 1), np.int64)
    _add_work(windows.first, windows.last, windows.length, grid, work)
    begin, periods = np.nonzero(work)
    return begin, begin + periods, work[begin, periods]


@compiled
def _add_work(
    first: Integers, last: Integers, length: Integers, grid: Integers, work: Integers
) -> None:
    """Add the least CPU time in each interval of periods to ``work[begin, number of periods]``.

    The time for which [s, s + p) and [u, v) overlap is least at the first or the last start s,
    since it first rises and then falls with s.
    """
    periods = len(grid) - 1
    longest = work.shape[1] - 1
    for row in range(len(first)):
        # An interval that ends before the last start, or begins after the first end, has none.
        end = first[row] + length[row]
        stop = np.searchsorted(grid, last[row], "right")
        for begin in range(max(0, stop - longest), periods):
            if grid[begin] >= end:
                break
            for after in range(max(stop, begin + 1), min(begin + longest, periods) + 1):
                overlap = min(grid[after], end) - max(grid[begin], first[row])
                overlap = min(
                    overlap,
                    min(grid[after], last[row] + length[row]) - max(grid[begin], last[row]),
                )
                if overlap > 0:
                    work[begin, after - begin] += overlap
    for periods_together in range(longest, 1, -1):
        for begin in range(periods - periods_together + 1):
            for part in range(1, periods_together):
                both = work[begin, part] + work[begin + part, periods_together - part]
                if both >= work[begin, periods_together]:
                    work[begin, periods_together] = 0
                    break
