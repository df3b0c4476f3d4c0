"""Prices of tasks that no ring of switches undercuts: a dual solution of a transportation problem.

Where tasks that take turns cost less than tasks that follow their own type, a ring of switches may
pay less than switch[a][a] for each of its tasks. Let x_ab be how often b follows a. The
transportation problem min Σ switch[a][b] x_ab with Σ_b x_ab = Σ_b x_ba = s_a has dual values
α_a + β_b ≤ switch[a][b]. With u_a = α_a + β_a each ring costs at least the prices of its tasks, and
all tasks together have the largest price possible: that is switch[a][a], where no ring costs less.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from dfopt.solvers.branch_and_price.linear_program import LinearProgram
from dfopt.solvers.matrix.problem import MatrixProblem


def ring_prices(problem: MatrixProblem, check: Callable[[], object]) -> list[int]:
    """Return prices in whole numbers; such a dual solution exists (Hoffman and Kruskal 1956).

    Raises
    ------
    Undecided
        When the linear program is not solved.
    """
    types = range(len(problem.sizes))
    program: LinearProgram[tuple[int, int]] = LinearProgram(check)
    for task_type, size in enumerate(problem.sizes):
        program.add_row(("leave", task_type), size, size)
        program.add_row(("enter", task_type), size, size)
    for arc in product(types, types):
        before, after = arc
        rows = [(("leave", before), 1), (("enter", after), 1)]
        program.add_column(arc, problem.switch[before][after], rows)
    program.solve()
    leaving = [round(program.dual(("leave", task_type))) for task_type in types]
    least = [min(problem.switch[row][column] - leaving[row] for row in types) for column in types]
    return [leaving[task_type] + least[task_type] for task_type in types]
