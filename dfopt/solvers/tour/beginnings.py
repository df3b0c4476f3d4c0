"""Cases that weights leave open, settled by the beginnings of orders that they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dfopt.errors import MethodError
from dfopt.problem.instance import Instance
from dfopt.solvers.tour.problem import START, TourProblem
from dfopt.solvers.tour.proof import TourCase, leaf_of, order_cut
from dfopt.solvers.tour.separation import Cut
from dfopt.verify.beginnings import MOST_BEGINNINGS, MOST_NODES, Beginnings, cheapest_order
from dfopt.verify.tours import CutArcs, Tours, beginnings_of

MOST_TRIED = MOST_BEGINNINGS
"""At most this number of beginnings are tried in a case, so that the checker can follow."""

SMALLER_GAP = 0.7
"""After a case with too many beginnings, only cases with 0.7 times its gap are tried."""

SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""At first the bound is to rise by a twentieth of the gap, then by more."""


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
        self._check = check
        # Without precedence there are too many, and branching is quicker.
        self._fits = problem.end - 1 <= MOST_NODES and instance.has_precedence
        self._tours = Tours(instance, problem.names)
        self._largest_gap = float("inf")

    def raise_bound(self, case: TourCase, cuts: Sequence[Cut], best: int) -> list[int] | None:
        """Raise the bound of a case as far as its beginnings are few.

        Parameters
        ----------
        case
            Its weights learn a bound of at most ``best``.
        cuts
            All cuts that there are.
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
        orders = self._beginnings(case, cuts)
        first = case.weights.bound
        budgets = (
            {first + int(share * (gap - 1)) for share in SHARES} if not case.ranges else {best - 1}
        )
        try:
            for budget in sorted(budgets):
                order = cheapest_order(orders, case.weights.scale * budget, self._check, MOST_TRIED)
                if order is not None:
                    tour = [START, *order, self._problem.end]
                    cost = self._problem.cost_of(tour)
                    case.weights = replace(case.weights, bound=cost, beginnings=True)
                    return tour
                case.weights = replace(case.weights, bound=budget + 1, beginnings=True)
        except MethodError:
            self._largest_gap = (best - case.weights.bound) * SMALLER_GAP
        return None

    def _beginnings(self, case: TourCase, cuts: Sequence[Cut]) -> Beginnings:
        """Return the beginnings of orders in a case."""
        used: dict[int, int] = {}
        weights = leaf_of(case.weights, used)
        arcs = []
        end = self._problem.end
        for number in used:
            cut = self._tours.cut(order_cut(cuts[number], end))
            assert isinstance(cut, CutArcs)
            arcs.append(cut)
        ranges = {
            (tail, 0 if head == end else head): limits
            for (tail, head), limits in case.ranges.items()
        }
        return beginnings_of(self._tours, arcs, weights, ranges)
