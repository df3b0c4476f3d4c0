"""Exact pricing: the most that a CPU can hold within a cost, given what each task is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dfopt.solvers.configuration.features import Content, Feature, Holds, Meets, Opens, Visits
from dfopt.solvers.configuration.kernels import (
    ALONE,
    NEVER,
    Flags,
    Integers,
    block_content,
    block_options,
    fill_knapsack,
    trace_knapsack,
)
from dfopt.solvers.configuration.layout import Group, Layout


@dataclass(frozen=True, slots=True)
class Prices:
    """What tasks are worth, in integers.

    Parameters
    ----------
    weights
        Of a task, by class.
    charges
        Of opening a block with a task, by token; not negative.
    features
        Of having a feature, where the number of CPUs that have it is limited; of either sign.
    cost
        Of a unit of cost, under total-penalty; 0 where contents are limited in cost.
    """

    weights: Integers
    charges: Integers
    features: Mapping[Feature, int] = field(default_factory=dict)
    cost: int = 0

    def worth(self, content: Content) -> int:
        """Return what a content is worth, whatever it costs."""
        tasks = sum(int(self.weights[one]) * number for one, number in content.tasks)
        charges = sum(int(self.charges[token]) for token in content.tokens)
        features = sum(price for feature, price in self.features.items() if feature.among(content))
        return tasks + features - charges


@dataclass(frozen=True, slots=True)
class Stock:
    """What is there to be scheduled: tasks by class, and by token how many can open a block."""

    tasks: Integers
    tokens: Integers


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which fragments a CPU has to visit, and which it must not, of those whose pairs count.

    Parameters
    ----------
    visited, missed
        The fragments.
    """

    visited: frozenset[int] = frozenset()
    missed: frozenset[int] = frozenset()

    def worth(self, prices: Prices) -> int:
        """Return what the meetings of the fragments that are visited are worth."""
        return sum(
            price
            for feature, price in prices.features.items()
            if isinstance(feature, Meets) and self.visited.issuperset(feature.fragments)
        )


class Pricing:
    """What each fragment can add to a CPU, priced; shared by all groups of CPUs.

    Parameters
    ----------
    layout
        The instance as arrays.
    stock
        What is left to be scheduled.
    prices
        What it is worth.
    whole, paired
        For each fragment whether it must not be split over CPUs, and whether it is one of those
        that patterns speak of.
    """

    def __init__(
        self, layout: Layout, stock: Stock, prices: Prices, whole: Flags, paired: Flags
    ) -> None:
        self.layout = layout
        self.stock = stock
        self.prices = prices
        self._whole = whole
        base, leaving, entry = layout.rounded(layout.scale.unit)
        base_value, leaving_value, entry_value = (
            -prices.cost * one for one in (base, leaving, entry)
        )
        if layout.limit is None:
            # Costs are not limited; they count as less value instead.
            base, leaving, entry = (np.zeros_like(one) for one in (base, leaving, entry))
        self._base = base
        self._weights = prices.weights + base_value
        self._leaving = np.stack([leaving, leaving_value])
        self._visits = np.zeros(layout.fragments, np.int64)
        openings = entry_value - prices.charges
        bonuses = []
        for feature, price in prices.features.items():
            match feature:
                case Visits(fragment):
                    self._visits[fragment] = price
                case Opens(token):
                    openings[token] += price
                case Holds(task_class, number):
                    bonuses.append((task_class, number, price))
        self._bonuses = np.array(bonuses, np.int64).reshape(-1, 3)
        opening = np.where(stock.tokens > 0, openings, NEVER)
        self._tokens = np.stack([entry, opening], axis=1)
        rows = layout.scale.rows
        self.start, self.options = block_options(
            layout.scale.grid,
            layout.capacity,
            layout.step,
            layout.needs_last,
            layout.may_be_first,
            whole,
            paired,
            self._visits,
            layout.first_class,
            np.cumsum([0, *map(len, rows)]),
            np.concatenate(rows),
            stock.tasks,
            self._base,
            self._leaving,
            self._weights,
            self._bonuses,
            layout.first_token,
            self._tokens,
        )

    def content(self, options: list[tuple[int, int]]) -> Content:
        """Return the content that consists of some options, given with their fragments."""
        tasks: list[tuple[int, int]] = []
        tokens: list[int] = []
        layout = self.layout
        for fragment, option in options:
            first, last = layout.ranges[fragment]
            numbers, token = block_content(
                layout.scale.grid,
                layout.step,
                layout.needs_last,
                bool(self._whole[fragment]),
                int(self._visits[fragment]),
                first,
                last,
                layout.scale.rows[fragment],
                self.stock.tasks,
                self._base,
                self._leaving,
                self._weights,
                self._bonuses,
                layout.first_token,
                self._tokens,
                self.options[option],
            )
            tasks += [
                (first + place, number) for place, number in enumerate(numbers.tolist()) if number
            ]
            if token >= 0:
                tokens.append(int(token))
        fragments = tuple(fragment for fragment, _ in options)
        return Content(tuple(tasks), tuple(sorted(tokens)), fragments)


