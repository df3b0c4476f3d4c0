"""A bound for tables of switch costs: every task costs at least its cheapest arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dfopt.bounds.bound import NOTHING, Bound
from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import Counting
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix


def arrivals_bound(instance: Instance, types: Sequence[TaskType]) -> Bound:
    """Return the bound from the cheapest switch to every task.

    All tasks but the first ones of the CPUs are switched to from another task. Which ones come
    first is not known, so the m tasks that save most by it are granted it.
    """
    if not types:
        return NOTHING
    arrivals, starts = _cheapest_arrivals(instance, types), _cheapest_starts(instance, types)
    total = 0
    savings: list[int] = []
    for equal_tasks in types:
        name = equal_tasks.example.type
        arrival = arrivals.get(name, starts[name])
        if instance.objective is Objective.MAKESPAN:
            total += equal_tasks.example.exec * equal_tasks.count
        total += arrival * equal_tasks.count
        savings += [max(0, arrival - starts[name])] * min(equal_tasks.count, instance.cpus)
    total -= sum(sorted(savings, reverse=True)[: instance.cpus])
    value = total if instance.objective is Objective.TOTAL_PENALTY else -(-total // instance.cpus)
    if value <= 0:
        return NOTHING
    return Bound(value=value, certificate=Counting(argument="arrivals", threshold=value - 1))


def _cheapest_arrivals(instance: Instance, types: Sequence[TaskType]) -> dict[str | None, int]:
    """Return the cheapest switch to each type of the table from any other task, if there is one.

    Under a table only the types in it count. So they are compared, and not all pairs of tasks.
    """
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyMatrix)
    tasks: Counter[str | None] = Counter()
    for equal_tasks in types:
        tasks[equal_tasks.example.type] += equal_tasks.count
    numbers = [number for number, name in enumerate(penalty.types) if name in tasks]
    columns = list(zip(*(penalty.switch[number] for number in numbers), strict=True))
    arrivals: dict[str | None, int] = {}
    for place, number in enumerate(numbers):
        name, costs = penalty.types[number], columns[number]
        if tasks[name] == 1:
            costs = costs[:place] + costs[place + 1 :]
        if costs:
            arrivals[name] = min(costs)
    return arrivals


def _cheapest_starts(instance: Instance, types: Sequence[TaskType]) -> dict[str | None, int]:
    """Return the least that each type of the table costs as a CPU's first one."""
    cpus = {state: cpu for cpu, state in enumerate(instance.initial_states)}.values()
    examples = {equal_tasks.example.type: equal_tasks.example for equal_tasks in types}
    return {
        name: min(instance.cache(cpu).enter(instance.use(task)) for cpu in cpus)
        for name, task in examples.items()
    }
