"""Branch and bound over the numbers of CPUs that run each support.

The linear relaxation is nearly always integral already, or rounding it gives a solution of the
same value. Where it does not, some set of types is touched by a fractional number f of CPUs, and
two parts of the problem are left: at most ⌊f⌋ CPUs touch it, or at least ⌊f⌋ + 1. These numbers
say what y is (Möbius inversion), so branching on them ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from dfopt.solvers.matrix.support_program import (
    ANY_SUM,
    TOLERANCE,
    Limits,
    SupportDuals,
    SupportProgram,
    SupportSolution,
)

Plan = dict[tuple[int, int], int]
"""For a group of CPUs and a support, the number of CPUs."""

Permitted = Sequence[npt.NDArray[np.bool_]]

MOST_NODES = 300
"""At most 300 parts of the problem are looked at."""


@dataclass(slots=True)
class Part:
    """A part of the problem: ``weights`` refute it, or it is split at a set of types.

    Parameters
    ----------
    limits
        The numbers of CPUs that may touch sets of types in this part.
    weights
        What refutes it.
    types, most
        It is split: at most this number of CPUs touch these types (``below``), or more (``above``).
    """

    limits: Limits
    weights: SupportDuals | None = None
    types: int = 0
    most: int = 0
    below: Part | None = None
    above: Part | None = None

    def split(self, types: int, touching: float, cpus: int) -> tuple[Part, Part]:
        """Split at a fractional number of CPUs; return both halves."""
        least, most = self.limits.get(types, (0, cpus))
        self.types, self.most, self.weights = types, floor(touching), None
        self.below = Part({**self.limits, types: (least, self.most)})
        self.above = Part({**self.limits, types: (self.most + 1, most)})
        return self.below, self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSearch:
    """What a search found out.

    Parameters
    ----------
    plan
        A plan, None if there is none, or none was found.
    value
        No plan costs less in all.
    tree
        Why; each part without halves has weights.
    is_complete
        Whether the search was not ended by the number of nodes.
    """

    plan: Plan | None
    value: int
    tree: Part
    is_complete: bool


def cheapest_plan(
    program: SupportProgram, permitted: Permitted | None = None, *, most_nodes: int = MOST_NODES
) -> PlanSearch:
    """Return a plan whose rests have the least sum, best parts first."""
    tree = Part({})
    solution = program.solve({}, permitted=permitted)
    if solution is None:
        return PlanSearch(plan=None, value=0, tree=tree, is_complete=False)
    tree.weights = solution.weights
    value = rounded_up(solution.value)
    queue: list[tuple[int, int, Part, SupportSolution]] = [(value, 0, tree, solution)]
    nodes = 1
    while queue:
        value, _, part, solution = queue[0]
        plan = _dive(program, part.limits, solution, value=value, permitted=permitted)
        if plan is not None:
            return PlanSearch(plan=plan, value=value, tree=tree, is_complete=True)
        if nodes >= most_nodes:
            return PlanSearch(plan=None, value=value, tree=tree, is_complete=False)
        heapq.heappop(queue)
        chosen = _set_to_split_at(program, solution)
        if chosen is None:  # rounding errors alone make it fractional
            return PlanSearch(plan=None, value=value, tree=tree, is_complete=False)
        for half in part.split(*chosen, sum(program.cpus)):
            nodes += 1
            found = program.solve(half.limits, permitted=permitted)
            if found is None:
                found = program.solve(half.limits, budget=ANY_SUM, permitted=permitted)
                if found is None:
                    return PlanSearch(plan=None, value=value, tree=tree, is_complete=False)
                half.weights = found.weights
                continue
            half.weights = found.weights
            bound = max(value, rounded_up(found.value))
            heapq.heappush(queue, (bound, nodes, half, found))
    return PlanSearch(plan=None, value=value, tree=tree, is_complete=False)


def plan_within(program: SupportProgram, budget: int, permitted: Permitted | None) -> PlanSearch:
    """Return a plan of permitted supports whose rests add up to at most ``budget``.

    If there is none, the tree says why.
    """
    tree = Part({})
    stack = [tree]
    nodes = 0
    while stack:
        part = stack.pop()
        nodes += 1
        solution = program.solve(part.limits, budget=budget, permitted=permitted)
        if solution is None or nodes > MOST_NODES:
            return PlanSearch(plan=None, value=budget, tree=tree, is_complete=False)
        if solution.value > TOLERANCE:
            part.weights = solution.weights
            continue
        plan = _fewest_visits(program, part.limits, budget, permitted)
        if plan is not None:
            return PlanSearch(plan=plan, value=budget, tree=tree, is_complete=True)
        chosen = _set_to_split_at(program, solution)
        if chosen is None:
            # The solution itself is a plan, unless rounding errors make it fractional.
            plan = _plan_of(solution) if _is_integral(solution) else None
            return PlanSearch(plan=plan, value=budget, tree=tree, is_complete=plan is not None)
        stack += part.split(*chosen, sum(program.cpus))
    return PlanSearch(plan=None, value=budget + 1, tree=tree, is_complete=True)


def _fewest_visits(
    program: SupportProgram, limits: Limits, budget: int, permitted: Permitted | None
) -> Plan | None:
    """Return a plan in which CPUs run few types, so that the tasks suffice for all visits."""
    solution = program.solve(limits, budget=budget, permitted=permitted, fewest=True)
    if solution is None:
        return None
    return _dive(program, limits, solution, value=None, budget=budget, permitted=permitted)


def rounded_up(value: float) -> int:
    """Return the least integer that is not below a value, but for rounding errors."""
    return ceil(value - TOLERANCE * max(1.0, abs(value)))


def _plan_of(solution: SupportSolution) -> Plan:
    """Return the plan that an integral solution is."""
    return {key: round(number) for key, number in solution.used.items() if round(number)}


def _is_integral(solution: SupportSolution) -> bool:
    return all(abs(number - round(number)) < TOLERANCE for number in solution.used.values())


def _dive(  # noqa: PLR0913
    program: SupportProgram,
    limits: Limits,
    solution: SupportSolution,
    *,
    value: int | None = None,
    budget: int | None = None,
    permitted: Permitted | None = None,
) -> Plan | None:
    """Fix one support after the other; return a plan of this value, or any plan within a budget."""
    fixed: Plan = {}
    while not _is_integral(solution):
        for key, number in solution.used.items():
            if number > 1 - TOLERANCE:
                fixed[key] = max(fixed.get(key, 0), floor(number + TOLERANCE))
        key = max(
            (key for key, number in solution.used.items() if _fraction(number)),
            key=lambda key: _fraction(solution.used[key]),
        )
        fixed[key] = fixed.get(key, 0) + 1
        found = program.solve(
            limits, budget=budget, permitted=permitted, fixed=fixed, fewest=value is None
        )
        if found is None:
            return None
        solution = found
        if value is not None and rounded_up(solution.value) > value:
            return None
    return _plan_of(solution)


def _fraction(number: float) -> float:
    fraction = number - floor(number + TOLERANCE)
    return fraction if fraction > TOLERANCE else 0.0


def _set_to_split_at(
    program: SupportProgram, solution: SupportSolution
) -> tuple[int, float] | None:
    """Return a set that a fractional number of CPUs touch, few types first, and that number."""
    touching = program.touching(solution.used)
    fraction = np.abs(touching - np.rint(touching))
    sets = np.flatnonzero(fraction > 100 * TOLERANCE)
    if not len(sets):
        return None
    size = np.array([int(types).bit_count() for types in sets])
    best = sets[np.lexsort((-fraction[sets], size))[0]]
    return int(best), float(touching[best])
