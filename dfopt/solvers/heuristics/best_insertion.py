"""First schedules by best insertion: each task goes where it costs least at that moment.

It fits every instance without waits, since it asks for nothing but the costs of switches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dfopt.problem.instance import Objective
from dfopt.solvers.search import Search

Integers = npt.NDArray[np.int64]

MOST_TASKS = 5_000
"""More tasks are dealt out instead: insertion takes time that grows with the square of theirs."""

NOWHERE = np.iinfo(np.int64).max
"""What it costs to put a task where there is no room."""


def insert_all(search: Search) -> list[list[int]] | None:
    """Return orders of task types, one per CPU, made by best insertion.

    Where the CPU that pays most counts, tasks go where this CPU pays least, and among such places
    where the task costs least; long tasks come first.

    Returns
    -------
    list of list of int or None
        None if some task finds no room in the end, or if there are too many.
    """
    instance, table = search.instance, search.costs
    if instance.task_count > MOST_TASKS:
        return None
    end = len(search.types)
    costs = table.between()
    # Each arc is a place: what stands before it and behind it, and on which CPU.
    arcs = instance.task_count + instance.cpus
    before, after, cpu_of = (np.full(arcs, end, dtype=np.int64) for _ in range(3))
    before[: instance.cpus] = end + 1 + np.arange(instance.cpus)
    cpu_of[: instance.cpus] = np.arange(instance.cpus)
    clocks = np.array(table.idle, dtype=np.int64)
    room = np.full(instance.cpus, instance.room, dtype=np.int64)
    next_arc = np.full(arcs, -1, dtype=np.int64)
    by_worst = instance.objective is not Objective.TOTAL_PENALTY
    places = instance.cpus
    for task_type in _sequence(search):
        search.check()
        b, a, cpus = before[:places], after[:places], cpu_of[:places]
        growth = costs[b, task_type] + costs[task_type, a] - costs[b, a]
        fits = room[cpus] >= search.types[task_type].size
        if not fits.any():
            return None
        value = np.maximum(clocks[cpus] + growth, clocks.max()) if by_worst else growth
        value = np.where(fits, value, NOWHERE)
        best = np.flatnonzero(value == value.min())
        place = int(best[growth[best].argmin()])
        cpu = int(cpu_of[place])
        clocks[cpu] += growth[place]
        room[cpu] -= search.types[task_type].size
        before[places], after[places], cpu_of[places] = task_type, after[place], cpu
        after[place] = task_type
        next_arc[places], next_arc[place] = next_arc[place], places
        places += 1
    orders: list[list[int]] = []
    for cpu in range(instance.cpus):
        order, arc = [], int(next_arc[cpu])
        while arc >= 0:
            order.append(int(before[arc]))
            arc = int(next_arc[arc])
        orders.append(order)
    return orders


def _sequence(search: Search) -> list[int]:
    """Return all tasks: long ones first, in a mixed-up order otherwise."""
    tasks = [number for number, equal in enumerate(search.types) for _ in equal.names]
    np.random.default_rng(search.seed).shuffle(tasks)
    return sorted(
        tasks, key=lambda number: (-search.types[number].size, -search.costs.exec[number])
    )
