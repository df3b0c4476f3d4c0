"""The integer program of an instance: what its tasks are, and what CPUs pay for them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from dfopt.costs.task_types import distinguishing
from dfopt.errors import MethodError
from dfopt.integer_program import orders, times
from dfopt.integer_program.program import IntegerProgram
from dfopt.problem.cache import CacheState
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.render import counted

MOST_VARIABLES = 1_000_000
"""At most 1,000,000 variables: a file with more of them is of no use to anybody."""

LONGEST_LABEL = 40
"""Characters of a label: names of variables hold two of them, and some readers take 255."""

MOST_NAMED = 6
"""At most six tasks of a kind are named in the notes."""

NOTES = {
    "runs_K_on_P": "how many tasks of kind K CPU P runs",
    "cost_of_P": "what CPU P pays; under makespan with execution times",
    "largest": "the largest of these costs",
    "makespan": "the largest of these costs",
    "visits_F_on_P": "1 if CPU P runs tasks of fragment F",
    "spared_F_on_P": "1 if fragment F comes first on CPU P, and is not paid for",
}


class TaskKind(NamedTuple):
    """Tasks that cost the same and take the same room, wherever they run.

    Parameters
    ----------
    label
        That of the first of them.
    task
        One of their entries in the instance.
    number
        How many tasks there are.
    names
        Ids of their entries.
    """

    label: str
    task: Task
    number: int
    names: tuple[str, ...]


def integer_program(instance: Instance) -> IntegerProgram:
    """Return a compact integer program whose least value is that of the best schedule.

    Under g it counts the fragments that each CPU visits. Under f and matrix each CPU takes a walk
    through the kinds of its tasks. Where tasks may have to wait, under releases and precedence,
    each task is a kind of its own and has its times.

    Parameters
    ----------
    instance
        The instance. If it is infeasible, so is the program.

    Raises
    ------
    MethodError
        When it would have more than 1,000,000 variables.
    """
    kinds, cpus, timed = kinds_of(instance), range(instance.cpus), instance.is_timed
    numbers = {kind.label: kind.number for kind in kinds}
    counts_visits = isinstance(instance.penalty, PenaltyG) and not timed
    size = instance.cpus * len(kinds) * (3 if counts_visits else 2 * len(kinds) + 4)
    if size > MOST_VARIABLES:
        raise MethodError(
            f"the integer program would have some {size} variables, more than "
            f"{MOST_VARIABLES}; take a smaller instance"
        )
    program = IntegerProgram(labels_of([instance.name or "instance"])[0])
    for label, number in numbers.items():
        runs = [(1, program.integer(f"runs_{label}_on_{cpu}", number)) for cpu in cpus]
        program.require(f"all_{label}", runs, "=", number)
    notes = NOTES
    if counts_visits:
        penalties = [_add_visits(program, instance, kinds, cpu) for cpu in cpus]
    else:
        costs = CostTable(instance, [kind.task for kind in kinds])
        penalties = [orders.add_walk(program, numbers, costs, cpu) for cpu in cpus]
        notes = notes | orders.NOTES
    if timed:
        notes = notes | times.NOTES
        times.add_times(program, instance, {kind.label: kind.task for kind in kinds}, costs)
        program.objective = [(1, "makespan")]
    else:
        _add_costs(program, instance, kinds, penalties)
    if instance.room < instance.total_size:
        for cpu in cpus:
            held = [(instance.size_of(kind.task), f"runs_{kind.label}_on_{cpu}") for kind in kinds]
            program.require(f"capacity_of_{cpu}", held, "<=", instance.room)
    beginnings = {name.partition("_")[0]: name for name in notes}
    used = dict.fromkeys(name.partition("_")[0] for name in program.variables)
    program.notes = [
        _title(instance),
        "",
        *(f"{beginnings[word]:<15} {notes[beginnings[word]]}" for word in used),
        *[""][: len(kinds)],
        *(_note(kind, instance) for kind in kinds),
    ]
    return program


def _add_visits(
    program: IntegerProgram, instance: Instance, kinds: list[TaskKind], cpu: int
) -> list[tuple[int, str]]:
    """Add what a CPU visits under g without waiting, and return the terms of its penalty.

    Under g some best order runs the tasks of a fragment one after the other. So a CPU pays
    T_r + T_w for each fragment that it visits, but not for the first one if that entry is free.
    """
    fragments = list(dict.fromkeys(str(kind.task.df) for kind in kinds))
    label = dict(zip(fragments, labels_of(fragments), strict=True))
    visits = {df: program.integer(f"visits_{label[df]}_on_{cpu}") for df in fragments}
    for kind in kinds:
        most = max(1, min(kind.number, instance.room // instance.size_of(kind.task)))
        terms = [(1, f"runs_{kind.label}_on_{cpu}"), (-most, visits[str(kind.task.df)])]
        program.require(f"visit_{kind.label}_on_{cpu}", terms, "<=", 0)
    state = instance.initial_states[cpu]
    can_be_spared: list[str] = []
    if isinstance(state, CacheState):
        can_be_spared = [df for df in fragments if df == state.df]
    elif state == "unknown" or not instance.cold_start:
        can_be_spared = fragments
    spared = {df: program.integer(f"spared_{label[df]}_on_{cpu}") for df in can_be_spared}
    for df, name in spared.items():
        program.require(f"spare_{label[df]}_on_{cpu}", [(1, name), (-1, visits[df])], "<=", 0)
    if len(spared) > 1:
        program.require(f"one_spared_on_{cpu}", [(1, name) for name in spared.values()], "<=", 1)
    assert isinstance(instance.penalty, PenaltyG)
    price = instance.penalty.reading(0)
    return [(price, name) for name in visits.values()] + [
        (-price, name) for name in spared.values()
    ]


def _add_costs(
    program: IntegerProgram,
    instance: Instance,
    kinds: list[TaskKind],
    penalties: list[list[tuple[int, str]]],
) -> None:
    """Add what CPUs pay where nothing waits, and the objective."""
    costs = [program.number(f"cost_of_{cpu}") for cpu in range(instance.cpus)]
    executes = instance.objective is Objective.MAKESPAN
    for cpu, (cost, penalty) in enumerate(zip(costs, penalties, strict=True)):
        paid = [(-coefficient, name) for coefficient, name in penalty]
        if executes:
            paid += [(-kind.task.exec, f"runs_{kind.label}_on_{cpu}") for kind in kinds]
        program.require(f"pays_{cpu}", [(1, cost), *paid], "=", instance.cache(cpu).finish())
    program.objective = [(1, cost) for cost in costs]
    if instance.objective is not Objective.TOTAL_PENALTY:
        worst = program.number("makespan" if executes else "largest")
        for cpu, cost in enumerate(costs):
            program.require(f"largest_{cpu}", [(1, worst), (-1, cost)], ">=", 0)
        program.objective = [(1, worst)]


def kinds_of(instance: Instance) -> list[TaskKind]:
    """Return the kinds of tasks of an instance, in the order of their first task.

    Where tasks may have to wait, each is a kind of its own.
    """
    if instance.is_timed:
        tasks = instance.tasks_by_name()
        return [
            TaskKind(label, task, 1, (name,))
            for label, (name, task) in zip(labels_of(tasks), tasks.items(), strict=True)
        ]
    groups: dict[Hashable, list[Task]] = {}
    for task in instance.tasks:
        groups.setdefault(distinguishing(instance, task, timed=False), []).append(task)
    labels = labels_of(members[0].id for members in groups.values())
    return [
        TaskKind(
            label,
            members[0],
            sum(task.multiplicity for task in members),
            tuple(task.id for task in members),
        )
        for label, members in zip(labels, groups.values(), strict=True)
    ]


def labels_of(names: Iterable[str]) -> list[str]:
    """Return different labels for names, of letters, digits and dots.

    Underscores divide the parts of a variable's name, so labels have none.

    Examples
    --------
    >>> labels_of(["web", "web#1", "web.1", "ä b"])
    ['web', 'web.1', 'web.1.2', '..b']
    """
    labels: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]", ".", name)[:LONGEST_LABEL] or "."
        label, copy = plain, 1
        while label in labels:
            copy += 1
            label = f"{plain}.{copy}"
        labels[label] = None
    return list(labels)


def _note(kind: TaskKind, instance: Instance) -> str:
    """Return a line that says which tasks are of a kind."""
    named = ", ".join(kind.names[:MOST_NAMED])
    more = ", ..." if len(kind.names) > MOST_NAMED else ""
    task = kind.task
    what = [f"type {task.type}" if isinstance(instance.penalty, PenaltyMatrix) else f"{task.df}"]
    if isinstance(instance.penalty, PenaltyF):
        what += [f"{task.lines} lines", str(task.leaves)]
    if instance.objective is Objective.MAKESPAN:
        what.append(f"exec {task.exec}")
    if instance.has_sizes:
        what.append(f"size {task.size}")
    return f"{kind.label}: {counted(kind.number, 'task')} ({named}{more}): {', '.join(what)}"


def _title(instance: Instance) -> str:
    """Return what the program is about."""
    letter = str(instance.penalty.__struct_config__.tag)
    waiting = ", releases or precedence" if instance.is_timed else ""
    return (
        f"{instance.name or 'instance'}: {counted(instance.task_count, 'task')} on "
        f"{counted(instance.cpus, 'CPU')}, penalty {letter}, {instance.objective}{waiting}"
    )
