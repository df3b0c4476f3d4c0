"""Checks a schedule and recomputes its cost from the definition of the switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.schedule import Schedule

SHOWN_NAMES = 3


def recompute(instance: Instance, schedule: Schedule) -> tuple[list[int] | None, list[str]]:
    """Return the cost of each CPU (None if this is no schedule), and the errors."""
    problems = list(_misplaced(instance, schedule))
    if problems:
        return None, problems
    tasks = instance.tasks_by_name()
    orders = [[tasks[name] for name in cpu.tasks] for cpu in schedule.cpus]
    costs, problems = _run(instance, orders, [cpu.starts for cpu in schedule.cpus])
    if costs is not None:
        problems += [
            f"schedule.cpus[{cpu}].cost: is {claim.cost}, but its tasks cost {cost}"
            for cpu, (claim, cost) in enumerate(zip(schedule.cpus, costs, strict=True))
            if claim.cost != cost
        ]
    return costs, problems


def _misplaced(instance: Instance, schedule: Schedule) -> Iterator[str]:
    if len(schedule.cpus) != instance.cpus:
        yield f"schedule.cpus: has {len(schedule.cpus)} entries for {instance.cpus} CPUs"
    known = instance.tasks_by_name()
    used = Counter(name for cpu in schedule.cpus for name in cpu.tasks)
    for complaint, names in (
        ("has tasks that the instance has not", [name for name in used if name not in known]),
        ("runs tasks more than once", [name for name, times in used.items() if times > 1]),
        ("leaves tasks out", [name for name in known if name not in used]),
    ):
        if names:
            more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
            yield f"schedule: {complaint}: {', '.join(map(repr, names[:SHOWN_NAMES]))}{more}"
    room, unit, has_sizes = instance.room, instance.size_unit, instance.has_sizes
    for cpu, claim in enumerate(schedule.cpus):
        size = sum(instance.size_of(known[name]) for name in claim.tasks if name in known)
        if size > room and has_sizes:
            yield (
                f"schedule.cpus[{cpu}].tasks: have a size of {size * unit}, but a CPU may hold "
                f"{room * unit} at most"
            )
        elif len(claim.tasks) > room and not has_sizes:
            yield (
                f"schedule.cpus[{cpu}].tasks: are {len(claim.tasks)}, but a CPU may hold "
                f"{room} at most"
            )


def _run(
    instance: Instance,
    orders: Sequence[Sequence[Task]],
    starts: Sequence[Sequence[int] | None],
) -> tuple[list[int] | None, list[str]]:
    """Run the orders, at the given starts or else as early as possible."""
    timed = instance.objective is Objective.MAKESPAN
    problems = []
    clocks, penalties = [0] * len(orders), [0] * len(orders)
    done = [0] * len(orders)
    caches = [instance.cache(cpu) for cpu in range(len(orders))]
    unfinished = {task.id: task.multiplicity for task in instance.tasks}
    finished_at = dict.fromkeys(unfinished, 0)
    going = True
    while going:
        going = False
        for cpu, (order, given) in enumerate(zip(orders, starts, strict=True)):
            for position in range(done[cpu], len(order)):
                task = order[position]
                if any(unfinished[name] for name in task.after):
                    break
                ready = max(
                    [clocks[cpu], task.release, *(finished_at[name] for name in task.after)]
                )
                start = ready if given is None else max(ready, given[position])
                if given is not None and given[position] < ready:
                    problems.append(
                        f"schedule.cpus[{cpu}].starts[{position}]: is {given[position]}, "
                        f"but the task can start at {ready} at the earliest"
                    )
                switch = caches[cpu].enter(instance.use(task))
                penalties[cpu] += switch
                clocks[cpu] = start + switch + (task.exec if timed else 0)
                unfinished[task.id] -= 1
                finished_at[task.id] = max(finished_at[task.id], clocks[cpu])
                done[cpu] += 1
                going = True
    for cpu, order in enumerate(orders):
        if done[cpu] < len(order):
            name = order[done[cpu]].id
            problems.append(
                f"schedule.cpus[{cpu}].tasks[{done[cpu]}]: {name!r} waits for ever, "
                "because its predecessors come after it"
            )
            return None, problems
    # Without execution times, costs do not depend on when things happen.
    costs = clocks if timed else penalties
    return [cost + cache.finish() for cost, cache in zip(costs, caches, strict=True)], problems
