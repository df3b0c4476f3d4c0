"""Tours and orderings on one CPU, from a square table of costs.

The tasks are the cities, each a task type of its own, on one CPU under a matrix. Since every type
has one task, a schedule is a permutation of the cities, and the diagonal of the table is never
paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dfopt.errors import FileError
from dfopt.files.imported.source_text import SourceLine, check_acyclic
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.structs import replace

PRECEDES = -1
"""An entry of a sequential ordering problem: the city of the column comes before the row's."""

FEWEST_CITIES = 3

MOST_CITIES = 2000
"""At most this number of cities: a table has its square as entries, all in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CityTable:
    """What it costs to go from one city to another.

    Parameters
    ----------
    names
        The names of the cities.
    costs
        Square table, row = from, column = to.
    lines
        For each row the line of the file in which it begins.
    """

    names: tuple[str, ...]
    costs: Sequence[Sequence[int]]
    lines: Sequence[SourceLine]


def tour_instance(table: CityTable, name: str, source: str) -> Instance:
    """Return the instance whose optimum is the shortest tour through all cities.

    The tour begins and ends in the first city: its row is what the first task costs, its column
    what is paid after the last one. So a schedule's total penalty is the length of its tour.

    Raises
    ------
    FileError
        When there are too few cities, or a cost is negative.
    """
    check_size(table)
    for city, (row, line) in enumerate(zip(table.costs, table.lines, strict=True)):
        least = min(cost for other, cost in enumerate(row) if other != city)
        if least < 0:
            raise line.error(
                f"the row of city {table.names[city]} has the cost {least}; "
                "a tour needs costs of at least 0"
            )
    first, *others = range(len(table.names))
    return replace(
        _path(table, first, others, first),
        name=name,
        description=f"the shortest tour through {len(table.names)} cities: it begins and ends in "
        f"{table.names[first]}, and every other city is a task",
        source=source,
    )


def ordering_instance(table: CityTable, name: str, source: str) -> Instance:
    """Return the instance whose optimum is the best order from the first city to the last one.

    An entry of −1 says that the column's city comes before the row's. Execution times are 0, and
    the only CPU never waits: when a task begins, all before it have ended. So the makespan is
    the sum of the costs along the path.

    Raises
    ------
    FileError
        When there are too few cities, an entry is less than −1, the path need not run from the
        first city to the last one, or cities wait for each other in a cycle.
    """
    check_size(table)
    first, *others, last = range(len(table.names))
    check_ordering(table)
    after = {
        table.names[city]: tuple(
            table.names[other] for other in others if table.costs[city][other] == PRECEDES
        )
        for city in others
    }
    check_acyclic(after, dict(zip(table.names, table.lines, strict=True)))
    path = _path(table, first, others, last)
    return replace(
        path,
        name=name,
        description=f"the best order of {len(table.names)} cities with precedence: from "
        f"{table.names[first]} to {table.names[last]}, and every other city is a task",
        source=source,
        objective=Objective.MAKESPAN,
        tasks=tuple(replace(task, after=after[task.id]) for task in path.tasks),
    )


def _path(table: CityTable, first: int, others: Sequence[int], last: int) -> Instance:
    """Return the instance whose tasks are the cities between the first one and the last one."""
    return Instance(
        cpus=1,
        objective=Objective.TOTAL_PENALTY,
        penalty=table_of(table, first, others, last),
        cold_start=True,
        final_write_back=True,
        tasks=tuple(Task(id=table.names[city], type=table.names[city]) for city in others),
    )


def check_size(table: CityTable) -> None:
    """Refuse tables that leave no city between the first one and the last one."""
    if len(table.names) < FEWEST_CITIES:
        raise FileError(f"has {len(table.names)} cities; at least {FEWEST_CITIES} are needed")


def check_ordering(table: CityTable) -> None:
    """Refuse a table whose path need not run from the first city to the last one."""
    last = len(table.names) - 1
    for city, (row, line) in enumerate(zip(table.costs, table.lines, strict=True)):
        if min(row) < PRECEDES:
            raise line.error(
                f"the row of city {table.names[city]} has the cost {min(row)}; "
                "-1 is a precedence, and costs are at least 0"
            )
        if city != 0 and row[0] != PRECEDES:
            raise line.error(
                f"{table.names[city]} need not follow {table.names[0]}; "
                "put -1 into the first column: the path begins in the first city"
            )
        if city != last and row[last] == PRECEDES:
            raise line.error(
                f"{table.names[city]} follows {table.names[last]}; "
                "the path ends in the last city, so give a cost in the last column"
            )
        if city == 0 and PRECEDES in row:
            raise line.error(
                f"{table.names[0]} follows {table.names[row.index(PRECEDES)]}; "
                "the path begins in the first city, so give costs in its row"
            )
        if city == last and any(entry != PRECEDES for entry in row[:last]):
            raise line.error(
                f"{table.names[last]} need not follow all others; "
                "put -1 into its row: the path ends in the last city"
            )


def table_of(table: CityTable, first: int, others: Sequence[int], last: int) -> PenaltyMatrix:
    """Return the switch costs between the cities that are tasks.

    What no schedule pays needs some number all the same: the diagonal is 0, and from a city to
    one that comes before it the largest cost between tasks is charged.
    """
    costs = table.costs
    largest = max((costs[row][column] for row in others for column in others if row != column),
                  default=0)  # fmt: skip

    def cost(row: int, column: int) -> int:
        if row == column:
            return 0
        return max(0, largest) if costs[row][column] == PRECEDES else costs[row][column]

    return PenaltyMatrix(
        types=tuple(table.names[city] for city in others),
        switch=tuple(tuple(cost(row, column) for column in others) for row in others),
        start=tuple(costs[first][city] for city in others),
        finish=tuple(costs[city][last] for city in others),
    )
