"""TSPLIB: travelling salesmen, symmetric or not, and sequential orderings.

A file has keywords with values (``DIMENSION: 17``), and sections of numbers. Weights are given as
a table, whole or in part, or follow from coordinates. G. Reinelt, "TSPLIB - A Traveling Salesman
Problem Library", ORSA Journal on Computing 3 (1991), describes the format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import FileError
from dfopt.files.imported.source_text import SourceLine, integers
from dfopt.files.imported.tours import (
    MOST_CITIES,
    CityTable,
    ordering_instance,
    tour_instance,
)
from dfopt.problem.instance import Instance

WEIGHTS, COORDINATES = "EDGE_WEIGHT_SECTION", "NODE_COORD_SECTION"
IGNORED_SECTIONS = {"DISPLAY_DATA_SECTION"}
TYPES = ("TSP", "ATSP", "SOP")

_KEYWORD = re.compile(r"([A-Z][A-Z0-9_]*)\s*:\s*(.*)")
_SECTION = re.compile(r"([A-Z][A-Z0-9_]*_SECTION)\s*:?")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")

Cells = Iterator[tuple[int, int]]


def all_cells(size: int) -> Cells:
    """Yield all cells, row by row."""
    return ((row, column) for row in range(size) for column in range(size))


def upper_rows(size: int) -> Cells:
    """Yield the cells above the diagonal, row by row."""
    return ((row, column) for row in range(size) for column in range(row + 1, size))


def lower_rows(size: int) -> Cells:
    """Yield the cells below the diagonal, row by row."""
    return ((row, column) for row in range(size) for column in range(row))


def upper_diagonal_rows(size: int) -> Cells:
    """Yield the cells of the diagonal and above it, row by row."""
    return ((row, column) for row in range(size) for column in range(row, size))


def lower_diagonal_rows(size: int) -> Cells:
    """Yield the cells of the diagonal and below it, row by row."""
    return ((row, column) for row in range(size) for column in range(row + 1))


FULL = "FULL_MATRIX"

# A symmetric table is the same by rows and by columns of its other half.
LAYOUTS: dict[str, Callable[[int], Cells]] = {
    FULL: all_cells,
    "UPPER_ROW": upper_rows,
    "LOWER_ROW": lower_rows,
    "UPPER_DIAG_ROW": upper_diagonal_rows,
    "LOWER_DIAG_ROW": lower_diagonal_rows,
    "UPPER_COL": lower_rows,
    "LOWER_COL": upper_rows,
    "UPPER_DIAG_COL": lower_diagonal_rows,
    "LOWER_DIAG_COL": upper_diagonal_rows,
}

Point = tuple[float, float]

LARGEST_COORDINATE = 1e12
"""Coordinates are at most this far from 0; their distances are then far below 2^62."""


def rounded(length: float) -> int:
    """Return the nearest integer; halves go up."""
    return math.floor(length + 0.5)


def euclidean(point: Point, other: Point) -> int:
    """Return the rounded distance in the plane."""
    return rounded(math.dist(point, other))


def rounded_up(point: Point, other: Point) -> int:
    """Return the distance in the plane, rounded up."""
    return math.ceil(math.dist(point, other))


def manhattan(point: Point, other: Point) -> int:
    """Return the rounded sum of the differences of both coordinates."""
    return rounded(abs(point[0] - other[0]) + abs(point[1] - other[1]))


def maximum(point: Point, other: Point) -> int:
    """Return the larger of both rounded differences of coordinates."""
    return max(rounded(abs(point[0] - other[0])), rounded(abs(point[1] - other[1])))


def pseudo_euclidean(point: Point, other: Point) -> int:
    """Return the distance in the plane over √10, rounded up."""
    squares = (point[0] - other[0]) ** 2 + (point[1] - other[1]) ** 2
    return math.ceil(math.sqrt(squares / 10.0))


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
    "EUC_2D": euclidean,
    "CEIL_2D": rounded_up,
    "MAN_2D": manhattan,
    "MAX_2D": maximum,
    "ATT": pseudo_euclidean,
    "GEO": geographical,
}


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
    count = sum(1 for _ in LAYOUTS[layout](size))
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
    for (row, column), number, place in zip(LAYOUTS[layout](size), numbers, places, strict=True):
        costs[row][column] = number
        if layout != FULL:
            costs[column][row] = number
        elif column == 0:
            firsts[row] = place
    # Programs differ in which half they take then, so it is not guessed.
    for row, column in upper_rows(size) if problem == "TSP" else ():
        if costs[row][column] != costs[column][row]:
            raise firsts[row].error(
                f"the way from city {row + 1} to {column + 1} is {costs[row][column]}, and back "
                f"{costs[column][row]}, but TYPE is TSP; write ATSP if ways differ, or correct one"
            )
    names = tuple(str(city) for city in range(1, size + 1))
    return CityTable(names=names, costs=costs, lines=firsts)


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
