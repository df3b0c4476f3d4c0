"""Releases and precedence: when each task starts and ends."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from dfopt.integer_program.program import IntegerProgram
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Task

NOTES = {
    "starts_K": "when the switch to K begins",
    "ends_K": "when K has been executed",
    "makespan": "when the last CPU has finished",
    "position_K": "orders tasks that take no time: K comes after all that it waits for",
}


def add_times(
    program: IntegerProgram, instance: Instance, tasks: Mapping[str, Task], costs: CostTable
) -> None:
    """Add the times of single tasks, which CPUs run in the orders of their walks.

    Start times as variables with large constants go back to Manne (1960).
    """
    cpus = range(instance.cpus)
    starts = {label: program.number(f"starts_{label}") for label in tasks}
    ends = {label: program.number(f"ends_{label}") for label in tasks}
    makespan = program.number("makespan")
    longest = _longest(instance, costs)
    for number, (label, task) in enumerate(tasks.items()):
        switch = []
        if task.release:
            program.require(f"release_{label}", [(1, starts[label])], ">=", task.release)
        for cpu in cpus:
            switch.append((-costs.start[cpu][number], f"first_{label}_on_{cpu}"))
        for place, (other, before) in enumerate(tasks.items()):
            gap = [(1, starts[label]), (-1, ends[other])]
            if before.id in task.after:
                program.require(f"after_{other}_{label}", gap, ">=", 0)
            if other == label:
                continue
            steps = [f"next_{other}_{label}_on_{cpu}" for cpu in cpus]
            switch += [(-costs.switch[place][number], step) for step in steps]
            # Only if the task comes right after the other one on some CPU, this says anything.
            follows = [(-longest, step) for step in steps]
            program.require(f"wait_{other}_{label}", [*gap, *follows], ">=", -longest)
        length = [(1, ends[label]), (-1, starts[label]), *switch]
        program.require(f"length_{label}", length, "=", task.exec)
        finish = [(-costs.finish[number], f"last_{label}_on_{cpu}") for cpu in cpus]
        program.require(f"span_{label}", [(1, makespan), (-1, ends[label]), *finish], ">=", 0)
    if not all(task.exec for task in tasks.values()):
        _add_positions(program, instance, tasks)
    for cpu in cpus:
        idle = costs.idle[cpu]
        if idle:
            terms = [(1, makespan), *((idle, f"first_{label}_on_{cpu}") for label in tasks)]
            program.require(f"idle_{cpu}", terms, ">=", idle)


def _add_positions(program: IntegerProgram, instance: Instance, tasks: Mapping[str, Task]) -> None:
    """Require that a task comes after all that it waits for on its CPU, also if no time passes.

    There are such positions exactly if no task has to come before itself: a task has a later one
    than those that it waits for, and than the one before it on its CPU (Miller, Tucker and Zemlin
    1960).
    """
    waiting = [
        (other, label)
        for label, task in tasks.items()
        for other, before in tasks.items()
        if before.id in task.after
    ]
    if not waiting:
        return
    position = {label: program.number(f"position_{label}") for label in tasks}
    for before, after in permutations(tasks, 2):
        steps = [f"next_{before}_{after}_on_{cpu}" for cpu in range(instance.cpus)]
        later = [(1, position[after]), (-1, position[before])]
        apart = [(-len(tasks), step) for step in steps]
        program.require(f"order_{before}_{after}", [*later, *apart], ">=", 1 - len(tasks))
    for before, after in waiting:
        later = [(1, position[after]), (-1, position[before])]
        program.require(f"later_{before}_{after}", later, ">=", 1)


def _longest(instance: Instance, costs: CostTable) -> int:
    """Return a time by which some best schedule has ended, whatever its order."""
    latest = max((task.release for task in instance.tasks), default=0)
    into: list[tuple[int, ...]] = list(zip(*costs.switch, *costs.start, strict=True))
    return latest + sum(map(max, into)) + sum(costs.exec)
