"""Partial schedules in layers: all with k tasks, then those with k + 1.

Tasks are dispatched in the order in which the switches to them begin. So a partial schedule is a
set of tasks, and for each CPU its state, the number of its tasks and when it is free; the ends of
all other tasks are past. One of two that agree in the sets is superfluous if it is nowhere earlier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled, compiled_in_place
from dfopt.solvers.search import Search
from dfopt.solvers.timed.tables import BITS, TimedTables, timed_tables, tiny_instance

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
        For each CPU its state; its last task if others wait for it, otherwise -1; the number of
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


def first_calls() -> None:
    """Call the compiled functions, so that they are loaded or compiled."""
    tables = timed_tables(Search(tiny_instance()))
    layer, table = empty_layer(tables, 2), np.zeros(2, dtype=np.int64)
    extend(tables, layer, 0, 0, layer, 0, table, 0, 1)


@compiled_in_place
def is_in(tasks: Integers, row: int, task: int) -> bool:
    """Return whether a task is in a set of a table of sets."""
    return (tasks[row, task // BITS] >> (task % BITS)) & 1 == 1


@compiled_in_place
def is_within(some: Integers, one: int, others: Integers, other: int) -> bool:
    """Return whether a set is part of another one."""
    for word in range(some.shape[1]):
        if some[one, word] & ~others[other, word]:
            return False
    return True


@compiled_in_place
def sort_key(tables: TimedTables, layer: Layer, row: int, cpu: int) -> int:
    """Return what CPUs are sorted by first; equal keys stand for states of one family."""
    awaited = layer.awaited[row, cpu]
    if awaited >= 0:
        return len(tables.family) + awaited
    return tables.family[layer.state[row, cpu]]


@compiled_in_place
def comes_before(tables: TimedTables, layer: Layer, row: int, one: int, other: int) -> bool:
    """Return whether a CPU of a row is sorted before another one."""
    first, second = sort_key(tables, layer, row, one), sort_key(tables, layer, row, other)
    if first != second:
        return first < second
    if layer.load[row, one] != layer.load[row, other]:
        return layer.load[row, one] < layer.load[row, other]
    if layer.state[row, one] != layer.state[row, other]:
        return layer.state[row, one] < layer.state[row, other]
    return layer.clock[row, one] < layer.clock[row, other]


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
    return begin


@compiled_in_place
def can_start(tables: TimedTables, layer: Layer, row: int, task: int) -> bool:
    """Return whether a task is not dispatched, and all are that it waits for."""
    if is_in(layer.done, row, task) or not is_within(tables.before, task, layer.done, row):
        return False
    twin = tables.twin[task]
    return twin < 0 or is_in(layer.done, row, twin)


@compiled_in_place
def add_task(  # noqa: PLR0913
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
    target.load[place, cpu] += 1
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
        if layer.load[row, cpu] < tables.capacity and (
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


@compiled
def bound_of(
    tables: TimedTables, layer: Layer, row: int, left: Integers, cheapest: Integers
) -> tuple[int, int]:
    """Return a lower bound on what can come of a row, and m times the one by work alone.

    Parameters
    ----------
    left, cheapest
        Room for a number for each fragment: its tasks that are left, and their cheapest entry.
    """
    cpus, count = layer.state.shape[1], len(tables.exec)
    left[:] = 0
    bound, missing = 0, 0
    for task in range(count):
        if not is_in(layer.done, row, task):
            missing += 1
            fragment = tables.fragment[task]
            if not left[fragment] or tables.entry[task] < cheapest[fragment]:
                cheapest[fragment] = tables.entry[task]
            left[fragment] += 1
    for cpu in range(cpus):
        end = layer.clock[row, cpu]
        # What comes behind the last task is cheaper for some tasks than for others.
        if not missing or layer.load[row, cpu] == tables.capacity:
            end += tables.finish[layer.state[row, cpu]]
        bound = max(bound, end)
    open_cpus, busy, gifts, spared, most_spared, departures = 0, 0, 0, 0, 0, 0
    free = -1
    for cpu in range(cpus):
        state = layer.state[row, cpu]
        if layer.load[row, cpu] == tables.capacity:
            continue
        open_cpus += 1
        clock = layer.clock[row, cpu]
        busy += clock
        if free < 0 or clock < free:
            free = clock
        if tables.is_start[state]:
            gifts += tables.gift[state]
        else:
            departures += tables.departure[state]
            if tables.relief[state] > 0:
                spared += 1
                most_spared = max(most_spared, tables.relief[state])
        if tables.held[state] >= 0:
            cheapest[tables.held[state]] = 0
    if not open_cpus or not missing:
        return bound, bound * cpus
    # Work between the head of a task and the end: of all tasks with no earlier head.
    work = 0
    for position in range(count):
        task = tables.by_head[position]
        if is_in(layer.done, row, task):
            continue
        state = tables.state_of[task]
        work += tables.exec[task] + tables.addition[task] + tables.departure[state]
        if tables.relief[state] > 0:
            spared += 1
            most_spared = max(most_spared, tables.relief[state])
        fragment = tables.fragment[task]
        left[fragment] -= 1
        if not left[fragment]:
            work += cheapest[fragment]
        head = max(tables.head[task], free)
        for cpu in range(cpus):
            awaited = layer.awaited[row, cpu]
            if awaited >= 0 and is_in(tables.before, task, awaited):
                head = max(head, layer.clock[row, cpu])
        path = head + tables.arrival[task] + tables.exec[task] + tables.tail[task]
        bound = max(bound, path)
        later = 0
        head = max(tables.head[task], free)
        for cpu in range(cpus):
            if layer.load[row, cpu] < tables.capacity:
                later += max(0, layer.clock[row, cpu] - head)
        sum_of_ends = (
            open_cpus * head + later + work - gifts - min(spared, open_cpus) * most_spared
        )
        bound = max(bound, -(-sum_of_ends // open_cpus))
    total = busy + work + departures - gifts - min(spared, open_cpus) * most_spared
    bound = max(bound, -(-total // open_cpus))
    # Work before the tail of a task: of all tasks with no shorter tail.
    work = busy - gifts
    for position in range(count):
        task = tables.by_tail[position]
        if is_in(layer.done, row, task):
            continue
        if not tables.tail[task]:
            break
        work += tables.exec[task] + tables.addition[task]
        bound = max(bound, -(-work // open_cpus) + tables.tail[task])
    return bound, total


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
        if layer.load[other, cpu] < tables.capacity and (
            free < 0 or layer.clock[other, cpu] < free
        ):
            free = layer.clock[other, cpu]
    return layer.floor[one] <= max(layer.floor[other], free)


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
                return other
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
def extend(  # noqa: PLR0913
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
                if source.load[row, cpu] == tables.capacity:
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
                bound, total = bound_of(tables, target, count, left, cheapest)
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
