"""A bound for tables of switch costs: every task costs at least its cheapest arrival."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.bounds.bound import NOTHING, Bound
from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.switch_costs import start_cost, switch_cost


def arrivals_bound(instance: Instance, types: Sequence[TaskType]) -> Bound:
    """Return the bound from the cheapest switch to every task.

    All tasks but the first ones of the CPUs are switched to from another task. Which ones come
    first is not known, so the m tasks that save most by it are granted it.
    """
    if not types:
        return NOTHING
    total = 0
    savings: list[int] = []
    for kind, one in enumerate(types):
        task = one.example
        sources = [
            switch_cost(instance.penalty, other.example, task)
            for place, other in enumerate(types)
            if place != kind or other.count > 1
        ]
        start = min(start_cost(instance, cpu, task) for cpu in range(instance.cpus))
        arrival = min(sources, default=start)
        if instance.objective is Objective.MAKESPAN:
            total += task.exec * one.count
        total += arrival * one.count
        savings += [max(0, arrival - start)] * min(one.count, instance.cpus)
    total -= sum(sorted(savings, reverse=True)[: instance.cpus])
    value = total if instance.objective is Objective.TOTAL_PENALTY else -(-total // instance.cpus)
    if value <= 0:
        return NOTHING
    return Bound(value=value, certificate=CompleteSearch(threshold=value - 1, solver="arrivals"))
