"""Proofs that no tour is cheap: dual values as integers, in a tree of cases.

Let every visit of a node have a weight for leaving it and one for entering it, and every cut a
weight of at least 0. A tour's cost is then the sum of what it pays for its visits, for the cuts it
crosses, and of the reduced costs of its arcs. It crosses each cut at least once, and uses an arc of
negative reduced cost at most as often as tours can. That bounds all tours, whatever the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dfopt.problem.certificate import ArcFork, ArcWeights, OrderCut, Tour
from dfopt.solvers.tour.cut_program import Arc, ArcPrices, Ranges, credit_cuts
from dfopt.solvers.tour.problem import START, Flags, Integers, TourProblem
from dfopt.solvers.tour.separation import Cut

SCALES = (1, 2, 3, 4, 6, 12, 60, 1_000, 1_000_000)
"""Dual values are multiplied by one of these and rounded; tried in turn, as small numbers read
well."""

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


@dataclass(slots=True, eq=False)
class TourCase:
    """A case of the proof: either weights, or two cases that an arc tells apart."""

    ranges: Ranges
    weights: TourWeights
    fork: tuple[Arc, int] | None = None
    parts: tuple[TourCase, ...] = field(default=())

    @property
    def bound(self) -> int:
        """No tour in this case costs less."""
        least: list[int] = []
        cases = [(self, 0)]
        while cases:
            case, above = cases.pop()
            bound = max(above, case.weights.bound)
            if case.parts:
                cases.extend((part, bound) for part in case.parts)
            else:
                least.append(bound)
        return min(least)


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
    for scale in SCALES:
        if sum_of_all * scale * int(problem.visits.sum()) * len(problem.visits) > LARGEST_SUM:
            break
        weights = _rounded(problem, cuts, prices, ranges, scale)
        if best is None or weights.bound > best.bound:
            best = weights
        if best.bound >= wanted:
            break
    return best


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


def tour_certificate(problem: TourProblem, cuts: Sequence[Cut], root: TourCase, bound: int) -> Tour:
    """Return the certificate of a bound on the objective that all cases prove."""
    used: dict[int, int] = {}
    tree: list[ArcFork | ArcWeights] = []
    cases = [root]
    while cases:
        case = cases.pop()
        # Where the weights of a case are enough, what is below it need not be said.
        if case.parts and case.fork is not None and case.weights.bound < bound - problem.base:
            (tail, head), at_most = case.fork
            tree.append(
                ArcFork(before=tail, after=0 if head == problem.end else head, at_most=at_most)
            )
            cases.extend(reversed(case.parts))
        else:
            tree.append(leaf_of(case.weights, used))
    return Tour(
        nodes=problem.names,
        cuts=tuple(order_cut(cuts[number], problem.end) for number in used),
        tree=tuple(tree),
        threshold=bound - 1,
    )


def leaf_of(weights: TourWeights, used: dict[int, int]) -> ArcWeights:
    """Return weights as a certificate has them; ``used`` numbers the cuts anew."""
    return ArcWeights(
        leaving=tuple(weights.leaving[:-1].tolist()),
        # The end comes first.
        entering=(int(weights.entering[-1]), *weights.entering[1:-1].tolist()),
        cuts=tuple(
            (used.setdefault(number, len(used)), weight) for number, weight in weights.cuts.items()
        ),
        scale=weights.scale,
        beginnings=weights.beginnings,
    )


def order_cut(cut: Cut, end: int) -> OrderCut:
    """Return a cut as a certificate has it."""

    def numbers(nodes: Flags) -> tuple[int, ...]:
        return tuple(node for node in np.flatnonzero(nodes).tolist() if node not in (START, end))

    return OrderCut(
        within=numbers(cut.tails), last_of=numbers(cut.last_of), first_of=numbers(cut.first_of)
    )