class GroupPricing:
    """What a CPU of one group can hold, priced.

    Parameters
    ----------
    pricing
        What each fragment can add.
    group
        The CPUs.
    pattern
        Of the fragments that it visits.
    """

    def __init__(self, pricing: Pricing, group: Group, pattern: Pattern) -> None:
        self._pricing = pricing
        self._worth = pattern.worth(pricing.prices)
        layout = pricing.layout
        self._grid = layout.scale.grid
        fragments = len(layout.first_class) - 1
        self._spared = np.array([group.start.spares_entry(one) for one in range(fragments)])
        sets = 4 if layout.needs_last else 2
        self._tables = np.empty(
            (fragments + 1, sets, len(self._grid), layout.capacity + 1), np.int64
        )
        self._may_miss = np.ones(fragments, np.bool_)
        self._may_miss[list(pattern.visited)] = False
        may_visit = np.ones(fragments, np.bool_)
        may_visit[list(pattern.missed)] = False
        fill_knapsack(
            self._tables,
            self._grid,
            self._spared,
            self._may_miss,
            may_visit,
            pricing.start,
            pricing.options,
        )
        options = pricing.options
        owners = np.repeat(np.arange(fragments), np.diff(pricing.start))
        others = np.count_nonzero(~self._may_miss) - ~self._may_miss[owners]
        may_be_alone = self._spared[owners] & may_visit[owners] & (others == 0)
        self._alone = np.flatnonzero((options[:, 0] == ALONE) & may_be_alone)
        self._alone_owners = owners[self._alone]
        # What a CPU's start adds to the cost: by whether its first block is spared its entry.
        unit = layout.scale.unit
        arrival, departure = group.start.arrival, group.start.departure
        tolls = np.array([arrival + (0 if ends & 1 else departure) for ends in range(sets)])
        self._costs = self._grid * unit + tolls[:, None]
        self._last = self._tables[-1] + self._worth - pricing.prices.cost * tolls[:, None, None]
        self._alone_costs = self._grid[options[self._alone, 1]] * unit + arrival
        self._alone_values = options[self._alone, 3] + self._worth - pricing.prices.cost * arrival
        self._best_up_to()

    def largest(self, limit: int | None) -> int:
        """Return the most that is held at a cost of at most ``limit``; nothing is worth 0.

        Parameters
        ----------
        limit
            At most that of the layout, in the instance's time unit; None where that is None.
        """
        if limit is None:
            return int(self._highest[-1])
        place = int(np.searchsorted(self._sorted_costs, limit, "right"))
        return int(self._highest[place])

    def contents(self, limit: int | None, most: int) -> list[tuple[Content, int]]:
        """Return the most valuable contents, one of each size, with their costs.

        Parameters
        ----------
        limit
            What they cost at most; None where costs are not limited, but priced.
        most
            So many at most, the most valuable.
        """
        last = self._last
        if limit is not None:
            last = np.where((self._costs <= limit)[:, :, None], last, NEVER)
        height = last.shape[1]
        by_size = last.reshape(-1, last.shape[2])
        cells = by_size.argmax(axis=0)
        values = by_size[cells, np.arange(len(cells))]
        sizes = np.argsort(-values, kind="stable")[:most]
        found = [
            self._content(int(cells[size]) // height, int(cells[size]) % height, size)
            for size in sizes.tolist()
            if values[size] > 0
        ]
        return found + self._best_alone(limit)

    def _best_alone(self, limit: int | None) -> list[tuple[Content, int]]:
        """Return the most valuable content of a single fragment whose entry is spared."""
        values = self._alone_values
        if limit is not None:
            values = np.where(self._alone_costs <= limit, values, NEVER)
        if not len(values) or values.max() <= 0:
            return []
        best = int(values.argmax())
        content = self._pricing.content([(int(self._alone_owners[best]), int(self._alone[best]))])
        return [(content, self._cost(content, int(self._alone_costs[best]), int(values[best])))]

    def _best_up_to(self) -> None:
        """List the costs of contents, and the most that is held up to each; nothing is 0."""
        costs = np.concatenate([self._costs.ravel(), self._alone_costs])
        values = np.concatenate([self._last.max(axis=2).ravel(), self._alone_values])
        order = np.argsort(costs, kind="stable")
        self._sorted_costs = costs[order]
        self._highest = np.maximum.accumulate(np.append(0, values[order]))

    def _content(self, ends: int, row: int, size: int) -> tuple[Content, int]:
        chosen = trace_knapsack(
            self._tables,
            self._grid,
            self._spared,
            self._may_miss,
            self._pricing.start,
            self._pricing.options,
            ends,
            row,
            size,
        )
        content = self._pricing.content(
            [(fragment, option) for fragment, option in enumerate(chosen.tolist()) if option >= 0]
        )
        return content, self._cost(
            content, int(self._costs[ends, row]), int(self._last[ends, row, size])
        )

    def _cost(self, content: Content, limited: int, value: int) -> int:
        """Return what a content costs: read off the grid, or off its value where costs are priced."""
        prices = self._pricing.prices
        if self._pricing.layout.limit is not None:
            return limited
        return (prices.worth(content) - value) // prices.cost
