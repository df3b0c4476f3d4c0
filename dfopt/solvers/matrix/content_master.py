"""The linear program over contents: its rows and columns, which are added as needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from dfopt.solvers.branch_and_price.linear_program import LinearProgram
from dfopt.solvers.matrix.content_program import (
    Content,
    ContentProgram,
    Limits,
    Masks,
    SupportDuals,
)
from dfopt.solvers.matrix.support_list import UNREACHED
from dfopt.solvers.matrix.touching_conditions import TOLERANCE

MOST_COLUMNS = 60
"""At most 60 columns of a group of CPUs are added at once."""

MOST_ROUNDS = 30
"""Violated conditions are added at most 30 times."""

HIGHEST_PRICE = 100.0
"""What a condition may be missed by has at first the price of the largest cost of a CPU, and at
most 100 times as much."""


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

    Its rows are the numbers of tasks, the CPUs of each group, the sets of types, named by their
    bits, and the supports that are fixed, named by their group and number.

    Parameters
    ----------
    program
        The whole program.
    limits
        How many CPUs may touch sets of types.
    permitted
        For each group whether a support is permitted; by default all are.
    near
        Dual values of a similar program: the work begins with its conditions and columns.
    minimises
        Whether the rests are minimised; otherwise only what is missing.
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
        self._linear: LinearProgram[Content] = LinearProgram(program.check)
        self._price = 1.0
        if minimises:
            rests = [rest[rest < UNREACHED // 2] for rest in program.listing.rest]
            self._price += max(int(rest.max() - rest.min()) for rest in rests)
        for task_type, size in enumerate(program.sizes):
            share = program.capacity if minimises else 1
            self._linear.add_row(("tasks", task_type), size, lack=self._price / share)
        for group, cpus in enumerate(program.cpus):
            self._linear.add_row(("group", group), cpus, cpus)
        self._fixed: set[tuple[int, int]] = set()
        self._sets: list[int] = []
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
        key = group, index
        if key in self._fixed:
            self._linear.limit_row(key, number)
            return
        self._fixed.add(key)
        self._linear.add_row(key, number, lack=self._price)
        self._linear.enter(key, (one for one in self._linear.columns if one[:2] == key))

    def solve(self, most_rounds: int = MOST_ROUNDS) -> ContentSolution:
        """Return a solution of the linear program.

        Parameters
        ----------
        most_rounds
            Violated conditions are added at most this number of times.
        """
        rounds, conditions = 0, self.program.conditions
        while True:
            self.program.check()
            solution = self._solve()
            if self._add_columns(solution.duals):
                continue
            if solution.missing > TOLERANCE:
                if not self.minimises or not self._linear.raise_prices(HIGHEST_PRICE):
                    return solution
                continue
            rounds += 1
            known = self._linear.rows
            new = [] if rounds > most_rounds else conditions.violated(solution.used, known)
            if not new:
                return solution
            self._add_rows(new)

    def _add_column(self, content: Content) -> None:
        group, index, counts = content
        if content in self._linear.columns:
            return
        if self.permitted is not None and not self.permitted[group][index]:
            return
        support = int(self.program.listing.supports[index])
        self._linear.add_column(
            content,
            self.program.listing.rest[group][index] if self.minimises else 0,
            [
                (("group", group), 1),
                ((group, index), 1),
                *((("tasks", number), count) for number, count in enumerate(counts) if count),
                *((types, 1) for types in self._sets if types & support),
            ],
        )

    def _add_rows(self, sets: Iterable[int]) -> None:
        """Add the conditions for sets of types."""
        program = self.program
        cpus = sum(program.cpus)
        for types in sets:
            if types in self._linear.rows:
                continue
            least, most = self.limits.get(types, (0, cpus))
            least = max(least, program.least_touching(types))
            most = min(most, program.most_touching(types))
            self._sets.append(types)
            is_limited = most < cpus
            self._linear.add_row(
                types,
                least,
                most if is_limited else inf,
                lack=self._price,
                excess=self._price if is_limited else 0.0,
            )
            supports = program.listing.supports
            touching = (one for one in self._linear.columns if types & int(supports[one[1]]))
            self._linear.enter(types, touching)

    def _solve(self) -> ContentSolution:
        """Return a solution with these rows and columns."""
        linear = self._linear
        linear.solve()
        used: dict[tuple[int, int], float] = {}
        for (group, index, _), number in linear.used():
            if number > TOLERANCE:
                used[group, index] = used.get((group, index), 0.0) + number
        return ContentSolution(
            value=linear.value,
            missing=linear.missing,
            used=used,
            duals=SupportDuals(
                tasks=[linear.dual(("tasks", a)) for a in range(len(self.program.sizes))],
                sets={types: linear.dual(types) for types in self._sets},
                groups=[-linear.dual(("group", g)) for g in range(len(self.program.cpus))],
                unit=float(self.minimises),
            ),
        )

    def _add_columns(self, duals: SupportDuals) -> bool:
        """Add contents that are worth more than they cost; return whether there were any."""
        program = self.program
        values = program.worths(duals)
        fixed = {key: self._linear.dual(key) for key in self._fixed}
        added = False
        for group, rest in enumerate(program.listing.rest):
            gains = values[group] - duals.unit * rest - duals.groups[group]
            for (other, index), weight in fixed.items():
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
                if content not in self._linear.columns:
                    program.pool[content] = None
                    self._add_column(content)
                    added = True
        return added
