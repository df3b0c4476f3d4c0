"""A bound by energy: what tasks that wait must run within a span of time.

The head of a task is the earliest time at which the switch to it can begin, its tail the least
time between its end and the end of all. If everything is to end at z, the head and z less the tail
limit when the task runs, so that some of it must lie within a span [s, t]. No more than m (t - s)
fits there (Baptiste, Le Pape and Nuijten 1999: energetic reasoning).
"""

from __future__ import annotations

from graphlib import TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task

MOST_TASKS = 200
"""Instances with more tasks have no bound of this kind: the spans are too many."""

Integers = NDArray[np.int64]


def energy_bound(instance: Instance) -> int:
    """Return one more than the largest end that is refuted; 0 where the bound is not made for."""
    if instance.objective is not Objective.MAKESPAN or not 0 < instance.task_count <= MOST_TASKS:
        return 0
    lengths, heads, tails = heads_and_tails(instance)
    possible = int((heads + lengths + tails).max())
    refuted = possible - 1
    possible += int(lengths.sum())
    while possible - refuted > 1:
        middle = (possible + refuted) // 2
        if _is_refuted(instance.cpus, lengths, heads, middle - tails):
            refuted = middle
        else:
            possible = middle
    return refuted + 1


def heads_and_tails(instance: Instance) -> tuple[Integers, Integers, Integers]:
    """Return the least time of each single task with its switch, its head and its tail.

    All tasks that a task waits for, directly or not, run before it. Those of them with heads of h
    or more take at least an m-th of their times together, from h on. So it is after it, too.
    """
    tasks = [task for task in instance.tasks for _ in range(task.multiplicity)]
    costs = CostTable(instance, tasks)
    lengths = _least_times(costs, tasks)
    before = [
        [other for other, earlier in enumerate(tasks) if earlier.id in set(task.after)]
        for task in tasks
    ]
    after: list[list[int]] = [[] for _ in tasks]
    for task, others in enumerate(before):
        for other in others:
            after[other].append(task)
    order = list(TopologicalSorter(dict(enumerate(before))).static_order())
    releases = [task.release for task in tasks]
    heads = _latest(order, before, lengths, releases, instance.cpus)
    tails = _latest(order[::-1], after, lengths, _least_departures(costs, tasks), instance.cpus)
    return np.array(lengths), np.array(heads), np.array(tails)


def _least_times(costs: CostTable, tasks: list[Task]) -> list[int]:
    """Return the execution and the cheapest switch of each task."""
    starts = set(map(tuple, costs.start))
    return [
        task.exec
        + min(row[number] for row in (*starts, *costs.switch[:number], *costs.switch[number + 1 :]))
        for number, task in enumerate(tasks)
    ]


def _least_departures(costs: CostTable, tasks: list[Task]) -> list[int]:
    """Return for each task what comes at least after it: what ends its CPU, or another task."""
    return [
        min(
            [
                costs.finish[number],
                *(
                    cost + other.exec
                    for place, (cost, other) in enumerate(zip(row, tasks, strict=True))
                    if place != number
                ),
            ]
        )
        for number, row in enumerate(costs.switch)
    ]


def _latest(
    order: list[int], before: list[list[int]], lengths: list[int], least: list[int], cpus: int
) -> list[int]:
    """Return for each task how long it waits at least for all that must run before it."""
    waits = list(least)
    ancestors: list[set[int]] = [set() for _ in order]
    for task in order:
        for other in before[task]:
            ancestors[task] |= ancestors[other] | {other}
            waits[task] = max(waits[task], waits[other] + lengths[other])
        work = 0
        for other in sorted(ancestors[task], key=waits.__getitem__, reverse=True):
            work += lengths[other]
            waits[task] = max(waits[task], waits[other] - (-work // cpus))
    return waits


def _is_refuted(cpus: int, lengths: Integers, heads: Integers, deadlines: Integers) -> bool:
    """Return whether some span is too short for what must run within it."""
    if (heads + lengths > deadlines).any():
        return True
    latest = deadlines - lengths  # the latest begin of each task with its switch
    ends = np.unique(np.concatenate([deadlines, heads + lengths]))
    for start in np.unique(np.concatenate([heads, latest])).tolist():
        spans = ends[ends > start]
        # What is left of a task that begins at its head, and what has run if it ends at its latest.
        if_early = np.clip(heads + lengths - start, 0, lengths)
        if_late = np.clip(spans[:, None] - latest, 0, lengths)
        inside = np.minimum(np.minimum(if_early, if_late), (spans - start)[:, None])
        # The work of each CPU, rounded up: the time of all CPUs together may exceed 64 bits.
        if (-(-inside.sum(axis=1) // cpus) > spans - start).any():
            return True
    return False
