"""Any penalty: in which order each CPU runs kinds of tasks, as a walk."""

from __future__ import annotations

from collections.abc import Mapping

from dfopt.integer_program.program import IntegerProgram
from dfopt.problem.cost_table import CostTable

NOTES = {
    "first_K_on_P": "1 if CPU P begins with a task of kind K",
    "last_K_on_P": "1 if it ends with one",
    "next_K_L_on_P": "how many times a task of kind L comes right after one of kind K",
    "visits_K_on_P": "1 if CPU P runs tasks of kind K",
    "enters_K_on_P": "flow from outside to the kind of the first task",
    "flow_K_L_on_P": "flow on from there: it reaches all kinds, so these are one walk",
}


def add_walk(
    program: IntegerProgram, numbers: Mapping[str, int], costs: CostTable, cpu: int
) -> list[tuple[int, str]]:
    """Add a CPU's order, and return the terms of its penalty, without that of an idle CPU.

    A CPU's order is a walk through the kinds of its tasks. As many steps go into a kind as out of
    it and as it runs tasks; and the kinds hang together, which a flow of a single commodity shows
    (Gavish and Graves 1978).

    Parameters
    ----------
    program
        The program.
    numbers
        How many tasks there are of each kind, by its label.
    costs
        The costs between the kinds.
    cpu
        The CPU.
    """
    first = {label: program.integer(f"first_{label}_on_{cpu}") for label in numbers}
    last = {label: program.integer(f"last_{label}_on_{cpu}") for label in numbers}
    steps = {
        (before, after): program.integer(f"next_{before}_{after}_on_{cpu}", most)
        for before, number in numbers.items()
        for after, others in numbers.items()
        if (most := min(number - (before == after), others)) > 0
    }
    if numbers:
        program.require(f"one_first_on_{cpu}", [(1, name) for name in first.values()], "<=", 1)
    for label in numbers:
        runs = (-1, f"runs_{label}_on_{cpu}")
        into = [(1, name) for (_, after), name in steps.items() if after == label]
        out = [(1, name) for (before, _), name in steps.items() if before == label]
        program.require(f"into_{label}_on_{cpu}", [(1, first[label]), *into, runs], "=", 0)
        program.require(f"out_of_{label}_on_{cpu}", [(1, last[label]), *out, runs], "=", 0)
    _connect(program, numbers, first, steps, cpu)
    place = {label: place for place, label in enumerate(numbers)}
    starts = [cost - costs.idle[cpu] for cost in costs.start[cpu]]
    return [
        *zip(starts, first.values(), strict=True),
        *(
            (costs.switch[place[before]][place[after]], name)
            for (before, after), name in steps.items()
        ),
        *zip(costs.finish, last.values(), strict=True),
    ]


def _connect(
    program: IntegerProgram,
    numbers: Mapping[str, int],
    first: dict[str, str],
    steps: dict[tuple[str, str], str],
    cpu: int,
) -> None:
    """Require that a flow from the first task reaches each kind that is visited."""
    enters = {label: program.number(f"enters_{label}_on_{cpu}") for label in numbers}
    visits = {label: program.integer(f"visits_{label}_on_{cpu}") for label in numbers}
    flow = {
        (before, after): program.number(f"flow_{before}_{after}_on_{cpu}")
        for before, after in steps
        if before != after
    }
    for label, number in numbers.items():
        runs, visited = f"runs_{label}_on_{cpu}", visits[label]
        program.require(f"visit_{label}_on_{cpu}", [(1, runs), (-number, visited)], "<=", 0)
        entry = [(1, enters[label]), (-len(numbers), first[label])]
        program.require(f"enter_{label}_on_{cpu}", entry, "<=", 0)
        into = [(1, name) for (_, after), name in flow.items() if after == label]
        out = [(-1, name) for (before, _), name in flow.items() if before == label]
        program.require(
            f"reach_{label}_on_{cpu}", [(1, enters[label]), *into, *out, (-1, visited)], "=", 0
        )
    for (before, after), name in flow.items():
        terms = [(1, name), (1 - len(numbers), steps[before, after])]
        program.require(f"carry_{before}_{after}_on_{cpu}", terms, "<=", 0)
