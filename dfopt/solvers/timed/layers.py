"""Layers of partial schedules: from all with k tasks to those with k + 1.

Of two rows of a layer that agree in their sets and families of states, one that is nowhere later
makes the other one superfluous.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled, compiled_in_place
from dfopt.solvers.search import Search
from dfopt.solvers.timed.partial_schedules import (
    Layer,
    add_task,
    can_start,
    comes_before,
    copy_row,
    empty_layer,
    raise_floor,
    sort_key,
    swap,
)
from dfopt.solvers.timed.row_bound import bound_of
from dfopt.solvers.timed.tables import TimedTables, timed_tables, tiny_instance

Integers = npt.NDArray[np.int64]


def first_calls() -> None:
    """Call the compiled functions, so that they are loaded or compiled."""
    tables = timed_tables(Search(tiny_instance()))
    layer, table = empty_layer(tables, 2), np.zeros(2, dtype=np.int64)
    extend(tables, layer, 0, 0, layer, 0, table, 0, 1)


@compiled_in_place
def settle(tables: TimedTables, layer: Layer, row: int, bound: int) -> None:
    """Forget times that do not matter any more, and sort the CPUs."""
    cpus = layer.state.shape[1]
    floor = layer.floor[row]
    for cpu in range(cpus):
        finish = tables.finish[layer.state[row, cpu]]
        if layer.clock[row, cpu] < floor and floor + finish <= bound:
            layer.clock[row, cpu] = floor
    for cpu in range(1, cpus):
        position = cpu
        while position > 0 and comes_before(tables, layer, row, position, position - 1):
            swap(layer, row, position, position - 1)
            position -= 1


@compiled_in_place
def hash_of(tables: TimedTables, layer: Layer, row: int) -> int:
    """Return a number that is equal for rows of which one may replace the other."""
    value = 0
    for word in range(layer.done.shape[1]):
        value = (value ^ layer.done[row, word]) * -7046029254386353131
        value ^= value >> 29
    for cpu in range(layer.state.shape[1]):
        key = sort_key(tables, layer, row, cpu) * 4096 + layer.load[row, cpu]
        value = (value ^ key) * -7046029254386353131
        value ^= value >> 31
    return value


@compiled_in_place
def agree(tables: TimedTables, layer: Layer, one: int, other: int) -> bool:
    """Return whether two rows have the same sets and CPUs of the same families."""
    for word in range(layer.done.shape[1]):
        if layer.done[one, word] != layer.done[other, word]:
            return False
    for cpu in range(layer.state.shape[1]):
        if layer.load[one, cpu] != layer.load[other, cpu]:
            return False
        if sort_key(tables, layer, one, cpu) != sort_key(tables, layer, other, cpu):
            return False
    return True


@compiled_in_place
def is_no_later(tables: TimedTables, layer: Layer, one: int, other: int) -> bool:
    """Return whether a row makes another one superfluous that agrees with it."""
    cpus = layer.state.shape[1]
    free = -1
    for cpu in range(cpus):
        if layer.clock[one, cpu] > layer.clock[other, cpu]:
            return False
        if not tables.replaces[layer.state[one, cpu], layer.state[other, cpu]]:
            return False
        if layer.load[other, cpu] < tables.room and (free < 0 or layer.clock[other, cpu] < free):
            free = layer.clock[other, cpu]
    return bool(layer.floor[one] <= max(layer.floor[other], free))


@compiled_in_place
def is_new(tables: TimedTables, layer: Layer, row: int, table: Integers) -> int:
    """Return where to keep a row that was just written: there, in place of another one, or -1."""
    bucket = hash_of(tables, layer, row) & (len(table) - 1)
    other = table[bucket]
    while other >= 0:
        if agree(tables, layer, other, row):
            if is_no_later(tables, layer, other, row):
                return -1
            if is_no_later(tables, layer, row, other):
                return int(other)
        other = layer.following[other]
    layer.following[row] = table[bucket]
    table[bucket] = row
    return row


@compiled
def keep_best(tables: TimedTables, layer: Layer, count: int, most: int, table: Integers) -> int:
    """Keep the rows with the least guide, at most ``most``; return how many there are."""
    limit = np.partition(layer.guide[:count].copy(), most - 1)[most - 1]
    below = 0
    for row in range(count):
        if layer.guide[row] < limit:
            below += 1
    kept = 0
    ties = most - below
    for row in range(count):
        if layer.guide[row] > limit:
            continue
        if layer.guide[row] == limit:
            if not ties:
                continue
            ties -= 1
        if kept != row:
            copy_row(layer, row, layer, kept)
        kept += 1
    table[:] = -1
    for row in range(kept):
        bucket = hash_of(tables, layer, row) & (len(table) - 1)
        layer.following[row] = table[bucket]
        table[bucket] = row
    return kept


@compiled
def extend(  # noqa: PLR0913, PLR0917
    tables: TimedTables,
    source: Layer,
    first: int,
    last: int,
    target: Layer,
    count: int,
    table: Integers,
    below: int,
    width: int,
) -> tuple[int, int]:
    """Write what can come of some rows with one more task.

    Parameters
    ----------
    source, first, last
        The rows that are extended.
    target, count, table
        The layer that is written, the number of its rows, and the heads of its lists by hash.
    below
        Only what can end earlier than this is kept.
    width
        At most this number of rows are kept, those with the least guide.

    Returns
    -------
    count, dropped
        The number of rows now, and how often some were dropped.
    """
    cpus, tasks = source.state.shape[1], len(tables.exec)
    left = np.zeros(tasks, dtype=np.int64)
    cheapest = np.zeros(tasks, dtype=np.int64)
    dropped = 0
    for row in range(first, last):
        for task in range(tasks):
            if not can_start(tables, source, row, task):
                continue
            for cpu in range(cpus):
                if source.load[row, cpu] + tables.size[task] > tables.room:
                    continue
                if (
                    cpu
                    and source.state[row, cpu] == source.state[row, cpu - 1]
                    and source.awaited[row, cpu] == source.awaited[row, cpu - 1]
                    and source.load[row, cpu] == source.load[row, cpu - 1]
                    and source.clock[row, cpu] == source.clock[row, cpu - 1]
                ):
                    continue  # the CPU before is like this one
                if not add_task(tables, source, row, target, count, task, cpu):
                    continue
                raise_floor(tables, target, count)
                bound, total = bound_of(tables, target, count, below, left, cheapest)
                if bound >= below:
                    continue
                settle(tables, target, count, bound)
                target.guide[count] = max(total, bound * cpus)
                place = is_new(tables, target, count, table)
                if place < 0:
                    continue
                if place < count:
                    copy_row(target, count, target, place)
                    continue
                count += 1
                if count == len(target.floor):
                    count = keep_best(tables, target, count, width, table)
                    dropped += 1
    return count, dropped
