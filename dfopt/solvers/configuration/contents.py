"""What one CPU can hold, what that is worth, and what is left for the others to hold.

If the LP gives a *feature* of contents to a fractional number f of CPUs, then in a schedule at most
⌊f⌋ CPUs have it, or at least ⌊f⌋ + 1. Ryan and Foster (1981) branch in this way on pairs of rows
that one column covers: here that is :class:`VisitsPair`. The other features are of the same form,
but cost pricing less: each has a price that pricing adds where a content has it.

The LP is solved in floating point, but proofs use prices in integers only. So rounding can weaken
a bound but never make it wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.aggregation import contents_of
from dfopt.solvers.branch_and_price.cases import Range
from dfopt.solvers.configuration.pricing_data import Integers, PricingData
from dfopt.structs import replace


@dataclass(frozen=True, slots=True)
class CpuContent:
    """The content of one CPU.

    Parameters
    ----------
    tasks
        Pairs of a class and how many tasks of it.
    tokens
        The tokens that open its paid blocks.
    fragments
        The fragments of its tasks.
    """

    tasks: tuple[tuple[int, int], ...]
    tokens: tuple[int, ...]
    fragments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VisitsFragment:
    """The CPU visits a fragment."""

    fragment: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[VisitsFragment]:
        """Yield all features of this kind that ``content`` has."""
        return map(cls, content.fragments)

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.fragment in content.fragments


@dataclass(frozen=True, slots=True)
class VisitsPair:
    """The CPU visits two fragments, the first one with the smaller number."""

    first: int
    second: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[VisitsPair]:
        """Yield all features of this kind that ``content`` has."""
        return (cls(*pair) for pair in combinations(content.fragments, 2))

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.first in content.fragments and self.second in content.fragments


@dataclass(frozen=True, slots=True)
class OpensWithToken:
    """The CPU opens a block with a token."""

    token: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[OpensWithToken]:
        """Yield all features of this kind that ``content`` has."""
        return map(cls, content.tokens)

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.token in content.tokens


@dataclass(frozen=True, slots=True)
class HoldsAtLeast:
    """The CPU holds at least some number of tasks of a class."""

    task_class: int
    number: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[HoldsAtLeast]:
        """Yield all features of this kind that ``content`` has."""
        return (
            cls(task_class, least)
            for task_class, held in content.tasks
            for least in range(1, held + 1)
        )

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return dict(content.tasks).get(self.task_class, 0) >= self.number


Feature = VisitsFragment | VisitsPair | OpensWithToken | HoldsAtLeast


def paired_fragments(features: Iterable[Feature]) -> list[int]:
    """Return the fragments of all pairs among some features."""
    pairs = [(one.first, one.second) for one in features if isinstance(one, VisitsPair)]
    return sorted({fragment for pair in pairs for fragment in pair})


RULES = (VisitsFragment, OpensWithToken, VisitsPair, HoldsAtLeast)
"""What is branched on; features that cost pricing least come first."""


@dataclass(frozen=True, slots=True)
class Column:
    """A content of a CPU of one group.

    Parameters
    ----------
    group
        The number of the group.
    content
        The content of the CPU.
    cost
        Its cost, in the instance's time unit; rounded down where the cost grid is coarse.
    """

    group: int
    content: CpuContent
    cost: int


Pool = dict[Column, None]
"""All columns found so far, in this order. They serve every limit that is not below their cost."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The worth of tasks: dual values of the LP, or integers made of them, which prove something.

    Parameters
    ----------
    weights
        Of a task, by class.
    charges
        Of opening a block, by token; not negative.
    features
        Of having a feature, where the number of CPUs that have it is limited; of either sign:
        above 0 where more CPUs should have it, below where fewer should.
    cost
        Of a unit of cost, under total-penalty; 0 where contents are limited in cost.
    groups
        Of a CPU, by group.
    """

    weights: NDArray[Any]
    charges: NDArray[Any]
    features: Mapping[Feature, float] = field(default_factory=dict)
    cost: int = 0
    groups: NDArray[Any] = field(default_factory=lambda: np.zeros(0))

    def worth(self, content: CpuContent) -> float:
        """Return the worth of a content, whatever it costs; it is whole if the prices are."""
        tasks = sum(self.weights[task_class].item() * held for task_class, held in content.tasks)
        charges = sum(self.charges[token].item() for token in content.tokens)
        features = sum(
            price for feature, price in self.features.items() if feature.is_had_by(content)
        )
        worth: float = tasks + features - charges
        return worth

    def towards(self, other: Prices, share: float) -> Prices:
        """Return a point between these and ``other``, a share of the way to the other."""
        return Prices(
            (1 - share) * self.weights + share * other.weights,
            (1 - share) * self.charges + share * other.charges,
            {
                feature: (1 - share) * price + share * other.features.get(feature, 0.0)
                for feature, price in self.features.items()
            },
            groups=(1 - share) * self.groups + share * other.groups,
        )

    def times(self, factor: float) -> Prices:
        """Return multiples of these."""
        features = {feature: price * factor for feature, price in self.features.items()}
        return Prices(
            self.weights * factor, self.charges * factor, features, groups=self.groups * factor
        )

    def rounded(self, factor: float, cost: int = 0) -> Prices:
        """Return multiples of these in integers, with another price of a unit of cost."""
        return Prices(
            np.rint(self.weights * factor).astype(np.int64),
            np.rint(self.charges * factor).astype(np.int64),
            {feature: round(price * factor) for feature, price in self.features.items()},
            cost,
        )


@dataclass(frozen=True, slots=True)
class RemainingProblem:
    """The tasks to schedule: a whole instance, or the rest of it in a dive or at a node.

    Parameters
    ----------
    data
        The instance as arrays.
    tasks
        The tasks left to schedule, by class.
    tokens
        How many tasks are left that can open a block, by token.
    cpus
        The number of CPUs left of each group.
    limits
        The branching decisions: for some features the least and the largest number of CPUs that
        may have them.
    """

    data: PricingData
    tasks: Integers
    tokens: Integers
    cpus: tuple[int, ...]
    limits: Mapping[Feature, Range] = field(default_factory=dict)

    @classmethod
    def whole_of(cls, data: PricingData) -> RemainingProblem:
        """Return the problem of scheduling everything."""
        limits: dict[Feature, Range] = {}
        for fragment, (first, last) in enumerate(data.ranges):
            least, most = data.all_visits[fragment]
            # The LP alone knows that there are at least s/k visits.
            size = int(data.counts[first:last] @ data.task_sizes[first:last])
            if least > 1 and least * data.aggregation.instance.room > size:
                limits[VisitsFragment(fragment)] = (least, most)
        cpus = tuple(len(group.cpus) for group in data.groups)
        return cls(data, data.counts, data.token_counts, cpus, limits)

    def within(self, limits: Mapping[Feature, Range]) -> RemainingProblem:
        """Return the problem with other limits on contents."""
        return replace(self, limits=limits)

    def range_of(self, feature: Feature) -> Range:
        """Return how many CPUs may have a feature."""
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
        return least, min(high, most)

    def admits(self, column: Column) -> bool:
        """Return whether the tasks of a column are left; the LP sees to the limits."""
        content = column.content
        return all(self.tasks[task_class] >= count for task_class, count in content.tasks) and all(
            self.tokens[token] > 0 for token in content.tokens
        )

    def has_room_for(self, column: Column) -> bool:
        """Return whether a CPU can hold ``column`` without a breach of any upper limit."""
        return self.admits(column) and all(
            most > 0
            for feature, (_, most) in self.limits.items()
            if feature.is_had_by(column.content)
        )

    def worth(self, prices: Prices) -> int:
        """Return the worth of everything, less charges, with the features that there must be.

        In Python's integers, since sums of products may outgrow 64 bits.
        """
        tasks = zip(prices.weights.tolist(), self.tasks.tolist(), strict=True)
        tokens = zip(prices.charges.tolist(), self.tokens.tolist(), strict=True)
        worth = sum(price * number for price, number in tasks)
        worth -= sum(price * number for price, number in tokens)
        for feature, price in prices.features.items():
            least, most = self.range_of(feature)
            worth += price * (least if price > 0 else most)
        return int(worth)

    def without(self, column: Column) -> RemainingProblem:
        """Return the problem that is left once a CPU holds ``column``."""
        tasks, tokens = self.tasks.copy(), self.tokens.copy()
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
        return RemainingProblem(self.data, tasks, tokens, tuple(cpus), limits)


def columns_of(data: PricingData, held: Sequence[Mapping[int, int]]) -> Iterator[Column]:
    """Yield a column for every CPU that is not empty.

    Parameters
    ----------
    data
        The instance as arrays.
    held
        For each CPU how many tasks of each type it holds.
    """
    form = data.aggregation.form
    for number, group in enumerate(data.groups):
        for cpu in group.cpus:
            if held[cpu]:
                yield Column(number, _content(data, cpu, held[cpu]), form.cost(cpu, held[cpu]))


def orders_of(data: PricingData, columns: Sequence[Column]) -> list[list[int]]:
    """Return the schedule that columns make, as orders of type numbers, one per CPU."""
    aggregation = data.aggregation
    waiting = [list(group.cpus) for group in data.groups]
    counts: list[dict[int, int]] = [{} for _ in range(aggregation.instance.cpus)]
    openers: list[dict[int, list[int]]] = [{} for _ in counts]
    for column in columns:
        cpu = waiting[column.group].pop()
        counts[cpu] = dict(column.content.tasks)
        for token in column.content.tokens:
            task_class = int(data.token_classes[token])
            openers[cpu].setdefault(task_class, []).append(data.entries[token])
    contents = contents_of(aggregation, counts, openers)
    return [aggregation.form.order(cpu, content) for cpu, content in enumerate(contents)]


def _content(data: PricingData, cpu: int, held: Mapping[int, int]) -> CpuContent:
    """Return the content of a CPU by classes, with the tokens of its best order."""
    form = data.aggregation.form
    tasks: Counter[int] = Counter()
    for task_type, count in held.items():
        tasks[data.class_of[task_type]] += count
    tokens = []
    fragments = set[int]()
    last = None
    for task_type in form.order(cpu, held):
        costs = form.costs[task_type]
        fragment = costs.fragment
        if fragment != last and not (last is None and form.starts[cpu].spares_entry(fragment)):
            tokens.append(data.token_of[data.class_of[task_type], costs.entry])
        fragments.add(fragment)
        last = fragment
    return CpuContent(tuple(sorted(tasks.items())), tuple(sorted(tokens)), tuple(sorted(fragments)))
