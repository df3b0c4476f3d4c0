"""Weights of sizes which prove that tasks do not fit on the CPUs.

They are the dual values of the linear program of Gilmore and Gomory (1961): the fewest patterns,
which are sets of tasks that fit on a CPU, that hold all tasks. Rounded to integers, any weights
give a bound, by the heaviest pattern (Farley 1990).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfopt.problem.certificate import SizeWeights
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search

LARGEST_TABLE = 50_000_000
"""At most this number of table entries for a knapsack: some tenths of a second."""

SCALES = (60, 1_000, 100_000)
"""Integers that the weight of a full CPU becomes, tried in turn."""

MOST_ROUNDS = 500

Integers = NDArray[np.int64]


def weights_of_sizes(search: Search) -> SizeWeights | None:
    """Return weights which prove that the tasks do not fit; None where the bound allows it."""
    instance = search.instance
    numbers: dict[int, int] = {}
    for task_type in search.types:
        numbers[task_type.size] = numbers.get(task_type.size, 0) + task_type.count
    sizes = sorted(numbers, reverse=True)
    counts = [numbers[size] for size in sizes]
    if len(sizes) * (instance.room + 1) > LARGEST_TABLE:
        return None
    load_module("ortools.linear_solver.pywraplp", search.check)
    program = _Patterns(sizes, counts, instance.room)
    for _ in range(MOST_ROUNDS):
        search.check()
        value, duals = program.solve()
        for scale in SCALES:
            weights = [round(scale * dual) for dual in duals]
            heaviest, pattern = program.heaviest(weights)
            total = sum(weight * count for weight, count in zip(weights, counts, strict=True))
            if total > instance.cpus * heaviest:
                unit = instance.size_unit
                rows = zip(sizes, weights, strict=True)
                return SizeWeights(
                    weights=tuple((size * unit, weight) for size, weight in rows if weight),
                    cpu_weight=heaviest,
                )
        if value <= instance.cpus + 1e-9 or not program.add(pattern):
            return None
    return None


class _Patterns:
    """The linear program over the patterns found so far.

    Parameters
    ----------
    sizes, counts
        The sizes of the tasks, and how many tasks have each.
    room
        The size that fits on a CPU.
    """

    def __init__(self, sizes: list[int], counts: list[int], room: int) -> None:
        from ortools.linear_solver import pywraplp

        self._sizes, self._counts, self._room = sizes, counts, room
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        infinity = self._solver.infinity()
        self._rows = [self._solver.Constraint(float(count), infinity) for count in counts]
        self._solver.Objective().SetMinimization()
        self._known: set[tuple[int, ...]] = set()
        for position, (size, count) in enumerate(zip(sizes, counts, strict=True)):
            pattern = [0] * len(sizes)
            pattern[position] = min(count, room // size)
            self.add(pattern)

    def add(self, pattern: list[int]) -> bool:
        """Add a pattern; return whether it is new."""
        if tuple(pattern) in self._known:
            return False
        self._known.add(tuple(pattern))
        variable = self._solver.NumVar(0, self._solver.infinity(), "")
        self._solver.Objective().SetCoefficient(variable, 1.0)
        for row, held in zip(self._rows, pattern, strict=True):
            if held:
                row.SetCoefficient(variable, float(held))
        return True

    def solve(self) -> tuple[float, list[float]]:
        """Return the least number of patterns, and the dual values of the sizes."""
        self._solver.Solve()
        return self._solver.Objective().Value(), [max(0.0, r.dual_value()) for r in self._rows]

    def heaviest(self, weights: list[int]) -> tuple[int, list[int]]:
        """Return the largest weight that fits on a CPU, and a pattern that has it."""
        best: Integers = np.zeros(self._room + 1, np.int64)
        tables = []
        for size, count, weight in zip(self._sizes, self._counts, weights, strict=True):
            tables.append(best)
            if not weight:
                continue
            left, bundle = min(count, self._room // size), 1
            while left:
                taken = min(bundle, left)
                added = best.copy()
                shift = taken * size
                np.maximum(
                    added[shift:], best[: len(best) - shift] + taken * weight, out=added[shift:]
                )
                best = added
                left -= taken
                bundle *= 2
        value, load = int(best[-1]), self._room
        pattern = [0] * len(self._sizes)
        goal = value
        for position in range(len(self._sizes) - 1, -1, -1):
            size, weight = self._sizes[position], weights[position]
            for held in range(min(self._counts[position], load // size) + 1):
                if int(tables[position][load - held * size]) + held * weight == goal:
                    pattern[position] = held
                    load -= held * size
                    goal -= held * weight
                    break
        return value, pattern
