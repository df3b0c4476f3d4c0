"""A lower bound on the cost of all schedules of a trace within a waiting limit, with its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_proof import check_proof
from dfopt.compare.attainable.bound.conditions import StretchTimes, conditions_of
from dfopt.compare.attainable.bound.entry_costs import slot_costs
from dfopt.compare.attainable.bound.least_costs import least_costs
from dfopt.compare.attainable.bound.linear_program import dual_solution, points_of
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.proof import StretchPrices, WaitingProof
from dfopt.compare.attainable.bound.rounding import integer_prices
from dfopt.compare.attainable.bound.start_windows import StartWindows, start_windows
from dfopt.compare.attainable.bound.stretches import stretch_ends
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.trace.events import Integers

DISPATCHES_A_STRETCH = 3_000
"""A stretch has about this number of dispatches."""

SMALLEST_STRETCH = 200
"""A stretch with fewer dispatches is not divided further."""

MOST_ITERATIONS = 12_000
"""After this number of iterations of the solver, a stretch is divided."""

DISPATCHES_A_PERIOD = 100
"""A period of the energy conditions has about this number of dispatches."""

STEPS_A_WAIT = 16
"""A permitted wait is divided into this number of steps, and the ends of hits are rounded."""

FINEST = 10**12
"""The largest scale of prices."""

LARGEST_SUM = 2**57
"""Prices add up to about this at most."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WaitingBound:
    """A lower bound and what proves it.

    Parameters
    ----------
    value
        No schedule within the limit costs less.
    proof
        The prices that prove it.
    """

    value: int
    proof: WaitingProof


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchBound:
    """The work of finding the prices of one stretch.

    Parameters
    ----------
    windows
        The dispatches that may start in the stretch.
    entry
        What an entry costs with each of them.
    begin, end
        The stretch is from ``begin`` to just before ``end``.
    cpus
        The number of CPUs.
    uses_lengths
        Whether dispatches are as long as recorded.
    step
        As in :class:`~dfopt.compare.attainable.bound.conditions.StretchTimes`.
    scale
        The prices are multiples of 1/scale.
    """

    windows: StartWindows
    entry: Integers
    begin: int
    end: int
    cpus: int
    uses_lengths: bool
    step: int
    scale: int

    def perform(self) -> list[StretchPrices]:
        """Return the prices, of several shorter stretches if the linear program was too hard."""
        windows = self.windows
        certain = (windows.seen_from >= self.begin) & (windows.last < self.end)
        count = int(certain.sum())
        if not count:
            return []
        times = self._times(count)
        conditions, costs = [], []
        for fragment in np.unique(windows.fragment[certain]).tolist():
            own = np.flatnonzero(windows.fragment == fragment)
            condition = conditions_of(fragment, windows.part(own[certain[own]]), self.cpus, times)
            points = points_of(condition, self.begin)
            # A dispatch may start in the stretch also if it does not have to.
            slots = slot_costs(points, windows.first[own], windows.last[own], self.entry[own])
            conditions.append(condition)
            costs.append(slots)
        is_small = count < SMALLEST_STRETCH
        duals = dual_solution(
            conditions,
            costs,
            self.cpus,
            times.grid,
            begin=self.begin,
            iterations=None if is_small else MOST_ITERATIONS,
        )
        if duals is None:
            ends = stretch_ends(windows.part(np.flatnonzero(certain)), (), -(-count // 2))
            ends[0], ends[-1] = self.begin, self.end
            halves = [self._part(*pair) for pair in pairwise(ends.tolist())]
            return [prices for half in halves for prices in half.perform()]
        return [integer_prices(duals, costs, times, self.scale)]

    def _times(self, count: int) -> StretchTimes:
        grid = None
        if self.uses_lengths:
            periods = max(1, count // DISPATCHES_A_PERIOD)
            ends = np.linspace(self.begin, self.end, min(periods, self.end - self.begin) + 1)
            grid = np.unique(ends.astype(np.int64))
        return StretchTimes(begin=self.begin, end=self.end, step=self.step, grid=grid)

    def _part(self, begin: int, end: int) -> StretchBound:
        """Return the work on a part of the stretch."""
        windows = self.windows
        meets = np.flatnonzero((windows.first < end) & (windows.last >= begin))
        return replace(
            self, windows=windows.part(meets), entry=self.entry[meets], begin=begin, end=end
        )


def lower_bound(
    arrivals: Arrivals,
    limit: WaitingLimit,
    *,
    uses_lengths: bool,
    check: Callable[[], None] = lambda: None,
) -> WaitingBound:
    """Return a lower bound on the sum of all costs of every schedule within a waiting limit.

    Parameters
    ----------
    arrivals
        The dispatches, at least one.
    limit
        The waiting limit.
    uses_lengths
        Whether dispatches are as long as recorded; otherwise the bound holds for any lengths.
    check
        Called between stretches; what it raises ends the work.
    """
    starts = permitted_starts(arrivals, limit, uses_lengths=uses_lengths)
    windows = start_windows(starts, arrivals.fragment, arrivals.length)
    costs = least_costs(arrivals)
    scale = _scale(len(arrivals), int(costs.entry.max()))
    ends = stretch_ends(windows, arrivals.cut_time, DISPATCHES_A_STRETCH)
    whole = StretchBound(
        windows=windows,
        entry=costs.entry,
        begin=int(ends[0]),
        end=int(ends[-1]),
        cpus=arrivals.cpus,
        uses_lengths=uses_lengths,
        step=max(1, (limit.each or 0) // STEPS_A_WAIT),
        scale=scale,
    )
    stretches: list[StretchPrices] = []
    for begin, end in pairwise(ends.tolist()):
        check()
        stretches += whole._part(begin, end).perform()
    proof = WaitingProof(
        limit=limit, uses_lengths=uses_lengths, scale=scale, stretches=tuple(stretches)
    )
    value = check_proof(arrivals, proof).value
    assert value is not None
    return WaitingBound(value=value, proof=proof)


def _scale(dispatches: int, most_expensive: int) -> int:
    """Return the scale of the prices: fine enough for prices of a nanosecond.

    The checker refuses prices that could add up to more than 64 bits hold.
    """
    return max(1, min(FINEST, LARGEST_SUM // (dispatches * max(1, most_expensive))))
