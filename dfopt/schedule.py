"""Schedules: which tasks each CPU runs, in which order, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dfopt.errors import DfoptError
from dfopt.instance import Instance, Objective
from dfopt.penalty import finish_cost, order_cost, start_cost, switch_cost


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSchedule:
    """What one CPU does.

    Parameters
    ----------
    tasks
        Names of its tasks in order of execution.
    cost
        Its switch penalty; under ``makespan`` the time at which it has finished.
    starts
        When the switch to each task begins; None where nothing ever waits.
    """

    tasks: tuple[str, ...]
    cost: int
    starts: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What every CPU does, in the order of the instance's CPUs."""

    cpus: tuple[CpuSchedule, ...]

    def value(self, objective: Objective) -> int:
        """Return what the schedule is worth under ``objective``."""
        return combined_cost(objective, [cpu.cost for cpu in self.cpus])


def combined_cost(objective: Objective, costs: Sequence[int]) -> int:
    """Return the objective's value from the costs of the CPUs."""
    return sum(costs) if objective is Objective.TOTAL_PENALTY else max(costs, default=0)


def evaluate(instance: Instance, orders: Sequence[Sequence[str]]) -> Schedule:
    """Return the schedule that runs the named tasks in these orders as early as possible.

    Parameters
    ----------
    instance
        The instance that the names belong to.
    orders
        For each CPU, the names of its tasks in order of execution.

    Raises
    ------
    DfoptError
        When tasks on different CPUs would wait for each other for ever.
    """
    tasks = instance.tasks_by_name()
    if instance.is_timed:
        return _evaluate_timed(instance, orders)
    return Schedule(
        cpus=tuple(
            CpuSchedule(
                tasks=tuple(order),
                cost=order_cost(instance, cpu, [tasks[name] for name in order]),
            )
            for cpu, order in enumerate(orders)
        )
    )


def _evaluate_timed(instance: Instance, orders: Sequence[Sequence[str]]) -> Schedule:
    tasks = instance.tasks_by_name()
    unfinished = {task.id: task.multiplicity for task in instance.tasks}
    finished_at = {task.id: 0 for task in instance.tasks}
    starts: list[list[int]] = [[] for _ in orders]
    clocks = [0] * len(orders)
    progress = True
    while progress:
        progress = False
        for cpu, order in enumerate(orders):
            while len(starts[cpu]) < len(order):
                position = len(starts[cpu])
                task = tasks[order[position]]
                if any(unfinished[name] for name in task.after):
                    break
                ready = max([task.release, *(finished_at[name] for name in task.after)])
                start = max(clocks[cpu], ready)
                switch = (
                    switch_cost(instance.penalty, tasks[order[position - 1]], task)
                    if position
                    else start_cost(instance, cpu, task)
                )
                starts[cpu].append(start)
                clocks[cpu] = start + switch + task.exec
                unfinished[task.id] -= 1
                finished_at[task.id] = max(finished_at[task.id], clocks[cpu])
                progress = True
    for cpu, order in enumerate(orders):
        if len(starts[cpu]) < len(order):
            stuck = order[len(starts[cpu])]
            raise DfoptError(f"CPU {cpu} waits for ever for {stuck!r}: its predecessors come later")
        if order:
            clocks[cpu] += finish_cost(instance, tasks[order[-1]])
    return Schedule(
        cpus=tuple(
            CpuSchedule(tasks=tuple(order), cost=clock, starts=tuple(begun))
            for order, clock, begun in zip(orders, clocks, starts, strict=True)
        )
    )
