"""Any penalty: in which order each CPU runs kinds of tasks, as a walk."""

from __future__ import annotations

from dfopt.integer_program.labels import TaskKind
from dfopt.integer_program.program import ProgramBuilder
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance

NOTES = {
    "first_K_on_P": "1 if CPU P begins with a task of kind K",
    "last_K_on_P": "1 if it ends with one",
    "next_K_L_on_P": "how many times a task of kind L comes right after one of kind K",
    "visits_K_on_P": "1 if CPU P runs tasks of kind K",
    "enters_K_on_P": "flow from outside to the kind of the first task",
    "flow_K_L_on_P": "flow on from there: it reaches all kinds, so these are one walk",
}


def add_penalties(
    builder: ProgramBuilder, instance: Instance, kinds: list[TaskKind]
) -> list[list[tuple[int, str]]]:
    """Add each CPU's order, and return the terms of its penalty, without that of an idle CPU.

    A CPU's order is a walk through the kinds of its tasks. As many steps go into a kind as out of
    it and as it runs tasks; and the kinds hang together, which a flow of a single commodity shows
    (Gavish and Graves 1978).
    """
    costs = CostTable(instance, [kind.task for kind in kinds])
    return [_add_walk(builder, kinds, costs, cpu) for cpu in range(instance.cpus)]


def _add_walk(
    builder: ProgramBuilder, kinds: list[TaskKind], costs: CostTable, cpu: int
) -> list[tuple[int, str]]:
    labels = [kind.label for kind in kinds]
    first = {label: builder.binary(f"first_{label}_on_{cpu}") for label in labels}
    last = {label: builder.binary(f"last_{label}_on_{cpu}") for label in labels}
    steps = {
        (before.label, after.label): builder.integer(
            f"next_{before.label}_{after.label}_on_{cpu}", most
        )
        for before in kinds
        for after in kinds
        if (most := min(before.number - (before is after), after.number)) > 0
    }
    if kinds:
        builder.require(f"one_first_on_{cpu}", [(1, name) for name in first.values()], "<=", 1)
    for label in labels:
        runs = (-1, f"runs_{label}_on_{cpu}")
        into = [(1, name) for (_, after), name in steps.items() if after == label]
        out = [(1, name) for (before, _), name in steps.items() if before == label]
        builder.require(f"into_{label}_on_{cpu}", [(1, first[label]), *into, runs], "=", 0)
        builder.require(f"out_of_{label}_on_{cpu}", [(1, last[label]), *out, runs], "=", 0)
    _connect(builder, kinds, first, steps, cpu)
    number = {label: place for place, label in enumerate(labels)}
    starts = [cost - costs.idle[cpu] for cost in costs.start[cpu]]
    return [
        *zip(starts, first.values(), strict=True),
        *(
            (costs.switch[number[before]][number[after]], name)
            for (before, after), name in steps.items()
        ),
        *zip(costs.finish, last.values(), strict=True),
    ]


def _connect(
    builder: ProgramBuilder,
    kinds: list[TaskKind],
    first: dict[str, str],
    steps: dict[tuple[str, str], str],
    cpu: int,
) -> None:
    """Require that a flow from the first task reaches each kind that is visited."""
    enters = {kind.label: builder.number(f"enters_{kind.label}_on_{cpu}") for kind in kinds}
    visits = {kind.label: builder.binary(f"visits_{kind.label}_on_{cpu}") for kind in kinds}
    flow = {
        pair: builder.number(f"flow_{pair[0]}_{pair[1]}_on_{cpu}")
        for pair in steps
        if pair[0] != pair[1]
    }
    for kind in kinds:
        label = kind.label
        runs, visited = f"runs_{label}_on_{cpu}", visits[label]
        builder.require(f"visit_{label}_on_{cpu}", [(1, runs), (-kind.number, visited)], "<=", 0)
        entry = [(1, enters[label]), (-len(kinds), first[label])]
        builder.require(f"enter_{label}_on_{cpu}", entry, "<=", 0)
        into = [(1, name) for (_, after), name in flow.items() if after == label]
        out = [(-1, name) for (before, _), name in flow.items() if before == label]
        builder.require(
            f"reach_{label}_on_{cpu}", [(1, enters[label]), *into, *out, (-1, visited)], "=", 0
        )
    for (before, after), name in flow.items():
        terms = [(1, name), (1 - len(kinds), steps[before, after])]
        builder.require(f"carry_{before}_{after}_on_{cpu}", terms, "<=", 0)
