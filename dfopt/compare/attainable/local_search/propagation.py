"""Starts of the elements of a stretch: each as early as everything before it permits."""

from __future__ import annotations

from dfopt.compare.attainable.local_search.layout import (
    AFTER,
    BEFORE,
    CPU,
    CUT,
    END,
    HEAD,
    HEAP,
    HEAPED,
    KEYS,
    LATE,
    LATE_COUNT,
    LATE_PLACE,
    LATENESS,
    LATES,
    LATEST,
    LENGTH,
    LOG,
    LOG_ENDS,
    LOG_LATE,
    LOG_STARTS,
    LOGGED,
    LONG_WAITS,
    MOVES,
    NEXT,
    NOBODY,
    OFFSET,
    PREVIOUS,
    QUEUED,
    READY,
    ROLE,
    SIBLING,
    SINCE,
    START,
    TAIL,
    UPDATES,
    WAITS,
    WAKER,
    WOKEN,
    Stretch,
    Table,
)
from dfopt.solvers.compilation.compiled import compiled_in_place

MOST_UPDATES = 1_000
"""A change that moves more than 1,000 starts is given up. (If elements wait for each other in a
circle, their starts would grow for ever.)"""


@compiled_in_place
def earliest_fit(stretch: Stretch, cpu: int, time: int, length: int) -> int:
    """Return the earliest start from ``time`` on that keeps clear of the blocks of a CPU."""
    calendar = stretch.calendar
    cell = (time - stretch.cells[0]) // stretch.cells[1]
    cell = min(max(cell, 0), calendar.shape[1] - 1)
    block = calendar[cpu, cell]
    while stretch.block_end[block] <= time:
        block += 1
    while stretch.block_start[block] < time + length:
        time = stretch.block_end[block]
        block += 1
    return int(time)


@compiled_in_place
def wait_of(rows: Table, element: int) -> int:
    """Return how long an element waits."""
    since = rows[element, SINCE]
    previous = rows[element, PREVIOUS]
    if previous != NOBODY:
        since = max(since, rows[previous, END])
    return int(rows[element, START] - since)


@compiled_in_place
def queue(stretch: Stretch, element: int, key: int) -> None:
    """Note that the start of an element has to be worked out anew.

    The smallest key comes first. Keys should be about as large as the starts, so that an element
    is worked out once, after what comes before it.
    """
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    if rows[element, QUEUED]:
        return
    rows[element, QUEUED] = 1
    hole = counters[HEAPED]
    counters[HEAPED] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> 1
        if lists[KEYS, parent] <= key:
            break
        lists[HEAP, hole] = lists[HEAP, parent]
        lists[KEYS, hole] = lists[KEYS, parent]
        hole = parent
    lists[HEAP, hole] = element
    lists[KEYS, hole] = key


@compiled_in_place
def queue_after(stretch: Stretch, element: int, time: int) -> None:
    """Queue an element that starts no earlier than a time."""
    queue(stretch, element, max(time, stretch.rows[element, START]))


@compiled_in_place
def next_queued(stretch: Stretch) -> int:
    """Take the element with the smallest key off the heap."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    element = lists[HEAP, 0]
    rows[element, QUEUED] = 0
    size = counters[HEAPED] - 1
    counters[HEAPED] = size
    moved, key = lists[HEAP, size], lists[KEYS, size]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and lists[KEYS, child + 1] < lists[KEYS, child]:
            child += 1
        if lists[KEYS, child] >= key:
            break
        lists[HEAP, hole] = lists[HEAP, child]
        lists[KEYS, hole] = lists[KEYS, child]
        hole = child
    lists[HEAP, hole] = moved
    lists[KEYS, hole] = key
    return int(element)


@compiled_in_place
def note_late(stretch: Stretch, element: int, late: int) -> None:
    """Note by how much an element would have to be late."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    rows[element, LATE] = late
    place = rows[element, LATE_PLACE]
    if late > 0 and place == NOBODY:
        rows[element, LATE_PLACE] = counters[LATE_COUNT]
        lists[LATES, counters[LATE_COUNT]] = element
        counters[LATE_COUNT] += 1
    elif late <= 0 and place != NOBODY:
        counters[LATE_COUNT] -= 1
        moved = lists[LATES, counters[LATE_COUNT]]
        lists[LATES, place] = moved
        rows[moved, LATE_PLACE] = place
        rows[element, LATE_PLACE] = NOBODY


