"""Bin packing with setups (BPPS) or with colours (BPPMCF).

BPPS is written as by R. Baldacci and others (2025). The first line holds the numbers of items and
classes, the capacity of a bin and its cost. Then each class has a line with its setup cost
(negative), its setup weight and the number of its items, and each item a line with its weight,
class by class. The number of bins is what is asked for, so it is not in the file.

BPPMCF, bin packing with minimum colour fragmentation, is written as M. Barkel and others publish it
(2025), in two layouts. In the first one a line with 1 is followed by the number of bins B and their
capacity W, a line each; by B lines of W zeros; by the numbers of colours and of items; and by a
line for each item with its colour and its weight. The second one, for triplets, has the number of
items, which is three times that of the bins, and then the items; the capacity is 1000.
"""

from __future__ import annotations

from collections import Counter

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.files.imported.source_text import (
    LineReader,
    SourceLine,
    integers,
    integers_exactly,
    is_integers,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG

IN_FIRST_LINE = 4
IN_CLASS_LINE = 3


def is_bins_with_setups(lines: list[SourceLine]) -> bool:
    """Whether the lines are those of a bin packing problem with setups."""
    first, second = lines[0], lines[min(1, len(lines) - 1)]
    return (
        is_integers(first)
        and len(first.words) == IN_FIRST_LINE
        and is_integers(second)
        and len(second.words) == IN_CLASS_LINE
    )


def read_bins_with_setups(lines: list[SourceLine], name: str, cpus: int | None) -> Instance:
    """Return the instance that says how full the fullest of some bins must be.

    CPUs are bins, execution times weights, and the lines of a class its setup weight, read from
    an empty cache too (P|fam|Cmax). On a CPU classes that come one after the other pay their
    setup once, so the makespan is the load of the fullest bin. Hence all items fit into ``cpus``
    bins exactly if the optimum is at most the capacity.

    Raises
    ------
    FileError, InstanceError
        When the number of bins is not given, classes have setup costs, or the file is cut off or
        contradicts itself.
    """
    if cpus is None:
        raise FileError("the number of bins is what such a file asks for; give `cpus`")
    reader = LineReader(lines)
    line = reader.next("the sizes")
    items, classes, capacity, _ = integers_exactly(
        line, ("items", "classes", "capacity", "bin cost")
    )
    setups, counts = [], []
    for position in range(1, classes + 1):
        line = reader.next(f"class {position} of {classes}")
        setup_weight, count = class_of(line, position)
        setups.append(setup_weight)
        counts.append(count)
    if sum(counts) != items:
        raise line.error(
            f"the classes have {sum(counts)} items together, and the first line says {items}; "
            "correct one of the two"
        )
    tasks = []
    for position, (setup_weight, count) in enumerate(zip(setups, counts, strict=True), 1):
        weights: Counter[int] = Counter()
        for item in range(1, count + 1):
            line = reader.next(f"item {item} of {count} in class {position}")
            weights[integers_exactly(line, ("weight",))[0]] += 1
        tasks += [
            Task(
                id=f"class{position}-weight{weight}",
                df=f"class{position}",
                lines=setup_weight,
                exec=weight,
                count=number,
            )
            for weight, number in weights.items()
        ]
    reader.check_end(f"the last of {items} items")
    return Instance(
        name=f"{name}-m{cpus}",
        description=f"bin packing with setups: {items} items of {classes} classes fit into {cpus} "
        f"bins of capacity {capacity} exactly if the optimum is at most {capacity} (P|fam|Cmax)",
        source="BPPS",
        cpus=cpus,
        capacity="unlimited",
        objective=Objective.MAKESPAN,
        penalty=PenaltyF(read_line=1, write_back=0),
        cold_start=True,
        tasks=tuple(tasks),
    )


def class_of(line: SourceLine, position: int) -> tuple[int, int]:
    """Return the setup weight of a class and the number of its items."""
    numbers = integers(line, least=-LARGEST_TOTAL)
    if len(numbers) != IN_CLASS_LINE:
        raise line.error(
            f"has {len(numbers)} numbers; a class has a setup cost, a setup weight and a number "
            "of items"
        )
    cost, weight, count = numbers
    if cost:
        raise line.error(
            f"class {position} has the setup cost {cost}, which cannot be said beside its weight; "
            "take a file whose setup costs are all 0"
        )
    if min(weight, count) < 0:
        raise line.error(f"{min(weight, count)} cannot stand here; the least is 0")
    return weight, count


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
