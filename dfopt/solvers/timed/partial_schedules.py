"""Partial schedules in layers: all with k tasks, then those with k + 1.

Tasks are dispatched in the order in which the switches to them begin. So a partial schedule is a
set of tasks, and for each CPU its state, the number of its tasks and when it is free; the ends of
all other tasks are past. One of two that agree in the sets is superfluous if it is nowhere earlier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled_in_place
from dfopt.solvers.timed.tables import BITS, TimedTables

Integers = npt.NDArray[np.int64]


class Layer(NamedTuple):
    """Partial schedules with equally many tasks, one in each row.

    Parameters
    ----------
    done
        The set of tasks that are dispatched.
    number
        The numbers of the CPUs, which are sorted.
    state, awaited, load, clock
        For each CPU its state; its last task if others wait for it, otherwise -1; the size of
        its tasks; when it is free.
    floor
        No further switch begins earlier.
    guide
        Rows with little of it are kept where there are too many.
    parent, move
        The row of the layer before; the task that was added, times the number of CPUs, plus the
        number of its CPU.
    following
        The next row with the same hash, or -1.
    """

    done: Integers
    number: Integers
    state: Integers
    awaited: Integers
    load: Integers
    clock: Integers
    floor: Integers
    guide: Integers
    parent: Integers
    move: Integers
    following: Integers


def empty_layer(tables: TimedTables, rows: int) -> Layer:
    """Return a layer with room for this number of rows."""
    cpus, words = len(tables.starts), tables.before.shape[1]

    def columns(number: int) -> Integers:
        return np.empty((rows, number), dtype=np.int64)

    def column() -> Integers:
        return np.empty(rows, dtype=np.int64)

    return Layer(
        done=columns(words),
        number=columns(cpus),
        state=columns(cpus),
        awaited=columns(cpus),
        load=columns(cpus),
        clock=columns(cpus),
        floor=column(),
        guide=column(),
        parent=column(),
        move=column(),
        following=column(),
    )


def write_root(tables: TimedTables, layer: Layer) -> None:
    """Write the row without tasks."""
    numbers = range(len(tables.starts))
    by_state = sorted(
        numbers, key=lambda cpu: (tables.family[tables.starts[cpu]], tables.starts[cpu])
    )
    layer.done[0], layer.awaited[0], layer.load[0], layer.clock[0] = 0, -1, 0, 0
    layer.number[0], layer.state[0] = by_state, tables.starts[by_state]
    layer.floor[0], layer.guide[0] = 0, 0


@compiled_in_place
def is_in(tasks: Integers, row: int, task: int) -> bool:
    """Return whether a task is in a set of a table of sets."""
    return bool((tasks[row, task // BITS] >> (task % BITS)) & 1 == 1)


@compiled_in_place
def is_within(some: Integers, one: int, others: Integers, other: int) -> bool:
    """Return whether a set is part of another one."""
    rest = 0
    for word in range(some.shape[1]):
        rest |= some[one, word] & ~others[other, word]
    return rest == 0


@compiled_in_place
def sort_key(tables: TimedTables, layer: Layer, row: int, cpu: int) -> int:
    """Return what CPUs are sorted by first; equal keys stand for states of one family."""
    awaited = layer.awaited[row, cpu]
    if awaited >= 0:
        return int(len(tables.family) + awaited)
    return int(tables.family[layer.state[row, cpu]])


@compiled_in_place
def comes_before(tables: TimedTables, layer: Layer, row: int, one: int, other: int) -> bool:
    """Return whether a CPU of a row is sorted before another one."""
    first, second = sort_key(tables, layer, row, one), sort_key(tables, layer, row, other)
    if first != second:
        return first < second
    if layer.load[row, one] != layer.load[row, other]:
        return bool(layer.load[row, one] < layer.load[row, other])
    if layer.state[row, one] != layer.state[row, other]:
        return bool(layer.state[row, one] < layer.state[row, other])
    return bool(layer.clock[row, one] < layer.clock[row, other])


@compiled_in_place
def swap(layer: Layer, row: int, one: int, other: int) -> None:
    """Let two CPUs change their places in a row."""
    for column in (layer.number, layer.state, layer.awaited, layer.load, layer.clock):
        kept = column[row, one]
        column[row, one] = column[row, other]
        column[row, other] = kept


@compiled_in_place
def copy_row(source: Layer, one: int, target: Layer, other: int) -> None:
    """Copy a row of one layer to a row of another one."""
    for word in range(source.done.shape[1]):
        target.done[other, word] = source.done[one, word]
    for cpu in range(source.state.shape[1]):
        target.number[other, cpu] = source.number[one, cpu]
        target.state[other, cpu] = source.state[one, cpu]
        target.awaited[other, cpu] = source.awaited[one, cpu]
        target.load[other, cpu] = source.load[one, cpu]
        target.clock[other, cpu] = source.clock[one, cpu]
    target.floor[other] = source.floor[one]
    target.guide[other] = source.guide[one]
    target.parent[other] = source.parent[one]
    target.move[other] = source.move[one]


@compiled_in_place
def begin_of(tables: TimedTables, layer: Layer, row: int, task: int, cpu: int) -> int:
    """Return when the switch to a task can begin on a CPU."""
    begin = max(tables.release[task], layer.clock[row, cpu])
    for other in range(layer.state.shape[1]):
        awaited = layer.awaited[row, other]
        if awaited >= 0 and is_in(tables.before, task, awaited):
            begin = max(begin, layer.clock[row, other])
    return int(begin)


@compiled_in_place
def can_start(tables: TimedTables, layer: Layer, row: int, task: int) -> bool:
    """Return whether a task is not dispatched, and all are that come before it."""
    return not is_in(layer.done, row, task) and is_within(tables.earlier, task, layer.done, row)


@compiled_in_place
def add_task(  # noqa: PLR0913, PLR0917
    tables: TimedTables, source: Layer, row: int, target: Layer, place: int, task: int, cpu: int
) -> bool:
    """Write the row that comes of dispatching a task; return False if it is superfluous."""
    begin = begin_of(tables, source, row, task, cpu)
    if begin < source.floor[row]:
        return False  # another row has dispatched it before
    copy_row(source, row, target, place)
    target.done[place, task // BITS] |= 1 << (task % BITS)
    state = source.state[row, cpu]
    target.clock[place, cpu] = begin + tables.switch[state, task] + tables.exec[task]
    target.state[place, cpu] = tables.state_of[task]
    target.awaited[place, cpu] = task
    target.load[place, cpu] += tables.size[task]
    target.floor[place] = begin
    target.parent[place] = row
    target.move[place] = task * source.state.shape[1] + source.number[row, cpu]
    for other in range(source.state.shape[1]):
        awaited = target.awaited[place, other]
        if awaited >= 0 and is_within(tables.after, awaited, target.done, place):
            target.awaited[place, other] = -1
    return True


@compiled_in_place
def raise_floor(tables: TimedTables, layer: Layer, row: int) -> None:
    """Raise the floor to the earliest time at which any task can start."""
    cpus, count = layer.state.shape[1], len(tables.exec)
    free = -1
    for cpu in range(cpus):
        if layer.load[row, cpu] < tables.room and (
            free < 0 or layer.clock[row, cpu] < layer.clock[row, free]
        ):
            free = cpu
    if free < 0:
        return
    earliest = -1
    for task in range(count):
        if can_start(tables, layer, row, task):
            begin = begin_of(tables, layer, row, task, free)
            if earliest < 0 or begin < earliest:
                earliest = begin
    layer.floor[row] = max(layer.floor[row], earliest)
