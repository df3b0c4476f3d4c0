"""The work of finding the prices of one stretch of a trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dfopt.compare.attainable.bound.conditions import StretchTimes, conditions_of
from dfopt.compare.attainable.bound.linear_program import dual_solution, points_of
from dfopt.compare.attainable.bound.proof import StretchPrices
from dfopt.compare.attainable.bound.rounding import integer_prices
from dfopt.compare.attainable.bound.start_windows import StartWindows
from dfopt.compare.attainable.bound.stretches import stretch_ends
from dfopt.compare.attainable.bound.visit_costs import VisitCosts, exit_costs, slot_costs
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Integers

SMALLEST_STRETCH = 200
"""A stretch with fewer dispatches is not divided further."""

MOST_STEPS = 400_000_000
"""After this number of iterations of the solver x rows of its problem, a stretch is divided."""

DISPATCHES_A_PERIOD = 100
"""A period of the energy conditions has about this number of dispatches."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricedStretches:
    """The prices of one or more stretches.

    Parameters
    ----------
    value
        The values of the linear programs; floating point, so it proves nothing.
    prices
        The prices.
    """

    value: float
    prices: tuple[StretchPrices, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchBound:
    """The work of finding the prices of one stretch.

    Parameters
    ----------
    windows
        The dispatches that may start in the stretch.
    entry, exit
        What an entry with each of them costs, and an exit after it.
    first, last
        What the first visit of a CPU costs if it begins with the dispatch, and the last one if it
        ends with it; 0 where the stretch is not the first or the last one.
    begin, end
        The stretch is from ``begin`` to just before ``end``.
    cpus
        The number of CPUs.
    uses_lengths
        Whether dispatches are as long as recorded.
    step, delays
        As in :class:`~dfopt.compare.attainable.bound.conditions.StretchTimes`.
    scale, wait_price
        As in :class:`~dfopt.compare.attainable.bound.proof.WaitingProof`.
    """

    windows: StartWindows
    entry: Integers
    exit: Integers
    first: Integers
    last: Integers
    begin: int
    end: int
    cpus: int
    uses_lengths: bool
    step: int
    delays: Integers
    scale: int
    wait_price: int

    def __len__(self) -> int:
        """Return the number of dispatches that may start in the stretch."""
        return len(self.windows)

    def part(self, begin: int, end: int) -> StretchBound:
        """Return the work on a part of the stretch."""
        windows = self.windows
        meets = np.flatnonzero((windows.first < end) & (windows.last >= begin))
        # Of those that may start at any time of the part, the cheapest of each fragment counts.
        always = (windows.first[meets] < begin) & (windows.last[meets] >= end)
        always &= not self.exit.any()
        spanning = meets[always]
        spanning = spanning[np.argsort(self.entry[spanning], kind="stable")]
        _, cheapest = np.unique(windows.fragment[spanning], return_index=True)
        meets = np.sort(np.concatenate([meets[~always], spanning[cheapest]]))
        free = np.zeros(len(meets), np.int64)
        return replace(
            self,
            windows=windows.part(meets),
            entry=self.entry[meets],
            exit=self.exit[meets],
            first=self.first[meets] if begin == self.begin else free,
            last=self.last[meets] if end == self.end else free,
            begin=begin,
            end=end,
        )

    def perform(self) -> PricedStretches:
        """Return the prices, of several shorter stretches if the linear program was too hard."""
        windows = self.windows
        begun = windows.seen_from >= self.begin
        due = np.minimum(windows.last, windows.undelayed)
        count = int((begun & (due < self.end)).sum())
        if not count:
            return PricedStretches(value=0.0, prices=())
        times = self._times(count)
        conditions, costs = [], []
        for fragment in np.unique(windows.fragment[begun & (due < self.end)]).tolist():
            own = np.flatnonzero(windows.fragment == fragment)
            condition = conditions_of(fragment, windows.part(own[begun[own]]), self.cpus, times)
            conditions.append(condition)
            costs.append(self._visit_costs(own, points_of(condition, self.begin, self.end)))
        duals = dual_solution(
            conditions,
            costs,
            self.cpus,
            times.grid,
            begin=self.begin,
            end=self.end,
            wait_price=self.wait_price / self.scale,
            most_steps=None if count < SMALLEST_STRETCH else MOST_STEPS,
        )
        if duals is None:
            known = windows.part(np.flatnonzero(begun & (due < self.end)))
            return self._divided(stretch_ends(known, due[begun & (due < self.end)], count // 2))
        prices = integer_prices(duals, costs, times, self.scale, self.wait_price)
        return PricedStretches(value=duals.value, prices=(prices,))

    def _visit_costs(self, rows: Rows, points: Integers) -> VisitCosts:
        """Return what visits to a fragment cost; a dispatch counts also if it may start outside."""
        windows = self.windows
        exits, cheaper = exit_costs(self.exit[rows])
        return VisitCosts(
            entry=slot_costs(points, windows.first[rows], windows.last[rows], self.entry[rows]),
            exit=exits,
            cheaper=cheaper,
            first=int(self.first[rows].min()),
            last=int(self.last[rows].min()),
        )

    def _times(self, count: int) -> StretchTimes:
        grid = None
        if self.uses_lengths:
            periods = max(1, count // DISPATCHES_A_PERIOD)
            ends = np.linspace(self.begin, self.end, min(periods, self.end - self.begin) + 1)
            grid = np.unique(ends.astype(np.int64))
        return StretchTimes(
            begin=self.begin, end=self.end, step=self.step, grid=grid, delays=self.delays
        )

    def _divided(self, ends: Integers) -> PricedStretches:
        """Return the prices of the parts between some times."""
        inner = [time for time in ends.tolist() if self.begin < time < self.end]
        parts = [self.part(*pair).perform() for pair in pairwise([self.begin, *inner, self.end])]
        return PricedStretches(
            value=sum(part.value for part in parts),
            prices=tuple(prices for part in parts for prices in part.prices),
        )
