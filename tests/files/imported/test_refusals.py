"""Files that cannot be imported: one line that names file, line and remedy."""

import re
from pathlib import Path

import pytest

from dfopt.errors import DfoptError
from dfopt.files.imported import import_instance
from tests.files.imported.written import (
    bins_with_colours,
    bins_with_setups,
    lines,
    saved,
    task_graph,
    triplets,
    tsplib,
)

TABLE = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
TOUR = tsplib(TABLE)
ORDERING = [[0, 1, 2, 9], [-1, 0, 4, 1], [-1, -1, 0, 1], [-1, -1, -1, 0]]
SOP = tsplib(ORDERING, "SOP")
POINTS = (
    "NAME: p\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    "1 0 0\n2 3 4\n3 6 8\nEOF\n"
)
GRAPH = task_graph([2, 3, 4], [[], [1], [1, 2]])
COLOURS = bins_with_colours(2, 9, [(0, 3), (1, 4), (1, 5)])
TRIPLETS = triplets([(0, 300), (1, 400), (2, 200)])
BINS = bins_with_setups(10, [(2, [3, 4]), (1, [5])])

Cases = dict[str, tuple[str | bytes, str]]

ANYTHING: Cases = {
    "empty": ("", "is empty; name a file of"),
    "blank": ("\n \n", "is empty"),
    "binary": (b"PK\3\4\0\0", "is a binary file"),
    "other text": ("Dear all,\nsee you.\n", "line 1: is of no known format; known are TSPLIB"),
    "numbers": ("1 2 3 4 5 6\n7\n", "line 1: is of no known format"),
    "one number": ("7\n", "line 1: is of no known format"),
    "commas": (",\n,\n", "line 1: is of no known format"),
    "Latin-1": (b"NAME: caf\xe9\n", "line 1: is not UTF-8 text"),
    "compressed": (b"\x1f\x8b\x08", "is compressed"),
    "byte order mark": (b"\xef\xbb\xbf3\n", "begins with a byte order mark"),
}

TSPLIB: Cases = {
    "cut off": (TOUR[: TOUR.index("5 6 0")], "line 9: EDGE_WEIGHT_SECTION ends with 6 numbers"),
    "no number": (TOUR.replace("5 6 0", "5 x 0"), "line 10: 'x' is no integer; correct it"),
    "fraction": (TOUR.replace("5 6 0", "5 6.5 0"), "line 10: '6.5' is no integer"),
    "negative": (TOUR.replace("5 6 0", "5 -6 0"), "line 10: the row of city 3 has the cost -6"),
    "too large": (TOUR.replace("5 6 0", f"5 {2**63} 0"), "line 10: 9223372036854775808 is more"),
    "dimension": (TOUR.replace("DIMENSION: 3", "DIMENSION: 4"), "line 10: EDGE_WEIGHT_SECTION "),
    "no dimension": (TOUR.replace("DIMENSION: 3\n", ""), "the keyword DIMENSION is missing"),
    "dimension 0": (TOUR.replace("DIMENSION: 3", "DIMENSION: 0"), "line 4: 0 cannot stand here"),
    "two cities": (tsplib([[0, 1], [1, 0]]), "has 2 cities; at least 3 are needed"),
    "huge": (TOUR.replace("DIMENSION: 3", "DIMENSION: 85900"), "line 4: 85900 cities are too many"),
    "layout": (TOUR.replace("FULL_MATRIX", "UPPER_ROW"), "line 6: EDGE_WEIGHT_FORMAT UPPER_ROW"),
    "no layout": (TOUR.replace("EDGE_WEIGHT_FORMAT: FULL_MATRIX\n", ""), "EDGE_WEIGHT_FORMAT is"),
    "weights": (TOUR.replace("EXPLICIT", "XRAY1"), "line 5: EDGE_WEIGHT_TYPE XRAY1 is not known"),
    "type": (TOUR.replace("ATSP", "CVRP"), "line 2: TYPE CVRP is not known; known are TSP, ATSP"),
    "two ways": (TOUR.replace("ATSP", "TSP"), "line 8: the way from city 1 to 2 is 1, and back 3"),
    "no value": (TOUR.replace("TYPE: ATSP", "TYPE:"), "line 2: TYPE has no value; give one"),
    "twice": (TOUR.replace("COMMENT", "NAME"), "line 3: the keyword NAME is there twice"),
    "no section": (TOUR[: TOUR.index("EDGE_WEIGHT_SECTION")], "EDGE_WEIGHT_SECTION is missing"),
    "empty section": (TOUR[: TOUR.index("0 1 2")], "line 7: EDGE_WEIGHT_SECTION ends with 0"),
    "other section": (TOUR.replace("EOF", "FIXED_EDGES_SECTION"), "FIXED_EDGES_SECTION is not"),
    "section twice": (TOUR.replace("EOF", "EDGE_WEIGHT_SECTION"), "line 11: the section EDGE_W"),
    "no keyword": (TOUR.replace("COMMENT:", "remark"), "line 3: 'remark made up' is no keyword"),
    "city twice": (POINTS.replace("3 6 8", "2 6 8"), "line 8: the city 2 is there twice"),
    "point": (POINTS.replace("3 6 8", "3 6"), "line 8: '3 6' must be a city and two coordinates"),
    "far away": (POINTS.replace("3 6 8", "3 6 8e400"), "line 8: a coordinate is more than 1e+12"),
    "points cut off": (POINTS.replace("3 6 8\n", ""), "line 7: NODE_COORD_SECTION ends with 2"),
}  # fmt: skip


