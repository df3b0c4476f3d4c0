"""The proof of a complete branch and price: a tree of cases, with prices for each leaf.

Pricing knows more about a node than prices say: where at most one CPU may visit a fragment, this
CPU holds all of it, and some pairs of fragments are forced or forbidden. A certificate has prices
alone. But prices that are high enough say the same: a task of such a fragment is worth Q more,
and a visit to it Q times as much less as it has tasks, so that only all of them together make up
for the visit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from operator import mul

import numpy as np

from dfopt.problem.certificate import (
    Branching,
    CpuCount,
    EntryCount,
    Fork,
    HoldingCount,
    MeetingCount,
    Refutation,
    TaskClass,
    VisitCount,
)
from dfopt.solvers.configuration.branching_rules import (
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.certificates import class_rows, smaller_prices, token_rows
from dfopt.solvers.configuration.prices import Refuting
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import Range, RemainingProblem

MOST_LEAVES = 1_000
"""At most this number of leaves; a larger tree is kept as the claim of a search."""


@dataclass(slots=True)
class ProofCase:
    """A node: a leaf that prices refute, a fork, or still open.

    Parameters
    ----------
    problem
        The tasks, and the limits on contents.
    feature, at_most
        The feature that is counted at a fork, and the most CPUs that have it in its first case.
    children
        The first case, in which few CPUs have the feature, and the second one.
    refuting
        Why there is no schedule in this case.
    """

    problem: RemainingProblem
    feature: Feature | None = None
    at_most: int = 0
    children: tuple[ProofCase, ...] = ()
    refuting: Refuting | None = None


def branching_certificate(
    root: ProofCase, limit: int, check: Callable[[], None]
) -> Branching | None:
    """Return a certificate for a tree of which all leaves are refuted; None if it is too large.

    Parameters
    ----------
    root
        The whole problem.
    limit
        The limit that no schedule keeps.
    check
        Called often; may end the work by an exception.
    """
    leaves = _pruned(root, limit)
    if len(leaves) > MOST_LEAVES:
        return None
    rows = _NodeWriter(root.problem.data)
    nodes: list[Fork | Refutation] = []
    for case in _in_order(root, leaves):
        if id(case) in leaves:
            nodes.append(rows.leaf(_shorter(case, leaves[id(case)], limit, check)))
        else:
            assert case.feature is not None
            nodes.append(Fork(count=rows.count(case.feature), at_most=case.at_most))
    return Branching(
        threshold=limit, classes=tuple(rows.classes), counts=tuple(rows.counts), nodes=tuple(nodes)
    )


def _in_order(root: ProofCase, leaves: Container[int] = ()) -> list[ProofCase]:
    """Return the cases; each fork comes before all of its first case, and that before its second.

    What is below ``leaves`` is left out.
    """
    cases, waiting = [], [root]
    while waiting:
        case = waiting.pop()
        cases.append(case)
        if id(case) not in leaves:
            waiting += reversed(case.children)
    return cases


def _pruned(root: ProofCase, limit: int) -> dict[int, Leaf]:
    """Return the leaves that are needed, by the identity of their cases.

    Where the prices of a child refute its parent, they take the parent's place.
    """
    leaves: dict[int, Leaf] = {}
    for case in reversed(_in_order(root)):
        if case.refuting is not None:
            leaves[id(case)] = Leaf.of(case.problem, case.refuting)
        found = [leaves[id(child)] for child in case.children if id(child) in leaves]
        for leaf in found:
            if leaf.refutes(case.problem, limit):
                leaves[id(case)] = leaf
    return {id(case): leaves[id(case)] for case in _in_order(root, leaves) if id(case) in leaves}


def _shorter(case: ProofCase, leaf: Leaf, limit: int, check: Callable[[], None]) -> Leaf:
    """Return a leaf in smaller numbers that refutes the case too, if there is one."""
    for prices in smaller_prices(leaf.refuting.prices):
        check()
        priced = PricedProblem(leaf.problem, prices, check)
        held = priced.capacity(None if prices.cost else limit)
        priced.release()
        smaller = Leaf.of(leaf.problem, Refuting(prices=prices, held=held))
        if smaller.refutes(case.problem, limit):
            return smaller
    return leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
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
    def of(cls, problem: RemainingProblem, refuting: Refuting) -> Leaf:
        """Return prices without the further knowledge that pricing has of a problem."""
        prices, data = refuting.prices, problem.data
        weights = prices.weights.tolist()
        features: defaultdict[Feature, int] = defaultdict(int, prices.features)
        for token, charge in enumerate(prices.charges.tolist()):
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
    """The classes and counts of a certificate, collected while its nodes are written."""

    def __init__(self, data: PricingData) -> None:
        self._data = data
        self.classes: list[TaskClass] = []
        self.counts: list[CpuCount] = []
        self._numbers: dict[TaskClass | Feature, int] = {}

    def leaf(self, leaf: Leaf) -> Refutation:
        """Return a leaf as a node."""
        prices = sorted((self.count(feature), price) for feature, price in leaf.features.items())
        cost = leaf.refuting.prices.cost
        numbers = [*leaf.weights, *leaf.features.values()]
        # What the CPUs can hold is a sum of these numbers, and of costs, if they have a price.
        divisor = gcd(cost, *numbers) or 1
        return Refutation(
            weights=tuple(
                (self._class(row), weight // divisor)
                for task_class, weight in enumerate(leaf.weights)
                if weight
                for row in class_rows(self._data, task_class)
            ),
            prices=tuple((number, price // divisor) for number, price in prices if price),
            scale=cost // divisor if cost else 1,
        )

    def count(self, feature: Feature) -> int:
        """Return the number of the count of a feature."""
        if feature not in self._numbers:
            self._numbers[feature] = len(self.counts)
            self.counts.append(self._count(feature))
        return self._numbers[feature]

    def _class(self, row: TaskClass) -> int:
        if row not in self._numbers:
            self._numbers[row] = len(self.classes)
            self.classes.append(row)
        return self._numbers[row]

    def _count(self, feature: Feature) -> CpuCount:
        match feature:
            case VisitsFragment(fragment):
                return VisitCount(df=self._name(fragment))
            case VisitsPair(first, second):
                return MeetingCount(df=self._name(first), other=self._name(second))
            case OpensWithToken(token):
                return EntryCount(classes=self._numbered(token_rows(self._data, token)))
            case HoldsAtLeast(task_class, number):
                rows = class_rows(self._data, task_class)
                return HoldingCount(classes=self._numbered(rows), tasks=number)

    def _numbered(self, rows: tuple[TaskClass, ...]) -> tuple[int, ...]:
        return tuple(map(self._class, rows))

    def _name(self, fragment: int) -> str:
        first, _ = self._data.ranges[fragment]
        return class_rows(self._data, first)[0].df
