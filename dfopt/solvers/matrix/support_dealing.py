"""Deals the tasks to CPUs whose supports are chosen."""

from __future__ import annotations

from collections.abc import Callable

from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.support_costs import SupportCosts
from dfopt.solvers.matrix.support_search import Plan
from dfopt.solvers.matrix.trails import Trail, complete, trail_of


def dealt(
    problem: MatrixProblem,
    costs: SupportCosts,
    plan: Plan,
    check: Callable[[], object],
) -> list[Trail] | None:
    """Return the trail of each CPU, or None if the walks need more tasks than there are.

    Each CPU first runs the cheapest walk with its support. All other tasks follow their own type
    on some CPU; where that is not possible, they are inserted where they cost least.
    """
    trails = []
    left = list(problem.sizes)
    supports = {
        start: [s for (group, s), number in plan.items() if group == start for _ in range(number)]
        for start in set(problem.starts)
    }
    for start in problem.starts:
        walk = costs.walk(start, supports[start].pop())
        if len(walk) > problem.capacity:
            return None
        for task_type in walk:
            left[task_type] -= 1
        trails.append(trail_of(problem, start, walk))
    if min(left) < 0:
        return None
    complete(problem, trails, left, check)
    return trails
