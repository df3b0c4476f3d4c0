"""Small random instances whose tasks have sizes, and their optimum by plain enumeration."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import permutations, product

from dfopt import replace
from dfopt.problem.instance import Instance, Task
from dfopt.problem.schedule import DeadlockError, combined_cost, evaluate, order_cost
from tests.solvers.drawn import KINDS, drawn_instances

LARGEST_SIZE = 5


def sized_instances(
    number: int, *, seed: int, most_tasks: int = 6, kinds: tuple[str, ...] = KINDS
) -> Iterator[Instance]:
    """Yield instances with sizes; in some of them, the tasks do not fit."""
    source = random.Random(seed)
    for instance in drawn_instances(number, seed=seed, most_tasks=most_tasks, kinds=kinds):
        tasks = [replace(task, size=source.randint(1, LARGEST_SIZE)) for task in instance.tasks]
        total = sum(task.size * task.multiplicity for task in tasks)
        share = -(-total // instance.cpus)
        largest = max(task.size for task in tasks)
        capacity = max(share, largest) + source.choice([-1, 0, 0, 0, 1, 2, 4])
        yield replace(
            instance,
            tasks=tuple(tasks),
            capacity=source.choice(["balanced", max(1, capacity), max(1, capacity)]),
        )


def least_objective(instance: Instance) -> int | None:
    """Return the optimum by trying everything; None if the tasks do not fit."""
    tasks = [replace(task, id=name, count=None) for task in instance.tasks for name in task.names]
    capacity = capacity_of(instance)
    best = None
    for places in product(range(instance.cpus), repeat=len(tasks)):
        held = [
            [task for task, place in zip(tasks, places, strict=True) if place == cpu]
            for cpu in range(instance.cpus)
        ]
        if any(sum(task.size for task in own) > capacity for own in held):
            continue
        value = _least(instance, held)
        if value is not None and (best is None or value < best):
            best = value
    return best


def capacity_of(instance: Instance) -> int:
    """Return the capacity of a CPU as the documentation defines it."""
    sizes = [task.size for task in instance.tasks for _ in task.names]
    if instance.capacity == "unlimited":
        return sum(sizes)
    if instance.capacity == "balanced":
        unit = max(
            divisor for divisor in range(1, min(sizes) + 1) if not any(s % divisor for s in sizes)
        )
        share = -(-sum(sizes) // (unit * instance.cpus)) * unit
        return max(share, *sizes)
    return int(instance.capacity)


def _least(instance: Instance, held: list[list[Task]]) -> int | None:
    if not instance.is_timed:
        return combined_cost(
            instance.objective,
            [_cheapest(instance, cpu, tuple(own)) for cpu, own in enumerate(held)],
        )
    values = []
    for orders in product(*(permutations([task.id for task in own]) for own in held)):
        try:
            values.append(evaluate(instance, orders).value(instance.objective))
        except DeadlockError:
            continue
    return min(values, default=None)


@cache
def _cheapest(instance: Instance, cpu: int, tasks: tuple[Task, ...]) -> int:
    return min(order_cost(instance, cpu, order) for order in permutations(tasks))
