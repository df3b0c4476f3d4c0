"""A lower bound on the cost of all schedules of a trace within a waiting limit, with its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_proof import check_proof
from dfopt.compare.attainable.bound.conditions import conditions_of
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

DISPATCHES_A_STRETCH = 10_000
"""A stretch has about this number of dispatches."""

DISPATCHES_A_PERIOD = 10
"""A period of the energy conditions has about this number of dispatches."""

FINEST = 10**9
"""The largest price is about this integer."""


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
    scale
        The prices are multiples of 1/scale.
    """

    windows: StartWindows
    entry: Integers
    begin: int
    end: int
    cpus: int
    uses_lengths: bool
    scale: int

    def perform(self) -> StretchPrices:
        """Return the prices."""
        windows = self.windows
        counts = (windows.seen_from >= self.begin) & (windows.last < self.end)
        grid = None
        if self.uses_lengths:
            periods = max(1, int(counts.sum()) // DISPATCHES_A_PERIOD)
            ends = np.linspace(self.begin, self.end, min(periods, self.end - self.begin) + 1)
            grid = np.unique(ends.astype(np.int64))
        conditions, costs = [], []
        for fragment in np.unique(windows.fragment[counts]).tolist():
            own = np.flatnonzero(windows.fragment == fragment)
            certain = windows.part(own[counts[own]])
            condition = conditions_of(fragment, certain, self.cpus, grid, self.end)
            points = points_of(condition, self.begin)
            # A dispatch may start in the stretch also if it does not have to.
            slots = slot_costs(points, windows.first[own], windows.last[own], self.entry[own])
            conditions.append(condition)
            costs.append(slots)
        if not conditions:
            return StretchPrices(begin=self.begin, end=self.end)
        duals = dual_solution(conditions, costs, self.cpus, grid, begin=self.begin)
        return integer_prices(duals, costs, grid, begin=self.begin, end=self.end, scale=self.scale)


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
    scale = max(1, FINEST // max(1, int(costs.entry.max())))
    ends = stretch_ends(windows, arrivals.cut_time, DISPATCHES_A_STRETCH)
    stretches = []
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        check()
        meets = np.flatnonzero((windows.first < end) & (windows.last >= begin))
        work = StretchBound(
            windows=windows.part(meets),
            entry=costs.entry[meets],
            begin=begin,
            end=end,
            cpus=arrivals.cpus,
            uses_lengths=uses_lengths,
            scale=scale,
        )
        stretches.append(work.perform())
    proof = WaitingProof(
        limit=limit, uses_lengths=uses_lengths, scale=scale, stretches=tuple(stretches)
    )
    value = check_proof(arrivals, proof).value
    assert value is not None
    return WaitingBound(value=value, proof=proof)
