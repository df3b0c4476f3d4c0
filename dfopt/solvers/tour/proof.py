"""Proofs that no tour is cheap: dual values as integers, in a tree of cases.

Let every visit of a node have a weight for leaving it and one for entering it, and every cut a
weight of at least 0. A tour's cost is then the sum of what it pays for its visits, for the cuts it
crosses, and of the reduced costs of its arcs. It crosses each cut at least once, and uses an arc of
negative reduced cost at most as often as tours can. That bounds all tours, whatever the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dfopt.errors import MethodError
from dfopt.problem.certificate import (
    ArcCount,
    CrossingCount,
    Fork,
    Leaf,
    Over,
    Proof,
    ProofRows,
    TaskClass,
)
from dfopt.problem.instance import Instance
from dfopt.solvers.branch_and_price.cases import CountedCase
from dfopt.solvers.integers import SCALES, of_smallest_scale
from dfopt.solvers.tour.cut_program import Arc, ArcPrices, Cut, CutProgram, Ranges, credit_cuts
from dfopt.solvers.tour.problem import START, Flags, Integers, TourProblem
from dfopt.structs import replace
from dfopt.verify.arcs import ArcWeights, Tours
from dfopt.verify.beginnings import MOST_NODES, cheapest_order

LARGEST_SUM = 1 << 61
"""No sum may come near the end of 64-bit integers."""


@dataclass(frozen=True, slots=True, eq=False)
class TourWeights:
    """Dual values as integers, and what they prove.

    Parameters
    ----------
    leaving, entering, cuts
        The weights.
    scale
        The weight of a unit of cost.
    bound
        No tour in its case costs less.
    beginnings
        Whether that needs a search among the beginnings of orders that the weights leave.
    """

    leaving: Integers
    entering: Integers
    cuts: dict[int, int]
    scale: int
    bound: int
    beginnings: bool = False


TourCase = CountedCase[Arc, TourWeights]
"""A case: how often some arcs may be used, and what tours cost at least."""


def bound_of(root: TourCase) -> int:
    """Return what every tour of a case costs at least, as its weights or those of its parts say."""
    bounds: dict[int, int] = {}
    for case in reversed(list(root.in_order())):
        least = min((bounds[id(part)] for part in case.parts), default=0)
        bounds[id(case)] = max(case.weights.bound, least)
    return bounds[id(root)]


def weights_of(
    problem: TourProblem, cuts: Sequence[Cut], prices: ArcPrices, ranges: Ranges, wanted: int
) -> TourWeights | None:
    """Return dual values as integers; those of the smallest scale that proves what is wanted.

    None if the numbers would be too large.
    """
    best: TourWeights | None = None
    largest = int(problem.cost.max(initial=0))
    sizes = (float(np.abs(prices.leaving).max()), float(np.abs(prices.entering).max()))
    sum_of_all = largest + sum(sizes) + sum(prices.cuts.values())

    def attempt(scale: int) -> TourWeights | None:
        nonlocal best
        if sum_of_all * scale * int(problem.visits.sum()) * len(problem.visits) > LARGEST_SUM:
            return None
        weights = _rounded(problem, cuts, prices, ranges, scale)
        if best is None or weights.bound > best.bound:
            best = weights
        return best if best.bound >= wanted else None

    return of_smallest_scale(attempt, SCALES) or best


def _rounded(
    problem: TourProblem, cuts: Sequence[Cut], prices: ArcPrices, ranges: Ranges, scale: int
) -> TourWeights:
    """Return dual values times a scale as integers, and the bound that they prove."""
    visits, most = problem.visits, problem.most
    leaving = np.rint(prices.leaving * scale).astype(np.int64)
    entering = np.rint(prices.entering * scale).astype(np.int64)
    rounded = {number: round(price * scale) for number, price in prices.cuts.items()}
    rounded = {number: price for number, price in rounded.items() if price > 0}
    reduced = scale * problem.cost - leaving[:, None] - entering[None, :]
    credit_cuts(reduced, cuts, rounded)
    # Where an arc takes all visits of its ends, no other arc is used there. So these weights can
    # be as low as the reduced costs of the others need.
    for (tail, head), (least, _) in ranges.items():
        if least == visits[tail] == visits[head]:
            shift = _lowest(reduced[tail], most[tail], head)
            leaving[tail] += shift
            reduced[tail] -= shift
            shift = _lowest(reduced[:, head], most[:, head], tail)
            entering[head] += shift
            reduced[:, head] -= shift
    worth = int((visits * (leaving + entering)).sum()) + sum(rounded.values())
    gained = np.minimum(reduced, 0) * most
    for arc in ranges:
        gained[arc] = 0
    worth += int(gained.sum())
    for arc, (least, largest) in ranges.items():
        cost = int(reduced[arc])
        worth += cost * (least if cost > 0 else largest)
    return TourWeights(leaving, entering, rounded, scale, -(-worth // scale))


def _lowest(reduced: Integers, most: Integers, left_out: int) -> int:
    """Return the least reduced cost below 0 of the arcs at a node, one of them left out."""
    costs = np.where(most > 0, reduced, 0)
    costs[left_out] = 0
    return int(costs.min())


class TourWriter:
    """Writes weights of tours as a proof.

    Parameters
    ----------
    problem, cuts
        The tours and the cuts that their weights may name.
    """

    def __init__(self, problem: TourProblem, cuts: Sequence[Cut]) -> None:
        self._cuts, self._end = cuts, problem.end
        self.rows = ProofRows(Over.ORDERS)
        # Class 0 has no keys: it is the start of an order, and its end.
        self.rows.all_of([TaskClass(), *(TaskClass(node=name) for name in problem.names)])

    def leaf(self, weights: TourWeights) -> Leaf:
        """Return weights as a leaf."""
        # The end comes first.
        entering = (int(weights.entering[-1]), *weights.entering[1:-1].tolist())
        return Leaf(
            leaving=_pairs(weights.leaving[:-1].tolist()),
            weights=_pairs(entering),
            prices=tuple(
                (self.rows.count(self.crossings(number)), weight)
                for number, weight in weights.cuts.items()
            ),
            scale=weights.scale,
            beginnings=weights.beginnings,
        )

    def fork(self, arc: Arc, at_most: int) -> Fork:
        """Return the fork of a case at the uses of an arc."""
        tail, head = arc
        uses = ArcCount(before=tail, after=0 if head == self._end else head)
        return Fork(count=self.rows.count(uses), at_most=at_most)

    def crossings(self, number: int) -> CrossingCount:
        """Return what a cut counts."""
        cut = self._cuts[number]

        def numbers(nodes: Flags) -> tuple[int, ...]:
            found = np.flatnonzero(nodes).tolist()
            return tuple(node for node in found if node not in (START, self._end))

        return CrossingCount(
            within=numbers(cut.tails),
            last_of=numbers(cut.last_of),
            first_of=numbers(cut.first_of),
        )


def _pairs(weights: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple((node, weight) for node, weight in enumerate(weights) if weight)


def tour_certificate(
    problem: TourProblem, cuts: Sequence[Cut], root: TourCase, bound: int
) -> Proof:
    """Return the certificate of a bound on the objective that all cases prove."""
    writer = TourWriter(problem, cuts)

    def is_enough(case: TourCase) -> bool:
        """Say whether what is below a case need not be said."""
        return not case.parts or case.weights.bound >= bound - problem.base

    nodes = root.nodes(is_enough, lambda case: writer.leaf(case.weights), writer.fork)
    return writer.rows.proof(nodes, bound - 1)


SMALLER_GAP = 0.7
"""After a case with too many beginnings, only cases with 0.7 times its gap are tried."""

SHARES = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0)
"""At first the bound is to rise by a fifth of the gap, then by more."""

HALVINGS = 3
"""Between a threshold that leaves too many beginnings and the last one, 3 more are tried."""


class BeginningsSearch:
    """Tries the beginnings of orders in the way in which the checker does.

    Parameters
    ----------
    instance, problem
        The instance and its tours.
    check
        Called often; what it raises ends the search.
    """

    def __init__(self, instance: Instance, problem: TourProblem, check: Callable[[], None]) -> None:
        self._problem = problem
        # Without precedence there are too many, and branching is quicker.
        self._fits = problem.end - 1 <= MOST_NODES and instance.has_precedence
        self._tours = Tours(instance, problem.names, check)
        self._largest_gap = float("inf")

    def raise_bound(self, case: TourCase, program: CutProgram, best: int) -> list[int] | None:
        """Raise the bound of a case as far as its beginnings are few.

        Parameters
        ----------
        case
            Its weights learn a bound of at most ``best``.
        program
            The linear program, with all cuts that there are.
        best
            What the best tour costs.

        Returns
        -------
        list of int or None
            A better tour if there is one in this case; then it is the best one there.
        """
        gap = best - case.weights.bound
        if not self._fits or gap > self._largest_gap:
            return None
        try:
            if case.limits:
                return self._tried(case, program, best - 1)
            first = case.weights.bound
            for budget in sorted({first + int(share * (gap - 1)) for share in SHARES}):
                tour = self._tried(case, program, budget)
                if tour is not None:
                    return tour
        except MethodError:
            self._largest_gap = (best - case.weights.bound) * SMALLER_GAP
            if not case.limits:
                return self._halved(case, program, budget)
        return None

    def _halved(self, case: TourCase, program: CutProgram, failed: int) -> list[int] | None:
        """Try thresholds between the one that failed and the last one that did not."""
        for _ in range(HALVINGS):
            budget = (case.weights.bound + failed) // 2
            if budget >= failed:
                break
            try:
                tour = self._tried(case, program, budget)
            except MethodError:
                failed = budget
                continue
            if tour is not None:
                return tour
        return None

    def _tried(self, case: TourCase, program: CutProgram, budget: int) -> list[int] | None:
        """Refute a threshold, or return the best tour within it."""
        weights = case.weights
        arcs = self._arc_weights(weights, case.limits, program.cuts)
        order = cheapest_order(arcs, weights.scale * budget)
        if order is None:
            case.weights = replace(weights, bound=budget + 1, beginnings=True)
            return None
        tour = [START, *order, self._problem.end]
        case.weights = replace(weights, bound=self._problem.cost_of(tour), beginnings=True)
        return tour

    def _arc_weights(self, weights: TourWeights, ranges: Ranges, cuts: Sequence[Cut]) -> ArcWeights:
        """Return weights as the checker has them."""
        writer, end = TourWriter(self._problem, cuts), self._problem.end
        arcs = [
            (self._tours.cut(writer.crossings(number)), weight)
            for number, weight in weights.cuts.items()
        ]
        limits = {
            (tail, 0 if head == end else head): limits for (tail, head), limits in ranges.items()
        }
        return ArcWeights(self._tours, writer.leaf(weights), arcs, limits)
