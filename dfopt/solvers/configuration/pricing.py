"""Exact pricing: the contents of CPUs that are worth most at some prices, and the proof by them.

Each group of CPUs has a bin weight at every limit z: the most that the content of one of its CPUs
can be worth at a cost of at most z. If all tasks together are worth more than the bin weights of
all CPUs, no schedule keeps z. This is Lagrange's relaxation of the LP, so that the prices may be
any; with Farley's (1990) argument the quotient of both sides is a bound on the LP's value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, combinations, islice

import numpy as np

from dfopt.native.library import ANY
from dfopt.native.pricing import (
    BONUS,
    CLASS_PRICE,
    CPU_FRAGMENT,
    FRAGMENT_PRICE,
    TOKEN_PRICE,
    PricedContents,
    PricedOptions,
)
from dfopt.solvers.branch_and_price.linear_program import TOLERANCE
from dfopt.solvers.configuration.contents import (
    Column,
    CpuContent,
    HoldsAtLeast,
    OpensWithToken,
    Prices,
    RemainingProblem,
    VisitsFragment,
    VisitsPair,
    paired_fragments,
)
from dfopt.solvers.configuration.pricing_data import CpuGroup

MOST_COLUMNS = 40
"""One pricing returns at most 40 columns for each group of CPUs."""


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
    options
        The priced options of each fragment, if they are known.

    Attributes
    ----------
    groups
        For each group of CPUs what they can hold: in one way for each set of those fragments that
        they visit whose pairs have prices.
    """

    def __init__(
        self,
        problem: RemainingProblem,
        prices: Prices,
        check: Callable[[], None] = lambda: None,
        options: PricedOptions | None = None,
    ) -> None:
        self.problem = problem
        self.prices = prices
        self.check = check
        self.options = options or priced_options(problem, prices, check)
        paired = paired_fragments(prices.features)
        visits = [
            set(visited)
            for size in range(len(paired) + 1)
            for visited in combinations(paired, size)
        ]
        self.groups = [
            [self._priced(group, visited, set(paired) - visited) for visited in visits]
            for group in problem.data.groups
        ]

    def _priced(self, group: CpuGroup, visited: set[int], missed: set[int]) -> PricedContents:
        """Return what a CPU can hold that visits some fragments and misses others."""
        start = group.start
        fragments = np.ones(self.problem.data.fragments, CPU_FRAGMENT)
        fragments["is_spared"] = [start.spares_entry(number) for number in range(len(fragments))]
        fragments["may_miss"][list(visited)] = 0
        fragments["may_visit"][list(missed)] = 0
        worth = sum(
            price
            for feature, price in self.prices.features.items()
            if isinstance(feature, VisitsPair) and {feature.first, feature.second} <= visited
        )
        priced = PricedContents(
            self.options,
            fragments,
            arrival=start.arrival,
            departure=start.departure,
            worth=int(worth),
        )
        self._advance(priced)
        return priced

    def _advance(self, priced: PricedContents) -> None:
        while not priced.advance():
            self.check()

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
        options = priced_options(rest, self.prices, self.check, self.options, changed)
        return PricedProblem(rest, self.prices, self.check, options)

    def release(self) -> None:
        """Give memory back; after that there are bin weights, but no columns any more."""
        for priced in chain(*self.groups):
            priced.release()

    def bins(self, limit: int | None) -> tuple[int, ...]:
        """Return the most that a CPU of each group holds within ``limit``.

        Where costs are priced they are not limited.
        """
        within = ANY if self.prices.cost or limit is None else limit
        return tuple(max(priced.largest(within) for priced in group) for group in self.groups)

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

    def contents(self, group: int, limit: int | None, most: int) -> list[tuple[CpuContent, int]]:
        """Return the most valuable contents of a group's CPUs, one of each size, with their costs.

        Parameters
        ----------
        group
            The number of the group.
        limit
            The most that they cost; costs are not limited where they are priced.
        most
            In each way to visit paired fragments at most this number of contents are returned, and
            one for a single fragment.
        """
        price = self.prices.cost
        contents = []
        for priced in self.groups[group]:
            priced.choose(ANY if price or limit is None else limit, most)
            self._advance(priced)
            visits, tasks = iter(priced.visits().tolist()), iter(priced.tasks().tolist())
            for cost, value, number in priced.chosen().tolist():
                fragments, opened, classes = zip(*islice(visits, number), strict=True)
                tokens = tuple(sorted(token for token in opened if token >= 0))
                content = CpuContent(tuple(islice(tasks, sum(classes))), tokens, fragments)
                # Where costs are priced, the value of a content gives its cost.
                paid = (int(self.prices.worth(content)) - value) // price if price else cost
                contents.append((content, paid))
        return contents

    def columns(self, limit: int, duals: Prices) -> list[Column]:
        """Return contents within ``limit`` whose reduced cost is negative by ``duals``."""
        return [
            Column(group, content, cost)
            for group in range(len(self.groups))
            for content, cost in self.contents(group, limit, MOST_COLUMNS)
            if duals.worth(content)
            > duals.groups[group] + (cost if self.prices.cost else 0) + TOLERANCE
        ]


def priced_options(
    problem: RemainingProblem,
    prices: Prices,
    check: Callable[[], None],
    known: PricedOptions | None = None,
    changed: Sequence[int] = (),
) -> PricedOptions:
    """Return the priced options of each fragment for a CPU.

    They are shared by all groups of CPUs, and by problems that differ in a few fragments only.

    Parameters
    ----------
    problem
        The tasks to hold, and the limits on contents.
    prices
        The worth of tasks, in integers.
    check
        Called often; may end the work by an exception.
    known
        The options of the same fragments, but of those in ``changed``, if they are known.
    changed
        Fragments with other tasks or limits than there.
    """
    data = problem.data
    classes = np.empty(len(data.counts), CLASS_PRICE)
    classes["number"], classes["weight"] = problem.tasks, prices.weights
    tokens = np.empty(len(data.entries), TOKEN_PRICE)
    tokens["number"], tokens["worth"] = problem.tokens, -prices.charges
    fragments = np.zeros(data.fragments, FRAGMENT_PRICE)
    fragments["is_paired"][paired_fragments(prices.features)] = 1
    fragments["is_changed"][list(changed) if known else slice(None)] = 1
    bonuses = []
    for feature, price in prices.features.items():
        match feature:
            case VisitsFragment(fragment):
                fragments["visit"][fragment] = price
            case OpensWithToken(token):
                tokens["worth"][token] += price
            case HoldsAtLeast(task_class, number):
                bonuses.append((task_class, number, price))
    options = PricedOptions(
        data.tables,
        cost=prices.cost,
        classes=classes,
        tokens=tokens,
        fragments=fragments,
        bonuses=np.array(bonuses, BONUS),
    )
    if known:
        options.take_over(known)
    while not options.advance():
        check()
    return options
