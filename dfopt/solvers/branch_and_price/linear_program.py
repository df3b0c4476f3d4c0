"""A linear or integer program that grows by rows and columns, solved by GLOP or SCIP.

Rows and columns have names. What a row lacks may have a price instead of being forbidden: then
there always is a solution, and what is missing says whether the columns so far are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from math import inf
from typing import Generic, TypeVar

from ortools.linear_solver import pywraplp

from dfopt.solvers.interruptible import wait_for

TOLERANCE = 1e-7
"""Values of the program that differ by less are equal."""

FEW_COLUMNS = 200
"""A program of at most 200 columns is solved within milliseconds."""

COLUMNS_PER_CHECK = 100

FROM_LAST_BASIS = "use_preprocessing: false use_scaling: false"
"""GLOP starts from its last basis only if nothing has changed the matrix but new columns. So this
is for small integers, which need no scaling."""

OTHER_WAYS = ("", "use_preprocessing: false", "use_dual_simplex: true")
"""GLOP sometimes fails on degenerate programs. Other parameters let it begin anew."""

PRICE_STEP = 5.0
"""Prices of what is missing are raised in steps of 5 times. Low ones keep dual values small."""

Column = TypeVar("Column", bound=Hashable)


class Undecided(Exception):  # noqa: N818 - an answer, if a poor one
    """Rounding errors hide the answer, or nothing is left to branch on."""


class LinearProgram(Generic[Column]):
    """The program, which minimises costs. Columns are at least 0 unless they are limited.

    Parameters
    ----------
    check
        Called often; what it raises ends the work.
    parameters
        Of the solver.
    is_integer
        Whether columns have whole values. Then the best solution found counts, and there are no
        dual values.

    Attributes
    ----------
    rows, columns : dict
        Those so far, by their names.
    value : float
        The least cost, once the program is solved.
    missing : float
        How much of all rows together the solution misses, at their prices.
    """

    def __init__(
        self, check: Callable[[], object], parameters: str = "", *, is_integer: bool = False
    ) -> None:
        self._check = check
        self._is_integer = is_integer
        self._solver = pywraplp.Solver.CreateSolver("SCIP" if is_integer else "GLOP")
        self._solver.SetSolverSpecificParametersAsString(parameters)
        self._objective = self._solver.Objective()
        self._objective.SetMinimization()
        self._ways = [way for way in OTHER_WAYS if way != parameters and not is_integer]
        self._missing: list[pywraplp.Variable] = []
        self._raised = 1.0
        self.rows: dict[Hashable, pywraplp.Constraint] = {}
        self.columns: dict[Column, pywraplp.Variable] = {}
        self.value = self.missing = 0.0

    def add_row(
        self,
        name: Hashable,
        least: float,
        most: float = inf,
        *,
        lack: float = 0.0,
        excess: float = 0.0,
    ) -> None:
        """Add a row without columns.

        Parameters
        ----------
        name
            Its name.
        least, most
            Its limits.
        lack, excess
            The price of each unit below and above them; 0 where the limits must be kept.
        """
        row = self._solver.Constraint(float(least), float(most))
        self.rows[name] = row
        for sign, price in ((1.0, lack), (-1.0, excess)):
            if price:
                variable = self._solver.NumVar(0.0, inf, "")
                row.SetCoefficient(variable, sign)
                self._objective.SetCoefficient(variable, price * self._raised)
                self._missing.append(variable)

    def add_column(
        self, name: Column, cost: float, entries: Iterable[tuple[Hashable, float]]
    ) -> None:
        """Add a column with its entries; those in rows that are not there are left out."""
        if len(self.columns) % COLUMNS_PER_CHECK == 0:
            self._check()
        variable = self._solver.Var(0.0, inf, self._is_integer, "")
        self.columns[name] = variable
        if cost:
            self._objective.SetCoefficient(variable, float(cost))
        for name_of_row, entry in entries:
            row = self.rows.get(name_of_row)
            if row is not None:
                row.SetCoefficient(variable, float(entry))

    def enter(self, row: Hashable, columns: Iterable[Column], entry: float = 1) -> None:
        """Let columns count in a row that came after them."""
        for column in columns:
            self.rows[row].SetCoefficient(self.columns[column], float(entry))

    def limit_row(self, name: Hashable, least: float, most: float = inf) -> None:
        """Give a row other limits."""
        self.rows[name].SetBounds(float(least), float(most))

    def limit_column(self, name: Column, least: float, most: float = inf) -> None:
        """Limit the value of a column."""
        self.columns[name].SetBounds(float(least), float(most))

    def raise_prices(self, most: float) -> bool:
        """Raise the prices of what is missing; return False if they are ``most`` times the first.

        Parameters
        ----------
        most
            See above.
        """
        if self._raised > most:
            return False
        self._raised *= PRICE_STEP
        for variable in self._missing:
            price = self._objective.GetCoefficient(variable)
            self._objective.SetCoefficient(variable, PRICE_STEP * price)
        return True

    def solve(self) -> None:
        """Find the optimum.

        Raises
        ------
        Undecided
            When the solver does not.
        """
        found = {pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE}
        while self._optimise() not in found:
            if not self._ways:
                raise Undecided
            self._solver.SetSolverSpecificParametersAsString(self._ways.pop(0))
        self.value = self._objective.Value()
        self.missing = sum(variable.solution_value() for variable in self._missing)

    def used(self) -> list[tuple[Column, float]]:
        """Return the columns whose value is not 0, and these values."""
        values = ((name, column.solution_value()) for name, column in self.columns.items())
        return [(name, value) for name, value in values if value > TOLERANCE]

    def dual(self, row: Hashable) -> float:
        """Return the dual value of a row."""
        return float(self.rows[row].dual_value())

    def _optimise(self) -> int:
        """Solve the program and return the solver's status; end it when the search is over."""
        solver = self._solver
        if len(self.columns) <= FEW_COLUMNS and not self._is_integer:
            return int(solver.Solve())
        return int(wait_for(solver.Solve, self._check, solver.InterruptSolve))
