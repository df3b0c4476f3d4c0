"""An instance under f or g and what its CPUs hold, in one array of integers for the kernels.

Compiled code passes one array on cheaply, and not forty of them. A :class:`Layout` says where
in it everything stands; what belongs together, such as all about one CPU, is a *record* of
consecutive integers.

Types are numbered anew, fragment by fragment and in a fragment by their entry costs, so that
what a CPU holds of one fragment (a *part*) stands together in its row, cheapest opener first. A
row has only the types that its CPU holds: memory grows with what fits on a CPU, not with the
number of types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.costs.closed_form import ClosedForm, CpuStart
from dfopt.problem.instance import Instance, Objective

Memory = NDArray[np.int64]

# The record of a type, as in BlockCosts.
TYPE = 5
OF_FRAGMENT, BASE, ENTRY, EXIT, END = range(TYPE)

# The record of a CPU: as in CpuStart; how many types and parts it holds; its tasks and its F*;
# its place in the list of the CPUs above the target, or -1.
CPU = 8
FREE, ARRIVAL, DEPARTURE, TYPES, PARTS, LOAD, COST, ABOVE_PLACE = range(CPU)
FREE_FOR_ALL = -2
NO_FRAGMENT = -1

# The record of a part: its fragment, where its types begin in their row, how many tasks; then
# its bases with its ends in the middle, and what is added to that if it is the CPU's first or
# last one, alone with its entry spared, or split.
PART = 8
FRAGMENT, BEGIN, SIZE, MIDDLE, FIRST, LAST, ALONE, SPLIT = range(PART)

# The record of a fragment: where the list of the CPUs that hold it begins, and how long it is.
HOLDING = 2
HOLDERS, HELD_BY = range(HOLDING)

# An entry of a row: a type and how many tasks.
ENTRIES = 2

# Single numbers: types that the move at hand moves, and parts that it touches on its first and
# second CPU; the target, and how many CPUs are above it; the sum of all costs; the best objective
# so far, and how many CPUs cost at least as much; the state of the random numbers.
COUNTERS = 9
MOVED, TOUCHED, TOUCHED_TOO, TARGET, ABOVE, TOTAL, BEST, OVER, RANDOM = range(COUNTERS)


class Layout(NamedTuple):
    """The sizes of an instance, and where the memory has its arrays.

    Parameters
    ----------
    cpus, capacity
        CPUs, and most tasks of a CPU.
    adds_up
        Whether the objective is the sum of the CPUs' costs, not the largest one.
    row, part_row
        Integers from one CPU's row of types, or of parts, to that of the next.
    types, cpu, fragments
        Records of types, CPUs and fragments.
    rows, part_rows
        What every CPU holds, by type and by part.
    above
        List of the CPUs above the target.
    moved
        The move at hand: how many tasks of each type its first CPU gains and its second loses.
    touched
        Records of the parts that the move touches, as they would be, first on one CPU and then
        on the other; their ``BEGIN`` is their place on the CPU or -1.
    merged
        A row while it is rewritten.
    best_types, best_rows
        The best contents so far: how many types every CPU holds, and its row.
    counters
        Single numbers.
    """

    cpus: int
    capacity: int
    adds_up: bool
    row: int
    part_row: int
    types: int
    cpu: int
    fragments: int
    rows: int
    part_rows: int
    above: int
    moved: int
    touched: int
    merged: int
    best_types: int
    best_rows: int
    counters: int


def sorted_types(form: ClosedForm) -> list[int]:
    """Return the instance's types in the order in which the memory numbers them."""
    costs = form.costs
    return sorted(range(len(costs)), key=lambda kind: (costs[kind].fragment, costs[kind].entry))


def size_of(instance: Instance, types: int) -> int:
    """Return about how many integers the memory for an instance takes."""
    width = min(instance.tasks_per_cpu, types)
    return instance.cpus * (CPU + width * (2 * ENTRIES + PART))


def empty_memory(
    instance: Instance, form: ClosedForm, counts: Sequence[int], seed: int
) -> tuple[Memory, Layout]:
    """Return CPUs that hold nothing yet.

    Parameters
    ----------
    instance, form
        The instance and its closed form.
    counts
        How many tasks of each type there are, in the order of :func:`sorted_types`.
    seed
        Of the random numbers.
    """
    costs = [form.costs[kind] for kind in sorted_types(form)]
    sizes = [0] * len(form.fragments)
    for one, count in zip(costs, counts, strict=True):
        sizes[one.fragment] += count
    layout, total = _layout(instance, len(costs), sizes)
    memory = np.zeros(total, np.int64)
    for number, one in enumerate(costs):
        record = layout.types + number * TYPE
        memory[record : record + TYPE] = one.fragment, one.base, one.entry, one.exit, one.end
    for cpu, start in enumerate(form.starts):
        record = layout.cpu + cpu * CPU
        memory[record + FREE] = _free(start)
        memory[record + ARRIVAL] = start.arrival
        memory[record + DEPARTURE] = start.departure
        memory[record + ABOVE_PLACE] = -1
    begin = layout.fragments + HOLDING * len(sizes)
    for fragment, size in enumerate(sizes):
        memory[layout.fragments + fragment * HOLDING + HOLDERS] = begin
        # One more: the CPU that takes a fragment's last task may have it before another gives it.
        begin += min(size, instance.cpus) + 1
    memory[layout.counters + BEST] = np.iinfo(np.int64).max
    memory[layout.counters + RANDOM] = _scrambled(seed)
    return memory, layout


def _layout(instance: Instance, types: int, sizes: Sequence[int]) -> tuple[Layout, int]:
    """Return the layout, and how much memory it is for."""
    cpus, capacity = instance.cpus, instance.tasks_per_cpu
    row = ENTRIES * min(capacity, types)
    # One more record, where the last part's types end.
    part_row = PART * (min(capacity, len(sizes)) + 1)
    lengths = {
        "types": types * TYPE,
        "cpu": cpus * CPU,
        "fragments": sum(HOLDING + min(size, cpus) + 1 for size in sizes),
        "rows": cpus * row,
        "part_rows": cpus * part_row,
        "above": cpus,
        "moved": 2 * row,
        "touched": 2 * 2 * part_row,
        "merged": row,
        "best_types": cpus,
        "best_rows": cpus * row,
        "counters": COUNTERS,
    }
    places = {}
    total = 0
    for name, length in lengths.items():
        places[name] = total
        total += length
    adds_up = instance.objective is Objective.TOTAL_PENALTY
    layout = Layout(
        cpus=cpus, capacity=capacity, adds_up=adds_up, row=row, part_row=part_row, **places
    )
    return layout, total


def _free(start: CpuStart) -> int:
    if start.free_for_all:
        return FREE_FOR_ALL
    return NO_FRAGMENT if start.free_fragment is None else start.free_fragment


def _scrambled(seed: int) -> int:
    """Return 63 bits that differ much for seeds that differ little (splitmix64), never 0."""
    mask = 2**64 - 1
    mixed = (seed + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return (mixed ^ mixed >> 31) >> 1 or 1
