"""A lower bound on what can come of a partial schedule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled, compiled_in_place
from dfopt.solvers.timed.partial_schedules import Layer, is_in
from dfopt.solvers.timed.tables import TimedTables

Integers = npt.NDArray[np.int64]


@compiled
def bound_of(  # noqa: PLR0913, PLR0917
    tables: TimedTables, layer: Layer, row: int, below: int, left: Integers, cheapest: Integers
) -> tuple[int, int]:
    """Return a lower bound on what can come of a row, and m times the one by work alone.

    The bound is ``below`` itself where nothing can end earlier than that.

    Parameters
    ----------
    left, cheapest
        Room for a number for each fragment: its tasks that are left, and their cheapest entry.
    """
    missing = _count_fragments(tables, layer, row, left, cheapest)
    bound, open_cpus = 0, 0
    for cpu in range(layer.state.shape[1]):
        end = layer.clock[row, cpu]
        is_full = layer.load[row, cpu] == tables.room
        # What comes behind the last task is cheaper for some tasks than for others.
        if not missing or is_full:
            end += tables.finish[layer.state[row, cpu]]
        bound = max(bound, end)
        if not is_full:
            open_cpus += 1
    if not open_cpus or not missing:
        return bound, bound * layer.state.shape[1]
    bound, total = _bound_by_heads(tables, layer, row, bound, open_cpus, left, cheapest)
    if bound < below and not _fits_before_tails(tables, layer, row, below):
        bound = below
    return bound, total


@compiled_in_place
def _count_fragments(
    tables: TimedTables, layer: Layer, row: int, left: Integers, cheapest: Integers
) -> int:
    """Count the tasks of each fragment that are left, and find their cheapest entry."""
    left[:] = 0
    missing = 0
    for task in range(len(tables.exec)):
        if not is_in(layer.done, row, task):
            fragment = tables.fragment[task]
            if not left[fragment] or tables.entry[task] < cheapest[fragment]:
                cheapest[fragment] = tables.entry[task]
            left[fragment] += 1
            missing += 1
    for cpu in range(layer.state.shape[1]):
        # What an open CPU holds need not be entered.
        held = tables.held[layer.state[row, cpu]]
        if held >= 0 and layer.load[row, cpu] < tables.room:
            cheapest[held] = 0
    return missing


@compiled
def _bound_by_heads(  # noqa: PLR0913, PLR0917
    tables: TimedTables,
    layer: Layer,
    row: int,
    bound: int,
    open_cpus: int,
    left: Integers,
    cheapest: Integers,
) -> tuple[int, int]:
    """Return the bound by paths, and by the work of all tasks with no earlier head; and its sum."""
    cpus = layer.state.shape[1]
    busy, gifts, spared, most_spared, departures = 0, 0, 0, 0, 0
    free = -1
    for cpu in range(cpus):
        if layer.load[row, cpu] == tables.room:
            continue
        state, clock = layer.state[row, cpu], layer.clock[row, cpu]
        busy += clock
        if free < 0 or clock < free:
            free = clock
        gifts += tables.gift[state]
        departures += tables.departure[state]
        if tables.relief[state] > 0:
            spared += 1
            most_spared = max(most_spared, tables.relief[state])
    work = 0
    for position in range(len(tables.exec)):
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
        ready, later = head, 0
        for cpu in range(cpus):
            awaited = layer.awaited[row, cpu]
            if awaited >= 0 and is_in(tables.before, task, awaited):
                ready = max(ready, layer.clock[row, cpu])
            if layer.load[row, cpu] < tables.room:
                later += max(0, layer.clock[row, cpu] - head)
        path = ready + tables.arrival[task] + tables.exec[task] + tables.tail[task]
        # The sum of the ends of all CPUs, less what the last task of each may be spared.
        ends = open_cpus * head + later + work - gifts - min(spared, open_cpus) * most_spared
        bound = max(bound, path, -(-ends // open_cpus))
    total = busy + work + departures - gifts - min(spared, open_cpus) * most_spared
    return max(bound, -(-total // open_cpus)), total


@compiled_in_place
def _fits_before_tails(tables: TimedTables, layer: Layer, row: int, below: int) -> bool:
    """Return whether all tasks with tails have room to end before ``below`` less their tails."""
    cpus = layer.state.shape[1]
    work = 0
    for cpu in range(cpus):
        if layer.load[row, cpu] < tables.room:
            work -= tables.gift[layer.state[row, cpu]]
    for position in range(len(tables.exec)):
        task = tables.by_tail[position]
        if is_in(layer.done, row, task):
            continue
        if not tables.tail[task]:
            break
        work += tables.exec[task] + tables.addition[task]
        room = 0
        for cpu in range(cpus):
            if layer.load[row, cpu] < tables.room:
                room += max(0, below - 1 - tables.tail[task] - layer.clock[row, cpu])
        if work > room:
            return False
    return True
