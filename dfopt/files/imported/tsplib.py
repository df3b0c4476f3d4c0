"""TSPLIB: travelling salesmen, symmetric or not, and sequential orderings.

A file has keywords with values (``DIMENSION: 17``), and sections of numbers. Weights are given as
a table, whole or in part, or follow from coordinates. G. Reinelt, "TSPLIB - A Traveling Salesman
Problem Library", ORSA Journal on Computing 3 (1991), describes the format. Sequential orderings
also come as bare tables: the numbers without keywords, alone or after a line with their size.

The tasks are the cities, each a task type of its own, on one CPU under a matrix. Since every type
has one task, a schedule is a permutation of the cities, and the diagonal of the table is never
paid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import FileError
from dfopt.files.imported.source_text import SourceLine, check_acyclic, integers, is_integers
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.structs import Record

PRECEDES = -1
"""An entry of a sequential ordering problem: the city of the column comes before the row's."""

FEWEST_CITIES = 3

MOST_CITIES = 2000
"""At most this number of cities: a table has its square as entries, all in memory."""


class CityTable(Record):
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


def numbered(costs: Sequence[Sequence[int]], lines: Sequence[SourceLine]) -> CityTable:
    """Return a table of cities whose names are their numbers, from 1."""
    names = tuple(str(city) for city in range(1, len(costs) + 1))
    return CityTable(names=names, costs=costs, lines=lines)


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
    first, *others = table.names
    return _path(
        table,
        0,
        objective=Objective.TOTAL_PENALTY,
        tasks=tuple(Task(id=name, type=name) for name in others),
        name=name,
        description=f"the shortest tour through {len(table.names)} cities: it begins and ends in "
        f"{first}, and every other city is a task",
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
    check_ordering(table)
    names = table.names
    after = {
        name: tuple(
            before for before, cost in zip(names[1:-1], row[1:-1], strict=True) if cost == PRECEDES
        )
        for name, row in zip(names[1:-1], table.costs[1:-1], strict=True)
    }
    check_acyclic(after, dict(zip(names, table.lines, strict=True)))
    return _path(
        table,
        len(names) - 1,
        objective=Objective.MAKESPAN,
        tasks=tuple(Task(id=name, type=name, after=after[name]) for name in after),
        name=name,
        description=f"the best order of {len(names)} cities with precedence: from {names[0]} to "
        f"{names[-1]}, and every other city is a task",
        source=source,
    )


def _path(table: CityTable, last: int, **others: Any) -> Instance:
    """Return the instance of the cities between the first one and the last one.

    What no schedule pays needs some number all the same: the diagonal is 0, and from a city to
    one that comes before it the largest cost between tasks is charged.
    """
    costs, names = table.costs, table.names
    tasks = [city for city in range(1, len(names)) if city != last]
    largest = max((costs[row][column] for row in tasks for column in tasks if row != column),
                  default=0)  # fmt: skip

    def cost(row: int, column: int) -> int:
        if row == column:
            return 0
        return max(0, largest) if costs[row][column] == PRECEDES else costs[row][column]

    penalty = PenaltyMatrix(
        types=tuple(names[city] for city in tasks),
        switch=tuple(tuple(cost(row, column) for column in tasks) for row in tasks),
        start=tuple(costs[0][city] for city in tasks),
        finish=tuple(costs[city][last] for city in tasks),
    )
    return Instance(cpus=1, penalty=penalty, cold_start=True, final_write_back=True, **others)


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
        if city == 0:
            fits = PRECEDES not in row
        elif city == last:
            fits = set(row[:last]) == {PRECEDES}
        else:
            fits = row[0] == PRECEDES != row[last]
        if not fits:
            raise line.error(
                f"in the row of city {table.names[city]} the path does not go from "
                f"{table.names[0]} to {table.names[last]}; put -1 into the first column and the "
                "last row, and costs into the first row and the last column"
            )


WEIGHTS, COORDINATES = "EDGE_WEIGHT_SECTION", "NODE_COORD_SECTION"
IGNORED_SECTIONS = {"DISPLAY_DATA_SECTION"}
TYPES = ("TSP", "ATSP", "SOP")

_KEYWORD = re.compile(r"([A-Z][A-Z0-9_]*)\s*:\s*(.*)")
_SECTION = re.compile(r"([A-Z][A-Z0-9_]*_SECTION)\s*:?")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")

FULL = "FULL_MATRIX"

ROWS: dict[str, Callable[[int, int], range]] = {
    FULL: lambda size, _: range(size),
    "UPPER_ROW": lambda size, row: range(row + 1, size),
    "LOWER_ROW": lambda _, row: range(row),
    "UPPER_DIAG_ROW": lambda size, row: range(row, size),
    "LOWER_DIAG_ROW": lambda _, row: range(row + 1),
}
"""The columns of a row that are listed, by the number of cities and the row."""

LAYOUTS = ROWS | {
    # A symmetric table is the same by rows and by columns of its other half.
    f"{half}{diagonal}_COL": ROWS[f"{other}{diagonal}_ROW"]
    for diagonal in ("", "_DIAG")
    for half, other in (("UPPER", "LOWER"), ("LOWER", "UPPER"))
}


def cells(layout: str, size: int) -> Iterator[tuple[int, int]]:
    """Return the cells that a layout lists, row by row."""
    return ((row, column) for row in range(size) for column in LAYOUTS[layout](size, row))


Point = tuple[float, float]

LARGEST_COORDINATE = 1e12
"""Coordinates are at most this far from 0; their distances are then far below 2^62."""


def rounded(length: float) -> int:
    """Return the nearest integer; halves go up."""
    return math.floor(length + 0.5)


def geographical(point: Point, other: Point) -> int:
    """Return the kilometres between two places on the globe, as TSPLIB computes them.

    A coordinate is DDD.MM: degrees and, behind the point, minutes.
    """
    (north, east), (other_north, other_east) = map(radians, (point, other))
    by_east = math.cos(east - other_east)
    between = math.cos(north - other_north)
    together = math.cos(north + other_north)
    cosine = 0.5 * ((1.0 + by_east) * between - (1.0 - by_east) * together)
    return math.floor(EARTH_RADIUS_KM * math.acos(max(-1.0, min(1.0, cosine))) + 1.0)


def radians(point: Point) -> Point:
    """Return latitude and longitude in radians."""
    latitude, longitude = (
        TSPLIB_PI * (math.trunc(angle) + 5.0 * (angle - math.trunc(angle)) / 3.0) / 180.0
        for angle in point
    )
    return latitude, longitude


TSPLIB_PI = 3.141592
EARTH_RADIUS_KM = 6378.388
"""Both as in TSPLIB, so that distances come out the same."""

DISTANCES: dict[str, Callable[[Point, Point], int]] = {
    "EUC_2D": lambda point, other: rounded(math.dist(point, other)),
    "CEIL_2D": lambda point, other: math.ceil(math.dist(point, other)),
    "MAN_2D": lambda point, other: rounded(sum(_differences(point, other))),
    "MAX_2D": lambda point, other: max(map(rounded, _differences(point, other))),
    "ATT": lambda point, other: math.ceil(
        math.sqrt(sum(length**2 for length in _differences(point, other)) / 10.0)
    ),
    "GEO": geographical,
}


def _differences(point: Point, other: Point) -> tuple[float, float]:
    return abs(point[0] - other[0]), abs(point[1] - other[1])


@dataclass(frozen=True, slots=True)
class TsplibFile:
    """The keywords of a file, each with its line, and the lines of its sections."""

    keywords: dict[str, tuple[SourceLine, str]]
    sections: dict[str, tuple[SourceLine, list[SourceLine]]]

    def value(self, keyword: str, known: tuple[str, ...]) -> str:
        """Return the first word of a keyword's value, which must be a known one."""
        line, value = self.required(keyword)
        word = value.split()[0]
        if word not in known:
            raise line.error(f"{keyword} {word} is not known; known are {', '.join(known)}")
        return word

    def required(self, keyword: str) -> tuple[SourceLine, str]:
        """Return the line and the value of a keyword that must be there."""
        if keyword not in self.keywords:
            raise FileError(f"the keyword {keyword} is missing; add it")
        line, value = self.keywords[keyword]
        if not value:
            raise line.error(f"{keyword} has no value; give one")
        return line, value

    def section(self, name: str) -> tuple[SourceLine, list[SourceLine]]:
        """Return the first line of a section that must be there, and the lines in it."""
        if name not in self.sections:
            raise FileError(f"the section {name} is missing; add it, or get the whole file")
        return self.sections[name]


def is_tsplib(lines: list[SourceLine]) -> bool:
    """Whether the lines are those of a TSPLIB file."""
    return _KEYWORD.fullmatch(lines[0].text) is not None


def read_tsplib(lines: list[SourceLine], name: str) -> Instance:
    """Return the instance of a TSPLIB file.

    Raises
    ------
    FileError, InstanceError
        When it is of another type, is cut off, or contradicts itself.
    """
    file = parsed(lines)
    problem = file.value("TYPE", TYPES)
    name = file.keywords["NAME"][1] if file.keywords.get("NAME", (None, ""))[1] else name
    weights = file.value("EDGE_WEIGHT_TYPE", ("EXPLICIT", *DISTANCES))
    if problem == "SOP":
        return ordering_instance(explicit(file, problem), name, f"TSPLIB, {problem}")
    table = explicit(file, problem) if weights == "EXPLICIT" else by_distance(file, weights)
    return tour_instance(table, name, f"TSPLIB, {problem}")


def parsed(lines: list[SourceLine]) -> TsplibFile:
    """Return the keywords and sections in the lines, up to ``EOF``."""
    keywords: dict[str, tuple[SourceLine, str]] = {}
    sections: dict[str, tuple[SourceLine, list[SourceLine]]] = {}
    rows: list[SourceLine] | None = None
    for line in lines:
        if line.text == "EOF":
            break
        section = _SECTION.fullmatch(line.text)
        keyword = _KEYWORD.fullmatch(line.text)
        if section is not None:
            if section[1] not in {WEIGHTS, COORDINATES, *IGNORED_SECTIONS}:
                raise line.error(f"the section {section[1]} is not understood; remove it")
            if section[1] in sections:
                raise line.error(f"the section {section[1]} is there twice; remove one")
            rows = []
            sections[section[1]] = line, rows
        elif keyword is not None:
            if keyword[1] in keywords and keyword[1] != "COMMENT":
                raise line.error(f"the keyword {keyword[1]} is there twice; remove one")
            keywords[keyword[1]] = line, keyword[2]
            rows = None
        elif rows is not None:
            rows.append(line)
        else:
            raise line.error(f"{described(line.text)} is no keyword; write KEYWORD: value")
    return TsplibFile(keywords, sections)


def dimension(file: TsplibFile) -> int:
    """Return the number of cities."""
    line, value = file.required("DIMENSION")
    numbers = integers(SourceLine(line.number, value), least=1)
    if len(numbers) != 1:
        raise line.error("DIMENSION must be one integer; correct it")
    if numbers[0] > MOST_CITIES:
        raise line.error(f"{numbers[0]} cities are too many; at most {MOST_CITIES} are read")
    return numbers[0]


def explicit(file: TsplibFile, problem: str) -> CityTable:
    """Return the table of a file that lists the weights."""
    size = dimension(file)
    # Some sequential orderings say nothing of their layout, which is always the same.
    layout = FULL
    if problem != "SOP" or "EDGE_WEIGHT_FORMAT" in file.keywords:
        known = tuple(LAYOUTS) if problem == "TSP" else (FULL,)
        layout = file.value("EDGE_WEIGHT_FORMAT", known)
    begin, rows = file.section(WEIGHTS)
    numbers: list[int] = []
    places: list[SourceLine] = []
    for line in rows:
        found = integers(line, least=-LARGEST_TOTAL)
        numbers += found
        places += [line] * len(found)
    count = sum(1 for _ in cells(layout, size))
    # A sequential ordering repeats its dimension before its weights.
    if problem == "SOP" and len(numbers) == count + 1 and numbers[0] == size:
        del numbers[0], places[0]
    if len(numbers) != count:
        last = places[-1] if places else begin
        raise last.error(
            f"{WEIGHTS} ends with {len(numbers)} numbers, and {layout} of DIMENSION {size} has "
            f"{count}; get the whole file, or correct DIMENSION"
        )
    costs = [[0] * size for _ in range(size)]
    firsts = [begin] * size
    for (row, column), number, place in zip(cells(layout, size), numbers, places, strict=True):
        costs[row][column] = number
        if layout != FULL:
            costs[column][row] = number
        elif column == 0:
            firsts[row] = place
    # Programs differ in which half they take then, so it is not guessed.
    for row, column in cells("UPPER_ROW", size) if problem == "TSP" else ():
        if costs[row][column] != costs[column][row]:
            raise firsts[row].error(
                f"the way from city {row + 1} to {column + 1} is {costs[row][column]}, and back "
                f"{costs[column][row]}, but TYPE is TSP; write ATSP if ways differ, or correct one"
            )
    return numbered(costs, firsts)


def by_distance(file: TsplibFile, weights: str) -> CityTable:
    """Return the table of a file that lists the coordinates of its cities."""
    size = dimension(file)
    begin, rows = file.section(COORDINATES)
    points: dict[str, Point] = {}
    for line in rows:
        city, point = coordinates(line)
        if city in points:
            raise line.error(f"the city {city} is there twice; remove one")
        points[city] = point
    if len(points) != size:
        last = rows[-1] if rows else begin
        raise last.error(
            f"{COORDINATES} ends with {len(points)} cities, and DIMENSION is {size}; "
            "get the whole file, or correct DIMENSION"
        )
    distance = DISTANCES[weights]
    costs = [[distance(point, other) for other in points.values()] for point in points.values()]
    return CityTable(names=tuple(points), costs=costs, lines=rows)


def coordinates(line: SourceLine) -> tuple[str, Point]:
    """Return the name of a city and its two coordinates."""
    words = line.words
    if len(words) != 3 or not all(_NUMBER.fullmatch(word) for word in words):  # noqa: PLR2004
        raise line.error(f"{described(line.text)} must be a city and two coordinates; correct it")
    point = float(words[1]), float(words[2])
    if max(map(abs, point)) > LARGEST_COORDINATE:
        raise line.error(f"a coordinate is more than {LARGEST_COORDINATE:g}; use a coarser unit")
    return words[0], point


LOOKED_AT = 3
"""Lines that are looked at: the second row of a table has its first precedence."""


def is_ordering_matrix(lines: list[SourceLine]) -> bool:
    """Whether the lines are those of a table with precedences."""
    first = lines[:LOOKED_AT]
    return all(map(is_integers, first)) and any(str(PRECEDES) in line.words for line in first)


def read_ordering_matrix(lines: list[SourceLine], name: str) -> Instance:
    """Return the instance of a table of costs and precedences.

    Raises
    ------
    FileError, InstanceError
        When the table is not square, or contradicts itself.
    """
    head, rows = (lines[0], lines[1:]) if len(lines[0].words) == 1 else (None, lines)
    size = integers(head, least=1)[0] if head is not None else len(rows[0].words)
    if size > MOST_CITIES:
        raise lines[0].error(f"{size} cities are too many; at most {MOST_CITIES} are read")
    costs = []
    for line in rows:
        row = integers(line, least=-LARGEST_TOTAL)
        if len(row) != size:
            raise line.error(f"has {len(row)} numbers in a table of {size} columns; correct it")
        costs.append(row)
    if len(costs) != size:
        raise rows[-1].error(
            f"the table ends with {len(costs)} rows, and it has {size} columns; get the whole file"
        )
    return ordering_instance(numbered(costs, rows), name, "table of a sequential ordering")
