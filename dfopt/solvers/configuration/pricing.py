"""Exact pricing: the contents of CPUs that are worth most at some prices, and the proof by them.

Each group of CPUs has a bin weight at every limit z: the most that the content of one of its CPUs
can be worth at a cost of at most z. If all tasks together are worth more than the bin weights of
all CPUs, no schedule keeps z. This is Lagrange's relaxation of the LP, so that the prices may be
any; with Farley's (1990) argument the quotient of both sides is a bound on the LP's value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice

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
from dfopt.solvers.configuration.branching_rules import HoldsAtLeast, OpensWithToken, VisitsFragment
from dfopt.solvers.configuration.columns import Column, CpuContent
from dfopt.solvers.configuration.prices import Duals, Prices
from dfopt.solvers.configuration.pricing_data import CpuGroup
from dfopt.solvers.configuration.remaining_problem import RemainingProblem, VisitPattern

MOST_COLUMNS = 40
"""One pricing returns at most 40 columns for each group of CPUs."""


class PricedGroup:
    """The priced contents that a CPU of one group can hold.

    Parameters
    ----------
    problem
        The tasks to hold, and the limits on contents, with their prices and options.
    group
        The CPUs.
    pattern
        Which of the fragments whose pairs are limited it visits.
    """

    def __init__(self, problem: PricedProblem, group: CpuGroup, pattern: VisitPattern) -> None:
        self._prices = problem.prices
        start = group.start
        fragments = np.ones(problem.problem.data.fragments, CPU_FRAGMENT)
        fragments["is_spared"] = [start.spares_entry(number) for number in range(len(fragments))]
        fragments["may_miss"][list(pattern.visited)] = 0
        fragments["may_visit"][list(pattern.missed)] = 0
        self._priced = PricedContents(
            problem.options,
            fragments,
            arrival=start.arrival,
            departure=start.departure,
            worth=pattern.worth(problem.prices),
        )
        self._check = problem.check
        self._advance()
        self.release = self._priced.release

    def _advance(self) -> None:
        while not self._priced.advance():
            self._check()

    def largest(self, limit: int | None) -> int:
        """Return the most that is held at a cost of at most ``limit``; nothing is worth 0."""
        return self._priced.largest(ANY if limit is None else limit)

    def contents(self, limit: int | None, most: int) -> list[tuple[CpuContent, int]]:
        """Return the most valuable contents, one of each size, with their costs.

        Where costs are priced, the value of a content gives its cost.

        Parameters
        ----------
        limit
            The most that they cost; None where costs are not limited, but priced.
        most
            The number of contents returned is at most this, and one for a single fragment.
        """
        self._priced.choose(ANY if limit is None else limit, most)
        self._advance()
        visits, tasks = iter(self._priced.visits().tolist()), iter(self._priced.tasks().tolist())
        contents = []
        for cost, value, number in self._priced.chosen().tolist():
            fragments, opened, classes = zip(*islice(visits, number), strict=True)
            tokens = tuple(sorted(token for token in opened if token >= 0))
            content = CpuContent(tuple(islice(tasks, sum(classes))), tokens, fragments)
            if price := self._prices.cost:
                contents.append((content, (self._prices.worth(content) - value) // price))
            else:
                contents.append((content, cost))
        return contents


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
        self.groups = [
            [PricedGroup(self, group, pattern) for pattern in problem.patterns()]
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
        options = priced_options(rest, self.prices, self.check, self.options, changed)
        return PricedProblem(rest, self.prices, self.check, options)

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
    classes["number"], classes["weight"] = problem.stock.tasks, prices.weights
    tokens = np.empty(len(data.entries), TOKEN_PRICE)
    tokens["number"], tokens["worth"] = problem.stock.tokens, -prices.charges
    fragments = np.zeros(data.fragments, FRAGMENT_PRICE)
    fragments["is_whole"], fragments["is_paired"] = problem.whole, problem.paired
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
