"""BPPMCF, bin packing with minimum colour fragmentation, as M. Barkel and others publish it (2025).

There are two layouts. In the first one a line with 1 is followed by the number of bins B and
their capacity W, a line each; by B lines of W zeros; by the numbers of colours and of items; and
by a line for each item with its colour and its weight. The second one, for triplets, has the
number of items, which is three times that of the bins, and then the items; the capacity is 1000.
"""

from __future__ import annotations

from collections import Counter

from dfopt.files.imported.source_text import (
    LineReader,
    SourceLine,
    integers,
    integers_exactly,
    is_integers,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG

PAIR = 2
ITEMS_IN_A_BIN = 3
CAPACITY_OF_TRIPLETS = 1000


def is_bins_with_colours(lines: list[SourceLine]) -> bool:
    """Whether the lines are those of a bin packing problem with colours."""
    first = lines[:4]
    if not all(map(is_integers, first)):
        return False
    widths = [len(line.words) for line in first]
    return widths[:3] == [1, 1, 1] or widths[:2] == [1, PAIR]


def read_bins_with_colours(lines: list[SourceLine], name: str, cpus: int | None) -> Instance:
    """Return the instance whose optimum is the least number of pairs of a bin and a colour in it.

    CPUs are bins, weights are sizes, and colours are fragments under g with a fill of 1, paid from
    an empty cache too. A CPU that runs the tasks of each colour one after the other pays 1 for
    each of its colours, and no order pays less. ``cpus`` replaces the number of bins in the file.

    Raises
    ------
    FileError, InstanceError
        When the file is cut off or contradicts itself.
    """
    reader = LineReader(lines)
    is_triplets = len(lines[1].words) == PAIR
    if is_triplets:
        items = integers_exactly(reader.next("the number of items"), ("items",))[0]
        if items % ITEMS_IN_A_BIN:
            raise lines[0].error(f"{items} items are no triplets; correct the number")
        bins, capacity = items // ITEMS_IN_A_BIN, CAPACITY_OF_TRIPLETS
    else:
        bins, capacity, items = head(reader)
    colours: Counter[tuple[int, int]] = Counter()
    for item in range(1, items + 1):
        line = reader.next(f"item {item} of {items}")
        colour, weight = integers_exactly(line, ("colour", "weight"))
        if not 1 <= weight <= capacity:
            raise line.error(f"the weight {weight} is not between 1 and {capacity}; correct it")
        colours[colour, weight] += 1
    reader.check_end(f"the last of {items} items")
    used = cpus or bins
    return Instance(
        name=name if cpus is None else f"{name}-m{cpus}",
        description=f"bin packing with least colour fragmentation: {items} items in {used} bins of "
        f"capacity {capacity}; the total penalty counts the colours of each bin",
        source="BPPMCF",
        cpus=used,
        capacity=capacity,
        objective=Objective.TOTAL_PENALTY,
        penalty=PenaltyG(fill=1, write_back=0),
        cold_start=True,
        tasks=tuple(
            Task(
                id=f"colour{colour}-weight{weight}",
                df=f"colour{colour}",
                size=weight,
                count=number,
            )
            for (colour, weight), number in sorted(colours.items())
        ),
    )


def head(reader: LineReader) -> tuple[int, int, int]:
    """Return the numbers of bins, their capacity and the number of items, from the first lines."""
    mark = reader.next("the line with 1")
    if integers(mark) != [1]:
        raise mark.error("the first line must be 1; correct it")
    bins = integers(reader.next("the number of bins"), least=1)[0]
    capacity = integers(reader.next("the capacity"), least=1)[0]
    for row in range(1, bins + 1):
        line = reader.next(f"row {row} of {bins} rows of zeros")
        if set(integers(line)) != {0}:
            raise line.error(f"row {row} of {bins} must be zeros: each bin is empty at the start")
    integers_exactly(reader.next("the number of colours"), ("colours",))
    items = integers_exactly(reader.next("the number of items"), ("items",))[0]
    return bins, capacity, items
