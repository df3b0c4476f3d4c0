"""The family ``matrix``: tasks of a few types and a random switch table."""

from __future__ import annotations

from typing import Unpack

from dfopt.checks import check_integer
from dfopt.generate.draws import Draws
from dfopt.generate.options import MachineOptions, check_task_count
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyMatrix

Table = list[list[int]]

DIAGONAL_SHARE = 10
"""A switch between tasks of one type costs at most this part of the largest cost."""


def matrix(  # noqa: PLR0913
    *,
    tasks: int,
    cpus: int,
    types: int,
    largest: int = 40,
    triangle: bool = False,
    exec: int = 0,
    size: int = 1,
    seed: int = 0,
    **machine: Unpack[MachineOptions],
) -> Instance:
    """Return an instance whose switch costs are a random table over task types.

    The costs are uniform on 1 … largest and not symmetric; on the diagonal they are uniform on
    0 … ⌈largest / 10⌉. Each task's type is drawn independently, all equally likely.

    Parameters
    ----------
    tasks, cpus, types
        How many there are.
    largest
        Largest cost, ≥ 1.
    triangle
        Whether each cost is replaced by that of the cheapest path, so that a detour through
        another type never pays: switch[a][c] ≤ switch[a][b] + switch[b][c] for all a, b, c.
    exec
        Execution times are uniform on 1 … exec; 0 gives every task 0.
    size
        Sizes are uniform on 1 … size.
    seed
        Integer ≥ 0.
    **machine
        See :class:`~dfopt.generate.MachineOptions`. With ``cold_start`` a row ``start`` is drawn
        like the table, with ``final_write_back`` a row ``finish``; ``triangle`` holds for both.

    Raises
    ------
    InstanceError
        When a parameter is impossible; its place is the parameter's name.
    """
    check_task_count(tasks)
    check_integer(types, "types", least=1)
    check_integer(largest, "largest", least=1)
    check_integer(exec, "exec")
    check_integer(size, "size", least=1)
    draws = Draws(seed)
    names = tuple(f"T{number}" for number in range(1, types + 1))
    switch = drawn_table(types, largest, draws)
    drawn_tasks = tuple(
        Task(
            id=f"t{number}",
            type=names[draws.below(types)],
            exec=draws.between(1, exec) if exec else 0,
            size=draws.between(1, size) if size > 1 else 1,
        )
        for number in range(tasks)
    )
    start = finish = None
    if machine.get("cold_start"):
        start = [draws.between(1, largest) for _ in names]
    if machine.get("final_write_back"):
        finish = [draws.between(1, largest) for _ in names]
    if triangle:
        switch = shortest_ways(switch)
        start = start and shortest_entries(start, switch)
        finish = finish and shortest_entries(finish, transposed(switch))
    return Instance(
        name=f"matrix-n{tasks}-m{cpus}-t{types}-s{seed}",
        description=f"family matrix, seed {seed}: {tasks} tasks of {types} types; switch costs "
        f"uniform on 1 to {largest}, smaller within a type"
        + ("; shortest ways, so that the triangle inequality holds" if triangle else "")
        + (f"; exec uniform on 1 to {exec}" if exec else "")
        + (f"; sizes uniform on 1 to {size}" if size > 1 else ""),
        cpus=cpus,
        penalty=PenaltyMatrix(
            types=names,
            switch=tuple(tuple(row) for row in switch),
            start=None if start is None else tuple(start),
            finish=None if finish is None else tuple(finish),
        ),
        tasks=drawn_tasks,
        **machine,
    )


def drawn_table(size: int, largest: int, draws: Draws) -> Table:
    """Return a random square table, small on the diagonal."""
    small = -(-largest // DIAGONAL_SHARE)
    return [
        [
            draws.between(0, small) if row == column else draws.between(1, largest)
            for column in range(size)
        ]
        for row in range(size)
    ]


def shortest_ways(switch: Table) -> Table:
    """Return the cost of the cheapest way, of one switch or more, between any two types."""
    # Floyd and Warshall: after each round the ways may pass through one type more.
    ways = [list(row) for row in switch]
    for middle in range(len(ways)):
        onward = ways[middle]
        for row in ways:
            reach = row[middle]
            row[:] = [min(cost, reach + rest) for cost, rest in zip(row, onward, strict=True)]
    return ways


def shortest_entries(first: list[int], ways: Table) -> list[int]:
    """Return for each type the cheapest way to it that begins with one of the ``first`` costs."""
    return [
        min(cost, *(entry + row[column] for entry, row in zip(first, ways, strict=True)))
        for column, cost in enumerate(first)
    ]


def transposed(table: Table) -> Table:
    """Return the table with rows and columns exchanged."""
    return [list(column) for column in zip(*table, strict=True)]
