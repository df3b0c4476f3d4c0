"""Branch and cut for tours: the linear program with cuts, and two cases where it is fractional.

The case with the least bound is taken up first, so that the bound of all open cases rises as fast
as it can (Padberg and Rinaldi 1991).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count, pairwise

import numpy as np

from dfopt.problem.certificate import Proof
from dfopt.solvers.tour.cut_program import Arc, CutProgram, TourRelaxation, reduced_costs
from dfopt.solvers.tour.problem import START, Floats, TourProblem
from dfopt.solvers.tour.proof import TourCase, TourWeights, bound_of, tour_certificate, weights_of

CANDIDATES = 8
"""At most 8 arcs are tried before a case is divided."""

WHOLE = 1e-5
"""A number this near to an integer counts as one."""


class BranchAndCut:
    """The search for the cheapest tour.

    Parameters
    ----------
    problem
        The tour.
    tour
        A first tour.
    found, proved
        Called with tours, and with a bound on what tours cost and what proves it.
    raise_bound
        Raises the bound of a case by other means, and may return a better tour.
    check
        Called often; what it raises ends the search.
    """

    def __init__(  # noqa: PLR0913
        self,
        problem: TourProblem,
        tour: Sequence[int],
        *,
        found: Callable[[Sequence[int]], None],
        proved: Callable[[int, Proof], None],
        raise_bound: Callable[[TourCase, CutProgram, int], Sequence[int] | None],
        check: Callable[[], None],
    ) -> None:
        self.problem = problem
        self.tour = list(tour)
        self.best = problem.cost_of(tour)
        self._found = found
        self._proved = proved
        self._raise_bound = raise_bound
        self._check = check
        dear = max(1, self.best + 1)
        self.program = CutProgram(problem, pairwise(tour), dear, check)
        nothing = np.zeros(problem.end + 1, dtype=np.int64)
        self._nothing = TourWeights(nothing, nothing, {}, 1, 0)
        self.root = TourCase({}, self._nothing)
        self._ticket = count()
        self._open: list[tuple[int, int, TourCase]] = [(0, next(self._ticket), self.root)]
        self._bound = -1

    def improve(self, tour: Sequence[int]) -> None:
        """Learn of a better tour."""
        cost = self.problem.cost_of(tour)
        if cost < self.best:
            self.best, self.tour = cost, list(tour)
            self._found(tour)

    def start(self) -> Floats:
        """Bound all tours, and return the reduced costs of the arcs."""
        relaxed = self._bounded(self.root)
        self._open = []
        self._put(self.root)
        self._report()
        return reduced_costs(self.problem, self.program.cuts, relaxed.prices)

    def run(self) -> None:
        """Search until the best tour is proven, or ``check`` ends it."""
        try:
            while self._open:
                self._check()
                _, _, case = heapq.heappop(self._open)
                if case.weights.bound < self.best:
                    self._treat(case)
                least = self._open[0][0] if self._open else self.best
                if least > self._bound:
                    self._report()
        finally:
            self._report()

    def _report(self) -> None:
        # An interrupt can come at any time. So the tree says what is proven, not the open cases.
        bound = min(self.best, bound_of(self.root))
        if bound > self._bound:
            self._bound = bound
            total = bound + self.problem.base
            self._proved(total, tour_certificate(self.problem, self.program.cuts, self.root, total))

    def _treat(self, case: TourCase) -> None:
        """Bound a case, and divide it if that does not settle it."""
        relaxed = self._bounded(case)
        if case.weights.bound >= self.best:
            return
        if relaxed.is_tour:
            self.improve(joined(relaxed.flow.round().astype(np.int64)))
            if case.weights.bound >= self.best:
                return
        better = self._raise_bound(case, self.program, self.best)
        if better is not None:
            self.improve(better)
        if case.weights.bound >= self.best:
            return
        arc = self._branching_arc(case, relaxed)
        whole = 0, int(self.problem.most[arc])
        least, most = case.limits.get(arc, whole)
        at_most = int(np.floor(relaxed.flow[arc] + WHOLE))
        for part in case.split(arc, min(max(at_most, least), most - 1), whole):
            self._put(part)

    def _bounded(self, case: TourCase) -> TourRelaxation:
        """Return the solution of a case's linear program, and keep its weights."""
        relaxed = self.program.solve(case.limits, self.best - 1 + WHOLE)
        self._learn(case, relaxed)
        return relaxed

    def _put(self, case: TourCase) -> None:
        heapq.heappush(self._open, (case.weights.bound, next(self._ticket), case))

    def _learn(self, case: TourCase, relaxed: TourRelaxation) -> None:
        """Keep the weights of a solution if they prove more than those of the case above."""
        wanted = min(self.best, int(np.ceil(relaxed.value - WHOLE)))
        weights = weights_of(self.problem, self.program.cuts, relaxed.prices, case.limits, wanted)
        if weights is not None and weights.bound > case.weights.bound:
            case.weights = weights

    def _branching_arc(self, case: TourCase, relaxed: TourRelaxation) -> Arc:
        """Return the arc that raises the bounds of both cases most (strong branching)."""
        flow = relaxed.flow
        distance = np.abs(flow - np.round(flow))
        arcs = np.argsort(-distance, axis=None, kind="stable")[:CANDIDATES]
        candidates = [
            (int(arc // len(flow)), int(arc % len(flow)))
            for arc in arcs
            if distance.flat[arc] > WHOLE
        ]
        if not candidates:
            # All arcs are whole, but they are no tour: those that can still change are divided.
            return self._arc_of_any_range(case, flow)
        scores = []
        for arc in candidates:
            least, most = case.limits.get(arc, (0, int(self.problem.most[arc])))
            at_most = int(np.floor(flow[arc]))
            gains = [
                min(self.best, self.program.value_within({**case.limits, arc: limits}))
                - relaxed.value
                for limits in ((least, at_most), (at_most + 1, most))
            ]
            scores.append(max(gains[0], 1e-3) * max(gains[1], 1e-3))
            self._check()
        return candidates[int(np.argmax(scores))]

    def _arc_of_any_range(self, case: TourCase, flow: np.ndarray) -> Arc:
        most = self.problem.most
        free = [
            arc
            for arc in zip(*np.nonzero(most), strict=True)
            if (case.limits.get(arc, (0, int(most[arc])))[0])
            < case.limits.get(arc, (0, int(most[arc])))[1]
        ]
        used = [arc for arc in free if flow[arc] > WHOLE]
        tail, head = (used or free)[0]
        return int(tail), int(head)


def joined(arcs: np.ndarray) -> list[int]:
    """Return a tour that uses each arc as often as the table says (Hierholzer 1873)."""
    left = arcs.copy()
    end = len(left) - 1
    path, tour = [START], []
    while path:
        following = np.flatnonzero(left[path[-1]])
        if len(following):
            left[path[-1], following[0]] -= 1
            path.append(int(following[0]))
        else:
            tour.append(path.pop())
    tour.reverse()
    assert tour[-1] == end
    return tour
