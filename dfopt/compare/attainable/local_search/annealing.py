"""Simulated annealing over the orders in which the CPUs of a stretch run its dispatches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.local_search.layout import (
    AFTER,
    BEFORE,
    COST,
    CPU,
    END,
    HEAPED,
    LATENESS,
    LENGTH,
    LOGGED,
    LONG_WAITS,
    NOBODY,
    READY,
    WAITS,
    Stretch,
    Table,
)
from dfopt.compare.attainable.local_search.moves import (
    meeting_cost,
    note_opening,
    propose,
    random_below,
)
from dfopt.compare.attainable.local_search.propagation import (
    next_queued,
    propagate,
    queue,
    queue_after,
    restore_times,
    update,
)
from dfopt.solvers.compilation.compiled import compiled, compiled_in_place

UPDATES_TO_SETTLE = 100
"""A stretch settles if each of its starts changes at most 100 times in the mean."""

Prices = NDArray[np.float64]


@compiled_in_place
def meetings(rows: Table, pairs: Table, change: tuple[int, int, int, int, int]) -> int:
    """Write down which elements meet before and after a change; return how many pairs."""
    begin, end, other_begin, other_end, behind = change
    before, after = rows[begin, BEFORE], rows[end, AFTER]
    if other_begin == NOBODY:
        follower = rows[behind, AFTER]
        pairs[0, 0], pairs[0, 1] = before, begin
        pairs[1, 0], pairs[1, 1] = end, after
        pairs[2, 0], pairs[2, 1] = behind, follower
        pairs[0, 2], pairs[0, 3] = before, after
        pairs[1, 2], pairs[1, 3] = behind, begin
        pairs[2, 2], pairs[2, 3] = end, follower
        return 3
    other_before, other_after = rows[other_begin, BEFORE], rows[other_end, AFTER]
    if after == other_begin or other_after == begin:
        if other_after == begin:
            begin, end, other_begin, other_end = other_begin, other_end, begin, end
            before, other_after = other_before, after
        pairs[0, 0], pairs[0, 1] = before, begin
        pairs[1, 0], pairs[1, 1] = end, other_begin
        pairs[2, 0], pairs[2, 1] = other_end, other_after
        pairs[0, 2], pairs[0, 3] = before, other_begin
        pairs[1, 2], pairs[1, 3] = other_end, begin
        pairs[2, 2], pairs[2, 3] = end, other_after
        return 3
    pairs[0, 0], pairs[0, 1] = before, begin
    pairs[1, 0], pairs[1, 1] = end, after
    pairs[2, 0], pairs[2, 1] = other_before, other_begin
    pairs[3, 0], pairs[3, 1] = other_end, other_after
    pairs[0, 2], pairs[0, 3] = before, other_begin
    pairs[1, 2], pairs[1, 3] = other_end, after
    pairs[2, 2], pairs[2, 3] = other_before, begin
    pairs[3, 2], pairs[3, 3] = end, other_after
    return 4


@compiled_in_place
def badness(stretch: Stretch, prices: Prices) -> float:
    """Return by how much a schedule is beyond its limits, see :func:`anneal`."""
    counters, bounds = stretch.counters, stretch.bounds
    too_long = max(0, counters[WAITS] - bounds[0])
    too_many = max(0, counters[LONG_WAITS] - bounds[2])
    return float(counters[LATENESS] + too_long * prices[2] + too_many * prices[3])


@compiled_in_place
def put_on(stretch: Stretch, begin: int, end: int, behind: int, cpu: int) -> None:
    """Let a segment run on a CPU behind an element, and queue it."""
    rows = stretch.rows
    time = rows[behind, END]
    element = begin
    while True:
        rows[element, CPU] = cpu
        time = max(time, rows[element, READY])
        queue(stretch, element, time)
        time += rows[element, LENGTH]
        if element == end:
            break
        element = rows[element, AFTER]


@compiled_in_place
def take_back(rows: Table, begin: int, end: int, cpu: int) -> None:
    """Give the dispatches of a segment back the CPU on which they were."""
    element = begin
    while True:
        rows[element, CPU] = cpu
        if element == end:
            break
        element = rows[element, AFTER]


@compiled
def anneal(  # noqa: PLR0912, PLR0913, PLR0917 - one change, from its proposal to its end
    stretch: Stretch,
    pairs: Table,
    thresholds: Prices,
    prices: Prices,
    low: int,
    high: int,
    proposals: int,
) -> None:
    """Try random changes that begin with the dispatches ``low`` … ``high`` - 1.

    Parameters
    ----------
    stretch
        Changed.
    pairs
        Of shape (4, 4), for its own use.
    thresholds
        Equally likely limits of how much worse a change may be.
    prices
        How much worse it is by a unit of cost, and by a unit of time for which something is late;
        then what is as bad as being late by a unit of time: a unit of time by which the sum of
        waits is too large, and a long wait above their permitted number.
    low, high
        Of the changes; what follows from them may lie outside.
    proposals
        Number of changes to try.
    """
    rows, counters = stretch.rows, stretch.counters
    cost_price, late_price = prices[0], prices[1]
    for _ in range(proposals):
        change = propose(stretch, low, high)
        begin, end, other_begin, other_end, behind = change
        if begin == NOBODY:
            continue
        number = meetings(rows, pairs, change)
        rise = 0
        for pair in range(number):
            rise += meeting_cost(stretch, pairs[pair, 2], pairs[pair, 3])
            rise -= meeting_cost(stretch, pairs[pair, 0], pairs[pair, 1])
        late, waits, long_waits = counters[LATENESS], counters[WAITS], counters[LONG_WAITS]
        before = badness(stretch, prices)
        allowed = thresholds[random_below(counters, len(thresholds))] - rise * cost_price
        # At best nothing is late any more.
        most = before + allowed / late_price
        if most < 0:
            continue
        other_cpu = rows[begin, CPU]
        cpu = rows[behind, CPU] if other_begin == NOBODY else rows[other_begin, CPU]
        if other_begin == NOBODY:
            put_on(stretch, begin, end, behind, cpu)
        else:
            put_on(stretch, begin, end, rows[other_begin, BEFORE], cpu)
            put_on(stretch, other_begin, other_end, rows[begin, BEFORE], other_cpu)
        for pair in range(number):
            rows[pairs[pair, 2], AFTER] = pairs[pair, 3]
            rows[pairs[pair, 3], BEFORE] = pairs[pair, 2]
        for pair in range(number):
            queue_after(stretch, pairs[pair, 3], 0)
        if propagate(stretch, late + most) and badness(stretch, prices) <= most:
            counters[COST] += rise
            for pair in range(number):
                note_opening(stretch, pairs[pair, 3])
            continue
        restore_times(stretch)
        counters[LATENESS], counters[WAITS], counters[LONG_WAITS] = late, waits, long_waits
        for pair in range(number):
            rows[pairs[pair, 0], AFTER] = pairs[pair, 1]
            rows[pairs[pair, 1], BEFORE] = pairs[pair, 0]
        if cpu != other_cpu:
            take_back(rows, begin, end, other_cpu)
            if other_begin != NOBODY:
                take_back(rows, other_begin, other_end, cpu)


@compiled
def settle(stretch: Stretch, dispatches: int) -> bool:
    """Start every dispatch as early as the order permits; return whether that was possible."""
    rows, counters = stretch.rows, stretch.counters
    for element in range(len(rows)):
        queue_after(stretch, element, 0)
    updates = 0
    while counters[HEAPED] > 0 and updates < UPDATES_TO_SETTLE * len(rows):
        update(stretch, next_queued(stretch))
        counters[LOGGED] = 0
        updates += 1
    settled = counters[HEAPED] == 0
    for element in range(dispatches):
        note_opening(stretch, element)
    cost = 0
    for element in range(len(rows)):
        after = rows[element, AFTER]
        if after != NOBODY:
            cost += meeting_cost(stretch, element, after)
    counters[COST] = cost
    return bool(settled)
