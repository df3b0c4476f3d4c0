"""Exact pricing: the most that a CPU can hold within a cost, given what each task is worth."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from dfopt.solvers.configuration.blocks import (
    ALONE,
    Fragments,
    all_options,
    option_content,
)
from dfopt.solvers.configuration.features import Content, Feature, Holds, Meets, Opens, Visits
from dfopt.solvers.configuration.knapsack import Choices, fill_knapsack, trace_knapsack
from dfopt.solvers.configuration.layout import Group, Layout
from dfopt.solvers.configuration.members import (
    ENDS,
    EXITS,
    NEVER,
    Flags,
    Fragment,
    Integers,
    PricedTasks,
)
from dfopt.solvers.waiting import wait_for

BRIEF = 2**24
"""Compiled calls of at most this number of steps take some hundredths of a second."""

Value = TypeVar("Value")


def watched(call: Callable[[Flags], Value], steps: int, check: Callable[[], None]) -> Value:
    """Return what a compiled call returns; end it when ``check`` raises.

    Parameters
    ----------
    call
        Is given a flag that ends it early.
    steps
        About how many steps it takes; a brief one is not worth a thread.
    """
    halt = np.zeros(1, np.bool_)
    if steps <= BRIEF:
        return call(halt)
    return wait_for(lambda: call(halt), check, lambda: halt.fill(True))


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
    check
        Called often; may end the work by an exception.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        layout: Layout,
        stock: Stock,
        prices: Prices,
        whole: Flags,
        paired: Flags,
        check: Callable[[], None],
    ) -> None:
        self.layout = layout
        self.check = check
        self.prices = prices
        base, leaving, entry = layout.rounded(layout.scale.unit)
        values = [-prices.cost * one for one in (base, leaving, entry)]
        if layout.limit is None:
            # Costs are not limited; they count as less value instead.
            base, leaving, entry = (np.zeros_like(one) for one in (base, leaving, entry))
        visit = np.zeros(layout.fragments, np.int64)
        opening = values[2] - prices.charges
        bonuses = []
        for feature, price in prices.features.items():
            match feature:
                case Visits(fragment):
                    visit[fragment] = price
                case Opens(token):
                    opening[token] += price
                case Holds(task_class, number):
                    bonuses.append((task_class, number, price))
        self._tasks = PricedTasks(
            step=layout.step,
            roles=EXITS | ENDS if layout.needs_last else EXITS,
            sizes=stock.tasks,
            base=base,
            weight=prices.weights + values[0],
            leaving=np.stack([leaving, values[1]]),
            bonuses=np.array(bonuses, np.int64).reshape(-1, 3),
            first_token=layout.first_token,
            tokens=np.stack([entry, np.where(stock.tokens > 0, opening, NEVER)], axis=1),
        )
        rows = layout.scale.rows
        self._fragments = Fragments(
            first_class=layout.first_class,
            first_row=np.cumsum([0, *map(len, rows)]),
            rows=np.concatenate(rows),
            whole=whole,
            visit=visit,
            paired=paired,
            may_be_first=layout.may_be_first,
        )
        grid, tasks, fragments = layout.scale.grid, self._tasks, self._fragments
        self.start, self.options = watched(
            lambda halt: all_options(grid, layout.capacity, tasks, fragments, halt),
            layout.work_on_options,
            check,
        )

    def content(self, options: list[tuple[int, int]]) -> Content:
        """Return the content that consists of some options, given with their fragments."""
        tasks: list[tuple[int, int]] = []
        tokens: list[int] = []
        scale = self.layout.scale
        for number, option in options:
            first, last = self.layout.ranges[number]
            fragment = Fragment(
                first,
                last,
                scale.rows[number],
                bool(self._fragments.whole[number]),
                int(self._fragments.visit[number]),
            )
            self.check()
            row, token = self.options[option], int(self.options[option, 4])
            numbers = watched(
                functools.partial(option_content, scale.grid, self._tasks, fragment, row),
                len(fragment.rows) * int(self._tasks.sizes[first:last].sum()) * int(row[2] + 1),
                self.check,
            )
            tasks += [(first + place, held) for place, held in enumerate(numbers.tolist()) if held]
            if token >= 0:
                tokens.append(token)
        fragments = tuple(number for number, _ in options)
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
        spared = np.array([group.start.spares_entry(one) for one in range(fragments)])
        sets = 4 if layout.needs_last else 2
        self._tables = layout.tables.borrow(
            (fragments + 1, sets, len(self._grid), layout.capacity + 1)
        )
        may_miss, may_visit = np.ones(fragments, np.bool_), np.ones(fragments, np.bool_)
        may_miss[list(pattern.visited)] = False
        may_visit[list(pattern.missed)] = False
        options = pricing.options
        self._choices = Choices(pricing.start, options, spared, may_miss, may_visit)
        watched(
            lambda halt: fill_knapsack(self._tables, self._grid, self._choices, halt),
            len(options) * self._tables[0].size,
            pricing.check,
        )
        owners = np.repeat(np.arange(fragments), np.diff(pricing.start))
        others = np.count_nonzero(~may_miss) - ~may_miss[owners]
        may_be_alone = spared[owners] & may_visit[owners] & (others == 0)
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

    def release(self) -> None:
        """Give the tables back; no contents can be asked for any more."""
        self._pricing.layout.tables.give_back(self._tables)

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
        chosen = trace_knapsack(self._tables, self._grid, self._choices, ends, row, size)
        content = self._pricing.content(
            [(fragment, option) for fragment, option in enumerate(chosen.tolist()) if option >= 0]
        )
        return content, self._cost(
            content, int(self._costs[ends, row]), int(self._last[ends, row, size])
        )

    def _cost(self, content: Content, limited: int, value: int) -> int:
        """Return what a content costs; where costs are priced, its value tells."""
        prices = self._pricing.prices
        if self._pricing.layout.limit is not None:
            return limited
        return (prices.worth(content) - value) // prices.cost