@compiled_in_place
def change_times(stretch: Stretch, element: int, start: int, end: int, late: int) -> None:
    """Give an element another start and end, and write down those that it had."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    logged = counters[LOGGED]
    lists[LOG, logged] = element
    lists[LOG_STARTS, logged] = rows[element, START]
    lists[LOG_ENDS, logged] = rows[element, END]
    lists[LOG_LATE, logged] = rows[element, LATE]
    counters[LOGGED] = logged + 1
    counters[LATENESS] += late - rows[element, LATE]
    note_late(stretch, element, late)
    if end == rows[element, END]:
        return
    long_wait = stretch.bounds[1]
    follower = rows[element, NEXT]
    wait = wait_of(rows, element)
    counters[WAITS] -= wait
    counters[LONG_WAITS] -= int(wait > long_wait)
    if follower != NOBODY:
        wait = wait_of(rows, follower)
        counters[WAITS] -= wait
        counters[LONG_WAITS] -= int(wait > long_wait)
    rows[element, START] = start
    rows[element, END] = end
    wait = wait_of(rows, element)
    counters[WAITS] += wait
    counters[LONG_WAITS] += int(wait > long_wait)
    if follower != NOBODY:
        wait = wait_of(rows, follower)
        counters[WAITS] += wait
        counters[LONG_WAITS] += int(wait > long_wait)


@compiled_in_place
def update(stretch: Stretch, element: int) -> None:  # noqa: PLR0912 - by what it is
    """Work out the start of an element."""
    rows = stretch.rows
    role = rows[element, ROLE]
    before = rows[element, BEFORE]
    if role in (HEAD, TAIL):
        return
    time = rows[element, READY]
    if before != NOBODY:
        time = max(time, rows[before, END])
    previous = rows[element, PREVIOUS]
    if previous != NOBODY:
        time = max(time, rows[previous, END])
    waker = rows[element, WAKER]
    if waker != NOBODY:
        time = max(time, rows[waker, START] + rows[element, OFFSET])
    if role == MOVES:
        length = rows[element, LENGTH]
        time = earliest_fit(stretch, rows[element, CPU], time, length)
        late = max(0, time - rows[element, LATEST])
        if time == rows[element, START]:
            if late != rows[element, LATE]:
                change_times(stretch, element, time, rows[element, END], late)
            return
        end = time + length
        change_times(stretch, element, time, end, late)
        queue_after(stretch, rows[element, AFTER], end)
        follower = rows[element, NEXT]
        if follower != NOBODY:
            queue_after(stretch, follower, end)
        woken = rows[element, WOKEN]
        while woken != NOBODY:
            queue_after(stretch, woken, time + rows[woken, OFFSET])
            woken = rows[woken, SIBLING]
    elif role == CUT:
        start = rows[element, START]
        late = 0
        if rows[before, ROLE] == MOVES:
            late = max(0, rows[before, START] + 1 - start)
        end = max(start, rows[before, END])
        if end != rows[element, END]:
            change_times(stretch, element, start, end, late)
            queue_after(stretch, rows[element, AFTER], end)
        elif late != rows[element, LATE]:
            change_times(stretch, element, start, end, late)
    else:
        start = rows[element, START]
        late = max(0, time - start)
        if late != rows[element, LATE]:
            change_times(stretch, element, start, rows[element, END], late)


@compiled_in_place
def propagate(stretch: Stretch, most_late: float) -> bool:
    """Work out all starts that a change touches; return whether all are permitted.

    The heap holds the elements with which to begin. Afterwards it is empty.
    """
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    counters[LOGGED] = 0
    updates = 0
    permitted = True
    while counters[HEAPED] > 0:
        element = next_queued(stretch)
        updates += 1
        update(stretch, element)
        if updates >= MOST_UPDATES or counters[LATENESS] > most_late:
            permitted = False
            break
    for place in range(counters[HEAPED]):
        rows[lists[HEAP, place], QUEUED] = 0
    counters[HEAPED] = 0
    counters[UPDATES] += updates
    return permitted


@compiled_in_place
def restore_times(stretch: Stretch) -> None:
    """Give all elements back the starts that they had before the last propagation."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    for place in range(counters[LOGGED] - 1, -1, -1):
        element = lists[LOG, place]
        rows[element, START] = lists[LOG_STARTS, place]
        rows[element, END] = lists[LOG_ENDS, place]
        note_late(stretch, element, lists[LOG_LATE, place])
    counters[LOGGED] = 0
