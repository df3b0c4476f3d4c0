"""The check of ``counting`` certificates: bounds that a named argument gives, worked out anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter

from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix


def counted_bound(instance: Instance, argument: str) -> int | None:
    """Return the bound that an argument gives; None if there is no such argument."""
    count = ARGUMENTS.get(argument)
    return None if count is None else count(instance)


def _critical_path(instance: Instance) -> int:
    """Return when the last task ends at the earliest, by releases and predecessors alone."""
    if instance.objective is not Objective.MAKESPAN:
        return 0
    tasks = {task.id: task for task in instance.tasks}
    ends: dict[str, int] = {}
    for name in TopologicalSorter(
        {name: task.after for name, task in tasks.items()}
    ).static_order():
        task = tasks[name]
        ends[name] = max([task.release, *(ends[before] for before in task.after)]) + task.exec
    return max(ends.values(), default=0)


def _idle_cpus(instance: Instance) -> int:
    """Return what CPUs pay that run nothing in any schedule: the cheapest m − n of them."""
    idle = max(0, instance.cpus - instance.task_count)
    costs = sorted(instance.cache(cpu).finish() for cpu in range(instance.cpus))[:idle]
    if instance.objective is Objective.TOTAL_PENALTY:
        return sum(costs)
    return max(costs, default=0)


def _arrivals(instance: Instance) -> int:
    """Return the bound by the cheapest switch to every task, for a table of switch costs.

    At most one task on each CPU is the first one. Those that save most by that are granted it.
    """
    penalty = instance.penalty
    if not isinstance(penalty, PenaltyMatrix):
        return 0
    numbers = Counter[str | None]()
    for task in instance.tasks:
        numbers[task.type] += task.multiplicity
    cpus = {state: cpu for cpu, state in enumerate(instance.initial_states)}.values()
    total = 0
    savings = []
    for task in {task.type: task for task in instance.tasks}.values():
        column = penalty.number_of(task.type)
        switches = [
            penalty.switch[penalty.number_of(other)][column]
            for other in numbers
            if other != task.type or numbers[other] > 1
        ]
        start = min(instance.cache(cpu).enter(instance.use(task)) for cpu in cpus)
        arrival = min(switches, default=start)
        total += arrival * numbers[task.type]
        savings += [max(0, arrival - start)] * min(numbers[task.type], instance.cpus)
    total -= sum(sorted(savings, reverse=True)[: instance.cpus])
    if instance.objective is Objective.TOTAL_PENALTY:
        return total
    if instance.objective is Objective.MAKESPAN:
        total += sum(task.exec * task.multiplicity for task in instance.tasks)
    return -(-total // instance.cpus)


def _energy(instance: Instance) -> int:
    """Return the bound by what tasks must run within spans of time."""
    from dfopt.verify.energy import energy_bound  # needs numpy

    return energy_bound(instance)


ARGUMENTS: Mapping[str, Callable[[Instance], int]] = {
    "critical-path": _critical_path,
    "idle-cpus": _idle_cpus,
    "arrivals": _arrivals,
    "energy": _energy,
}
"""The arguments, and the bounds that they give."""
