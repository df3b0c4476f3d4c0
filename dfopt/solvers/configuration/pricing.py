"""Exact pricing: the contents of CPUs that are worth most at some prices, and the proof by them.

Each group of CPUs has a bin weight at every limit z: the most that the content of one of its CPUs
can be worth at a cost of at most z. If all tasks together are worth more than the bin weights of
all CPUs, no schedule keeps z. This is Lagrange's relaxation of the LP, so that the prices may be
any; with Farley's (1990) argument the quotient of both sides is a bound on the LP's value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from dfopt.solvers.configuration.columns import Column, CpuContent
from dfopt.solvers.configuration.cpu_knapsack import Choices, fill_knapsack, trace_knapsack
from dfopt.solvers.configuration.fragment_knapsack import NEVER
from dfopt.solvers.configuration.fragment_options import ALONE
from dfopt.solvers.configuration.master import TOLERANCE
from dfopt.solvers.configuration.priced_fragments import PricedFragments, watched
from dfopt.solvers.configuration.prices import Duals, Prices
from dfopt.solvers.configuration.pricing_data import CpuGroup
from dfopt.solvers.configuration.remaining_problem import RemainingProblem, VisitPattern

MOST_COLUMNS = 40
"""One pricing returns at most 40 columns for each group of CPUs."""


class PricedGroup:
    """The priced contents that a CPU of one group can hold.

    Parameters
    ----------
    priced
        The priced options of each fragment.
    group
        The CPUs.
    pattern
        Which of the fragments whose pairs are limited it visits.
    """

    def __init__(self, priced: PricedFragments, group: CpuGroup, pattern: VisitPattern) -> None:
        self._priced = priced
        self._worth = pattern.worth(priced.prices)
        data = priced.data
        self._grid = data.cost_grid.costs
        fragments = len(data.first_class) - 1
        spared = np.array([group.start.spares_entry(fragment) for fragment in range(fragments)])
        sets = 4 if data.needs_last else 2
        self._tables = data.tables.borrow((fragments + 1, sets, data.capacity + 1, len(self._grid)))
        may_miss, may_visit = np.ones(fragments, np.bool_), np.ones(fragments, np.bool_)
        may_miss[list(pattern.visited)] = False
        may_visit[list(pattern.missed)] = False
        options = priced.options
        self._choices = Choices(priced.start, options, spared, may_miss, may_visit)
        watched(
            lambda halt: fill_knapsack(self._tables, self._grid, self._choices, halt),
            len(options) * self._tables[0].size,
            priced.check,
        )
        owners = np.repeat(np.arange(fragments), np.diff(priced.start))
        others = np.count_nonzero(~may_miss) - ~may_miss[owners]
        may_be_alone = spared[owners] & may_visit[owners] & (others == 0)
        self._alone = np.flatnonzero((options[:, 0] == ALONE) & may_be_alone)
        self._alone_owners = owners[self._alone]
        # The cost of a CPU's start, which depends on whether its first block is spared its entry.
        unit = data.cost_grid.unit
        arrival, departure = group.start.arrival, group.start.departure
        tolls = np.array([arrival + (0 if ends & 1 else departure) for ends in range(sets)])
        # By ends and row; their values by ends, size and row.
        self._costs = self._grid * unit + tolls[:, None]
        self._last = self._tables[-1] + self._worth - priced.prices.cost * tolls[:, None, None]
        self._alone_costs = self._grid[options[self._alone, 1]] * unit + arrival
        self._alone_values = options[self._alone, 3] + self._worth - priced.prices.cost * arrival
        self._best_up_to()

    def release(self) -> None:
        """Give the tables back; after that there are no contents any more."""
        self._priced.data.tables.give_back(self._tables)

    def largest(self, limit: int | None) -> int:
        """Return the most that is held at a cost of at most ``limit``; nothing is worth 0.

        Parameters
        ----------
        limit
            At most that of the data, in the instance's time unit; None where that is None.
        """
        if limit is None:
            return int(self._highest[-1])
        cheaper = int(np.searchsorted(self._sorted_costs, limit, "right"))
        return int(self._highest[cheaper])

    def contents(self, limit: int | None, most: int) -> list[tuple[CpuContent, int]]:
        """Return the most valuable contents, one of each size, with their costs.

        Parameters
        ----------
        limit
            The most that they cost; None where costs are not limited, but priced.
        most
            The number of contents returned is at most this, and one for a single fragment.
        """
        last = self._last
        if limit is not None:
            last = np.where((self._costs <= limit)[:, None, :], last, NEVER)
        height = last.shape[2]
        by_size = last.transpose(1, 0, 2).reshape(last.shape[1], -1)
        cells = by_size.argmax(axis=1)
        values = by_size[np.arange(len(cells)), cells]
        sizes = np.argsort(-values, kind="stable")[:most]
        found = [
            self._content(int(cells[size]) // height, int(cells[size]) % height, size)
            for size in sizes.tolist()
            if values[size] > 0
        ]
        return found + self._best_alone(limit)

    def _best_alone(self, limit: int | None) -> list[tuple[CpuContent, int]]:
        """Return the most valuable content of a single fragment whose entry is spared."""
        values = self._alone_values
        if limit is not None:
            values = np.where(self._alone_costs <= limit, values, NEVER)
        if not len(values) or values.max() <= 0:
            return []
        best = int(values.argmax())
        content = self._priced.content([(int(self._alone_owners[best]), int(self._alone[best]))])
        return [(content, self._cost(content, int(self._alone_costs[best]), int(values[best])))]

    def _best_up_to(self) -> None:
        """List the costs of contents, and the most that is held up to each; nothing is 0."""
        costs = np.concatenate([self._costs.ravel(), self._alone_costs])
        values = np.concatenate([self._last.max(axis=1).ravel(), self._alone_values])
        order = np.argsort(costs, kind="stable")
        self._sorted_costs = costs[order]
        self._highest = np.maximum.accumulate(np.append(0, values[order]))

    def _content(self, ends: int, row: int, size: int) -> tuple[CpuContent, int]:
        chosen = trace_knapsack(self._tables, self._grid, self._choices, ends, row, size)
        content = self._priced.content(
            [(fragment, option) for fragment, option in enumerate(chosen.tolist()) if option >= 0]
        )
        return content, self._cost(
            content, int(self._costs[ends, row]), int(self._last[ends, size, row])
        )

    def _cost(self, content: CpuContent, limited: int, value: int) -> int:
        """Return the cost of a content; where costs are priced, its value gives the cost."""
        prices = self._priced.prices
        if self._priced.data.limit is not None:
            return limited
        return (prices.worth(content) - value) // prices.cost


class PricedProblem:
    """The contents that CPUs can hold at some prices, and the limits that the prices refute.

    Parameters
    ----------
    problem
        The tasks to hold, and the limits on contents.
    prices
        The worth of tasks, in integers.
    check
        Called often; may end the work by an exception.
    fragments
        The priced options of each fragment, if they are known.
    """

    def __init__(
        self,
        problem: RemainingProblem,
        prices: Prices,
        check: Callable[[], None] = lambda: None,
        fragments: PricedFragments | None = None,
    ) -> None:
        self.problem = problem
        self.prices = prices
        self.check = check
        self._fragments = fragments = fragments or PricedFragments(problem, prices, check)
        self.groups = [
            [PricedGroup(fragments, group, pattern) for pattern in problem.patterns()]
            for group in problem.data.groups
        ]

    @cached_property
    def worth(self) -> int:
        """The worth of everything, see :meth:`RemainingProblem.worth`."""
        return self.problem.worth(self.prices)

    def without(self, column: Column) -> PricedProblem:
        """Return what is left once a CPU holds ``column``, at the same prices.

        Only the fragments of the column have other options than before.
        """
        rest = self.problem.without(column)
        changed = column.content.fragments
        fragments = PricedFragments(rest, self.prices, self.check, self._fragments, changed)
        return PricedProblem(rest, self.prices, self.check, fragments)

    def release(self) -> None:
        """Give memory back; after that there are bin weights, but no columns any more."""
        for group in self.groups:
            for pattern in group:
                pattern.release()

    def bins(self, limit: int | None) -> tuple[int, ...]:
        """Return the most that a CPU of each group holds within ``limit``."""
        return tuple(max(pattern.largest(limit) for pattern in group) for group in self.groups)

    def capacity(self, limit: int | None) -> int:
        """Return the most that all CPUs hold within ``limit``."""
        bins = zip(self.bins(limit), self.problem.cpus, strict=True)
        return sum(largest * number for largest, number in bins)

    @cached_property
    def surplus(self) -> int:
        """The worth of everything less the most that the CPUs can hold, at any cost."""
        return self.worth - self.capacity(None)

    def refutes(self, limit: int) -> bool:
        """Return whether these prices prove that no schedule keeps ``limit``."""
        if self.prices.cost:
            return self.surplus > self.problem.data.largest_total(limit) * self.prices.cost
        return self.worth > self.capacity(limit)

    def refuted(self, least: int, limit: int) -> int:
        """Return the largest limit that is refuted, from ``least`` on; ``least`` − 1 if none is."""
        known = self.problem.data.limit
        low, high = least - 1, limit if known is None else min(limit, known)
        while low < high:
            middle = (low + high + 1) // 2
            if self.refutes(middle):
                low = middle
            else:
                high = middle - 1
        return low

    def columns(self, limit: int, duals: Duals) -> list[Column]:
        """Return contents within ``limit`` whose reduced cost is negative by ``duals``."""
        within = None if self.prices.cost else limit
        return [
            Column(number, content, cost)
            for number, group in enumerate(self.groups)
            for pattern in group
            for content, cost in pattern.contents(within, MOST_COLUMNS)
            if duals.worth(content)
            > duals.bins[number] + (cost if self.prices.cost else 0) + TOLERANCE
        ]
