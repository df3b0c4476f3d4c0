"""Lower bounds that cost next to nothing, each with its certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import TopologicalSorter

from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import TaskType
from dfopt.costs.visit_bounds import (
    NOTHING,
    Bound,
    Visits,
    area_bound,
    longest_task_bound,
    parts_bound,
)
from dfopt.problem.certificate import CompleteSearch, Counting
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyMatrix

FEW_TYPES = 5_000
"""Up to 5,000 types the first bounds take less than 0.2 s."""


def cheap_bound(instance: Instance, types: Sequence[TaskType]) -> Bound:
    """Return the best of the bounds that need no search."""
    return best_of(cheap_bounds(instance, types))


def cheap_bounds(
    instance: Instance, types: Sequence[TaskType], check: Callable[[], None] = lambda: None
) -> Iterator[Bound]:
    """Yield the bounds that need no search; ``check`` may end the work by an exception."""
    yield idle_bound(instance)
    if not types:
        return
    yield critical_path_bound(instance)
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    # The first bounds of a smaller instance take less time than a limit can tell.
    if is_matrix or len(types) > FEW_TYPES:
        check()
    if is_matrix:
        yield arrivals_bound(instance)
        return
    form = ClosedForm(instance, types)
    visits = Visits(instance=instance, types=types, form=form, check=check)
    yield area_bound(visits)
    yield parts_bound(visits)
    yield longest_task_bound(visits)


def best_of(bounds: Iterable[Bound]) -> Bound:
    """Return the best bound; among equal ones preferably one with a checkable certificate."""

    def quality(bound: Bound) -> tuple[int, bool]:
        return bound.value, not isinstance(bound.certificate, CompleteSearch)

    return max(bounds, key=quality, default=NOTHING)


def idle_bound(instance: Instance) -> Bound:
    """Return a bound from the costs of idle CPUs, where there are more CPUs than tasks."""
    idle = max(0, instance.cpus - instance.task_count)
    if not idle or not instance.initial or not instance.final_write_back:
        return NOTHING
    # At best the tasks run where an idle CPU would pay most.
    costs = sorted(instance.cache(cpu).finish() for cpu in range(instance.cpus))[:idle]
    value = sum(costs) if instance.objective is Objective.TOTAL_PENALTY else costs[-1]
    if not value:
        return NOTHING
    return Bound(value=value, certificate=Counting(argument="idle-cpus", threshold=value - 1))


def critical_path_bound(instance: Instance) -> Bound:
    """Return when the longest chain of releases and execution times ends at the earliest."""
    if not instance.is_timed:
        return NOTHING
    entries = {task.id: task for task in instance.tasks}
    ends: dict[str, int] = {}
    for name in TopologicalSorter({task.id: task.after for task in instance.tasks}).static_order():
        task = entries[name]
        ready = max([task.release, *(ends[before] for before in task.after)])
        ends[name] = ready + task.exec
    value = max(ends.values(), default=0)
    if value == 0:
        return NOTHING
    return Bound(value=value, certificate=Counting(argument="critical-path", threshold=value - 1))


def arrivals_bound(instance: Instance) -> Bound:
    """Return the bound from the cheapest switch to every task, for a table of switch costs.

    All tasks but the first ones of the CPUs are switched to from another task. Which ones come
    first is not known, so the m tasks that save most by it are granted it.
    """
    numbers: Counter[str | None] = Counter()
    for task in instance.tasks:
        numbers[task.type] += task.multiplicity
    examples = {task.type: task for task in instance.tasks}
    table = CostTable(instance, [examples[name] for name in numbers])
    starts = [min(column) for column in zip(*set(map(tuple, table.start)), strict=True)]
    total = 0
    savings: list[int] = []
    for place, number in enumerate(numbers.values()):
        switches = [
            row[place] for other, row in enumerate(table.switch) if other != place or number > 1
        ]
        arrival = min(switches, default=starts[place])
        total += arrival * number
        savings += [max(0, arrival - starts[place])] * min(number, instance.cpus)
    total -= sum(sorted(savings, reverse=True)[: instance.cpus])
    if instance.objective is Objective.MAKESPAN:
        total += sum(task.exec * task.multiplicity for task in instance.tasks)
    value = total if instance.objective is Objective.TOTAL_PENALTY else -(-total // instance.cpus)
    if value <= 0:
        return NOTHING
    return Bound(value=value, certificate=Counting(argument="arrivals", threshold=value - 1))
