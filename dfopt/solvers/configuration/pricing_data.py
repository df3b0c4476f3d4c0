"""An instance as arrays of fragments, task classes and entry tokens, for pricing.

Costs are counted in a common unit and listed in a *cost grid*: all that one CPU's content can
cost. The grid grows with what the instance can reach, not with the size of its numbers. Where it
would need too much memory or time, costs are rounded down to a coarser unit. Contents then seem
cheaper than they are, so bounds stay valid but may be weaker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import gcd

import numpy as np
from numpy.typing import NDArray

from dfopt.costs.closed_form import CpuStart
from dfopt.costs.role import Role
from dfopt.native.pricing import ENDS, EXITS, FRAGMENT, TASK_CLASS, PricingTables
from dfopt.solvers.aggregation import Aggregation
from dfopt.verify.tree import least_visits

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

SUMS_AT_ONCE = 2**18
"""At most about 2**18 sums are sorted in one call, within some hundredths of a second."""

MOST_ENTRIES = 2**27
"""The largest table of pricing has at most 2**27 entries of 8 bytes: one gigabyte."""

MOST_STEPS = 2**31
"""The knapsacks inside the fragments take at most about 2**31 steps: some seconds."""

MOST_ROWS = 2**13
"""At most 2**13 different costs of a CPU are told apart."""


@dataclass(frozen=True, slots=True)
class CpuGroup:
    """CPUs that start alike."""

    start: CpuStart
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CostGrid:
    """The unit of costs, and the costs that contents can have.

    Parameters
    ----------
    unit
        The unit of the rows; all costs are rounded down to it.
    costs
        All that a content can cost, apart from what starting costs, sorted.
    rows
        For each fragment all that its tasks but the opener can cost, sorted.
    is_exact
        Whether nothing is rounded.
    """

    unit: int
    costs: Integers
    rows: tuple[Integers, ...]
    is_exact: bool


@dataclass(frozen=True)
class PricingData:
    """The arrays, for contents that cost at most ``limit``.

    Parameters
    ----------
    aggregation
        The instance by classes, with a token for each of their entry costs.
    limit
        The largest cost of interest; None where costs count as less value instead, under
        total-penalty.
    check
        Called often while the grid is made; may end that by an exception.
    """

    aggregation: Aggregation
    limit: int | None
    check: Callable[[], None] = lambda: None

    @cached_property
    def tables(self) -> PricingTables:
        """The instance as the core knows it."""
        base, leaving, entry = self.rounded(self.cost_grid.unit)
        fragments = np.empty(self.fragments, FRAGMENT)
        behind = np.cumsum([0, *map(len, self.cost_grid.rows)])
        fragments["first_class"] = self.first_class[:-1]
        fragments["last_class"] = self.first_class[1:]
        fragments["first_row"], fragments["last_row"] = behind[:-1], behind[1:]
        fragments["may_be_first"] = self.may_be_first
        classes = np.empty(len(base), TASK_CLASS)
        classes["size"] = self.task_sizes
        classes["base"], classes["leaving"] = base, leaving.T
        classes["first_token"] = self.first_token[:-1]
        classes["last_token"] = self.first_token[1:]
        return PricingTables(
            fragments,
            classes,
            entries=entry,
            rows=np.concatenate(self.cost_grid.rows),
            grid=self.cost_grid.costs,
            unit=self.cost_grid.unit,
            capacity=self.capacity,
            duties=EXITS | ENDS if self.needs_last else EXITS,
        )

    @cached_property
    def groups(self) -> tuple[CpuGroup, ...]:
        """The groups of CPUs."""
        members: dict[int, list[int]] = {}
        for cpu, group in enumerate(self.aggregation.cpu_groups):
            members.setdefault(group, []).append(cpu)
        starts = self.aggregation.form.starts
        return tuple(CpuGroup(starts[group], tuple(cpus)) for group, cpus in members.items())

    @cached_property
    def first_class(self) -> Integers:
        """Where the classes of each fragment begin, and the number of classes."""
        borders = np.arange(self.fragments + 1)
        return np.searchsorted(self.class_fragments, borders).astype(np.int64)

    @cached_property
    def first_token(self) -> Integers:
        """Where the tokens of each class begin, and the number of tokens."""
        lengths = [len(task_class.tokens) for task_class in self.aggregation.classes]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    @cached_property
    def counts(self) -> Integers:
        """The number of tasks of each class."""
        return np.array([task_class.count for task_class in self.aggregation.classes], np.int64)

    @cached_property
    def token_counts(self) -> Integers:
        """The number of tasks that each token stands for."""
        classes = self.aggregation.classes
        return np.array(
            [token.count for task_class in classes for token in task_class.tokens], np.int64
        )

    @cached_property
    def token_classes(self) -> Integers:
        """The class of each token."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.first_token))

    @cached_property
    def entries(self) -> list[int]:
        """The cost of each token."""
        return [
            token.entry for task_class in self.aggregation.classes for token in task_class.tokens
        ]

    @cached_property
    def token_of(self) -> dict[tuple[int, int], int]:
        """The token of a class with an entry cost."""
        pairs = zip(self.token_classes.tolist(), self.entries, strict=True)
        return {pair: token for token, pair in enumerate(pairs)}

    @cached_property
    def class_of(self) -> dict[int, int]:
        """The class of each task type."""
        classes = enumerate(self.aggregation.classes)
        return {
            task_type: number
            for number, task_class in classes
            for task_type in task_class.task_types
        }

    @cached_property
    def exact_costs(self) -> tuple[Integers, Integers, Integers]:
        """Base costs; exit and end costs on top (by set of duties and class); entry costs."""
        classes = self.aggregation.classes
        base = np.array([task_class.base for task_class in classes], np.int64)
        leaving = np.zeros((4, len(classes)), np.int64)
        leaving[1] = [task_class.exit for task_class in classes]
        leaving[2] = [task_class.end for task_class in classes]
        leaving[3] = leaving[1] + leaving[2]
        entry = np.array(self.entries, np.int64)
        return base, leaving, entry

    @cached_property
    def needs_last(self) -> bool:
        """Whether a CPU's last block differs from others."""
        _, leaving, _ = self.exact_costs
        return bool((leaving[1] != leaving[2]).any())

    @cached_property
    def may_be_first(self) -> Flags:
        """For each fragment whether some CPU spares its first block the entry."""
        return np.array(
            [
                any(group.start.spares_entry(fragment) for group in self.groups)
                for fragment in range(self.fragments)
            ]
        )

    @cached_property
    def must_be_exact(self) -> Flags:
        """Return for each class whether one more task can make a content cheaper.

        It can where it spares its block an exit (or an end) that costs more than the task itself,
        and where it spares the CPU the departure from its initial state. For all other classes
        the LP need only ask for at least all tasks (Theorem 3 of "The configuration bound").
        """
        classes = self.aggregation.classes
        exits: dict[int, int] = {}
        ends: dict[int, int] = {}
        for task_class in classes:
            exits[task_class.fragment] = max(task_class.exit, exits.get(task_class.fragment, 0))
            ends[task_class.fragment] = max(
                task_class.end, ends.get(task_class.fragment, task_class.end)
            )
        homes = {group.start.free_fragment for group in self.groups if group.start.departure}
        return np.array(
            [
                task_class.fragment in homes
                or exits[task_class.fragment] - task_class.exit > task_class.base
                or ends[task_class.fragment] - task_class.end > task_class.base
                for task_class in classes
            ]
        )

    @cached_property
    def fragments(self) -> int:
        """The number of fragments."""
        return len(self.aggregation.form.fragments)

    @cached_property
    def class_fragments(self) -> Integers:
        """The fragment of each class."""
        return np.array([task_class.fragment for task_class in self.aggregation.classes], np.int64)

    @cached_property
    def price_scale(self) -> int:
        """The integer price of a cost of 1 under total-penalty, such that sums fit into 64 bits."""
        tasks = self.aggregation.instance.task_count
        return max(1, min(2**20, 2**57 // (self.largest_cost * tasks)))

    @cached_property
    def largest_cost(self) -> int:
        """More than any single task can add to a total."""
        base, leaving, entry = self.exact_costs
        starts = max(group.start.arrival + group.start.departure for group in self.groups)
        return int(base.max() + leaving.max() + entry.max() + starts + 1)

    @cached_property
    def sizes_count(self) -> bool:
        """Whether sizes count; they do not where a CPU has room for all tasks."""
        instance = self.aggregation.instance
        return instance.room < instance.total_size

    @cached_property
    def task_sizes(self) -> Integers:
        """The size of each task of each class; 0 where sizes do not count."""
        sizes = [task_class.size for task_class in self.aggregation.classes]
        return np.array(sizes, np.int64) * int(self.sizes_count)

    @cached_property
    def capacity(self) -> int:
        """The largest size of a content."""
        return self.aggregation.instance.room if self.sizes_count else 0

    @cached_property
    def all_visits(self) -> tuple[tuple[int, int], ...]:
        """For each fragment the least and the largest number of CPUs that visit it."""
        instance = self.aggregation.instance
        visits = []
        for first, last in self.ranges:
            number = int(self.counts[first:last].sum())
            size = sum(
                task_class.count * task_class.size
                for task_class in self.aggregation.classes[first:last]
            )
            visits.append((least_visits(instance, number, size), min(number, instance.cpus)))
        return tuple(visits)

    @cached_property
    def cost_grid(self) -> CostGrid:
        """The unit and the grid of costs."""
        if self.limit is None:
            nothing = np.zeros(1, np.int64)
            return CostGrid(1, nothing, (nothing,) * self.fragments, True)
        base, leaving, entry = self.exact_costs
        unit = exact = gcd(*base.tolist(), *leaving.ravel().tolist(), *entry.tolist()) or 1
        most_rows = max(256, min(MOST_ROWS, MOST_ENTRIES // self._entries_per_row))
        most_rows = max(256, min(most_rows, MOST_STEPS // self._steps_per_row))
        while True:
            grid = self._grid_of(unit, most_rows, is_exact=unit == exact)
            if grid is not None:
                return grid
            unit *= 2

    @cached_property
    def _entries_per_row(self) -> int:
        """The entries that a row adds: to the tables of both knapsacks, or to the largest table."""
        sets = 4 if self.needs_last else 2
        classes = max(last - first for first, last in self.ranges)
        across = len(self.first_class) * len(self.groups) * sets
        return max(across, (classes + 1) * sets, 2 * len(Role)) * (self.capacity + 1)

    @cached_property
    def table_entries(self) -> int:
        """The number of entries of the knapsack tables of all groups together."""
        return self._entries_per_row * len(self.cost_grid.costs)

    @cached_property
    def _steps_per_row(self) -> int:
        """About how many steps a row adds to the knapsacks inside all fragments."""
        sets = 9 if self.needs_last else 3
        steps = 0
        for first, last in self.ranges:
            counts = self.counts[first:last]
            size = int(counts @ self.task_sizes[first:last])
            width = min(self.capacity, size) + 1
            added = int(np.minimum(counts, max(width, 2)).sum())
            steps += added * width * (last - first).bit_length() * sets
        return steps

    @cached_property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """The classes of each fragment, as a half-open range."""
        return list(pairwise(self.first_class.tolist()))

    def rounded(self, unit: int) -> tuple[Integers, Integers, Integers]:
        """Return base, leaving and entry costs in units, rounded so that no content costs more."""
        base, leaving, entry = self.exact_costs
        # The cost of a task with its duties is rounded as a whole: the parts may have either sign.
        rounded = base // unit
        return rounded, (base + leaving) // unit - rounded, entry // unit

    @cached_property
    def common_unit(self) -> int:
        """The greatest common divisor of all costs."""
        base, leaving, entry = self.exact_costs
        starts = [
            cost for group in self.groups for cost in (group.start.arrival, group.start.departure)
        ]
        return gcd(*base.tolist(), *leaving.ravel().tolist(), *entry.tolist(), *starts) or 1

    def largest_total(self, limit: int) -> int:
        """Return the most that all CPUs together can cost within a limit: a multiple of a unit."""
        return limit - limit % self.common_unit

    def steps(self, least: int, most: int) -> list[int]:
        """Return the possible costs from ``least`` to ``most``, or evenly spread numbers."""
        if self.limit is not None and self.cost_grid.is_exact:
            costs = self.cost_grid.costs * self.cost_grid.unit
            tolls = {toll for group in self.groups for toll in group.start.tolls}
            sums = np.unique(np.concatenate([costs + toll for toll in sorted(tolls)]))
            return [int(value) for value in sums[(sums >= least) & (sums <= most)]]
        unit = self.common_unit
        first = -(-least // unit) * unit
        return list(range(first, most + 1, unit * max(1, (most - first) // (unit * MOST_ROWS))))

    def _grid_of(self, unit: int, most_rows: int, *, is_exact: bool) -> CostGrid | None:
        """Return the grid for a unit; None if it has too many rows."""
        assert self.limit is not None
        limit = self.limit // unit
        base, leaving, entry = self.rounded(unit)
        rows, blocks = [], []
        for first, last in self.ranges:
            sums = self._sums(base, leaving, range(first, last), limit, most_rows)
            if sums is None:
                return None
            rows.append(sums[(sums >= 0) & (sums <= limit)])
            tokens = slice(self.first_token[first], self.first_token[last])
            opened = entry[tokens] + base[self.token_classes[tokens]]
            blocks.append((sums, np.unique(np.append(opened, 0))))
        if limit < most_rows:
            return CostGrid(unit, np.arange(limit + 1), tuple(rows), is_exact)
        grid = np.zeros(1, np.int64)
        for sums, opened in blocks:
            # Sums below 0 are kept because the cost of an opener is added to them.
            block = _sums_of_both(sums, opened, limit, 4 * most_rows, self.check)
            if block is None:
                return None
            added = _sums_of_both(
                grid, np.append(block[block > 0], 0), limit, most_rows, self.check
            )
            if added is None:
                return None
            grid = added
        return CostGrid(unit, grid, tuple(rows), is_exact)

    def _sums(
        self, base: Integers, leaving: Integers, classes: range, limit: int, most: int
    ) -> Integers | None:
        """Return the possible costs of one fragment's tasks without the opener; None if too many.

        Where the last task is spared what it costs elsewhere, a sum may be below 0 before that
        cost is added.
        """
        reach = limit - int(min(0, leaving.min()))
        sums: Integers | None = np.zeros(1, np.int64)
        for task_class in classes:
            if base[task_class] <= 0:
                continue
            left = min(int(self.counts[task_class]), reach // int(base[task_class]))
            if self.sizes_count:
                left = min(left, self.capacity // int(self.task_sizes[task_class]))
            bundle = 1
            while left and sums is not None:
                # Bundles of 1, 2, 4, … tasks, and one of what is left, make every number.
                bundle = min(bundle, left)
                sums = _sums_of_both(
                    sums, np.array([0, bundle * base[task_class]]), reach, most, self.check
                )
                left -= bundle
                bundle *= 2
        for duties in (1, 2):
            if sums is not None:
                extra = np.unique(np.append(leaving[duties, classes], 0))
                sums = _sums_of_both(sums, extra, reach, 4 * most, self.check)
        return sums


def _sums_of_both(
    sums: Integers, steps: Integers, limit: int, most: int, check: Callable[[], None]
) -> Integers | None:
    """Return all sums of one of each, at most ``limit``; None if there are more than ``most``.

    A part of the steps at a time, so that no array is large, and ``check`` is called often.
    """
    found = np.zeros(0, np.int64)
    part = max(1, SUMS_AT_ONCE // len(sums))
    for begin in range(0, len(steps), part):
        check()
        both = sums[:, None] + steps[begin : begin + part]
        found = np.unique(np.concatenate([found, both[both <= limit]]))
        if len(found) > most:
            return None
    return found
