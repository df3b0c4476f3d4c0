"""Releases and precedence: when each task starts and ends."""

from __future__ import annotations

from dfopt.integer_program.labels import labels_of
from dfopt.integer_program.program import ProgramBuilder
from dfopt.problem.instance import Instance
from dfopt.problem.switch_costs import finish_cost, idle_cost, start_cost, switch_cost

NOTES = {
    "runs_T_on_P": "1 if CPU P runs task T",
    "first_T_on_P": "1 if it begins with T",
    "last_T_on_P": "1 if it ends with T",
    "next_T_U_on_P": "1 if U comes right after T",
    "starts_T": "when the switch to T begins",
    "ends_T": "when T has been executed",
    "position_T": "grows along an order, so that tasks without length form no circle",
    "makespan": "when the last CPU has finished",
}


def add_times(builder: ProgramBuilder, instance: Instance) -> dict[str, str]:
    """Add the orders and times of single tasks, and return their labels.

    Start times as variables with large constants go back to Manne (1960), positions to Miller,
    Tucker and Zemlin (1960).
    """
    tasks = instance.tasks_by_name()
    label = dict(zip(tasks, labels_of(tasks), strict=True))
    cpus = range(instance.cpus)
    runs = {(t, p): builder.binary(f"runs_{label[t]}_on_{p}") for t in tasks for p in cpus}
    first = {(t, p): builder.binary(f"first_{label[t]}_on_{p}") for t in tasks for p in cpus}
    last = {(t, p): builder.binary(f"last_{label[t]}_on_{p}") for t in tasks for p in cpus}
    step = {
        (t, u, p): builder.binary(f"next_{label[t]}_{label[u]}_on_{p}")
        for t in tasks
        for u in tasks
        if t != u
        for p in cpus
    }
    starts = {t: builder.number(f"starts_{label[t]}") for t in tasks}
    ends = {t: builder.number(f"ends_{label[t]}") for t in tasks}
    position = {t: builder.number(f"position_{label[t]}") for t in tasks}
    longest = _longest(instance)

    for t in tasks:
        builder.require(f"all_{label[t]}", [(1, runs[t, p]) for p in cpus], "=", 1)
    for p in cpus:
        if tasks:
            builder.require(f"one_first_on_{p}", [(1, first[t, p]) for t in tasks], "<=", 1)
        for t in tasks:
            into = [(1, step[u, t, p]) for u in tasks if u != t]
            out = [(1, step[t, u, p]) for u in tasks if u != t]
            here = (-1, runs[t, p])
            builder.require(f"into_{label[t]}_on_{p}", [(1, first[t, p]), *into, here], "=", 0)
            builder.require(f"out_of_{label[t]}_on_{p}", [(1, last[t, p]), *out, here], "=", 0)

    for t, task in tasks.items():
        switch = [(-start_cost(instance, p, task), first[t, p]) for p in cpus] + [
            (-switch_cost(instance.penalty, before, task), step[u, t, p])
            for u, before in tasks.items()
            if u != t
            for p in cpus
        ]
        builder.require(
            f"length_{label[t]}", [(1, ends[t]), (-1, starts[t]), *switch], "=", task.exec
        )
        if task.release:
            builder.require(f"release_{label[t]}", [(1, starts[t])], ">=", task.release)
        for u, before in tasks.items():
            if before.id in task.after:
                terms = [(1, starts[t]), (-1, ends[u])]
                builder.require(f"after_{label[u]}_{label[t]}", terms, ">=", 0)
            if u != t:
                # Only if t comes right after u on some CPU, these two say anything.
                pair = f"{label[u]}_{label[t]}"
                follows = [(-longest, step[u, t, p]) for p in cpus]
                terms = [(1, starts[t]), (-1, ends[u]), *follows]
                builder.require(f"wait_{pair}", terms, ">=", -longest)
                follows = [(-len(tasks), step[u, t, p]) for p in cpus]
                terms = [(1, position[t]), (-1, position[u]), *follows]
                builder.require(f"order_{pair}", terms, ">=", 1 - len(tasks))

    makespan = builder.number("makespan")
    for t, task in tasks.items():
        finish = [(-finish_cost(instance, task), last[t, p]) for p in cpus]
        builder.require(f"span_{label[t]}", [(1, makespan), (-1, ends[t]), *finish], ">=", 0)
    for p in cpus:
        idle = idle_cost(instance, p)
        if idle:
            terms = [(1, makespan), *((idle, first[t, p]) for t in tasks)]
            builder.require(f"idle_{p}", terms, ">=", idle)
    return label


def _longest(instance: Instance) -> int:
    """Return a time by which some best schedule has ended, whatever its order."""
    penalty = instance.penalty
    longest = max((task.release for task in instance.tasks), default=0)
    for task in instance.tasks:
        into = [switch_cost(penalty, before, task) for before in instance.tasks]
        into += [start_cost(instance, cpu, task) for cpu in range(instance.cpus)]
        longest += task.multiplicity * (max(into) + task.exec)
    return longest
