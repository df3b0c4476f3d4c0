"""How many CPUs run each support: an integer program, its linear relaxation and their proofs.

Let y_S be the number of CPUs with support S. For a set A of types, those CPUs that run any of A
have room for k tasks each, so at least ⌈s(A)/k⌉ CPUs *touch* A, where s(A) counts the tasks of A:

    Σ_{S ∩ A ≠ ∅} y_S ≥ ⌈s(A)/k⌉ .

By the theorem of Gale (1957) on flows these conditions, one for each A, say that the tasks can be
dealt to the CPUs; each of them is rounded up, a cut of Chvátal and Gomory. Rows and columns of the
linear program are added as they are needed. Where its solution is fractional, some A is touched by
a fractional number of CPUs: at most ⌊f⌋ touch it, or at least ⌊f⌋ + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from ortools.linear_solver import pywraplp

from dfopt.solvers.matrix.support_costs import UNREACHED, Integers
from dfopt.solvers.matrix.transportation import go_on

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-6

MOST_COLUMNS = 60
"""At most 60 columns of a group of CPUs are added at once."""

MOST_ROWS = 20
"""At most 20 rows are added at once."""

ANY_SUM = UNREACHED
"""A budget that any plan keeps to."""

Limits = Mapping[int, tuple[int, int]]
"""For sets of types, at least and at most this number of CPUs run any of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportDuals:
    """Dual values: what they refute is in :class:`~dfopt.problem.certificate.Supports`.

    Parameters
    ----------
    sets
        The weight of each set of types that is touched.
    groups
        What a CPU of each group holds at most.
    unit
        The weight of a unit of cost.
    visit
        What each type of a support takes away.
    tasks
        The weight of a task of each type, beyond its price; empty for 0.
    """

    sets: Mapping[int, float]
    groups: Sequence[float]
    unit: float
    visit: float = 0.0
    tasks: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportSolution:
    """An optimal solution of the linear program.

    Parameters
    ----------
    value
        The least sum of rests, or how much is missing where a budget is given.
    used
        For each group and support, the number of CPUs.
    weights
        The dual values.
    """

    value: float
    used: dict[tuple[int, int], float]
    weights: SupportDuals


