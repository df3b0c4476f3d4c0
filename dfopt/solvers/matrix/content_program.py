"""What CPUs hold under a matrix of many types: a linear program over supports and counts.

A column is a *content*: a support and a number of tasks of each of its types, at most as many as
there are, and at most k in all. The contents hold every task. Without the limit by the sizes of the
types the program would say much less: a CPU of two small types could seem full. In addition, for
each set A of types at least ⌈s(A)/k⌉ CPUs touch A, as in
:mod:`~dfopt.solvers.matrix.support_program`. Columns and these conditions are added as needed.

Pricing: within a support the tasks of the largest dual value come first, after one task of each
type. That is best, because all tasks take the same room.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from ortools.linear_solver import pywraplp

from dfopt.solvers.matrix.support_costs import UNREACHED, Integers
from dfopt.solvers.matrix.support_list import SupportList
from dfopt.solvers.matrix.support_program import TOLERANCE, Floats, Limits, SupportDuals
from dfopt.solvers.matrix.transportation import go_on

MOST_COLUMNS = 60
"""At most 60 columns of a group of CPUs are added at once."""

MOST_ROWS = 30
"""At most 30 conditions are added at once."""

MOST_ROUNDS = 30
"""Violated conditions are added at most 30 times."""

MOST_SETS = 10_000
"""The conditions of at most 10,000 small sets of types are looked at each time."""

HIGHEST_PRICE = 100.0
"""What a condition may be missed by has at first the price of the largest cost of a CPU, and at
most 100 times as much."""

PRICE_STEP = 5.0
"""This price is raised in steps of 5 times."""

PROMISING = 300
"""A program begins with at most 300 columns."""

GROWN = 40
"""Beside them, 40 sets are grown, type by type, to larger ones that are nearly violated."""

Content = tuple[int, int, tuple[int, ...]]
"""A group of CPUs, the number of a support, and a number of tasks of each type."""

Masks = Sequence[npt.NDArray[np.bool_]]


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


class ContentProgram:
    """The program.

    Parameters
    ----------
    listing
        The supports that CPUs may have.
    cpus
        Number of CPUs in each group; CPUs of a group start alike.
    check
        Called often; what it raises ends the work.
    most_sets
        The conditions of at most about this number of small sets are known from the start.
    """

    def __init__(
        self,
        listing: SupportList,
        cpus: Sequence[int],
        check: Callable[[], object] = go_on,
        *,
        most_sets: int = MOST_SETS,
    ) -> None:
        self.listing = listing
        self.cpus = list(cpus)
        self.sizes = np.array(listing.problem.sizes, dtype=np.int64)
        self.capacity = listing.problem.capacity
        self.check = check
        self.most_sets = most_sets
        self.pool: dict[Content, None] = {}
        """Contents that were worth considering."""
        self._large: dict[int, int] = {}
        self._largest_small = 0
        self._small = self._small_sets()
        self._inside, self._more, self._left = self._arranged()

    def _arranged(self) -> tuple[Floats, Integers, Integers]:
        """Return the supports type by type, since pricing goes through the types."""
        inside = self.listing.inside
        return (
            np.ascontiguousarray(inside.T.astype(np.float64)),
            np.ascontiguousarray((inside * (self.sizes - 1)).T),
            self.capacity - inside.sum(axis=1),
        )

    @property
    def least_costs(self) -> list[int]:
        """What tasks of each type cost at least, if that limits what CPUs hold."""
        return []

    def list_supports(self, supports: Iterable[int]) -> None:
        """Add supports to the list."""
        for support in supports:
            self.listing.add(support)
        self._inside, self._more, self._left = self._arranged()

    def least_touching(self, types: int) -> int:
        """Return how many CPUs touch a set of types at least."""
        return -(-self._count(types) // self.most_tasks(types))

    def most_tasks(self, types: int) -> int:
        """Return how many tasks of a set of types a CPU runs at most."""
        return self.capacity

    def most_touching(self, types: int) -> int:
        """Return how many CPUs touch a set of types at most."""
        return min(self._count(types), sum(self.cpus))

    def _count(self, types: int) -> int:
        return sum(int(size) for number, size in enumerate(self.sizes) if types >> number & 1)

    def solve(
        self,
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
                self, limits, permitted=permitted, near=start, minimises=minimises
            )
            solution = master.solve(most_rounds)
            if solution is not None:
                return solution
        return None

    def violated(self, used: Mapping[tuple[int, int], float], known: Container[int]) -> list[int]:
        """Return sets of types, none of them known, whose conditions these numbers violate."""
        numbers: dict[int, float] = {}
        for (_, index), number in used.items():
            support = int(self.listing.supports[index])
            numbers[support] = numbers.get(support, 0.0) + number
        supports = np.array(list(numbers), dtype=np.int64)
        amounts = np.array(list(numbers.values()))
        small, least = self._small
        if self._large:
            large = np.array(list(self._large), dtype=np.int64)
            small = np.concatenate([small, large])
            least = np.concatenate([least, np.array(list(self._large.values()))])
        violations = least - self._touching(small, supports, amounts)
        found = dict(zip(small.tolist(), violations.tolist(), strict=True))
        grown = small[np.argsort(-violations, kind="stable")[:GROWN]]
        types = np.arange(self.listing.types)
        bits = np.left_shift(np.int64(1), types)
        # From each of them on, the type is added that helps most.
        for _ in range(self.listing.types - 2):
            wider = grown[:, None] | bits
            flat = wider.ravel()
            counts = (flat[:, None] >> types & 1) @ self.sizes
            gaps = -(-counts // self.capacity) - self._touching(flat, supports, amounts)
            gaps = gaps.reshape(wider.shape)
            gaps[wider == grown[:, None]] = -np.inf
            best = gaps.argmax(axis=1)
            rows = np.arange(len(grown))
            found.update(zip(wider[rows, best].tolist(), gaps[rows, best].tolist(), strict=True))
            grown = np.unique(wider[rows, best])
            grown = grown[grown != (1 << self.listing.types) - 1]
            if not len(grown):
                break
        new = sorted(
            (types for types, gap in found.items() if gap > TOLERANCE and types not in known),
            key=lambda types: (-round(found[types], 6), types.bit_count(), types),
        )[:MOST_ROWS]
        for types in new:
            if types.bit_count() > self._largest_small:
                self._large[types] = self.least_touching(types)
        return new

    def _small_sets(self) -> tuple[Integers, Integers]:
        """Return all small sets of types, and how many CPUs touch each at least."""
        present = [number for number, size in enumerate(self.sizes) if size]
        sets: list[int] = []
        for size in range(1, len(present) + 1):
            sets += [
                sum(1 << number for number in chosen) for chosen in combinations(present, size)
            ]
            self._largest_small = size
            if len(sets) * (len(present) - size) // (size + 1) > self.most_sets:
                break
        least = [self.least_touching(types) for types in sets]
        return np.array(sets, dtype=np.int64), np.array(least, dtype=np.int64)

    @staticmethod
    def _touching(sets: Integers, supports: Integers, amounts: Floats) -> Floats:
        """Return by how many CPUs each set is touched."""
        touching: Floats = ((sets[:, None] & supports) != 0) @ amounts
        return touching

    def touching(self, types: int, used: Mapping[tuple[int, int], float]) -> float:
        """Return by how many CPUs a set of types is touched."""
        return sum(
            number
            for (_, index), number in used.items()
            if int(self.listing.supports[index]) & types
        )

    def worths(self, duals: SupportDuals) -> list[Floats]:
        """Return for each group what the best content of each support is worth, without cost."""
        return [self.worths_at_any_cost(duals)] * len(self.cpus)

    def worths_at_any_cost(self, duals: SupportDuals) -> Floats:
        """Return what the best content of each support is worth."""
        values = np.zeros(len(self.listing.supports))
        for weight, inside in zip(duals.tasks, self._inside, strict=True):
            if weight:
                values += weight * inside
        left = self._left.copy()
        for task_type in _heavy_first(duals.tasks):
            more = np.minimum(self._more[task_type], left)
            left -= more
            values += duals.tasks[task_type] * more
        for types, weight in duals.sets.items():
            if weight:
                values[(self.listing.supports & types) != 0] += weight
        return values

    def content(self, group: int, index: int, duals: SupportDuals) -> tuple[int, ...]:
        """Return the best content of a support: one task of each type, then the heaviest.

        Here all groups of CPUs have the same.
        """
        inside = self.listing.inside[index]
        counts = inside.astype(np.int64)
        left = self.capacity - int(counts.sum())
        for task_type in _heavy_first(duals.tasks):
            if inside[task_type]:
                more = min(left, int(self.sizes[task_type]) - 1)
                counts[task_type] += more
                left -= more
        return tuple(counts.tolist())

    def promising(self, near: SupportDuals | None) -> list[Content]:
        """Return contents of the pool that are worth nearly what they cost."""
        contents = list(self.pool)
        if near is None or len(contents) <= PROMISING:
            return contents
        groups = np.array([group for group, _, _ in contents])
        indices = np.array([index for _, index, _ in contents])
        values = np.array([counts for _, _, counts in contents]) @ np.array(near.tasks)
        supports = self.listing.supports[indices]
        for types, weight in near.sets.items():
            if weight:
                values += weight * ((supports & types) != 0)
        for group, rest in enumerate(self.listing.rest):
            own = groups == group
            values[own] -= near.unit * rest[indices[own]] + near.groups[group]
        return [contents[place] for place in np.argsort(-values, kind="stable")[:PROMISING]]


def _heavy_first(tasks: Sequence[float]) -> list[int]:
    """Return the types whose tasks are worth something, the heaviest first."""
    types = [task_type for task_type, weight in enumerate(tasks) if weight > 0]
    return sorted(types, key=lambda task_type: -tasks[task_type])


class ContentMaster:
    """The linear program with the rows and columns so far.

    Parameters
    ----------
    program
        The whole program.
    limits, permitted, near, minimises
        See :meth:`ContentProgram.solve`.
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
        self._add_rows([(1 << program.listing.types) - 1, *tight, *limits])
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
        rounds = 0
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
            new = [] if rounds > most_rounds else self.program.violated(solution.used, self._rows)
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
