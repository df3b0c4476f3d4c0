"""Exact pricing: the contents of CPUs that are worth most at some prices, and the proof by them.

Each group of CPUs has a bin weight at every limit z: the most that the content of one of its CPUs
can be worth at a cost of at most z. If all tasks together are worth more than the bin weights of
all CPUs, no schedule keeps z. This is Lagrange's relaxation of the LP, so that the prices may be
any; with Farley's (1990) argument the quotient of both sides is a bound on the LP's value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import mul

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
from dfopt.solvers.configuration.pricing_data import CpuGroup
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.structs import replace

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
    visited
        The fragments that it visits of those whose pairs are limited.
    """

    def __init__(self, problem: PricedProblem, group: CpuGroup, visited: frozenset[int]) -> None:
        self._prices = problem.prices
        start = group.start
        fragments = np.ones(problem.problem.data.fragments, CPU_FRAGMENT)
        fragments["is_spared"] = [start.spares_entry(number) for number in range(len(fragments))]
        fragments["may_visit"][problem.problem.paired_fragments] = 0
        fragments["may_visit"][list(visited)] = 1
        fragments["may_miss"][list(visited)] = 0
        pairs = (
            price
            for feature, price in problem.prices.features.items()
            if isinstance(feature, VisitsPair) and visited.issuperset(feature.fragments)
        )
        self._priced = PricedContents(
            problem.options,
            fragments,
            arrival=start.arrival,
            departure=start.departure,
            worth=sum(pairs),
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
                contents.append((content, (content.worth(self._prices) - value) // price))
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
        prices: Prices[Feature, int],
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

    def bins(self, limit: int) -> tuple[int, ...]:
        """Return the most that a CPU of each group holds within ``limit``."""
        within = self._within(limit)
        return tuple(max(pattern.largest(within) for pattern in group) for group in self.groups)

    def capacity(self, limit: int) -> int:
        """Return the most that all CPUs hold within ``limit``."""
        capacity: int = sum(map(mul, self.bins(limit), self.problem.cpus))
        return capacity

    def surplus(self, limit: int) -> int:
        """Return the worth of everything less the most that the CPUs can hold."""
        return self.worth - self.capacity(limit)

    def refutes(self, limit: int) -> bool:
        """Return whether these prices prove that no schedule keeps ``limit``."""
        return self.surplus(limit) > self.problem.data.largest_total(limit) * self.prices.cost

    def refutation(self, limit: int) -> Refutation:
        """Return what is left of this where the prices refute ``limit``."""
        return Refutation(self.problem, self.prices, self.bins(limit))

    def bound(self, limit: int) -> int:
        """Return the bound that these prices prove, where they refute ``limit``."""
        if not self.prices.cost:
            return limit + 1
        unit = self.problem.data.common_unit
        return -(-self.surplus(limit) // (self.prices.cost * unit)) * unit

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

    def columns(self, limit: int, duals: Prices[Feature, float]) -> list[Column]:
        """Return contents within ``limit`` whose reduced cost is negative by ``duals``."""
        within = self._within(limit)
        return [
            Column(number, content, cost)
            for number, group in enumerate(self.groups)
            for pattern in group
            for content, cost in pattern.contents(within, MOST_COLUMNS)
            if content.worth(duals) > duals.bins[number] + duals.cost * cost + TOLERANCE
        ]

    def _within(self, limit: int) -> int | None:
        """Return the most that a CPU may cost; None where costs are priced."""
        return None if self.prices.cost else limit


@dataclass(frozen=True)
class Refutation:
    """Prices that refute a problem, and the most that a CPU of each group holds at these prices."""

    problem: RemainingProblem
    prices: Prices[Feature, int]
    bins: tuple[int, ...]

    @cached_property
    def full_prices(self) -> Prices[Feature, int]:
        """Prices that say all that pricing knows: charges, whole fragments, and pairs."""
        prices, problem, data = self.prices, self.problem, self.problem.data
        weights = list(prices.weights)
        features = defaultdict[Feature, int](int, prices.features)
        for token, charge in enumerate(prices.charges):
            if charge:
                features[OpensWithToken(token)] -= charge
        # More than any content can be worth.
        counts = data.counts.tolist()
        high = 1 + sum(
            max(0, weight) * count for weight, count in zip(weights, counts, strict=True)
        )
        high += sum(max(0, price) for price in features.values())
        whole = np.flatnonzero(problem.whole).tolist()
        for fragment in whole:
            first, last = data.ranges[fragment]
            features[VisitsFragment(fragment)] -= high * sum(counts[first:last])
            for task_class in range(first, last):
                weights[task_class] += high
        for feature, (least, most) in problem.limits.items():
            if not isinstance(feature, VisitsPair):
                continue
            if most < 1:
                features[feature] -= high
            elif least > 0 and all(fragment in whole for fragment in feature.fragments):
                features[feature] += 2 * high
                for fragment in feature.fragments:
                    features[VisitsFragment(fragment)] -= high
        return replace(prices, weights=weights, charges=[], features=features)

    def refutes(self, problem: RemainingProblem, limit: int) -> bool:
        """Return whether the prices exclude all schedules of a case within ``limit``."""
        prices, data = self.full_prices, problem.data
        worth: int = sum(map(mul, prices.weights, data.counts.tolist()))
        for feature, price in prices.features.items():
            least, most = problem.range_of(feature)
            worth += price * (least if price > 0 else most)
        held: int = sum(map(mul, self.bins, problem.cpus))
        return worth > held + prices.cost * data.largest_total(limit)


def priced_options(
    problem: RemainingProblem,
    prices: Prices[Feature, int],
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
    tokens["number"], tokens["worth"] = problem.stock.tokens, np.negative(prices.charges)
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
