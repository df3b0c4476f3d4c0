"""Bin packing by patterns: tasks, known by their sizes alone, that fit on a CPU.

The linear program of Gilmore and Gomory (1961) asks for the fewest patterns that hold all tasks.
Its dual values, rounded to integers, prove that tasks do not fit (Farley 1990); they are nearly
always strong enough, since the optimum is hardly ever more than one above the program's value.
Diving rounds its solution to a packing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from dfopt.problem.certificate import Leaf, Over, Proof, ProofRows, TaskClass
from dfopt.solvers.integers import of_smallest_scale
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search
from dfopt.solvers.sizes.first_fit import Packing

LARGEST_TABLE = 50_000_000
"""At most this number of table entries for a knapsack: some tenths of a second."""

SCALES = (60, 1_000, 100_000)
"""Integers that the weight of a full CPU becomes, tried in turn."""

MOST_ROUNDS = 2_000
TURNS = 60
"""A dive turns back at most 60 times."""

TOLERANCE = 1e-6

Integers = NDArray[np.int64]

Pattern = tuple[int, ...]
"""How many tasks of each size."""


@dataclass(slots=True)
class _Step:
    """A place in a dive: what is left, what is fixed, and patterns that were tried there."""

    left: Pattern
    fixed: tuple[Pattern, ...]
    excluded: set[Pattern] = field(default_factory=set)


class PatternSearch:
    """The patterns of an instance.

    Parameters
    ----------
    search
        The instance.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        numbers = Counter[int]()
        for task_type in search.types:
            numbers[task_type.size] += task_type.count
        self._sizes = sorted(numbers, reverse=True)
        self._counts = [numbers[size] for size in self._sizes]
        self._room = search.instance.room
        self.is_possible = len(self._sizes) * (self._room + 1) <= LARGEST_TABLE
        if self.is_possible:
            load_module("ortools.linear_solver.pywraplp", search.check)
            self._program = _Program(self._sizes, self._room)
            self._program.demand(self._counts)

    def weights(self) -> Proof | None:
        """Return weights which prove that the tasks do not fit; None where there are none."""
        for _ in range(MOST_ROUNDS):
            self._search.check()
            value, duals = self._program.solve()
            certificate, pattern = self._proof(duals, SCALES[-1])
            if certificate is not None:
                # Small numbers read well.
                return of_smallest_scale(lambda scale: self._proof(duals, scale)[0], SCALES)  # noqa: B023
            if value <= self._search.instance.cpus + TOLERANCE or not self._program.add(pattern):
                return None
        return None

    def _proof(self, duals: Sequence[float], scale: int) -> tuple[Proof | None, Pattern]:
        """Return dual values as a certificate, if they prove anything, and the heaviest pattern."""
        weights = [round(scale * dual) for dual in duals]
        heaviest, pattern = self._program.heaviest(weights)
        if _product(weights, self._counts) <= self._search.instance.cpus * heaviest:
            return None, pattern
        unit, rows = self._search.instance.size_unit, ProofRows(Over.SIZES)
        leaf = Leaf(
            weights=tuple(
                (rows.of(TaskClass(size=size * unit)), weight)
                for size, weight in zip(self._sizes, weights, strict=True)
                if weight
            ),
            bin_weights=(heaviest,),
        )
        return rows.proof([leaf], None), pattern

    def packing(self) -> Packing | None:
        """Return contents of the CPUs that hold all tasks, by diving; None if it fails."""
        patterns = self._dive()
        return None if patterns is None else self._contents(patterns)

    def _dive(self) -> list[Pattern] | None:
        """Fix one pattern after the other, as the program of what is left says.

        Where that has no solution any more, the last pattern that was fixed is excluded instead; at
        most TURNS times.
        """
        cpus = self._search.instance.cpus
        stack = [_Step(left=tuple(self._counts), fixed=())]
        turns = 0
        while stack:
            step = stack[-1]
            if not any(step.left):
                return [*step.fixed, *[(0,) * len(self._sizes)] * (cpus - len(step.fixed))]
            self._program.demand(step.left)
            chosen: list[Pattern] = []
            if self._converged() <= cpus - len(step.fixed) + TOLERANCE:
                chosen = self._chosen(step)
            if not chosen:
                stack.pop()
                turns += 1
                if turns > TURNS:
                    break
                continue
            step.excluded.add(chosen[-1])
            left, fixed = step.left, step.fixed
            for pattern in chosen:
                fitting = tuple(map(min, pattern, left))
                left = tuple(count - held for count, held in zip(left, fitting, strict=True))
                fixed = (*fixed, fitting)
            if len(fixed) <= cpus:
                stack.append(_Step(left=left, fixed=fixed))
        return None

    def _chosen(self, step: _Step) -> list[Pattern]:
        """Return the patterns that the program uses in whole, or else the one it uses most."""
        used = [row for row in self._program.used() if row[0] not in step.excluded]
        whole = [pattern for pattern, use in used for _ in range(int(use + TOLERANCE))]
        if whole or not used:
            return whole
        return [max(used, key=itemgetter(1))[0]]

    def _converged(self) -> float:
        """Return the least number of patterns for what is left."""
        for _ in range(MOST_ROUNDS):
            self._search.check()
            value, duals = self._program.solve()
            weights = [round(SCALES[-1] * dual) for dual in duals]
            heaviest, pattern = self._program.heaviest(weights)
            if heaviest <= SCALES[-1] * (1 + TOLERANCE) or not self._program.add(pattern):
                return value
        return value

    def _contents(self, patterns: Sequence[Pattern]) -> Packing:
        """Return contents with these patterns; a CPU takes tasks of few fragments if it can."""
        form_of = [task_type.example for task_type in self._search.types]
        waiting: dict[int, Counter[int]] = {size: Counter() for size in self._sizes}
        for number, task_type in enumerate(self._search.types):
            waiting[task_type.size][number] = task_type.count
        packing: Packing = []
        for pattern in patterns:
            held: dict[int, int] = {}
            visited = Counter[str | None]()
            for size, wanted in zip(self._sizes, pattern, strict=True):
                for _ in range(wanted):
                    number = max(
                        (number for number, count in waiting[size].items() if count),
                        key=lambda number: visited[form_of[number].df or form_of[number].type],
                    )
                    waiting[size][number] -= 1
                    held[number] = held.get(number, 0) + 1
                    visited[form_of[number].df or form_of[number].type] += 1
            packing.append(held)
        return packing


