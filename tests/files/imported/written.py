"""Writes problems in the formats of other tools."""

from collections.abc import Iterable, Sequence
from pathlib import Path

Matrix = Sequence[Sequence[int]]


def lines(rows: Iterable[Iterable[object]]) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def tsplib(matrix: Matrix, kind: str = "ATSP", layout: str = "FULL_MATRIX", name: str = "t") -> str:
    size = len(matrix)
    rows: list[list[object]] = [] if kind != "SOP" else [[size]]
    # A half by columns lists, for each city, what stands above or below the diagonal there.
    upper = layout in {"UPPER_ROW", "UPPER_DIAG_ROW", "LOWER_COL", "LOWER_DIAG_COL"}
    shift = 0 if "DIAG" in layout else 1
    for city, row in enumerate(matrix):
        if layout == "FULL_MATRIX":
            rows.append(list(row))
        elif upper:
            rows.append(list(row[city + shift :]))
        else:
            rows.append(list(row[: city + 1 - shift]))
    return (
        f"NAME: {name}\nTYPE: {kind}\nCOMMENT: made up\nDIMENSION: {size}\n"
        f"EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {layout}\n"
        f"EDGE_WEIGHT_SECTION\n{lines(row for row in rows if row)}EOF\n"
    )


def task_graph(times: Sequence[int], after: Sequence[Sequence[int]]) -> str:
    """Return a task graph, whose tasks count from 1 and have a dummy at each end."""
    count = len(times)
    rows: list[list[int]] = [[count], [0, 0, 0]]
    for task, (time, before) in enumerate(zip(times, after, strict=True), 1):
        predecessors = list(before) or [0]
        rows.append([task, time, len(predecessors), *predecessors])
    rows.append([count + 1, 0, count, *range(1, count + 1)])
    return lines(rows)


def bins_with_setups(capacity: int, classes: Sequence[tuple[int, Sequence[int]]]) -> str:
    """Return a bin packing problem of classes, each with its setup weight and its items."""
    items = [weight for _, weights in classes for weight in weights]
    return lines(
        [
            [len(items), len(classes), capacity, 1],
            *([0, setup, len(weights)] for setup, weights in classes),
            *([weight] for weight in items),
        ]
    )


def bins_with_colours(bins: int, capacity: int, items: Sequence[tuple[int, int]]) -> str:
    """Return a bin packing problem whose items have a colour and a weight."""
    colours = len({colour for colour, _ in items})
    head: list[list[int]] = [[1], [bins], [capacity], *([[0] * capacity] * bins)]
    return lines([*head, [colours], [len(items)], *items])


def triplets(items: Sequence[tuple[int, int]]) -> str:
    """Return bins of capacity 1000 for three items each."""
    return f"{len(items)}\n" + "".join(f"{colour}, {weight}\n" for colour, weight in items)


def saved(folder: Path, text: str | bytes, name: str = "t.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
