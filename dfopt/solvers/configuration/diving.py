"""Diving: schedules out of the configuration LP, by fixing contents one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import itemgetter

from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.master import Solution, Undecided
from dfopt.solvers.configuration.problem import Problem
from dfopt.solvers.configuration.relaxation import Relaxation

WHOLE = 0.999
"""From here on a column counts as used as a whole."""

SHARE = 20
"""For one in so many CPUs that are left a column is fixed at once."""

NOISE = 0.3
"""How far chance can prefer a column to a larger one."""


class Diving:
    """Dives for a schedule within a limit.

    Parameters
    ----------
    problem
        What is to be scheduled.
    pool
        All columns known.
    limit
        What no CPU may cost more than; under total-penalty, what all may cost together.
    check
        Called often; may end the search by an exception.
    source
        Of chance.
    """

    def __init__(
        self,
        problem: Problem,
        pool: Pool,
        limit: int,
        check: Callable[[], None],
        source: random.Random,
    ) -> None:
        self._problem = problem
        self._pool = pool
        self._limit = limit
        self._check = check
        self._random = source

    def dive(self, solution: Solution, discrepancies: int) -> tuple[Column, ...] | None:
        """Return columns that are a schedule; None when the dive failed too often.

        Parameters
        ----------
        solution
            Of the LP of the whole problem.
        discrepancies
            How often it may turn back and take another column.
        """
        left, limit = self._problem, self._limit
        fixed: list[Column] = []
        avoided: set[Column] = set()
        while True:
            chosen, deeper = self._chosen(left, solution, avoided)
            if not chosen:
                return None
            is_total = left.layout.limit is None
            rest = limit - sum(one.cost for one in chosen) if is_total else limit
            if rest >= 0 and not deeper.stock.tasks.any():
                return (*fixed, *chosen)
            following = self._solved(deeper, rest, solution) if rest >= 0 else None
            if following is not None:
                left, limit, solution = deeper, rest, following
                fixed += chosen
            elif discrepancies:
                discrepancies -= 1
                avoided.update(chosen)
            else:
                return None

    def _solved(self, problem: Problem, limit: int, before: Solution) -> Solution | None:
        """Return the solution of what is left; None if it cannot be scheduled."""
        if not any(problem.cpus):
            return None
        try:
            relaxation = Relaxation(problem, self._pool, self._check, start=before.duals)
            return relaxation.decide(limit)
        except Undecided:
            return None

    def _chosen(
        self, problem: Problem, solution: Solution, avoided: set[Column]
    ) -> tuple[list[Column], Problem]:
        """Return the columns to fix next, all that are whole or else large ones; what is left."""
        whole: list[Column] = []
        left = problem
        for column, number in solution.used:
            for _ in range(int(number + 1 - WHOLE)):
                # Several columns may hold more of a class than there is, together.
                if column not in avoided and left.has_room_for(column):
                    whole.append(column)
                    left = left.without(column)
        if whole:
            return whole, left
        candidates = [
            (number + NOISE * self._random.random(), column)
            for column, number in solution.used
            if column not in avoided
        ]
        candidates.sort(key=itemgetter(0), reverse=True)
        several = -(-sum(problem.cpus) // SHARE)
        for _, column in candidates:
            if len(whole) < several and left.has_room_for(column):
                whole.append(column)
                left = left.without(column)
        return whole, left
