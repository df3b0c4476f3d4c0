"""The linear program over contents: its rows and columns, which are added as needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from ortools.linear_solver import pywraplp

from dfopt.solvers.matrix.content_program import (
    Content,
    ContentProgram,
    Limits,
    Masks,
    SupportDuals,
)
from dfopt.solvers.matrix.support_costs import UNREACHED
from dfopt.solvers.matrix.touching_conditions import TOLERANCE

MOST_COLUMNS = 60
"""At most 60 columns of a group of CPUs are added at once."""

MOST_ROUNDS = 30
"""Violated conditions are added at most 30 times."""

HIGHEST_PRICE = 100.0
"""What a condition may be missed by has at first the price of the largest cost of a CPU, and at
most 100 times as much."""

PRICE_STEP = 5.0
"""This price is raised in steps of 5 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentSolution:
    """An optimal solution of the linear program.

    Parameters
    ----------
    value
        The least sum of rests, or by how much the conditions are missed.
    missing
        By how much they are missed.
    used
        For each group and number of a support, the number of CPUs.
    duals
        The dual values.
    """

    value: float
    missing: float
    used: dict[tuple[int, int], float]
    duals: SupportDuals


class ContentMaster:
    """The linear program with the rows and columns so far.

    Parameters
    ----------
    program
        The whole program.
    limits, permitted, near, minimises
        See :func:`solve_by_columns`.
    """

    def __init__(
        self,
        program: ContentProgram,
        limits: Limits,
        *,
        permitted: Masks | None = None,
        near: SupportDuals | None = None,
        minimises: bool = True,
    ) -> None:
        self.program = program
        self.limits = limits
        self.permitted = permitted
        self.minimises = minimises
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        self._infinity = solver.infinity()
        self._objective = solver.Objective()
        self._objective.SetMinimization()
        self._columns: dict[Content, pywraplp.Variable] = {}
        self._lacking: list[pywraplp.Variable] = []
        self._price = self._highest = 1.0
        if minimises:
            rests = [rest[rest < UNREACHED // 2] for rest in program.listing.rest]
            self._price = 1.0 + max(int(rest.max() - rest.min()) for rest in rests)
            self._highest = HIGHEST_PRICE * self._price
        self._tasks = [solver.Constraint(float(size), self._infinity) for size in program.sizes]
        for row in self._tasks:
            self._lack(row, 1.0, 1.0 / program.capacity if minimises else 1.0)
        self._groups = [solver.Constraint(float(cpus), float(cpus)) for cpus in program.cpus]
        self._fixed: dict[tuple[int, int], pywraplp.Constraint] = {}
        self._fixed_weights: dict[tuple[int, int], float] = {}
        self._rows: dict[int, pywraplp.Constraint] = {}
        tight = [types for types, weight in near.sets.items() if weight] if near else []
        single = [1 << number for number in range(program.listing.types)]
        self._add_rows([(1 << program.listing.types) - 1, *single, *tight, *limits])
        nothing = (0,) * len(program.sizes)
        for group in range(len(program.cpus)):
            self._add_column((group, 0, nothing))
        for content in program.promising(near):
            self._add_column(content)

    def fix(self, group: int, index: int, number: int) -> None:
        """Demand at least this number of CPUs of a group with a support."""
        row = self._fixed.get((group, index))
        if row is not None:
            row.SetLb(float(number))
            return
        row = self._solver.Constraint(float(number), self._infinity)
        self._fixed[group, index] = row
        self._lack(row, 1.0)
        for (other, support, _), variable in self._columns.items():
            if (other, support) == (group, index):
                row.SetCoefficient(variable, 1.0)

    def solve(self, most_rounds: int = MOST_ROUNDS) -> ContentSolution | None:
        """Return a solution of the linear program; None if the solver fails.

        Parameters
        ----------
        most_rounds
            Violated conditions are added at most this number of times.
        """
        rounds, conditions = 0, self.program.conditions
        while True:
            self.program.check()
            solution = self._solve()
            if solution is None:
                return None
            if self._add_columns(solution.duals):
                continue
            if solution.missing > TOLERANCE:
                if not self.minimises or self._price > self._highest:
                    return solution
                self._raise_prices()
                continue
            rounds += 1
            new = [] if rounds > most_rounds else conditions.violated(solution.used, self._rows)
            if not new:
                return solution
            self._add_rows(new)

    def _raise_prices(self) -> None:
        """Make what is missing more expensive. Low prices keep the dual values small."""
        self._price *= PRICE_STEP
        for lacking in self._lacking:
            price = PRICE_STEP * self._objective.GetCoefficient(lacking)
            self._objective.SetCoefficient(lacking, price)

    def _lack(self, row: pywraplp.Constraint, sign: float, share: float = 1.0) -> None:
        lacking = self._solver.NumVar(0.0, self._infinity, "")
        row.SetCoefficient(lacking, sign)
        self._objective.SetCoefficient(lacking, self._price * share)
        self._lacking.append(lacking)

    def _add_column(self, content: Content) -> None:
        group, index, counts = content
        if content in self._columns:
            return
        if self.permitted is not None and not self.permitted[group][index]:
            return
        variable = self._solver.NumVar(0.0, self._infinity, "")
        self._columns[content] = variable
        self._groups[group].SetCoefficient(variable, 1.0)
        if self.minimises:
            rest = float(self.program.listing.rest[group][index])
            self._objective.SetCoefficient(variable, rest)
        for task_type, count in enumerate(counts):
            if count:
                self._tasks[task_type].SetCoefficient(variable, float(count))
        if (group, index) in self._fixed:
            self._fixed[group, index].SetCoefficient(variable, 1.0)
        support = int(self.program.listing.supports[index])
        for types, row in self._rows.items():
            if types & support:
                row.SetCoefficient(variable, 1.0)

    def _add_rows(self, sets: Iterable[int]) -> None:
        """Add the conditions for sets of types."""
        program = self.program
        cpus = sum(program.cpus)
        for types in sets:
            if types in self._rows:
                continue
            least, most = self.limits.get(types, (0, cpus))
            least = max(least, program.least_touching(types))
            most = min(most, program.most_touching(types))
            highest = float(most) if most < cpus else self._infinity
            self._rows[types] = row = self._solver.Constraint(float(least), highest)
            self._lack(row, 1.0)
            if most < cpus:
                self._lack(row, -1.0)
            for (_, index, _), variable in self._columns.items():
                if types & int(program.listing.supports[index]):
                    row.SetCoefficient(variable, 1.0)

    def _solve(self) -> ContentSolution | None:
        """Return a solution with these rows and columns."""
        if self._solver.Solve() != pywraplp.Solver.OPTIMAL:
            return None
        self._fixed_weights = {key: row.dual_value() for key, row in self._fixed.items()}
        used: dict[tuple[int, int], float] = {}
        for (group, index, _), variable in self._columns.items():
            number = variable.solution_value()
            if number > TOLERANCE:
                used[group, index] = used.get((group, index), 0.0) + number
        return ContentSolution(
            value=self._objective.Value(),
            missing=sum(variable.solution_value() for variable in self._lacking),
            used=used,
            duals=SupportDuals(
                tasks=[row.dual_value() for row in self._tasks],
                sets={types: row.dual_value() for types, row in self._rows.items()},
                groups=[-row.dual_value() for row in self._groups],
                unit=float(self.minimises),
            ),
        )

    def _add_columns(self, duals: SupportDuals) -> bool:
        """Add contents that are worth more than they cost; return whether there were any."""
        program = self.program
        values = program.worths(duals)
        added = False
        for group, rest in enumerate(program.listing.rest):
            gains = values[group] - duals.unit * rest - duals.groups[group]
            for (other, index), weight in self._fixed_weights.items():
                if other == group:
                    gains[index] += weight
            gains[rest >= UNREACHED // 2] = -np.inf
            if self.permitted is not None:
                gains[~self.permitted[group]] = -np.inf
            best = np.argpartition(-gains, min(MOST_COLUMNS, len(gains) - 1))[:MOST_COLUMNS]
            for index in sorted(best.tolist(), key=lambda index: -gains[index]):
                if gains[index] <= TOLERANCE:
                    break
                content = (group, index, program.content(group, index, duals))
                if content not in self._columns:
                    program.pool[content] = None
                    self._add_column(content)
                    added = True
        return added


def solve_by_columns(  # noqa: PLR0913 - what varies from part to part
    program: ContentProgram,
    limits: Limits,
    *,
    minimises: bool = True,
    permitted: Masks | None = None,
    near: SupportDuals | None = None,
    most_rounds: int = MOST_ROUNDS,
) -> ContentSolution | None:
    """Return a solution of the linear program; None if the solver fails.

    Parameters
    ----------
    program
        The whole program.
    limits
        How many CPUs may touch sets of types.
    minimises
        Whether the rests are minimised; otherwise only what is missing.
    permitted
        For each group whether a support is permitted; by default all are.
    near
        Dual values of a similar program: the work begins with its conditions and columns.
    most_rounds
        Violated conditions are added at most this number of times.
    """
    for start in (near, None):  # once more where rounding errors confuse the solver
        master = ContentMaster(
            program, limits, permitted=permitted, near=start, minimises=minimises
        )
        solution = master.solve(most_rounds)
        if solution is not None:
            return solution
    return None