def _product(weights: Sequence[int], counts: Sequence[int]) -> int:
    return sum(weight * count for weight, count in zip(weights, counts, strict=True))


class _Program:
    """The linear program over the patterns found so far.

    Parameters
    ----------
    sizes
        The sizes of the tasks.
    room
        The size that fits on a CPU.
    """

    def __init__(self, sizes: Sequence[int], room: int) -> None:
        from ortools.linear_solver import pywraplp

        self._sizes, self._room = sizes, room
        self._counts: Sequence[int] = [0] * len(sizes)
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._rows = [self._solver.Constraint(0.0, self._solver.infinity()) for _ in sizes]
        self._solver.Objective().SetMinimization()
        self._variables: dict[Pattern, pywraplp.Variable] = {}
        for position, size in enumerate(sizes):
            self.add(tuple(room // size if p == position else 0 for p in range(len(sizes))))

    def demand(self, counts: Sequence[int]) -> None:
        """Ask for patterns that hold this number of tasks of each size."""
        self._counts = counts
        for row, count in zip(self._rows, counts, strict=True):
            row.SetLb(float(count))

    def add(self, pattern: Pattern) -> bool:
        """Add a pattern; return whether it is new."""
        if pattern in self._variables:
            return False
        variable = self._solver.NumVar(0, self._solver.infinity(), "")
        self._solver.Objective().SetCoefficient(variable, 1.0)
        for row, held in zip(self._rows, pattern, strict=True):
            if held:
                row.SetCoefficient(variable, float(held))
        self._variables[pattern] = variable
        return True

    def solve(self) -> tuple[float, list[float]]:
        """Return the least number of patterns, and the dual values of the sizes."""
        self._solver.Solve()
        return self._solver.Objective().Value(), [max(0.0, r.dual_value()) for r in self._rows]

    def used(self) -> list[tuple[Pattern, float]]:
        """Return the patterns of the solution, and how often each is used."""
        uses = ((pattern, own.solution_value()) for pattern, own in self._variables.items())
        return [(pattern, use) for pattern, use in uses if use > TOLERANCE]

    def heaviest(self, weights: Sequence[int]) -> tuple[int, Pattern]:
        """Return the largest weight that fits on a CPU, and a pattern that has it."""
        best: Integers = np.zeros(self._room + 1, np.int64)
        tables = []
        for size, count, weight in zip(self._sizes, self._counts, weights, strict=True):
            tables.append(best)
            left, bundle = min(count, self._room // size) if weight else 0, 1
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
        return value, tuple(pattern)
