"""Tasks that no cost tells apart, and CPUs that start alike.

Solvers work on types and their counts; the names of single tasks return when a schedule is
written. That keeps them from trying the same thing under many names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dfopt.problem.cost_table import CostTable, costs_of_starts
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.structs import Record


class TaskType(Record):
    """Tasks that are equal in everything that counts.

    Parameters
    ----------
    example
        One entry of the instance that belongs to it.
    names
        The names of all its tasks.
    size
        The size of each, see :meth:`Instance.size_of
        <dfopt.problem.instance.Instance.size_of>`.
    """

    example: Task
    names: tuple[str, ...]
    size: int = 1

    @property
    def count(self) -> int:
        """How many tasks are of this type."""
        return len(self.names)


def task_types(instance: Instance) -> tuple[TaskType, ...]:
    """Return the types of the tasks of ``instance``, in order of first appearance."""
    members: dict[tuple[object, ...], list[Task]] = {}
    timed = instance.is_timed
    for task in instance.tasks:
        members.setdefault(distinguishing(instance, task, timed=timed), []).append(task)
    return tuple(
        TaskType(
            example=tasks[0],
            names=tuple(name for task in tasks for name in task.names),
            size=instance.size_of(tasks[0]),
        )
        for tasks in members.values()
    )


def distinguishing(instance: Instance, task: Task, *, timed: bool) -> tuple[object, ...]:
    """Return what tells a task from those of other types; ``timed`` is whether tasks may wait."""
    key: tuple[object, ...]
    match instance.penalty:
        case PenaltyMatrix():
            key = (task.type,)
        case PenaltyF():
            key = (task.df, task.lines, task.leaves)
        case _:
            key = (task.df,)
    if instance.objective is Objective.MAKESPAN:
        key += (task.exec,)
    if instance.has_sizes:
        key += (task.size,)
    if timed:
        # Tasks wait for each other by name, so every entry is a type of its own.
        key += (task.id,)
    return key


def cpu_groups(instance: Instance, types: Sequence[TaskType]) -> tuple[int, ...]:
    """Return for each CPU the first CPU that is identical to it.

    CPUs differ only in what their first task costs, and in what they cost without any.
    """
    if not instance.initial:
        return (0,) * instance.cpus
    starts = costs_of_starts(instance, [task_type.example for task_type in types])
    groups = {state: (*costs, idle) for state, (costs, idle) in starts.items()}
    first: dict[tuple[int, ...], int] = {}
    return tuple(
        first.setdefault(groups[state], cpu) for cpu, state in enumerate(instance.initial_states)
    )


def cost_table(instance: Instance, types: Sequence[TaskType]) -> CostTable:
    """Return the costs between types."""
    return CostTable(instance, [task_type.example for task_type in types])


def named_orders(
    types: Sequence[TaskType], orders: Iterable[Sequence[int]]
) -> tuple[tuple[str, ...], ...]:
    """Return orders of task names for orders of type numbers, one per CPU."""
    names = [iter(task_type.names) for task_type in types]
    return tuple(tuple(next(names[task_type]) for task_type in order) for order in orders)
