"""The state of local search: an instance under f or g, and the current contents of its CPUs.

Types are numbered anew, fragment by fragment and in a fragment by their entry costs, so that
what a CPU holds of one fragment (a *part*) stands together in its row, cheapest opener first. A
row has only the types that its CPU holds: memory grows with what fits on a CPU, not with the
number of types.

A table has a row for each type, CPU or part, and a column for each of its attributes: compiled
code passes on a few arrays much faster than forty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.costs.closed_form import ClosedForm, CpuStart
from dfopt.costs.role import Role
from dfopt.problem.instance import Instance, Objective

Integers = NDArray[np.int64]

# Columns of SearchState.types, as in BlockCosts; then the size of a task.
OF_FRAGMENT, BASE, ENTRY, EXIT, END, TASK_SIZE = range(6)

# Columns of SearchState.cpus: as in CpuStart; how many types and parts it holds; the size of its
# tasks and its F*; its place in the list of the CPUs above the target, or -1; what it costs if it
# runs nothing.
FREE, ARRIVAL, DEPARTURE, TYPES, PARTS, LOAD, COST, ABOVE_PLACE, IDLE = range(9)
FREE_FOR_ALL = -2
NO_FRAGMENT = -1

# Columns of SearchState.parts: its fragment, where its types begin in their row, how many tasks;
# then what it costs in the role MIDDLE, and for each other role what that adds to MIDDLE.
FRAGMENT, BEGIN, SIZE = range(3)
MIDDLE, FIRST, LAST, SPLIT, ALONE = (3 + role for role in Role)
PART_COLUMNS = 3 + len(Role)

# Columns of SearchState.holdings: where the list of a fragment's CPUs begins, and how long it is.
HOLDERS, HELD_BY = range(2)

# Columns of rows of types: a type, and how many tasks.
TYPE, COUNT = range(2)

# Entries of SearchState.counters: how many types the current move moves, and how many parts it
# touches on its first and second CPU; the target, and how many CPUs are above it; the sum of all
# costs; the best objective so far, and how many CPUs cost at least as much; the random bits; the
# target for the sum of all costs where CPUs are evened out, else -1.
MOVED, TOUCHED, TOUCHED_TOO, TARGET, ABOVE, TOTAL, BEST, OVER, RANDOM, ALLOWED = range(10)


class SearchState(NamedTuple):
    """An instance and what its CPUs hold, for m CPUs, n types, and rows of w types.

    Parameters
    ----------
    room
        The largest size that a CPU may hold (k).
    has_sizes
        Whether some tasks are larger than others; if not, only their number counts.
    adds_up
        Whether the objective is the sum of the CPUs' costs, not the largest one.
    types
        (n, 6). The costs and the size of the tasks of each type.
    cpus
        (m, 9). The attributes of each CPU.
    holdings, holders
        (d, 2) and flat. For each of d fragments the list of the CPUs that hold it.
    rows
        (m, w, 2). The types that each CPU holds, and how many tasks.
    parts
        (m, p + 1, 8). The parts that each CPU holds, at most p. Behind the last one stands where
        its types end.
    above
        (m,). The CPUs above the target, in any order.
    moved
        (2w + 1, 2). The current move: how many tasks of each type its first CPU gains and its
        second CPU loses.
    touched
        (2, 2p + 2, 8). The parts that the move touches, as they would be, on its first and its
        second CPU. Their ``BEGIN`` is their place on the CPU, or -1.
    merged
        (w, 2). A row while it is rewritten.
    best_types, best_rows
        (m,) and (m, w, 2). The best contents so far: how many types each CPU holds, and which.
    counters
        (10,). Single numbers.
    """

    room: int
    has_sizes: bool
    adds_up: bool
    types: Integers
    cpus: Integers
    holdings: Integers
    holders: Integers
    rows: Integers
    parts: Integers
    above: Integers
    moved: Integers
    touched: Integers
    merged: Integers
    best_types: Integers
    best_rows: Integers
    counters: Integers


def sorted_types(form: ClosedForm) -> list[int]:
    """Return the instance's types in the order in which the state numbers them."""
    costs = form.costs
    return sorted(
        range(len(costs)), key=lambda task_type: (costs[task_type].fragment, costs[task_type].entry)
    )


def size_of(instance: Instance, types: int) -> int:
    """Return about how many integers the state of an instance takes."""
    width = min(instance.tasks_per_cpu, types)
    return instance.cpus * (8 + width * (2 * 2 + PART_COLUMNS))


def empty_state(
    instance: Instance,
    form: ClosedForm,
    counts: Sequence[int],
    task_sizes: Sequence[int],
    seed: int,
) -> SearchState:
    """Return CPUs that hold nothing yet.

    Parameters
    ----------
    instance, form
        The instance and its closed form.
    counts, task_sizes
        How many tasks of each type there are, and how large each of them is, in the order of
        :func:`sorted_types`.
    seed
        Seed of the random numbers.
    """
    costs = [form.costs[task_type] for task_type in sorted_types(form)]
    sizes = [0] * len(form.fragments)
    for block_costs, count in zip(costs, counts, strict=True):
        sizes[block_costs.fragment] += count
    # One more: the CPU that takes a fragment's last task may have it before another gives it.
    lengths = [min(size, instance.cpus) + 1 for size in sizes]
    cpus, width = instance.cpus, min(instance.tasks_per_cpu, len(costs))
    most_parts = min(instance.tasks_per_cpu, len(sizes)) + 1

    def zeros(*shape: int) -> Integers:
        return np.zeros(shape, np.int64)

    state = SearchState(
        room=instance.room,
        has_sizes=instance.has_sizes,
        adds_up=instance.objective is Objective.TOTAL_PENALTY,
        types=np.array(
            [
                (
                    block_costs.fragment,
                    block_costs.base,
                    block_costs.entry,
                    block_costs.exit,
                    block_costs.end,
                    task_size,
                )
                for block_costs, task_size in zip(costs, task_sizes, strict=True)
            ],
            np.int64,
        ),
        cpus=zeros(cpus, 9),
        holdings=zeros(len(sizes), 2),
        holders=zeros(sum(lengths)),
        rows=zeros(cpus, width, 2),
        parts=zeros(cpus, most_parts, PART_COLUMNS),
        above=zeros(cpus),
        moved=zeros(2 * width + 1, 2),
        touched=zeros(2, 2 * most_parts, PART_COLUMNS),
        merged=zeros(width, 2),
        best_types=zeros(cpus),
        best_rows=zeros(cpus, width, 2),
        counters=zeros(10),
    )
    state.cpus[:, FREE] = [_free(start) for start in form.starts]
    state.cpus[:, ARRIVAL] = [start.arrival for start in form.starts]
    state.cpus[:, DEPARTURE] = [start.departure for start in form.starts]
    state.cpus[:, IDLE] = [start.idle for start in form.starts]
    state.cpus[:, ABOVE_PLACE] = -1
    state.holdings[1:, HOLDERS] = np.cumsum(lengths)[:-1]
    state.counters[BEST] = np.iinfo(np.int64).max
    state.counters[RANDOM] = _scrambled(seed)
    state.counters[ALLOWED] = -1
    return state


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
