"""Proofs by prices: the tree of a branch and price, often only its root, as a certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from dfopt.problem.certificate import (
    Count,
    EntryCount,
    Fork,
    Leaf,
    MeetingCount,
    Over,
    Proof,
    ProofRows,
    TaskClass,
    VisitCount,
    class_of,
)
from dfopt.solvers.configuration.branch_and_price import Case
from dfopt.solvers.configuration.contents import (
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    Prices,
    RemainingProblem,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.integers import in_lowest_terms, of_smallest_scale

MOST_LEAVES = 1_000
"""At most this number of leaves; a larger tree is kept as the claim of a search."""

WEIGHT_SCALES = (10**2, 10**3, 10**4, 10**5)
"""The largest weight of a class in a certificate; tried in turn, as small numbers read well."""

COST_SCALES = (1, 12, 10**2, 10**3, 10**4)
"""The value of a unit of cost, under total-penalty; tried in turn."""


def smaller_prices(prices: Prices) -> Iterator[Prices]:
    """Yield prices rounded to smaller numbers, the smallest ones first."""
    if prices.cost:
        return (prices.rounded(scale / prices.cost, scale) for scale in COST_SCALES)
    largest = max(1, int(np.abs(prices.weights).max()))
    return (prices.rounded(scale / largest) for scale in WEIGHT_SCALES)


def in_smallest_numbers(
    problem: RemainingProblem, prices: Prices, limit: int, check: Callable[[], None]
) -> PricedProblem | None:
    """Return the smallest prices that still refute a limit; None if no rounded ones do."""

    def attempt(smaller: Prices) -> PricedProblem | None:
        priced = PricedProblem(problem, smaller, check)
        priced.release()
        return priced if priced.refutes(limit) else None

    return of_smallest_scale(attempt, smaller_prices(prices))


def bound_by(priced: PricedProblem, refuted: int) -> int:
    """Return the bound that prices prove which refute a limit."""
    if not priced.prices.cost:
        return refuted + 1
    unit = priced.problem.data.common_unit
    return -(-priced.surplus // (priced.prices.cost * unit)) * unit


def proof_of(priced: PricedProblem, bound: int) -> Proof:
    """Return prices as the proof of a bound, without any fork."""
    data = priced.problem.data
    bins = [0] * data.aggregation.instance.cpus
    for group, most in zip(data.groups, priced.bins(bound - 1), strict=True):
        for cpu in group.cpus:
            bins[cpu] = most
    writer = _NodeWriter(data)
    return writer.rows.proof([writer.leaf(priced.prices, tuple(bins))], bound - 1)


def branching_certificate(
    root: Case, problem: RemainingProblem, limit: int, check: Callable[[], None]
) -> Proof | None:
    """Return a certificate for a tree of which all leaves are refuted; None if it is too large.

    Where the prices of a case refute the one that it is part of, they take its place.

    Parameters
    ----------
    root
        The tree.
    problem
        The whole problem.
    limit
        The limit that no schedule keeps.
    check
        Called often; may end the work by an exception.
    """
    for case in reversed(list(root.in_order())):
        whole = problem.within(case.limits)
        for part in case.parts:
            if part.weights is not None and part.weights.refutes(whole, limit):
                case.weights = part.weights

    def is_leaf(case: Case) -> bool:
        return case.weights is not None

    if sum(map(is_leaf, root.in_order(is_leaf))) > MOST_LEAVES:
        return None
    writer = _NodeWriter(problem.data)

    def leaf(case: Case) -> Leaf:
        assert case.weights is not None
        prices = case.weights.prices
        smaller = in_smallest_numbers(problem.within(case.limits), prices, limit, check)
        return writer.leaf(smaller.prices if smaller else prices)

    def fork(feature: Feature, at_most: int) -> Fork:
        return Fork(count=writer.count(feature), at_most=at_most)

    return writer.rows.proof(root.nodes(is_leaf, leaf, fork), limit)


class _NodeWriter:
    """Writes prices of classes and features as leaves, with rows that say what these are."""

    def __init__(self, data: PricingData) -> None:
        self._data = data
        self._types, self._classes = data.aggregation.types, data.aggregation.classes
        self.rows = ProofRows(Over.CONTENTS)

    def leaf(self, prices: Prices, bins: tuple[int, ...] = ()) -> Leaf:
        """Return prices as a leaf; a charge is taken from the worth of an entry."""
        weights = prices.weights.tolist()
        weighed = [
            [
                (self._types[number].example, weight)
                for own, weight in zip(self._classes[first:last], weights[first:last], strict=True)
                for number in own.task_types
            ]
            for first, last in self._data.ranges
        ]
        features = Counter[Feature](prices.features)
        for token, charge in enumerate(prices.charges.tolist()):
            features[OpensWithToken(token)] -= charge
        leaf = Leaf(
            weights=self.rows.weights(self._data.aggregation.instance, weighed),
            prices=tuple(
                sorted((self.count(feature), price) for feature, price in features.items() if price)
            ),
            scale=prices.cost or 1,
            bin_weights=bins,
        )
        # Without bin weights: what CPUs can hold is a sum of these numbers and of priced costs.
        return in_lowest_terms(leaf, weighs_costs=prices.cost > 0)

    def count(self, feature: Feature) -> int:
        """Return the number of the count of a feature."""
        return self.rows.count(self._count(feature))

    def _count(self, feature: Feature) -> Count:
        match feature:
            case VisitsFragment(fragment):
                return VisitCount(classes=(self._fragment(fragment),))
            case VisitsPair(first, second):
                return MeetingCount(classes=(self._fragment(first), self._fragment(second)))
            case OpensWithToken(token):
                own = self._classes[int(self._data.token_classes[token])]
                costs, entry = self._data.aggregation.form.costs, self._data.entries[token]
                types = [number for number in own.task_types if costs[number].entry == entry]
                return EntryCount(classes=self._of_types(types, with_lines=True))
            case HoldsAtLeast(task_class, number):
                rows = self._of_types(self._classes[task_class].task_types)
                return VisitCount(classes=rows, tasks=number)

    def _fragment(self, fragment: int) -> int:
        first, _ = self._data.ranges[fragment]
        example = self._types[self._classes[first].task_types[0]].example
        return self.rows.of(TaskClass(df=str(example.df)))

    def _of_types(self, types: Iterable[int], *, with_lines: bool = False) -> tuple[int, ...]:
        """Return the numbers of the classes of some types of tasks."""
        instance = self._data.aggregation.instance
        examples = (self._types[number].example for number in types)
        rows = (class_of(instance, task, with_lines=with_lines) for task in examples)
        return self.rows.all_of(dict.fromkeys(rows))