class SupportProgram:
    """The program over supports.

    Parameters
    ----------
    sizes
        Number of tasks of each type.
    capacity
        A CPU runs at most this number of tasks.
    cpus
        Number of CPUs in each group; CPUs of a group start alike.
    rest
        For each group, what each support costs beyond the prices of its tasks.
    check
        Called often; what it raises ends the work.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        capacity: int,
        *,
        cpus: Sequence[int],
        rest: Sequence[Integers],
        check: Callable[[], object] = go_on,
    ) -> None:
        self.cpus = list(cpus)
        self.types = len(sizes)
        self.rest = list(rest)
        self._check = check
        masks = np.arange(1 << self.types)
        counts = np.zeros(len(masks), dtype=np.int64)
        for task_type, size in enumerate(sizes):
            counts += (masks >> task_type & 1) * size
        self.least_touching: Integers = -(-counts // capacity)
        self.most_touching: Integers = np.minimum(counts, sum(self.cpus))
        self.full = len(masks) - 1
        self.visits = sum((masks >> task_type & 1) for task_type in range(self.types))
        # The first rows: every single type, and all together.
        self.rows = [1 << task_type for task_type in range(self.types)]
        if self.types > 1:
            self.rows.append(self.full)
        self.pool: list[dict[int, None]] = [{0: None} for _ in self.cpus]
        """For each group the supports that were worth considering."""

    def solve(
        self,
        limits: Limits,
        *,
        budget: int | None = None,
        permitted: Sequence[npt.NDArray[np.bool_]] | None = None,
        fixed: Mapping[tuple[int, int], int] | None = None,
        fewest: bool = False,
    ) -> SupportSolution | None:
        """Return a solution of the linear program.

        Parameters
        ----------
        limits
            What branching demands.
        budget
            None to minimise the sum of rests. Otherwise the rests may add up to this, and the
            value says by how much the CPUs miss any condition; ``ANY_SUM`` does not limit it.
        permitted
            For each group whether a support is permitted; by default all are.
        fixed
            For a group and a support, at least this number of CPUs.
        fewest
            Whether to keep to the budget with as few visits of types as possible.

        Returns
        -------
        SupportSolution or None
            None where the limits leave no solution.
        """
        master = _Master(self, limits, budget, permitted, fixed or {}, fewest=fewest)
        misses_none = budget is None or fewest
        while True:
            self._check()
            solution = master.solve()
            if solution is None:
                return None
            if master.add_columns(solution.weights):
                continue
            is_refuted = not misses_none and solution.value > TOLERANCE
            if not is_refuted and self._add_rows(solution, master):
                continue
            if misses_none and master.missing > TOLERANCE:
                return None
            return solution

    def add_rows_for(self, used: Mapping[tuple[int, int], float]) -> list[int]:
        """Add the conditions that these numbers of CPUs violate; return their sets of types."""
        violation = self.least_touching - self.touching(used)
        violation[self.rows] = 0
        worst = np.argsort(-violation, kind="stable")[:MOST_ROWS]
        new = [int(row) for row in worst if violation[row] > TOLERANCE]
        self.rows += new
        return new

    def touching(self, used: Mapping[tuple[int, int], float]) -> Floats:
        """Return by how many CPUs each set of types is touched."""
        inside = np.zeros(self.full + 1)
        for (_, support), number in used.items():
            inside[support] += number
        total = float(inside.sum())
        return total - below(inside)[::-1]

    def _add_rows(self, solution: SupportSolution, master: _Master) -> bool:
        new = self.add_rows_for(solution.used)
        master.add_rows(new)
        return bool(new)


def below(values: Floats) -> Floats:
    """Return for each set the sum of the values of its subsets (Yates 1937)."""
    sums = values.copy()
    size = len(sums).bit_length() - 1
    for bit in range(size):
        pairs = sums.reshape(-1, 2, 1 << bit)
        pairs[:, 1] += pairs[:, 0]
    return sums


class _Master:
    """The linear program with the rows and columns so far."""

    def __init__(  # noqa: PLR0913
        self,
        program: SupportProgram,
        limits: Limits,
        budget: int | None,
        permitted: Sequence[npt.NDArray[np.bool_]] | None,
        fixed: Mapping[tuple[int, int], int],
        *,
        fewest: bool = False,
    ) -> None:
        self.program = program
        self.fewest = fewest
        self.fixed = fixed
        self.permitted = permitted
        self.limits = limits
        self.minimises = budget is None
        self.missing = 0.0
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        self._infinity = solver.infinity()
        self._objective = solver.Objective()
        self._objective.SetMinimization()
        self._columns: dict[tuple[int, int], pywraplp.Variable] = {}
        self._lacking: list[pywraplp.Variable] = []
        self._rows: dict[int, pywraplp.Constraint] = {}
        largest = max(
            int(rest[rest < UNREACHED // 2].max() - rest[rest < UNREACHED // 2].min())
            for rest in program.rest
        )
        self._price = 1.0
        if self.minimises or fewest:
            self._price = 10.0 * (1 + (program.types if fewest else largest))
        self._budget = None
        if budget is not None and budget < ANY_SUM:
            self._budget = solver.Constraint(-self._infinity, float(budget))
            overspent = solver.NumVar(0.0, self._infinity, "")
            self._budget.SetCoefficient(overspent, -1.0)
            self._objective.SetCoefficient(overspent, self._price)
            self._lacking.append(overspent)
        self._groups = [solver.Constraint(float(cpus), float(cpus)) for cpus in program.cpus]
        self.add_rows(dict.fromkeys([*program.rows, *limits]))
        for group, pool in enumerate(program.pool):
            for support in pool:
                self._add_column(group, support)

    def _add_column(self, group: int, support: int) -> None:
        if (group, support) in self._columns:
            return
        if self.permitted is not None and not self.permitted[group][support]:
            return
        least = float(self.fixed.get((group, support), 0))
        variable = self._solver.NumVar(least, self._infinity, "")
        self._columns[group, support] = variable
        self._groups[group].SetCoefficient(variable, 1.0)
        rest = float(self.program.rest[group][support])
        if self.minimises:
            self._objective.SetCoefficient(variable, rest)
        elif self._budget is not None:
            self._budget.SetCoefficient(variable, rest)
        if self.fewest:
            self._objective.SetCoefficient(variable, float(support.bit_count()))
        for types, row in self._rows.items():
            if types & support:
                row.SetCoefficient(variable, 1.0)

    def add_rows(self, sets: Sequence[int] | Mapping[int, object]) -> None:
        """Add the conditions for sets of types."""
        for types in sets:
            least, most = self.limits.get(types, (0, sum(self.program.cpus)))
            most = min(most, int(self.program.most_touching[types]))
            least = max(least, int(self.program.least_touching[types]))
            is_limited = most < sum(self.program.cpus)
            highest = float(most) if is_limited else self._infinity
            self._rows[types] = row = self._solver.Constraint(float(least), highest)
            for sign in (1.0, -1.0) if is_limited else (1.0,):
                lacking = self._solver.NumVar(0.0, self._infinity, "")
                row.SetCoefficient(lacking, sign)
                self._objective.SetCoefficient(lacking, self._price)
                self._lacking.append(lacking)
            for (_, support), variable in self._columns.items():
                if types & support:
                    row.SetCoefficient(variable, 1.0)

    def solve(self) -> SupportSolution | None:
        """Return a solution with these rows and columns."""
        status = self._solver.Solve()
        if status != pywraplp.Solver.OPTIMAL:
            return None
        self.missing = sum(variable.solution_value() for variable in self._lacking)
        used = {
            key: variable.solution_value()
            for key, variable in self._columns.items()
            if variable.solution_value() > TOLERANCE
        }
        unit = 1.0 if self.minimises else 0.0
        if self._budget is not None:
            unit = max(0.0, -self._budget.dual_value())
        weights = SupportDuals(
            sets={types: row.dual_value() for types, row in self._rows.items()},
            groups=[-row.dual_value() for row in self._groups],
            unit=unit,
            visit=float(self.fewest),
        )
        return SupportSolution(value=self._objective.Value(), used=used, weights=weights)

    def add_columns(self, weights: SupportDuals) -> bool:
        """Add supports that are worth more than they cost; return whether there were any."""
        program = self.program
        added = False
        for group, values in enumerate(gains_of(program, weights)):
            gains = values - weights.groups[group]
            if self.permitted is not None:
                gains[~self.permitted[group]] = -np.inf
            best = np.argsort(-gains, kind="stable")[:MOST_COLUMNS]
            for support in best.tolist():
                if gains[support] > TOLERANCE and (group, support) not in self._columns:
                    program.pool[group][support] = None
                    self._add_column(group, support)
                    added = True
        return added


def gains_of(program: SupportProgram, weights: SupportDuals) -> list[Floats]:
    """Return for each group and support the weights that it touches less its cost."""
    by_set = np.zeros(program.full + 1)
    for types, weight in weights.sets.items():
        by_set[types] += weight
    touched = by_set.sum() - below(by_set)[::-1]
    if weights.visit:
        touched = touched - weights.visit * program.visits
    return [touched - weights.unit * rest for rest in program.rest]
