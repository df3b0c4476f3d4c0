"""Proofs by prices: the tree of a branch and price, often only its root, as a certificate.

Pricing knows more about a node than prices say: where at most one CPU may visit a fragment, this
CPU holds all of it, and some pairs of fragments are forced or forbidden. A certificate has prices
alone. But prices that are high enough say the same: a task of such a fragment is worth Q more,
and a visit to it Q times as much less as it has tasks, so that only all of them together make up
for the visit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from dfopt.solvers.branch_and_price.cases import CountedCase, Range
from dfopt.solvers.configuration.branching_rules import (
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.prices import Prices, Refuting
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.integers import in_lowest_terms, of_smallest_scale

MOST_LEAVES = 1_000
"""At most this number of leaves; a larger tree is kept as the claim of a search."""

WEIGHT_SCALES = (10**2, 10**3, 10**4, 10**5)
"""The largest weight of a class in a certificate; tried in turn, as small numbers read well."""

COST_SCALES = (12, 10**2, 10**3, 10**4)
"""The value of a unit of cost, under total-penalty; tried in turn."""


def smaller_prices(prices: Prices) -> Iterator[Prices]:
    """Yield prices rounded to smaller numbers, the smallest ones first."""
    if not prices.cost:
        largest = max(1, int(np.abs(prices.weights).max()))
        yield from (_scaled(prices, scale / largest) for scale in WEIGHT_SCALES)
        return
    # In the unit of costs many bounds are sums of whole numbers.
    yield _scaled(prices, 1 / prices.cost, cost=1)
    yield _scaled(prices, 1 / prices.cost, np.floor, cost=1)
    yield from (_scaled(prices, scale / prices.cost, cost=scale) for scale in COST_SCALES)


def _scaled(
    prices: Prices,
    factor: float,
    rounded: Callable[[NDArray[Any]], NDArray[Any]] = np.rint,
    *,
    cost: int = 0,
) -> Prices:
    return Prices(
        rounded(prices.weights * factor).astype(np.int64),
        np.rint(prices.charges * factor).astype(np.int64),
        {feature: round(price * factor) for feature, price in prices.features.items()},
        cost,
    )


def claim(priced: PricedProblem, refuted: int) -> tuple[int, Proof]:
    """Return the bound that prices prove, and these prices as the certificate.

    Parameters
    ----------
    priced
        The contents that CPUs can hold at some prices.
    refuted
        The largest limit that they refute.
    """
    if not priced.prices.cost:
        return refuted + 1, _proof_of(priced, refuted + 1)
    unit = priced.problem.data.common_unit
    bound = -(-priced.surplus // (priced.prices.cost * unit)) * unit
    return bound, _proof_of(priced, bound)


def shorter(priced: PricedProblem, bound: int, otherwise: Proof) -> Proof:
    """Return a certificate of a bound in smaller numbers, or ``otherwise`` if there is none."""
    smaller = in_smallest_numbers(priced.problem, priced.prices, bound - 1, priced.check)
    return otherwise if smaller is None else _proof_of(smaller, bound)


def in_smallest_numbers(
    problem: RemainingProblem, prices: Prices, limit: int, check: Callable[[], None]
) -> PricedProblem | None:
    """Return the smallest prices that still refute a limit; None if no rounded ones do."""

    def attempt(smaller: Prices) -> PricedProblem | None:
        priced = PricedProblem(problem, smaller, check)
        return priced if priced.refutes(limit) else None

    return of_smallest_scale(attempt, smaller_prices(prices))


def _proof_of(priced: PricedProblem, bound: int) -> Proof:
    """Return prices as a proof without any fork."""
    prices, data = priced.prices, priced.problem.data
    bins = [0] * data.aggregation.instance.cpus
    largest = priced.bins(None if prices.cost else bound - 1)
    for group, most in zip(data.groups, largest, strict=True):
        for cpu in group.cpus:
            bins[cpu] = most
    writer = _NodeWriter(data)
    leaf = writer.leaf(prices.weights.tolist(), _with_charges(prices), prices.cost, tuple(bins))
    return writer.rows.proof([leaf], bound - 1)


def _with_charges(prices: Prices) -> defaultdict[Feature, int]:
    """Return the prices of all features; a charge is taken from the worth of an entry."""
    features: defaultdict[Feature, int] = defaultdict(int, prices.features)
    for token in np.flatnonzero(prices.charges).tolist():
        features[OpensWithToken(token)] -= int(prices.charges[token])
    return features


ProofCase = CountedCase[Feature, Refuting | None]
"""A node: how many CPUs may have some features, and why there is no schedule in this case."""


def branching_certificate(
    root: ProofCase, problem: RemainingProblem, limit: int, check: Callable[[], None]
) -> Proof | None:
    """Return a certificate for a tree of which all leaves are refuted; None if it is too large.

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
    leaves = _pruned(root, problem, limit)
    if len(leaves) > MOST_LEAVES:
        return None
    writer = _NodeWriter(problem.data)

    def leaf(case: ProofCase) -> Leaf:
        short = _shorter(problem.within(case.limits), leaves[id(case)], limit, check)
        return writer.leaf(short.weights, short.features, short.refuting.prices.cost)

    def fork(feature: Feature, at_most: int) -> Fork:
        return Fork(count=writer.count(feature), at_most=at_most)

    return writer.rows.proof(root.nodes(lambda case: id(case) in leaves, leaf, fork), limit)