def ordering(row: int, column: int, entry: int) -> str:
    table = [list(costs) for costs in ORDERING]
    table[row][column] = entry
    return tsplib(table, "SOP")


SEQUENTIAL: Cases = {
    "below -1": (ordering(1, 2, -2), "line 10: the row of city 2 has the cost -2"),
    "not first": (
        ordering(2, 0, 5),
        "line 11: in the row of city 3 the path does not go",
    ),
    "not last": (ordering(3, 1, 5), "line 12: in the row of city 4 the path does not go"),
    "after the last": (
        ordering(1, 3, -1),
        "line 10: in the row of city 2 the path does not go",
    ),
    "before the first": (
        ordering(0, 1, -1),
        "line 9: in the row of city 1 the path does not go",
    ),
    "cycle": (ordering(1, 2, -1), "line 10: 2 waits for itself: 2 → 3 → 2; remove one of these"),
    "cut off": (SOP[: SOP.index("-1 -1 0 1")], "line 10: EDGE_WEIGHT_SECTION ends with 9 numbers"),
    "short row": (lines([*ORDERING[:2], [-1, 0, 1], ORDERING[3]]), "line 3: has 3 numbers in a"),
    "rows missing": (lines(ORDERING[:3]), "line 3: the table ends with 3 rows, and it has 4"),
    "rows to spare": (lines([*ORDERING, ORDERING[3]]), "line 5: the table ends with 5 rows"),
    "size": (lines([[5], *ORDERING]), "line 2: has 4 numbers in a table of 5 columns"),
    "no number": (lines([*ORDERING[:3], "abcd"]), "line 4: 'a' is no integer"),
    "two cities": (lines([[0, 1], [-1, 0]]), "has 2 cities; at least 3 are needed"),
}

TASK_GRAPHS: Cases = {
    "cut off": (GRAPH[: GRAPH.index("3 4 2")], "line 4: the file ends here, and one of 3 tasks"),
    "cut within a line": (GRAPH[: GRAPH.index("4 2 1")], "line 5: has 1 numbers; a task has"),
    "count": (GRAPH.replace("3\n", "2\n", 1), "line 6: nothing may follow the dummy after"),
    "cycle": (task_graph([1, 1], [[2], [1]]), "line 3: 1 waits for itself: 1 → 2 → 1; remove"),
    "long cycle": (
        task_graph([1] * 20, [[20], *([task] for task in range(1, 20))]),
        "line 3: 1 waits for itself: 1 → 20 → … → 2 → 1; remove",
    ),
    "unknown": (task_graph([1, 1], [[], [7]]), "line 4: there is no task 7; correct it"),
    "twice": (GRAPH.replace("2 3 1", "1 3 1"), "line 4: the task 1 is there twice; remove one"),
    "too few predecessors": (GRAPH.replace("3 4 2", "3 4 3"), "line 5: names 2 predecessors"),
    "communication": (GRAPH.replace("3 4 2 1 2", "3 4 2 1 5 2 5"), "line 5: has a number after"),
    "negative": (GRAPH.replace("2 3 1", "2 -3 1"), "line 4: -3 cannot stand here; the least is 0"),
    "no number": (GRAPH.replace("2 3 1", "2 3s 1"), "line 4: '3s' is no integer"),
    "no tasks": (GRAPH.replace("3\n", "0\n", 1), "line 1: 0 cannot stand here; the least is 1"),
}

