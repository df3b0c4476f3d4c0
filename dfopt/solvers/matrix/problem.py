"""Tasks of several types on CPUs, under a matrix of switch costs.

`dfopt solve` states an instance in this form, and `dfopt compare` a window of a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from operator import add

from dfopt.costs.task_types import TaskType, cost_table
from dfopt.problem.instance import Instance
from dfopt.structs import Record

MOST_LISTED = 60
"""Cheap supports of at most 60 types are listed."""

Row = tuple[int, ...]


class MatrixProblem(Record):
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
    instance: Instance, types: Sequence[TaskType], exec_times: Sequence[int] = ()
) -> tuple[MatrixProblem, list[int]]:
    """Return an instance in this form, and which CPU of the instance stands at each place.

    Parameters
    ----------
    instance
        One without releases and precedence, so that no CPU ever waits.
    types
        Its types of tasks.
    exec_times
        What is added to each switch to a type; by default nothing.
    """
    table = cost_table(instance, types)
    run = list(exec_times) or [0] * len(types)
    starts: dict[tuple[Row, int], int] = {}
    numbers = [
        starts.setdefault((tuple(map(add, row, run)), idle), len(starts))
        for row, idle in zip(table.start, table.idle, strict=True)
    ]
    order = sorted(range(instance.cpus), key=numbers.__getitem__)
    problem = MatrixProblem(
        capacity=instance.tasks_per_cpu,
        sizes=tuple(equal_tasks.count for equal_tasks in types),
        starts=tuple(numbers[cpu] for cpu in order),
        switch=tuple(tuple(map(add, row, run)) for row in table.switch),
        start=tuple(row for row, _ in starts),
        finish=tuple(table.finish),
        idle=tuple(idle for _, idle in starts),
    )
    return problem, order


def unit_of(problem: MatrixProblem) -> int:
    """Return the largest number of which all costs are multiples, at least 1."""
    rows = (*problem.switch, *problem.start, problem.finish, problem.idle)
    return gcd(*(cost for row in rows for cost in row)) or 1


def rest_of(problem: MatrixProblem, prices: Sequence[int], start: int, walk: Sequence[int]) -> int:
    """Return what a CPU pays for an order beyond the prices of its tasks."""
    if not walk:
        return problem.idle[start]
    cost = problem.start[start][walk[0]] + problem.finish[walk[-1]]
    cost += sum(problem.switch[before][after] for before, after in pairwise(walk))
    return cost - sum(prices[task_type] for task_type in walk)
