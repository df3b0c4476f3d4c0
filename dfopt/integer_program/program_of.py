"""The integer program of an instance."""

from __future__ import annotations

from collections.abc import Mapping

from dfopt.errors import MethodError
from dfopt.integer_program import contents, orders, times
from dfopt.integer_program.labels import TaskKind, kinds_of, labels_of
from dfopt.integer_program.program import IntegerProgram, ProgramBuilder
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG

NOTES = {
    "runs_K_on_P": "how many tasks of kind K CPU P runs",
    "cost_of_P": "what CPU P pays; under makespan with execution times",
    "largest": "the largest of these costs",
    "makespan": "the largest of these costs",
}

MOST_VARIABLES = 1_000_000
"""At most 1,000,000 variables: a file with more of them is of no use to anybody."""


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
    kinds = kinds_of(instance)
    _check_size(instance, len(kinds))
    builder = ProgramBuilder()
    for kind in kinds:
        runs = [
            builder.integer(f"runs_{kind.label}_on_{cpu}", kind.number)
            for cpu in range(instance.cpus)
        ]
        builder.require(f"all_{kind.label}", [(1, name) for name in runs], "=", kind.number)
    counts_visits = isinstance(instance.penalty, PenaltyG) and not instance.is_timed
    formulation = contents if counts_visits else orders
    penalties = formulation.add_penalties(builder, instance, kinds)
    notes = NOTES | formulation.NOTES
    if instance.is_timed:
        notes |= times.NOTES
        times.add_times(builder, instance, kinds)
        objective = [(1, "makespan")]
    else:
        objective = _add_costs(builder, instance, kinds, penalties)
    if instance.room < instance.total_size:
        for cpu in range(instance.cpus):
            held = [(instance.size_of(kind.task), f"runs_{kind.label}_on_{cpu}") for kind in kinds]
            builder.require(f"capacity_of_{cpu}", held, "<=", instance.room)
    return IntegerProgram(
        name=labels_of([instance.name or "instance"])[0],
        notes=(
            _title(instance),
            "",
            *_legend(builder, notes),
            *[""][: len(kinds)],
            *(kind.note(instance) for kind in kinds),
        ),
        variables=tuple(builder.variables),
        constraints=tuple(builder.constraints),
        objective=tuple(objective),
    )


def _add_costs(
    builder: ProgramBuilder,
    instance: Instance,
    kinds: list[TaskKind],
    penalties: list[list[tuple[int, str]]],
) -> list[tuple[int, str]]:
    """Add what CPUs pay where nothing waits, and return the terms of the objective."""
    cpus = range(instance.cpus)
    costs = [builder.number(f"cost_of_{cpu}") for cpu in cpus]
    executes = instance.objective is Objective.MAKESPAN
    for cpu, (cost, penalty) in enumerate(zip(costs, penalties, strict=True)):
        paid = [(-coefficient, name) for coefficient, name in penalty]
        if executes:
            paid += [(-kind.task.exec, f"runs_{kind.label}_on_{cpu}") for kind in kinds]
        builder.require(f"pays_{cpu}", [(1, cost), *paid], "=", instance.cache(cpu).finish())
    if instance.objective is Objective.TOTAL_PENALTY:
        return [(1, cost) for cost in costs]
    worst = builder.number("makespan" if executes else "largest")
    for cpu, cost in enumerate(costs):
        builder.require(f"largest_{cpu}", [(1, worst), (-1, cost)], ">=", 0)
    return [(1, worst)]


def _legend(builder: ProgramBuilder, notes: Mapping[str, str]) -> list[str]:
    """Return what the variables mean that there are, in their order."""
    beginnings = {name.partition("_")[0]: name for name in notes}
    found = dict.fromkeys(each.name.partition("_")[0] for each in builder.variables)
    return [f"{beginnings[word]:<15} {notes[beginnings[word]]}" for word in found]


def _check_size(instance: Instance, kinds: int) -> None:
    """Refuse an instance whose program would be too large."""
    if isinstance(instance.penalty, PenaltyG) and not instance.is_timed:
        variables = instance.cpus * 3 * kinds
    else:
        variables = instance.cpus * kinds * (2 * kinds + 4)
    if variables > MOST_VARIABLES:
        raise MethodError(
            f"the integer program would have some {variables} variables, more than "
            f"{MOST_VARIABLES}; take a smaller instance"
        )


def _title(instance: Instance) -> str:
    """Return what the program is about."""
    match instance.penalty:
        case PenaltyF():
            letter = "f"
        case PenaltyG():
            letter = "g"
        case _:
            letter = "matrix"
    tasks = "1 task" if instance.task_count == 1 else f"{instance.task_count} tasks"
    cpus = "1 CPU" if instance.cpus == 1 else f"{instance.cpus} CPUs"
    waiting = ", releases or precedence" if instance.is_timed else ""
    return (
        f"{instance.name or 'instance'}: {tasks} on {cpus}, penalty {letter}, "
        f"{instance.objective}{waiting}"
    )
