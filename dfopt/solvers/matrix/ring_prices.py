"""Prices of tasks that no ring of switches undercuts: a dual solution of a transportation problem.

Where tasks that take turns cost less than tasks that follow their own type, a ring of switches may
pay less than u_a = switch[a][a] for each of its tasks. Let x_ab be how often b follows a. The
transportation problem min Σ switch[a][b] x_ab with Σ_b x_ab = Σ_b x_ba = s_a has dual values
α_a + β_b ≤ switch[a][b]. With u_a = α_a + β_a each ring costs at least the prices of its tasks, and
all tasks together have the largest price possible.
"""

from __future__ import annotations

from ortools.linear_solver import pywraplp

from dfopt.solvers.matrix.problem import MatrixProblem


def ring_prices(problem: MatrixProblem) -> list[int]:
    """Return prices in whole numbers; such a dual solution exists (Hoffman and Kruskal 1956)."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    infinity = solver.infinity()
    types = range(len(problem.sizes))
    before = [solver.NumVar(-infinity, infinity, "") for _ in types]
    after = [solver.NumVar(-infinity, infinity, "") for _ in types]
    objective = solver.Objective()
    objective.SetMaximization()
    for task_type in types:
        for variable in (before[task_type], after[task_type]):
            objective.SetCoefficient(variable, float(problem.sizes[task_type]))
        for other in types:
            cost = float(problem.switch[task_type][other])
            row = solver.Constraint(-infinity, cost)
            row.SetCoefficient(before[task_type], 1.0)
            row.SetCoefficient(after[other], 1.0)
    # One value can be chosen freely.
    before[0].SetBounds(0.0, 0.0)
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return [0 for _ in types]
    leaving = [round(variable.solution_value()) for variable in before]
    least = [min(problem.switch[row][column] - leaving[row] for row in types) for column in types]
    return [leaving[task_type] + least[task_type] for task_type in types]
