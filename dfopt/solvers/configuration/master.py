"""The master LP: the configuration LP over the columns found so far, solved by GLOP.

It has one row for every task class, every group of CPUs, every token that would be used too often,
and every branching decision (Gilmore and Gomory 1961). With a limit on the cost of a content, its
value is the multiple λ of the CPUs that would do; without one (total-penalty) it is the least cost
of all contents. Its dual values price new columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from ortools.linear_solver import pywraplp

from dfopt.solvers.configuration.columns import Column
from dfopt.solvers.configuration.prices import Duals
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.interruptible import wait_for

TOLERANCE = 1e-7

HIGHEST_PRICE = 1e6
"""No content can provide a task that is still missing at this multiple of its first price."""


COLUMNS_PER_CHECK = 100

FEW_COLUMNS = 200
"""An LP of at most 200 columns is solved within milliseconds."""

FROM_LAST_BASIS = "use_preprocessing: false use_scaling: false"
"""GLOP starts from its last basis only if nothing has changed the matrix but new columns. So this
is for small integers, which need no scaling."""


class Undecided(Exception):  # noqa: N818 - an answer, if a poor one
    """Rounding errors hide the answer, or nothing is left to branch on."""


@dataclass(frozen=True, slots=True)
class Solution:
    """An optimal solution of the LP.

    Parameters
    ----------
    value
        λ, or the least total cost.
    missing
        The number of tasks, or of features that there must be, that the columns cannot provide.
    duals
        The dual values.
    used
        The columns used, and the number of CPUs that use each.
    """

    value: float
    missing: float
    duals: Duals
    used: Sequence[tuple[Column, float]]


class Master:
    """The LP of a problem.

    Parameters
    ----------
    problem
        The tasks to schedule.
    columns
        The first columns.
    check
        Called often; may end the work by an exception.
    """

    def __init__(
        self, problem: RemainingProblem, columns: Iterable[Column], check: Callable[[], None]
    ) -> None:
        self._check = check
        self.data = data = problem.data
        self.stock = problem.stock
        self.cpus = cpus = problem.cpus
        self._problem = problem
        limited = data.limit is not None
        # GLOP fails where costs are very large. A power of two makes them smaller without rounding.
        self._unit = 1.0 if limited else 2.0 ** max(0, data.largest_cost.bit_length() - 20)
        self._first_price = 1.0 / sum(cpus) if limited else data.largest_cost / self._unit
        self._price = self._first_price
        self._build(columns, tokens=(), parameters=FROM_LAST_BASIS if limited else "")

    def _build(
        self, columns: Iterable[Column], tokens: Iterable[int], parameters: str = ""
    ) -> None:
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._solver.SetSolverSpecificParametersAsString(parameters)
        self._objective = self._solver.Objective()
        self._objective.SetMinimization()
        self.columns: list[Column] = []
        self._variables: list[pywraplp.Variable] = []
        self._missing: list[pywraplp.Variable] = []
        infinity = self._solver.infinity()
        exact = self.data.must_be_exact
        limited = self.data.limit is not None
        self._classes = {
            task_class: self._solver.Constraint(
                float(count), float(count) if exact[task_class] else infinity
            )
            for task_class, count in enumerate(self.stock.tasks.tolist())
            if count
        }
        self._groups = [
            self._solver.Constraint(-infinity, 0.0 if limited else float(number))
            for number in self.cpus
        ]
        if limited:
            share = self._solver.NumVar(0, infinity, "")
            self._objective.SetCoefficient(share, 1.0)
            for row, number in zip(self._groups, self.cpus, strict=True):
                row.SetCoefficient(share, -float(number))
        self._features = {
            feature: self._solver.Constraint(float(least), float(most))
            for feature, (least, most) in self._problem.limits.items()
        }
        for row in (*self._classes.values(), *self._features.values()):
            variable = self._solver.NumVar(0, infinity, "")
            row.SetCoefficient(variable, 1.0)
            self._objective.SetCoefficient(variable, self._price)
            self._missing.append(variable)
        self._tokens = {
            token: self._solver.Constraint(-infinity, float(self.stock.tokens[token]))
            for token in tokens
        }
        self.add(columns)

    def raise_price(self) -> bool:
        """Raise the price of leaving tasks out; return False if that is pointless."""
        if self._price > HIGHEST_PRICE * self._first_price:
            return False
        self._price *= 4
        for variable in self._missing:
            self._objective.SetCoefficient(variable, self._price)
        return True

    def add(self, columns: Iterable[Column]) -> None:
        """Add columns."""
        for index, column in enumerate(columns):
            if index % COLUMNS_PER_CHECK == 0:
                self._check()
            variable = self._solver.NumVar(0, self._solver.infinity(), "")
            if self.data.limit is None:
                self._objective.SetCoefficient(variable, column.cost / self._unit)
            self._groups[column.group].SetCoefficient(variable, 1.0)
            for task_class, held in column.content.tasks:
                self._classes[task_class].SetCoefficient(variable, float(held))
            for token in column.content.tokens:
                if token in self._tokens:
                    self._tokens[token].SetCoefficient(variable, 1.0)
            for feature, row in self._features.items():
                if feature.is_had_by(column.content):
                    row.SetCoefficient(variable, 1.0)
            self.columns.append(column)
            self._variables.append(variable)

    def solve(self) -> Solution:
        """Return a solution of the LP; rows are added while some tokens are used too often."""
        while True:
            status = self._optimise()
            if status != pywraplp.Solver.OPTIMAL:
                # GLOP sometimes fails on degenerate problems: start from nothing, and let GLOP
                # simplify and scale the LP.
                self._build(list(self.columns), list(self._tokens))
                status = self._optimise()
                if status != pywraplp.Solver.OPTIMAL:
                    raise Undecided
            used = [
                (column, variable.solution_value())
                for column, variable in zip(self.columns, self._variables, strict=True)
                if variable.solution_value() > TOLERANCE
            ]
            if not self._add_token_rows(used):
                break
        missing = sum(variable.solution_value() for variable in self._missing)
        return Solution(self._objective.Value() * self._unit, missing, self._duals(), used)

    def _optimise(self) -> int:
        """Let GLOP solve the LP and return its status; end it when the search is over."""
        solver = self._solver
        if len(self._variables) <= FEW_COLUMNS:
            return int(solver.Solve())
        return int(wait_for(solver.Solve, self._check, solver.InterruptSolve))

    def _add_token_rows(self, used: Sequence[tuple[Column, float]]) -> bool:
        """Add a row for each token that is used too often; return whether there was any."""
        uses: Counter[int] = Counter()
        for column, use in used:
            for token in column.content.tokens:
                uses[token] += use  # type: ignore[assignment]
        counts = self.stock.tokens
        wanted = {
            token
            for token, use in uses.items()
            if use > counts[token] + TOLERANCE and token not in self._tokens
        }
        for token in sorted(wanted):
            self._tokens[token] = self._solver.Constraint(
                -self._solver.infinity(), float(counts[token])
            )
        if wanted:
            for column, variable in zip(self.columns, self._variables, strict=True):
                for token in column.content.tokens:
                    if token in wanted:
                        self._tokens[token].SetCoefficient(variable, 1.0)
        return bool(wanted)

    def _duals(self) -> Duals:
        weights = np.zeros(len(self.stock.tasks))
        exact = self.data.must_be_exact
        for task_class, row in self._classes.items():
            value = row.dual_value()
            weights[task_class] = value if exact[task_class] else max(0.0, value)
        charges = np.zeros(len(self.stock.tokens))
        for token, row in self._tokens.items():
            charges[token] = max(0.0, -row.dual_value())
        bins = np.array([max(0.0, -row.dual_value()) for row in self._groups])
        features = {feature: row.dual_value() for feature, row in self._features.items()}
        return Duals(weights, charges, bins, features).over(1 / self._unit)
