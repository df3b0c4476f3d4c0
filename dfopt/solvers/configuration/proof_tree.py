"""Proofs by prices: the tree of a branch and price, often only its root, as a certificate.

Pricing knows more about a node than prices say: where at most one CPU may visit a fragment, this
CPU holds all of it, and some pairs of fragments are forced or forbidden. A certificate has prices
alone. But prices that are high enough say the same: a task of such a fragment is worth Q more,
and a visit to it Q times as much less as it has tasks, so that only all of them together make up
for the visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import floor

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
from dfopt.solvers.branch_and_price.cases import CountedCase
from dfopt.solvers.branch_and_price.prices import Prices
from dfopt.solvers.configuration.contents import (
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.pricing import PricedProblem, Refutation
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.integers import in_lowest_terms, of_smallest_scale
from dfopt.structs import replace

MOST_LEAVES = 1_000
"""At most this number of leaves; a larger tree is kept as the claim of a search."""

WEIGHT_SCALES = (10**2, 10**3, 10**4, 10**5)
"""The largest weight of a class in a certificate; tried in turn, as small numbers read well."""

COST_SCALES = (12, 10**2, 10**3, 10**4)
"""The value of a unit of cost, under total-penalty; tried in turn."""


def smaller_prices(prices: Prices[Feature, int]) -> Iterator[Prices[Feature, int]]:
    """Yield prices rounded to smaller numbers, the smallest ones first."""
    if not prices.cost:
        largest = max(1, *map(abs, prices.weights))
        yield from (prices.rounded(scale / largest) for scale in WEIGHT_SCALES)
        return
    # In the unit of costs many bounds are sums of whole numbers.
    nearest = prices.rounded(1 / prices.cost)
    yield nearest
    yield replace(nearest, weights=[floor(weight / prices.cost) for weight in prices.weights])
    yield from (prices.rounded(scale / prices.cost) for scale in COST_SCALES)


ProofCase = CountedCase[Feature, Refutation | None]
"""A node: how many CPUs may have some features, and why there is no schedule in this case."""


def proof_of(
    root: ProofCase,
    problem: RemainingProblem,
    limit: int,
    check: Callable[[], None] | None = None,
) -> Proof | None:
    """Return a tree of which all leaves are refuted as a proof; None if it is too large.

    Parameters
    ----------
    root
        The tree.
    problem
        The whole problem.
    limit
        The limit that no schedule keeps.
    check
        Called often while the smallest numbers are looked for; may end the work by an exception.
        By default the leaves have the numbers that they were found with.
    """
    leaves = _pruned(root, problem, limit)
    if len(leaves) > MOST_LEAVES:
        return None
    writer = _NodeWriter(problem.data)

    def leaf(case: ProofCase) -> Leaf:
        refutation = leaves[id(case)]
        if check is not None:
            there = problem.within(case.limits)
            refutation = in_smallest_numbers(refutation, there, limit, check)
        return writer.leaf(refutation, has_bins=case is root)

    def fork(feature: Feature, at_most: int) -> Fork:
        return Fork(count=writer.count(feature), at_most=at_most)

    return writer.rows.proof(root.nodes(lambda case: id(case) in leaves, leaf, fork), limit)


def _pruned(root: ProofCase, problem: RemainingProblem, limit: int) -> dict[int, Refutation]:
    """Return the leaves that are needed, by the identity of their cases.

    Where the prices of a child refute its parent, they take the parent's place.
    """
    leaves: dict[int, Refutation] = {}
    for case in reversed(list(root.in_order())):
        there = problem.within(case.limits)
        if case.weights is not None:
            leaves[id(case)] = case.weights
        found = [leaves[id(part)] for part in case.parts if id(part) in leaves]
        for leaf in found:
            if leaf.refutes(there, limit):
                leaves[id(case)] = leaf
    needed = map(id, root.in_order(lambda case: id(case) in leaves))
    return {case: leaves[case] for case in needed if case in leaves}


def in_smallest_numbers(
    leaf: Refutation, problem: RemainingProblem, limit: int, check: Callable[[], None]
) -> Refutation:
    """Return a leaf in smaller numbers that refutes the problem too, if there is one."""

    def attempt(prices: Prices[Feature, int]) -> Refutation | None:
        check()
        smaller = PricedProblem(leaf.problem, prices, check).refutation(limit)
        return smaller if smaller.refutes(problem, limit) else None

    return of_smallest_scale(attempt, smaller_prices(leaf.prices)) or leaf


class _NodeWriter:
    """Writes prices of classes and features as leaves, with rows that say what these are."""

    def __init__(self, data: PricingData) -> None:
        self._data = data
        self._types, self._classes = data.aggregation.types, data.aggregation.classes
        self.rows = ProofRows(Over.CONTENTS)

    def leaf(self, refutation: Refutation, *, has_bins: bool) -> Leaf:
        """Return the full prices of a refutation as a leaf, with what each CPU holds or without."""
        full = refutation.full_prices
        groups = zip(self._data.groups, refutation.bins, strict=True)
        bins = dict(sorted((cpu, most) for group, most in groups for cpu in group.cpus))
        weighed = [
            [
                (self._types[number].example, weight)
                for own, weight in zip(
                    self._classes[first:last], full.weights[first:last], strict=True
                )
                for number in own.task_types
            ]
            for first, last in self._data.ranges
        ]
        prices = ((self.count(feature), price) for feature, price in full.features.items() if price)
        leaf = Leaf(
            weights=self.rows.weights(self._data.aggregation.instance, weighed),
            prices=tuple(sorted(prices)),
            scale=full.cost or 1,
            bin_weights=tuple(bins.values()) if has_bins else (),
        )
        # Without bin weights: what CPUs can hold is a sum of these numbers and of priced costs.
        return in_lowest_terms(leaf, weighs_costs=full.cost > 0)

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
