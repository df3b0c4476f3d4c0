"""Column generation: whether contents within a limit can cover all tasks, or why they cannot.

The LP over the columns known so far has dual values. Pricing finds contents of negative reduced
cost, which become new columns, until the LP's value is small enough or some prices refute the
limit. Its rounds are few thanks to smoothed prices and to contents that complement each other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf

import numpy as np

from dfopt.solvers.branch_and_price.linear_program import TOLERANCE, Undecided
from dfopt.solvers.branch_and_price.prices import Prices
from dfopt.solvers.configuration.contents import Column, ColumnPool, Feature
from dfopt.solvers.configuration.master import LpSolution, Master
from dfopt.solvers.configuration.pricing import PricedProblem, Refutation
from dfopt.solvers.configuration.remaining_problem import RemainingProblem

SHARES = (0.85, 0.5, 0.0)
"""The shares of the best prices so far in the smoothed ones (Wentges 1997), tried in turn."""

SCALE = 2**24
"""Prices are integers. At this scale the content of one CPU is worth about 1."""

LARGEST_VALUE = 2**57
"""All tasks together are worth at most this number, so that sums of values fit into 64 bits."""

NEARLY = 0.9
"""Nine tenths of what the CPUs could have to spare are nearly all of it."""

COMPLEMENTS = 10
"""At most 10 complements are priced in a round."""

log = logging.getLogger(__name__)


Duals = Prices[Feature, float]


class ColumnGeneration:
    """The configuration LP of a problem, solved for one limit after the other.

    A limit is what no CPU may cost more than; under total-penalty, what all may cost together.

    Parameters
    ----------
    problem
        The tasks to schedule.
    pool
        The columns known; new ones are added to it.
    check
        Called often; may end the search by an exception.
    on_priced
        Called with every solution of a pricing problem, since each may prove something, and with
        the limit.
    start
        Prices to begin with, such as those of a similar problem.
    """

    def __init__(
        self,
        problem: RemainingProblem,
        pool: ColumnPool,
        check: Callable[[], None],
        on_priced: Callable[[PricedProblem, int], None] = lambda priced, limit: None,
        start: Duals | None = None,
    ) -> None:
        self.problem = problem
        self.pool = pool
        self._check = check
        self._on_priced = on_priced
        # With a limit on costs, the LP finds the multiple of the CPUs that is enough.
        self._is_total = problem.data.limit is None
        self._scale = (
            problem.data.price_scale if self._is_total else SCALE * max(1, sum(problem.cpus))
        )
        self._start = start
        # The prices that give the best bound on the LP's value so far, and that bound.
        self._best: Duals
        self._bound: float
        self.refuting: Refutation | None = None

    def decide(self, limit: int, spare: float = 0.0) -> LpSolution | None:
        """Return a solution of the LP within ``limit``; None if there is none.

        Then ``refuting`` has prices that prove it.

        Parameters
        ----------
        limit
            See above.
        spare
            How many CPUs shall be left over, if there are solutions that leave nearly as many. It
            does not count under total-penalty.

        Raises
        ------
        Undecided
            When rounding errors hide the answer.
        """
        known = self.pool.within(None if self._is_total else limit)
        columns = [column for column in known if self.problem.admits(column)]
        master = Master(self.problem, columns, self._check)
        enough = float(self.problem.data.largest_total(limit)) if self._is_total else 1.0
        self._bound = -inf
        if self._priced(self._start or first_duals(self.problem, limit), limit) is None:
            return None
        while True:
            self._check()
            solution = master.solve()
            log.debug(
                "limit %s: LP value %.6f over %d columns",
                limit,
                solution.value,
                len(master.program.columns),
            )
            if solution.value <= enough + TOLERANCE:
                if solution.missing > TOLERANCE:
                    if not master.raise_price():
                        raise Undecided
                    continue
                if self._is_spare_enough(solution.value, spare):
                    return solution
            new = self._next_columns(solution, limit)
            if new is None:
                return None
            if new:
                master.add(new)
            elif max(solution.value - enough, solution.missing) <= TOLERANCE:
                return solution
            else:
                raise Undecided

    def _next_columns(self, solution: LpSolution, limit: int) -> list[Column] | None:
        """Return columns that improve the LP; None if some prices refute the limit.

        Smoothing (Wentges 1997; Pessoa et al. 2018): the prices are a point between the dual values
        and the best prices so far. A point that gives no column of negative reduced cost (a
        "mis-pricing") is followed by one nearer to the dual values.
        """
        for share in SHARES:
            priced = self._priced(solution.duals.towards(self._best, share), limit)
            if priced is None:
                return None
            new = self._columns(priced, limit, solution.duals)
            priced.release()
            if new:
                return new
            self._check()
        return []

    def _is_spare_enough(self, value: float, spare: float) -> bool:
        """Return whether a solution leaves ``spare`` CPUs, or nearly as many as can be."""
        if self._is_total:
            return True
        share = min(spare / max(1, sum(self.problem.cpus)), 1 - self._bound)
        return 1 + TOLERANCE - value >= NEARLY * share

    def _priced(self, duals: Duals, limit: int) -> PricedProblem | None:
        """Return the contents at some prices, which are kept if they give a better bound.

        None if they refute the limit.
        """
        scale = self._scale_of(duals)
        priced = PricedProblem(self.problem, duals.rounded(scale), self._check)
        self._on_priced(priced, limit)
        if priced.refutes(limit):
            self.refuting = priced.refutation(limit)
            return None
        capacity = max(1, priced.capacity(limit))
        # Farley's bound on λ, or one on the total cost.
        bound = priced.surplus(limit) / scale if self._is_total else priced.worth / capacity
        if bound > self._bound:
            self._bound = bound
            # Such that all that the CPUs hold is worth 1, as it is in the LP.
            self._best = (
                duals if self._is_total else duals.each(lambda one: one / (capacity / scale))
            )
        return priced

    def _columns(self, priced: PricedProblem, limit: int, duals: Duals) -> list[Column]:
        """Return new columns that improve the LP, and some that complement the best of them.

        The tasks of the best content are taken out, and what is left is priced again. So a round
        finds contents that go together, as those of a schedule do, and the LP converges in a
        fraction of the rounds.
        """
        found = priced.columns(limit, duals)
        new = [column for column in found if self.pool.add(column)]
        if not new:
            return []
        for _ in range(COMPLEMENTS):
            best = max(found, key=lambda column: column.content.worth(duals))
            rest = priced.problem.without(best)
            if not any(rest.cpus) or not rest.stock.tasks.any():
                break
            priced = priced.without(best)
            found = priced.columns(limit, duals)
            priced.release()
            if not found:
                break
            new += [column for column in found if self.pool.add(column)]
            self._check()
        return new

    def _scale_of(self, duals: Duals) -> int:
        """Return the integer price of a dual value of 1, such that all sums fit into 64 bits."""
        stock, data = self.problem.stock, self.problem.data
        reach = float(np.abs(duals.weights) @ stock.tasks + duals.charges @ stock.tokens)
        reach += sum(map(abs, duals.features.values()))
        if self._is_total:
            reach += float(data.largest_cost) * float(stock.tasks.sum())
        scale = self._scale
        while reach * scale > LARGEST_VALUE:
            scale //= 2
        if not scale:
            raise Undecided
        return scale


def first_duals(problem: RemainingProblem, limit: int) -> Duals:
    """Return dual values to begin with: what tasks cost at least, and the room that they take."""
    data = problem.data
    base, leaving, entry = data.exact_costs
    instance = data.aggregation.instance
    capacity = instance.room
    sizes = np.array([task_class.size for task_class in data.aggregation.classes], np.int64)
    weights = np.zeros(len(base))
    for first, last in data.ranges:
        tokens = slice(data.first_token[first], data.first_token[last])
        visit = int(entry[tokens].min() + leaving[1, first:last].min())
        size = min(int(data.counts[first:last] @ sizes[first:last]), capacity)
        weights[first:last] = base[first:last] + visit / size * sizes[first:last]
    if data.limit is not None:
        weights += max(1, limit) / capacity * sizes
        weights /= max(1.0, float(weights @ problem.stock.tasks))
    return Prices(
        weights=weights.tolist(),
        charges=[0.0] * len(entry),
        features={},
        bins=[0.0] * len(data.groups),
        cost=float(data.limit is None),
    )