BINS_WITH_SETUPS: Cases = {
    "cut off in the classes": (lines([[3, 2, 10, 1], [0, 2, 2]]), "line 2: the file ends here, an"),
    "cut off in the items": (BINS[: BINS.index("5\n")], "line 5: the file ends here, and item 1"),
    "items to spare": (BINS + "7\n", "line 7: nothing may follow the last of 3 items"),
    "no classes": (lines([[1, 0, 10, 1], [0, 2, 1]]), "line 1: the classes have 0 items together"),
    "sum": (BINS.replace("3 2 10 1", "4 2 10 1"), "line 3: the classes have 3 items together"),
    "setup cost": (BINS.replace("0 1 1", "-4 1 1"), "line 3: class 2 has the setup cost -4"),
    "negative weight": (BINS.replace("0 1 1", "0 -1 1"), "line 3: -1 cannot stand here"),
    "class": (BINS.replace("0 1 1", "0 1"), "line 3: has 2 numbers; a class has"),
    "item": (BINS.replace("\n5\n", "\n5 5\n"), "line 6: has 2 numbers; it must hold weight"),
    "no number": (BINS.replace("\n5\n", "\n?\n"), "line 6: '?' is no integer"),
    "negative item": (BINS.replace("\n5\n", "\n-5\n"), "line 6: -5 cannot stand here"),
}

BINS_WITH_COLOURS: Cases = {
    "cut off": (COLOURS[: COLOURS.index("1 5")], "line 9: the file ends here, and item 3 of 3"),
    "cut off in the zeros": (lines([[1], [2], [9], [0] * 9]), "line 4: the file ends here"),
    "first line": (COLOURS.replace("1\n2\n9", "2\n2\n9"), "line 1: the first line must be 1"),
    "bins": (COLOURS.replace("1\n2\n9", "1\n3\n9"), "line 6: row 3 of 3 must be zeros"),
    "fewer bins": (COLOURS.replace("1\n2\n9", "1\n1\n9"), "line 5: has 9 numbers"),
    "zeros": (COLOURS.replace("0 0 0", "0 1 0", 1), "line 4: row 1 of 2 must be zeros"),
    "no bins": (COLOURS.replace("1\n2\n9", "1\n0\n9"), "line 2: 0 cannot stand here"),
    "too heavy": (COLOURS.replace("1 5", "1 50"), "line 10: the weight 50 is not between 1 and 9"),
    "no weight": (COLOURS.replace("1 5", "1 0"), "line 10: the weight 0 is not between"),
    "item": (COLOURS.replace("1 5", "1 5 5"), "line 10: has 3 numbers; it must"),
    "no number": (COLOURS.replace("1 5", "red 5"), "line 10: 'red' is no integer"),
    "to spare": (COLOURS + "1 5\n", "line 11: nothing may follow the last of 3 items"),
    "no triplets": (TRIPLETS.replace("3\n", "4\n", 1), "line 1: 4 items are no triplets"),
    "triplets cut off": (TRIPLETS.replace("3\n", "6\n", 1), "line 4: the file ends here"),
}  # fmt: skip

CASES: Cases = {
    f"{title}: {name}": case
    for title, group in {
        "anything": ANYTHING,
        "TSPLIB": TSPLIB,
        "ordering": SEQUENTIAL,
        "task graph": TASK_GRAPHS,
        "bins with setups": BINS_WITH_SETUPS,
        "bins with colours": BINS_WITH_COLOURS,
    }.items()
    for name, case in group.items()
}
CPUS = {"task graph": 2, "bins with setups": 2}


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    text, problem = CASES[name]
    path = saved(tmp_path, text)
    with pytest.raises(DfoptError, match=f"^{re.escape(str(path))}: .*{re.escape(problem)}"):
        import_instance(path, cpus=CPUS.get(name.partition(":")[0]))


@pytest.mark.parametrize("text", [GRAPH, BINS])
def test_what_leaves_the_number_of_cpus_open_needs_it(text: str, tmp_path: Path) -> None:
    with pytest.raises(DfoptError, match="give `cpus`"):
        import_instance(saved(tmp_path, text))


@pytest.mark.parametrize("text", [TOUR, SOP, lines(ORDERING)])
def test_a_tour_has_one_cpu(text: str, tmp_path: Path) -> None:
    assert import_instance(saved(tmp_path, text)).cpus == 1
    with pytest.raises(DfoptError, match="leave `cpus` out"):
        import_instance(saved(tmp_path, text), cpus=2)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DfoptError, match=r"no\.atsp"):
        import_instance(tmp_path / "no.atsp")
