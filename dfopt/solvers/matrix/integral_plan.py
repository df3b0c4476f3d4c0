"""The program over contents in whole numbers, for supports that are worth nearly what they cost.

A dive rounds one support after the other, and seldom ends at the least cost. The integer program
has y_S CPUs with the support S, which run x_Sa tasks of each type a together:

    min Σ G(S) y_S,   Σ_S x_Sa ≥ s_a,   Σ_a x_Sa ≤ k y_S,   x_Sa ≤ min(s_a, k) y_S.

It keeps to the conditions on sets of types whose dual values count. A support whose reduced cost is
at least the gap is in no better plan (Dantzig, Fulkerson and Johnson 1954).
"""

from __future__ import annotations

import numpy as np
from ortools.linear_solver import pywraplp

from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.matrix.content_master import ContentSolution
from dfopt.solvers.matrix.content_program import ContentProgram, Limits, Masks, Plan
from dfopt.solvers.matrix.support_costs import UNREACHED

MOST_PROMISING = 150
"""At most 150 supports of each group are in the program: those of the least reduced cost."""

MOST_ROUNDS = 5
"""Cuts are added at most 5 times before the first branch."""

MOST_NODES = 5
"""At most 5 nodes of a branch and bound are looked at."""


def integral_plan(
    program: ContentProgram,
    solution: ContentSolution,
    limits: Limits,
    *,
    permitted: Masks | None,
    below: int | None,
) -> Plan | None:
    """Return a plan of small rests, None if none is found.

    Parameters
    ----------
    program
        The program over contents.
    solution
        An optimal solution of it.
    limits
        How many CPUs may touch sets of types.
    permitted
        For each group whether a support is permitted; by default all are.
    below
        The rests are to add up to less; by default any sum will do.
    """
    listing, duals = program.listing, solution.duals
    solver = pywraplp.Solver.CreateSolver("SCIP")
    infinity = solver.infinity()
    objective = solver.Objective()
    objective.SetMinimization()
    tasks = [solver.Constraint(float(size), infinity) for size in program.sizes]
    groups = [solver.Constraint(float(cpus), float(cpus)) for cpus in program.cpus]
    budget = solver.Constraint(-infinity, infinity if below is None else float(below - 1))
    touched = {}
    for types in {*limits, *(types for types, weight in duals.sets.items() if weight)}:
        least, most = limits.get(types, (0, sum(program.cpus)))
        least = max(least, program.least_touching(types))
        touched[types] = solver.Constraint(float(least), float(most))
    numbers: dict[tuple[int, int], pywraplp.Variable] = {}
    for group, worth in enumerate(program.worths(duals)):
        rest = listing.rest[group]
        reduced = duals.unit * rest + duals.groups[group] - worth
        possible = rest < UNREACHED // 2
        if permitted is not None:
            possible &= permitted[group]
        if below is not None:
            possible &= reduced < below - solution.value
        indices = np.flatnonzero(possible)
        order = np.argsort(reduced[indices], kind="stable")[:MOST_PROMISING]
        for index in indices[order].tolist():
            support = int(listing.supports[index])
            number = solver.IntVar(0.0, float(program.cpus[group]), "")
            numbers[group, support] = number
            objective.SetCoefficient(number, float(rest[index]))
            budget.SetCoefficient(number, float(rest[index]))
            groups[group].SetCoefficient(number, 1.0)
            for types, row in touched.items():
                if types & support:
                    row.SetCoefficient(number, 1.0)
            room = solver.Constraint(-infinity, 0.0)
            room.SetCoefficient(number, -float(program.capacity))
            for task_type in np.flatnonzero(listing.inside[index]).tolist():
                held = solver.NumVar(0.0, infinity, "")
                room.SetCoefficient(held, 1.0)
                tasks[task_type].SetCoefficient(held, 1.0)
                most_held = min(int(program.sizes[task_type]), program.capacity)
                link = solver.Constraint(-infinity, 0.0)
                link.SetCoefficient(held, 1.0)
                link.SetCoefficient(number, -float(most_held))
    solver.SetSolverSpecificParametersAsString(
        f"limits/nodes = {MOST_NODES}\nseparating/maxroundsroot = {MOST_ROUNDS}"
    )

    def check() -> None:
        program.check()

    status = wait_for(solver.Solve, check, solver.InterruptSolve)
    if status not in {pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE}:
        return None
    return {
        key: round(number.solution_value())
        for key, number in numbers.items()
        if round(number.solution_value())
    }
