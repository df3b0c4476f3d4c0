"""What is to be scheduled: all of an instance, or what is left of it on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

import numpy as np

from dfopt.solvers.configuration.columns import Column
from dfopt.solvers.configuration.features import Content, Feature, Meets, Visits
from dfopt.solvers.configuration.layout import Layout
from dfopt.solvers.configuration.members import Flags
from dfopt.solvers.configuration.pricing import Pattern, Prices, Stock

Range = tuple[int, int]
"""The least and the largest number."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is left to be scheduled, and how.

    Parameters
    ----------
    layout
        The instance as arrays.
    stock
        The tasks and tokens left.
    cpus
        How many CPUs of each group are left.
    limits
        For some features the least and the largest number of CPUs that may have them.
    """

    layout: Layout
    stock: Stock
    cpus: tuple[int, ...]
    limits: Mapping[Feature, Range] = field(default_factory=dict)

    @classmethod
    def whole_of(cls, layout: Layout) -> Problem:
        """Return the problem of scheduling everything."""
        stock = Stock(layout.counts, layout.token_counts)
        return cls(layout, stock, tuple(len(group.cpus) for group in layout.groups))

    @property
    def whole(self) -> Flags:
        """For each fragment whether it must not be split over CPUs."""
        flags = np.zeros(self.layout.fragments, np.bool_)
        for feature, (_, most) in self.limits.items():
            if isinstance(feature, Visits):
                flags[feature.fragment] = most == 1
        return flags

    @property
    def paired(self) -> Flags:
        """For each fragment whether its meetings with others are limited."""
        flags = np.zeros(self.layout.fragments, np.bool_)
        flags[self.meeting] = True
        return flags

    def patterns(self) -> list[Pattern]:
        """Return the ways in which a CPU can visit the fragments whose meetings are limited."""
        fragments = self.meeting
        subsets = chain.from_iterable(
            combinations(fragments, size) for size in range(len(fragments) + 1)
        )
        return [
            Pattern(frozenset(visited), frozenset(fragments).difference(visited))
            for visited in subsets
            if self._may_meet(frozenset(visited))
        ]

    def admits(self, column: Column) -> bool:
        """Whether pricing could find a column: there are the tasks and tokens, it breaks no rule.

        Whether too many CPUs have a feature already is for the LP to say.
        """
        stock, content = self.stock, column.content
        return (
            all(stock.tasks[one] >= number for one, number in content.tasks)
            and all(stock.tokens[token] > 0 for token in content.tokens)
            and self._may_meet(content.visited)
            and all(
                most != 1 or self._is_whole_in(content, feature)
                for feature, (_, most) in self.limits.items()
                if feature.among(content)
            )
        )

    def has_room_for(self, column: Column) -> bool:
        """Whether a CPU can hold ``column``, and what is left still keeps all upper limits."""
        return self.admits(column) and all(
            most > 0 for feature, (_, most) in self.limits.items() if feature.among(column.content)
        )

    def worth(self, prices: Prices) -> int:
        """Return what everything is worth, less charges, with the features that there must be.

        In Python's integers, since sums of products may outgrow 64 bits.
        """
        tasks = zip(prices.weights.tolist(), self.stock.tasks.tolist(), strict=True)
        tokens = zip(prices.charges.tolist(), self.stock.tokens.tolist(), strict=True)
        worth: int = sum(price * number for price, number in tasks)
        worth -= sum(price * number for price, number in tokens)
        for feature, (least, most) in self.limits.items():
            price = prices.features[feature]
            worth += price * (least if price > 0 else most)
        return worth

    def without(self, column: Column) -> Problem:
        """Return what is left once a CPU holds ``column``."""
        tasks, tokens = self.stock.tasks.copy(), self.stock.tokens.copy()
        for one, number in column.content.tasks:
            tasks[one] -= number
        for token in column.content.tokens:
            tokens[token] -= 1
        cpus = list(self.cpus)
        cpus[column.group] -= 1
        limits = {
            feature: (max(0, least - 1), most - 1)
            if feature.among(column.content)
            else (least, most)
            for feature, (least, most) in self.limits.items()
        }
        return replace(self, stock=Stock(tasks, tokens), cpus=tuple(cpus), limits=limits)

    def limited(self, feature: Feature, least: int, most: int) -> Problem:
        """Return the problem with a limit on how many CPUs may have a feature."""
        return replace(self, limits={**self.limits, feature: (least, most)})

    @property
    def meeting(self) -> list[int]:
        """The fragments whose meetings are limited."""
        pairs = [feature.fragments for feature in self.limits if isinstance(feature, Meets)]
        return sorted({fragment for pair in pairs for fragment in pair})

    def _may_meet(self, visited: frozenset[int]) -> bool:
        """Whether a CPU may visit just these of the fragments whose meetings are limited."""
        for feature, (least, most) in self.limits.items():
            if not isinstance(feature, Meets):
                continue
            both = sum(fragment in visited for fragment in feature.fragments)
            if both == len(feature.fragments) and most < 1:
                return False
            if both == 1 and least > 0 and all(map(self._is_whole, feature.fragments)):
                return False  # each is on one CPU only, and that is the same
        return True

    def _is_whole(self, fragment: int) -> bool:
        limit = self.limits.get(Visits(fragment))
        return limit is not None and limit[1] == 1

    def _is_whole_in(self, content: Content, feature: Feature) -> bool:
        """Whether a content holds the whole fragment if ``feature`` is that it visits it."""
        if not isinstance(feature, Visits):
            return True
        first, last = self.layout.ranges[feature.fragment]
        held = sum(number for one, number in content.tasks if first <= one < last)
        return bool(held == self.stock.tasks[first:last].sum())
