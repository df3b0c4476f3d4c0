"""Diving: schedules out of the configuration LP, by fixing contents one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.master import Solution
from dfopt.solvers.configuration.pricing import Stock
from dfopt.solvers.configuration.relaxation import Problem, Relaxation, Undecided

WHOLE = 0.999
"""From here on a column counts as used as a whole."""

NOISE = 0.3
"""How far chance can prefer a column to a larger one."""


@dataclass(frozen=True, slots=True)
class Dive:
    """Where a dive has come to.

    Parameters
    ----------
    problem
        What is left.
    fixed
        The columns that were fixed.
    """

    problem: Problem
    fixed: tuple[Column, ...] = ()

    def with_fixed(self, columns: Sequence[Column]) -> Dive:
        """Return the dive with more columns fixed."""
        problem = self.problem
        tasks, tokens = problem.stock.tasks.copy(), problem.stock.tokens.copy()
        cpus = list(problem.cpus)
        for column in columns:
            cpus[column.group] -= 1
            for one, number in column.content.tasks:
                tasks[one] -= number
            for token in column.content.tokens:
                tokens[token] -= 1
        left = Problem(problem.layout, Stock(tasks, tokens), tuple(cpus))
        return Dive(left, (*self.fixed, *columns))


class Diving:
    """Dives for a schedule within a limit.

    Parameters
    ----------
    problem
        What is to be scheduled.
    pool
        All columns known.
    limit
        What no CPU may exceed; None under total-penalty.
    check
        Called often; may end the search by an exception.
    source
        Of chance.
    """

    def __init__(
        self,
        problem: Problem,
        pool: Pool,
        limit: int | None,
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
        here = Dive(self._problem)
        avoided: set[Column] = set()
        while True:
            chosen = self._chosen(here.problem, solution, avoided)
            if not chosen:
                return None
            deeper = here.with_fixed(chosen)
            if not deeper.problem.stock.tasks.any():
                return deeper.fixed
            following = self._solved(deeper.problem)
            if following is not None:
                here, solution = deeper, following
            elif discrepancies:
                discrepancies -= 1
                avoided.update(chosen)
            else:
                return None

    def _solved(self, problem: Problem) -> Solution | None:
        """Return the solution of what is left; None if it cannot be scheduled."""
        if not any(problem.cpus):
            return None
        relaxation = Relaxation(problem, self._pool, self._check)
        try:
            return relaxation.minimise() if self._limit is None else relaxation.decide(self._limit)
        except Undecided:
            return None

    def _chosen(
        self, problem: Problem, solution: Solution, avoided: set[Column]
    ) -> list[Column]:
        """Return the columns to fix next: all that are whole, or else the largest."""
        whole: list[Column] = []
        left = Dive(problem)
        for column, number in solution.used:
            for _ in range(int(number + 1 - WHOLE)):
                # Several columns may hold more of a class than there is, together.
                if column not in avoided and column.fits(left.problem.stock):
                    whole.append(column)
                    left = left.with_fixed([column])
        if whole:
            return whole
        candidates = [(column, number) for column, number in solution.used if column not in avoided]
        if not candidates:
            return []
        column, _ = max(candidates, key=lambda one: one[1] + NOISE * self._random.random())
        return [column]
