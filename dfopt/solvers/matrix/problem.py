"""Tasks of several types on CPUs, under a matrix of switch costs.

`dfopt solve` states an instance in this form, and `dfopt compare` a window of a trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from dfopt.costs.task_types import TaskType, cost_table
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance
from dfopt.structs import replace

MOST_LISTED = 60
"""Cheap supports of at most 60 types are listed."""

LARGEST_COST = 1 << 26
"""Sums of such costs, times the scale of a proof, still fit into 53 bits."""

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixProblem:
    """Tasks that only their types tell apart, to be put on CPUs and into orders.

    Parameters
    ----------
    capacity
        A CPU runs at most this number of tasks.
    sizes
        Number of tasks of each type.
    starts
        The start of each CPU: a row of ``start``. Ascending.
    switch
        Cost of a switch, row = from, column = to.
    start
        Cost of a CPU's first task, row = what the CPU begins with, column = type.
    finish
        Cost after the last task of a CPU, by type.
    idle
        Cost of a CPU that runs nothing, by what it begins with.
    """

    capacity: int
    sizes: Row
    starts: Row
    switch: tuple[Row, ...]
    start: tuple[Row, ...]
    finish: Row
    idle: Row

    @property
    def count(self) -> int:
        """The number of tasks."""
        return sum(self.sizes)

    @property
    def cpus(self) -> int:
        """The number of CPUs."""
        return len(self.starts)


def matrix_problem(
    instance: Instance, types: Sequence[TaskType], table: CostTable
) -> tuple[MatrixProblem, list[int]]:
    """Return an instance in this form, and which CPU of the instance stands at each place.

    Parameters
    ----------
    instance
        One without releases and precedence, so that no CPU ever waits.
    types, table
        Its types of tasks, and what switches between them cost. Execution times are left out.
    """
    starts: dict[tuple[Row, int], int] = {}
    numbers = [
        starts.setdefault((tuple(row), idle), len(starts))
        for row, idle in zip(table.start, table.idle, strict=True)
    ]
    order = sorted(range(instance.cpus), key=numbers.__getitem__)
    problem = MatrixProblem(
        capacity=instance.tasks_per_cpu,
        sizes=tuple(equal_tasks.count for equal_tasks in types),
        starts=tuple(numbers[cpu] for cpu in order),
        switch=tuple(map(tuple, table.switch)),
        start=tuple(row for row, _ in starts),
        finish=tuple(table.finish),
        idle=tuple(idle for _, idle in starts),
    )
    return problem, order


def with_exec(problem: MatrixProblem, exec_times: Sequence[int]) -> MatrixProblem:
    """Add to each switch the execution time of the type that it leads to."""

    def added(row: Sequence[int]) -> Row:
        return tuple(cost + run for cost, run in zip(row, exec_times, strict=True))

    return replace(
        problem,
        switch=tuple(map(added, problem.switch)),
        start=tuple(map(added, problem.start)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedTasks:
    """The tasks of an instance by their types, and how its CPUs start.

    Parameters
    ----------
    problem
        The tasks; switches include the least execution time of the type that they lead to.
    order
        Which CPU of the instance stands at each place of the problem.
    names
        The names of the types.
    groups
        For each CPU of the instance its group; CPUs of a group start alike.
    cpus
        Number of CPUs in each group.
    """

    problem: MatrixProblem
    order: list[int]
    names: list[str]
    groups: list[int]
    cpus: list[int]


def typed_tasks(
    instance: Instance,
    types: Sequence[TaskType],
    members: Sequence[Sequence[int]],
    exec_times: Sequence[int],
) -> TypedTasks:
    """Return the tasks of an instance by their types.

    Parameters
    ----------
    instance
        One without releases and precedence.
    types, members
        Its types of the matrix, and the task types of their tasks.
    exec_times
        The execution time of each task type.
    """
    problem, order = matrix_problem(instance, types, cost_table(instance, types))
    least = [min(exec_times[number] for number in numbers) for numbers in members]
    counted = Counter(problem.starts)
    groups = [0] * problem.cpus
    for position, cpu in enumerate(order):
        groups[cpu] = problem.starts[position]
    return TypedTasks(
        problem=with_exec(problem, least),
        order=order,
        names=[str(task_type.example.type) for task_type in types],
        groups=groups,
        cpus=[counted[start] for start in range(len(problem.start))],
    )


def unit_of(problem: MatrixProblem) -> int:
    """Return the largest number of which all costs are multiples, at least 1."""
    rows = (*problem.switch, *problem.start, problem.finish, problem.idle)
    return gcd(*(cost for row in rows for cost in row)) or 1


def largest_cost(table: CostTable) -> int:
    """Return the largest cost of a table."""
    rows = (*table.switch, *table.start, table.finish, table.idle, table.exec)
    return max(map(max, rows))


def rest_of(problem: MatrixProblem, prices: Sequence[int], start: int, walk: Sequence[int]) -> int:
    """Return what a CPU pays for an order beyond the prices of its tasks."""
    if not walk:
        return problem.idle[start]
    cost = problem.start[start][walk[0]] + problem.finish[walk[-1]]
    cost += sum(problem.switch[before][after] for before, after in pairwise(walk))
    return cost - sum(prices[task_type] for task_type in walk)
