"""Deals the tasks to CPUs whose supports are chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dfopt.solvers.matrix.content_program import Plan
from dfopt.solvers.matrix.problem import MatrixProblem, TypedTasks
from dfopt.solvers.matrix.support_list import SupportList
from dfopt.solvers.matrix.trail import Trail, trail_of
from dfopt.solvers.matrix.trails import complete
from dfopt.solvers.search import Search


def report_plan(
    search: Search,
    tasks: TypedTasks,
    members: Sequence[Sequence[int]],
    listing: SupportList,
    plan: Plan,
) -> None:
    """Report the schedule of a plan, if the tasks can be dealt.

    Parameters
    ----------
    search
        The search to report to.
    tasks
        Its tasks.
    members
        For each type the task types of its tasks.
    listing, plan
        The walks of supports, and the supports.
    """
    trails = dealt(tasks.problem, listing, plan, search.check)
    if trails is not None:
        report_orders(search, tasks, members, [trail.order() for trail in trails])


def report_orders(
    search: Search,
    tasks: TypedTasks,
    members: Sequence[Sequence[int]],
    of_places: Sequence[Sequence[int]],
) -> None:
    """Report the schedule with an order of types at each place of the problem."""
    orders: list[Sequence[int]] = [()] * tasks.problem.cpus
    for cpu, order in zip(tasks.order, of_places, strict=True):
        orders[cpu] = order
    left = [iter(numbers) for numbers in members]
    search.found([[next(left[task_type]) for task_type in types] for types in orders])


def dealt(
    problem: MatrixProblem,
    listing: SupportList,
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
        walk = listing.walk(start, supports[start].pop())
        if len(walk) > problem.capacity:
            return None
        for task_type in walk:
            left[task_type] -= 1
        trails.append(trail_of(problem, start, walk))
    if min(left) < 0:
        return None
    complete(problem, trails, left, check)
    return trails
