"""The contents of CPUs: columns of the configuration LP, and the features that it branches on.

If the LP gives a feature to a fractional number f of CPUs, then in a schedule at most ⌊f⌋ CPUs
have it, or at least ⌊f⌋ + 1. Ryan and Foster (1981) branch in this way on pairs of rows that one
column covers: here that is :class:`VisitsPair`. The other rules are of the same form, but cost
pricing less: each feature has a price that pricing adds where a content has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from dfopt.solvers.aggregation import contents_of
from dfopt.solvers.branch_and_price.prices import Number, Prices
from dfopt.solvers.configuration.pricing_data import PricingData


@dataclass(frozen=True)
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

    @cached_property
    def visited(self) -> frozenset[int]:
        """The fragments, as a set."""
        return frozenset(self.fragments)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of tasks of each class."""
        return dict(self.tasks)

    def worth(self, prices: Prices[Feature, Number]) -> Number:
        """Return the worth of this content, whatever it costs.

        The reduced cost of a column is its priced cost, plus the price of a CPU, less this worth.
        """
        tasks = sum(prices.weights[task_class] * held for task_class, held in self.tasks)
        charges = sum(prices.charges[token] for token in self.tokens)
        features = sum(
            price for feature, price in prices.features.items() if feature.is_had_by(self)
        )
        return tasks + features - charges


@dataclass(frozen=True, slots=True)
class VisitsFragment:
    """The CPU visits a fragment."""

    fragment: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[VisitsFragment]:
        """Yield all features of this rule that ``content`` has."""
        return map(cls, content.fragments)

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.fragment in content.visited


@dataclass(frozen=True, slots=True)
class VisitsPair:
    """The CPU visits two fragments, the first one with the smaller number."""

    first: int
    second: int

    @property
    def fragments(self) -> tuple[int, int]:
        """Both."""
        return self.first, self.second

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[VisitsPair]:
        """Yield all features of this rule that ``content`` has."""
        return (cls(*pair) for pair in combinations(content.fragments, 2))

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.first in content.visited and self.second in content.visited


@dataclass(frozen=True, slots=True)
class OpensWithToken:
    """The CPU opens a block with a token."""

    token: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[OpensWithToken]:
        """Yield all features of this rule that ``content`` has."""
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
        """Yield all features of this rule that ``content`` has."""
        return (
            cls(task_class, least)
            for task_class, held in content.tasks
            for least in range(1, held + 1)
        )

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return content.numbers.get(self.task_class, 0) >= self.number


Feature = VisitsFragment | VisitsPair | OpensWithToken | HoldsAtLeast

RULES = (VisitsFragment, OpensWithToken, VisitsPair, HoldsAtLeast)
"""The branching rules; those that cost pricing least come first."""


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


class ColumnPool:
    """All columns found so far. They serve every limit that is not below their cost."""

    def __init__(self) -> None:
        self._columns: dict[tuple[int, CpuContent], Column] = {}

    def add(self, column: Column) -> bool:
        """Add a column; return whether it is new, or cheaper than it was known to be."""
        key = (column.group, column.content)
        known = self._columns.get(key)
        if known is not None and known.cost <= column.cost:
            return False
        self._columns[key] = column
        return True

    def within(self, limit: int | None) -> Iterator[Column]:
        """Yield the columns that cost at most ``limit``; all if it is None."""
        return (
            column for column in self._columns.values() if limit is None or column.cost <= limit
        )

    def __len__(self) -> int:
        return len(self._columns)


def columns_of(data: PricingData, held: Sequence[Mapping[int, int]]) -> Iterator[Column]:
    """Yield a column for every CPU that is not empty.

    Parameters
    ----------
    data
        The instance as arrays.
    held
        For each CPU how many tasks of each type it holds.
    """
    for number, group in enumerate(data.groups):
        for cpu in group.cpus:
            if held[cpu]:
                cost = data.aggregation.form.cost(cpu, held[cpu])
                yield Column(number, _content(data, cpu, held[cpu]), cost)


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
    fragments: list[int] = []
    last = None
    for task_type in form.order(cpu, held):
        fragment = form.costs[task_type].fragment
        if fragment != last and not (last is None and form.starts[cpu].spares_entry(fragment)):
            tokens.append(data.token_of[data.class_of[task_type], form.costs[task_type].entry])
        if fragment not in fragments:
            fragments.append(fragment)
        last = fragment
    return CpuContent(tuple(sorted(tasks.items())), tuple(sorted(tokens)), tuple(sorted(fragments)))
