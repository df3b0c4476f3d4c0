"""Tries all schedules of a tiny instance for a better one: the check of ``exhaustive``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dfopt.checks import LARGEST_TOTAL
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.switch_costs import finish_cost, idle_cost, start_cost, switch_cost

MOST_TASKS = 10
MOST_TASKS_WITH_PRECEDENCE = 7

NEVER = 4 * LARGEST_TOTAL
"""More than any cost."""

Start = tuple[tuple[int, ...], int]
"""The cost of a CPU's initial state: with each task as its first one, and without tasks."""


def most_tasks(instance: Instance) -> int:
    """Return the most tasks that such an instance may have here."""
    return MOST_TASKS_WITH_PRECEDENCE if instance.has_precedence else MOST_TASKS


def has_schedule_below(instance: Instance, bound: int) -> bool:
    """Return whether some schedule of the instance has an objective less than ``bound``."""
    tasks = [task for task in instance.tasks for _ in range(task.multiplicity)]
    starts = Counter(
        (
            tuple(start_cost(instance, cpu, task) for task in tasks),
            idle_cost(instance, cpu),
        )
        for cpu in range(instance.cpus)
    )
    # Of CPUs that start alike, no more can be used than there are tasks.
    cpus = [start for start, count in starts.items() for _ in range(min(count, len(tasks)))]
    idle = [start[1] for start, count in starts.items() for _ in range(len(tasks), count)]
    if instance.has_precedence:
        return max(idle, default=0) < bound and _dispatch_below(instance, tasks, cpus, bound)
    return _least_objective(instance, tasks, cpus, idle) < bound


def _least_objective(
    instance: Instance, tasks: Sequence[Task], cpus: Sequence[Start], idle: Sequence[int]
) -> int:
    """Return the least objective: one CPU after the other takes a set of tasks, a bit for each.

    ``idle`` has the costs of the CPUs that run nothing in any schedule.
    """
    added = instance.objective is Objective.TOTAL_PENALTY
    costs_by_start = {start: _least_costs(instance, tasks, start) for start in set(cpus)}
    always = sum(idle) if added else max(idle, default=0)
    least = [always] + [NEVER] * (2 ** len(tasks) - 1)  # for each set, with the CPUs so far
    for start in cpus:
        costs = costs_by_start[start]
        least = [
            min(
                least[held ^ here] + costs[here] if added else max(least[held ^ here], costs[here])
                for here in _subsets(held)
            )
            for held in range(len(least))
        ]
    return least[-1]


def _subsets(held: int) -> Iterator[int]:
    here = held
    while here:
        yield here
        here = (here - 1) & held
    yield 0


def _least_costs(instance: Instance, tasks: Sequence[Task], start: Start) -> list[int]:
    """Return the cost of the best order of each set of tasks, waits for releases included.

    To finish earlier is never worse, so that for each set only the earliest finish with each last
    task matters (Held and Karp).
    """
    timed = instance.objective is Objective.MAKESPAN
    switches, idle = start
    least = [idle] + [NEVER] * (2 ** len(tasks) - 1)
    earliest: list[dict[int, int]] = [{} for _ in least]  # for each set, by the last task
    for held, finishes in enumerate(earliest):
        if held.bit_count() > instance.tasks_per_cpu:
            continue
        for last, finish in finishes.items():
            least[held] = min(least[held], finish + finish_cost(instance, tasks[last]))
        for index, task in enumerate(tasks):
            if held >> index & 1:
                continue
            begins = [
                max(finish, task.release) + switch_cost(instance.penalty, tasks[last], task)
                for last, finish in finishes.items()
            ]
            begin = min(begins) if held else task.release + switches[index]
            earliest[held | 1 << index][index] = begin + (task.exec if timed else 0)
    return least


def _dispatch_below(
    instance: Instance, tasks: Sequence[Task], cpus: Sequence[Start], bound: int
) -> bool:
    """Return whether some way to dispatch all tasks, ready ones first, stays below the bound.

    A state is when each task has finished (0 if no task waits for it, None if it has not), and
    for each CPU the costs of switching to each task next and of ending now, the number of tasks it
    has had, and when it is free. States that agree in this have the same future.
    """
    switches = [tuple(switch_cost(instance.penalty, a, b) for b in tasks) for a in tasks]
    awaited = {name for task in tasks for name in task.after}
    waits_for = [[i for i, other in enumerate(tasks) if other.id in task.after] for task in tasks]
    nothing: tuple[int | None, ...] = (None,) * len(tasks)
    states = {(nothing, tuple(sorted((start, idle, 0, 0) for start, idle in cpus)))}
    for _ in tasks:
        following = set()
        for finished, running in states:
            for index, task in enumerate(tasks):
                awaits = [finished[i] for i in waits_for[index]]
                if finished[index] is not None or None in awaits:
                    continue
                ready = max([task.release, *(time or 0 for time in awaits)])
                for cpu, (costs, _, count, free) in enumerate(running):
                    finish = max(free, ready) + costs[index] + task.exec
                    full = count == instance.tasks_per_cpu
                    if full or finish >= bound or running[cpu] in running[:cpu]:
                        continue
                    time = finish if task.id in awaited else 0
                    now = (switches[index], finish_cost(instance, task), count + 1, finish)
                    others = (*running[:cpu], *running[cpu + 1 :])
                    following.add(
                        (
                            (*finished[:index], time, *finished[index + 1 :]),
                            tuple(sorted((*others, now))),
                        )
                    )
        states = following
    return any(all(free + end < bound for _, end, _, free in running) for _, running in states)
