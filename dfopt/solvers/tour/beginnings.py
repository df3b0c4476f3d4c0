"""Cases that weights leave open, settled by the beginnings of orders that they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dfopt.errors import MethodError
from dfopt.problem.instance import Instance
from dfopt.solvers.tour.cut_program import CutProgram, Ranges
from dfopt.solvers.tour.problem import START, TourProblem
from dfopt.solvers.tour.proof import TourCase, TourWeights, TourWriter
from dfopt.solvers.tour.separation import Cut
from dfopt.structs import replace
from dfopt.verify.arcs import ArcWeights, Tours
from dfopt.verify.beginnings import MOST_NODES, cheapest_order

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
