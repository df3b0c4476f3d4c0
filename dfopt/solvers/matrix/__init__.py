"""A matrix of switch costs and tasks that never wait: contents of CPUs, and what flows say.

Their bound is a transportation problem with subset cuts; a schedule follows the flow that attains
it, circle by circle.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Objective, Task
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.matrix.dealing import report_orders
from dfopt.solvers.matrix.flow import MOST_BRANCHES, least_flow
from dfopt.solvers.matrix.problem import MOST_LISTED, MatrixProblem, matrix_problem
from dfopt.solvers.matrix.walks import walks_along
from dfopt.solvers.search import Search

__all__ = [
    "MatrixProblem",
    "bound_by_flow",
    "by_type_of_matrix",
    "can_list_supports",
    "choose_supports",
    "has_many_types",
    "pays_for_each_task",
]

SOLVER = "transportation"


MOST_TYPES = 16
"""Contents of at most 16 types take moments."""


def has_many_types(search: Search) -> bool:
    """Return whether tasks have many types of the matrix, so that their contents take time."""
    return _number_of_types(search) > MOST_TYPES


def can_list_supports(search: Search) -> bool:
    """Return whether tasks have so few types of the matrix that cheap sets of them are listed."""
    return _number_of_types(search) <= MOST_LISTED


def _number_of_types(search: Search) -> int:
    return len({task_type.example.type for task_type in search.types})


def choose_supports(search: Search) -> None:
    """Report the best contents of CPUs: mostly an optimum and its proof.

    Parameters
    ----------
    search
        Of an instance with a matrix and without releases and precedence.
    """
    types, members = by_type_of_matrix(search.types)
    load_module("dfopt.solvers.matrix.best_contents", search.check)
    from dfopt.solvers.matrix.best_contents import solve_by_contents

    solve_by_contents(search, types, members)


def pays_for_each_task(search: Search) -> bool:
    """Return whether the CPU that pays most pays for tasks that follow their own type too."""
    objective = search.instance.objective
    if objective is Objective.TOTAL_PENALTY or search.instance.has_sizes:
        return False
    own = (row[number] for number, row in enumerate(search.costs.switch))
    return any(search.costs.exec) or any(own)


def bound_by_flow(search: Search, *, most_branches: int = MOST_BRANCHES) -> None:
    """Report the bound of the cheapest flow, and the schedule that follows this flow.

    Under ``max-penalty`` and ``makespan`` an even share of what all CPUs pay bounds the CPU that
    pays most.

    Parameters
    ----------
    search
        Of an instance with a matrix and without releases and precedence.
    most_branches
        At most about this number of transportation problems are solved.
    """
    types, members = by_type_of_matrix(search.types)
    problem, places = matrix_problem(search.instance, types)
    flow = least_flow(problem, search.check, most_branches=most_branches)
    value = _bound(search, flow.cost)
    if value:
        search.proved(value, CompleteSearch(threshold=value - 1, solver=SOLVER))
    # A flow counts tasks. Where these have sizes, it is a bound, but no schedule.
    if not search.instance.has_sizes:
        orders = walks_along(problem, flow, search.check)
        report_orders(search, places, members, orders)
    search.check()


def _bound(search: Search, switching: int) -> int:
    """Return a bound on the objective where all CPUs together pay at least ``switching``."""
    working = sum(
        exec_time * task_type.count
        for exec_time, task_type in zip(search.costs.exec, search.types, strict=True)
    )
    total = switching + working
    is_sum = search.instance.objective is Objective.TOTAL_PENALTY
    return total if is_sum else -(-total // search.instance.cpus)


def by_type_of_matrix(types: Sequence[TaskType]) -> tuple[list[TaskType], list[list[int]]]:
    """Put task types together that the matrix does not tell apart, though execution times may.

    Returns
    -------
    types
        One for each type of the matrix that has tasks.
    members
        For each of them the numbers of the task types in it, once for each task.
    """
    names: dict[str | None, list[str]] = {}
    members: dict[str | None, list[int]] = {}
    examples: dict[str | None, Task] = {}
    for task_type, equal_tasks in enumerate(types):
        name = equal_tasks.example.type
        examples.setdefault(name, equal_tasks.example)
        names.setdefault(name, []).extend(equal_tasks.names)
        members.setdefault(name, []).extend([task_type] * equal_tasks.count)
    merged = [
        TaskType(example=example, names=tuple(names[name])) for name, example in examples.items()
    ]
    return merged, list(members.values())