def _pruned(root: ProofCase, problem: RemainingProblem, limit: int) -> dict[int, RefutedCase]:
    """Return the leaves that are needed, by the identity of their cases.

    Where the prices of a child refute its parent, they take the parent's place.
    """
    leaves: dict[int, RefutedCase] = {}
    for case in reversed(list(root.in_order())):
        there = problem.within(case.limits)
        if case.weights is not None:
            leaves[id(case)] = RefutedCase.of(there, case.weights)
        found = [leaves[id(part)] for part in case.parts if id(part) in leaves]
        for leaf in found:
            if leaf.refutes(there, limit):
                leaves[id(case)] = leaf
    needed = map(id, root.in_order(lambda case: id(case) in leaves))
    return {case: leaves[case] for case in needed if case in leaves}


def _shorter(
    problem: RemainingProblem, leaf: RefutedCase, limit: int, check: Callable[[], None]
) -> RefutedCase:
    """Return a leaf in smaller numbers that refutes the problem too, if there is one."""

    def attempt(prices: Prices) -> RefutedCase | None:
        check()
        priced = PricedProblem(leaf.problem, prices, check)
        held = priced.capacity(None if prices.cost else limit)
        priced.release()
        smaller = RefutedCase.of(leaf.problem, Refuting(prices=prices, held=held))
        return smaller if smaller.refutes(problem, limit) else None

    return of_smallest_scale(attempt, smaller_prices(leaf.refuting.prices)) or leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class RefutedCase:
    """Prices that say all that refutes a case, charges included.

    Parameters
    ----------
    problem, refuting
        What they are made from.
    weights
        Of a task, by class.
    features
        Of having a feature.
    """

    problem: RemainingProblem
    refuting: Refuting
    weights: Sequence[int]
    features: Mapping[Feature, int]

    @classmethod
    def of(cls, problem: RemainingProblem, refuting: Refuting) -> RefutedCase:
        """Return prices without the further knowledge that pricing has of a problem."""
        prices, data = refuting.prices, problem.data
        weights = prices.weights.tolist()
        features = _with_charges(prices)
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
        return cls(problem=problem, refuting=refuting, weights=weights, features=features)

    def refutes(self, problem: RemainingProblem, limit: int) -> bool:
        """Return whether the prices exclude all schedules of a case within ``limit``."""
        worth: int = sum(map(mul, self.weights, problem.data.counts.tolist()))
        for feature, price in self.features.items():
            least, most = _range_of(problem, feature)
            worth += price * (least if price > 0 else most)
        return worth > self.refuting.held + (
            self.refuting.prices.cost * problem.data.largest_total(limit)
        )


def _range_of(problem: RemainingProblem, feature: Feature) -> Range:
    """Return how many CPUs may have a feature: by the limits of a case, and in any schedule."""
    data = problem.data
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
    least, most = problem.limits.get(feature, (low, high))
    return max(low, least), min(high, most)


class _NodeWriter:
    """Writes prices of classes and features as leaves, with rows that say what these are."""

    def __init__(self, data: PricingData) -> None:
        self._data = data
        self._types, self._classes = data.aggregation.types, data.aggregation.classes
        self.rows = ProofRows(Over.CONTENTS)

    def leaf(
        self,
        weights: Sequence[int],
        features: Mapping[Feature, int],
        cost: int,
        bins: tuple[int, ...] = (),
    ) -> Leaf:
        """Return weights by class and prices of features as a leaf."""
        weighed = [
            [
                (self._types[number].example, weight)
                for own, weight in zip(self._classes[first:last], weights[first:last], strict=True)
                for number in own.task_types
            ]
            for first, last in self._data.ranges
        ]
        prices = ((self.count(feature), price) for feature, price in features.items() if price)
        leaf = Leaf(
            weights=self.rows.weights(self._data.aggregation.instance, weighed),
            prices=tuple(sorted(prices)),
            scale=cost or 1,
            bin_weights=bins,
        )
        # Without bin weights: what CPUs can hold is a sum of these numbers and of priced costs.
        return in_lowest_terms(leaf, weighs_costs=cost > 0)

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
