"""The tasks to schedule: a whole instance, or the rest of it in a dive or at a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np

from dfopt.solvers.branch_and_price.cases import Range
from dfopt.solvers.branch_and_price.prices import Prices
from dfopt.solvers.configuration.contents import (
    Column,
    CpuContent,
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.pricing_data import Flags, Integers, PricingData
from dfopt.structs import replace


@dataclass(frozen=True, slots=True)
class Stock:
    """The tasks left to schedule, by class; and by token how many tasks can open a block."""

    tasks: Integers
    tokens: Integers


@dataclass(frozen=True, slots=True)
class RemainingProblem:
    """The tasks left to schedule, and the limits on contents.

    Parameters
    ----------
    data
        The instance as arrays.
    stock
        The tasks and tokens left.
    cpus
        The number of CPUs left of each group.
    limits
        The branching decisions: for some features the least and the largest number of CPUs that
        may have them.
    """

    data: PricingData
    stock: Stock
    cpus: tuple[int, ...]
    limits: Mapping[Feature, Range] = field(default_factory=dict)

    @classmethod
    def whole_of(cls, data: PricingData) -> RemainingProblem:
        """Return the problem of scheduling everything."""
        stock = Stock(data.counts, data.token_counts)
        instance = data.aggregation.instance
        limits: dict[Feature, Range] = {}
        for fragment, (first, last) in enumerate(data.ranges):
            least, most = data.all_visits[fragment]
            # The LP alone knows that there are at least s/k visits.
            rounded = least * instance.room > int(
                data.counts[first:last] @ data.task_sizes[first:last]
            )
            if least > 1 and rounded:
                limits[VisitsFragment(fragment)] = (least, most)
        return cls(data, stock, tuple(len(group.cpus) for group in data.groups), limits)

    def within(self, limits: Mapping[Feature, Range]) -> RemainingProblem:
        """Return the problem with other limits on contents."""
        return replace(self, limits=limits)

    @property
    def whole(self) -> Flags:
        """For each fragment whether it must not be split over CPUs."""
        flags = np.zeros(self.data.fragments, np.bool_)
        for feature, (_, most) in self.limits.items():
            if isinstance(feature, VisitsFragment):
                flags[feature.fragment] = most == 1
        return flags

    @property
    def paired(self) -> Flags:
        """For each fragment whether pairs with it are limited."""
        flags = np.zeros(self.data.fragments, np.bool_)
        flags[self.paired_fragments] = True
        return flags

    def patterns(self) -> list[frozenset[int]]:
        """Return which fragments of limited pairs a CPU can visit together, without the others."""
        fragments = self.paired_fragments
        subsets = chain.from_iterable(
            combinations(fragments, size) for size in range(len(fragments) + 1)
        )
        return [visited for visited in map(frozenset, subsets) if self._may_visit(visited)]

    def admits(self, column: Column) -> bool:
        """Return whether pricing could find a column: its tasks are left, and it breaks no rule.

        The LP decides how many CPUs have a feature.
        """
        stock, content = self.stock, column.content
        return (
            all(stock.tasks[task_class] >= count for task_class, count in content.tasks)
            and all(stock.tokens[token] > 0 for token in content.tokens)
            and self._may_visit(content.visited)
            and all(
                most != 1 or self._is_whole_in(content, feature)
                for feature, (_, most) in self.limits.items()
                if feature.is_had_by(content)
            )
        )

    def has_room_for(self, column: Column) -> bool:
        """Return whether a CPU can hold ``column`` without a breach of any upper limit."""
        return self.admits(column) and all(
            most > 0
            for feature, (_, most) in self.limits.items()
            if feature.is_had_by(column.content)
        )

    def worth(self, prices: Prices[Feature, int]) -> int:
        """Return the worth of everything, less charges, with the features that there must be.

        In Python's integers, since sums of products may outgrow 64 bits.
        """
        tasks = zip(prices.weights, self.stock.tasks.tolist(), strict=True)
        tokens = zip(prices.charges, self.stock.tokens.tolist(), strict=True)
        worth: int = sum(price * number for price, number in tasks)
        worth -= sum(price * number for price, number in tokens)
        for feature, (least, most) in self.limits.items():
            price = prices.features.get(feature, 0)
            worth += price * (least if price > 0 else most)
        return worth

    def range_of(self, feature: Feature) -> Range:
        """Return how many CPUs have a feature: by these limits, and in any schedule of all."""
        data = self.data
        low, high = 0, data.aggregation.instance.cpus
        match feature:
            case VisitsFragment(fragment):
                low, high = data.all_visits[fragment]
            case VisitsPair(first, second):
                high = min(data.all_visits[first][1], data.all_visits[second][1])
            case OpensWithToken(token):
                high = int(data.token_counts[token])
            case HoldsAtLeast(task_class, number):
                high = min(high, int(data.counts[task_class]) // number)
        least, most = self.limits.get(feature, (low, high))
        return max(low, least), min(high, most)

    def without(self, column: Column) -> RemainingProblem:
        """Return the problem that is left once a CPU holds ``column``."""
        tasks, tokens = self.stock.tasks.copy(), self.stock.tokens.copy()
        for task_class, count in column.content.tasks:
            tasks[task_class] -= count
        for token in column.content.tokens:
            tokens[token] -= 1
        cpus = list(self.cpus)
        cpus[column.group] -= 1
        limits = {
            feature: (max(0, least - 1), most - 1)
            if feature.is_had_by(column.content)
            else (least, most)
            for feature, (least, most) in self.limits.items()
        }
        return replace(self, stock=Stock(tasks, tokens), cpus=tuple(cpus), limits=limits)

    @property
    def paired_fragments(self) -> list[int]:
        """The fragments whose pairs are limited."""
        pairs = [feature.fragments for feature in self.limits if isinstance(feature, VisitsPair)]
        return sorted({fragment for pair in pairs for fragment in pair})

    def _may_visit(self, visited: frozenset[int]) -> bool:
        """Return whether a CPU may visit, of the fragments in limited pairs, exactly these."""
        for feature, (least, most) in self.limits.items():
            if not isinstance(feature, VisitsPair):
                continue
            both = sum(fragment in visited for fragment in feature.fragments)
            if both == len(feature.fragments) and most < 1:
                return False
            if both == 1 and least > 0 and all(map(self._is_whole, feature.fragments)):
                return False  # each is on one CPU only, and both are on the same
        return True

    def _is_whole(self, fragment: int) -> bool:
        limit = self.limits.get(VisitsFragment(fragment))
        return limit is not None and limit[1] == 1

    def _is_whole_in(self, content: CpuContent, feature: Feature) -> bool:
        """Return whether a content holds the whole fragment if ``feature`` is that it visits it."""
        if not isinstance(feature, VisitsFragment):
            return True
        first, last = self.data.ranges[feature.fragment]
        held = sum(count for task_class, count in content.tasks if first <= task_class < last)
        return bool(held == self.stock.tasks[first:last].sum())
