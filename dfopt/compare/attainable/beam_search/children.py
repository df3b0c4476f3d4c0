"""Ways to go on from partial schedules: what each is worth."""

from __future__ import annotations

from dfopt.compare.attainable.beam_search.candidates import (
    URGENT_READY,
    URGENT_ROW,
    ready_time,
)
from dfopt.compare.attainable.beam_search.child_lists import (
    AT,
    BEST,
    CHILD_BUSY,
    CHILD_COST,
    CHILD_HASH,
    CHILD_LONG,
    CHILD_PASSED,
    CHILD_SAFE,
    CHILD_STARTS,
    CHILD_UNLIKE,
    GUIDE_FIRST,
    GUIDE_ROW,
    GUIDE_SECOND,
    ON,
    PARENT,
    ROW,
    SAFEST,
    Scratch,
    offer,
    room,
)
from dfopt.compare.attainable.beam_search.layout import (
    ALWAYS,
    BEFORE,
    BUSY,
    CODE,
    COST,
    END,
    EXIT,
    FAR,
    FRAGMENT,
    FREE,
    GUIDE_START,
    HASH,
    IDLE,
    LATE,
    LATEST,
    LENGTH,
    LONG_PRICE,
    LONG_WAITS,
    NEXT,
    NEXT_SINCE,
    NEXT_START,
    NOTHING,
    NOW,
    OFFSET,
    PASSED,
    PREVIOUS,
    SINCE,
    START,
    STARTS,
    UNLIKE,
    WAIT_PRICE,
    WAITING,
    WAKER,
    BeamStates,
    Factors,
    Section,
)
from dfopt.compare.attainable.beam_search.timeline import fitting, following
from dfopt.compare.attainable.beam_search.waiting_prices import held_price, waiting_price
from dfopt.solvers.compilation.compiled import compiled_in_place


@compiled_in_place
def consider(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    row: int,
    cpu: int,
    factors: Factors,
    width: int,
    reserve: int,
    urgent_count: int,
) -> None:
    """Let a dispatch come next on a CPU, and put what that gives into the lists of children."""
    rows, fixed, counters = section.rows, section.fixed, partial.counters
    fragments = len(scratch.held)
    ready = ready_time(section, partial, side, x, row)
    if ready == FAR:
        return
    length = rows[row, LENGTH]
    passed = partial.cpus[side, x, cpu, PASSED]
    start, passes = fitting(
        section, cpu, passed, max(ready, partial.cpus[side, x, cpu, FREE]), length
    )
    if start > rows[row, LATEST]:
        return
    cost = counters[side, x, COST] + following(
        section, partial.cpus[side, x, cpu, BEFORE], passed, passes, row
    )
    end = start + length
    then = max(counters[side, x, NOW], start)
    busy = counters[side, x, BUSY] + length
    for i in range(passed, passes):
        busy += fixed[i, END] - fixed[i, START]
    idle = -busy
    for i in range(len(scratch.free)):
        scratch.free[i] = end if i == cpu else partial.cpus[side, x, i, FREE]
        idle += max(scratch.free[i], then)
    starts, long_waits = waits_after(section, partial, side, x, row, start)
    paid = cost + factors[IDLE] * idle
    paid += factors[WAIT_PRICE] * starts + factors[LONG_PRICE] * long_waits
    # What waits now and is not held costs no less later.
    key = paid + factors[WAITING] * (
        scratch.waiting[fragments] - held_price(section, partial, scratch, side, x, row, cpu)
    )
    child = scratch.child
    if not room(scratch, width, reserve, key, True):
        return
    if then > counters[side, x, NOW]:
        key = paid + factors[WAITING] * waiting_price(
            section, partial, scratch, side, x, row, cpu, then, factors
        )
    unlike = counters[side, x, UNLIKE] + changed_unlike(
        section, partial, side, x, row, start, ready
    )
    is_safe = unlike == 0 and is_ahead_of_guide(scratch, row)
    if not room(scratch, width, reserve, key, is_safe):
        return
    child[CHILD_HASH] = hash_of(section, partial, scratch, side, x, row, cpu)
    child[PARENT], child[ROW], child[ON], child[AT] = x, row, cpu, start
    child[CHILD_PASSED], child[CHILD_COST], child[CHILD_BUSY] = passes, cost, busy
    child[CHILD_SAFE], child[CHILD_UNLIKE] = is_safe, unlike
    child[CHILD_STARTS], child[CHILD_LONG] = starts, long_waits
    late = number_late(section, partial, scratch, side, x, row, urgent_count)
    if late >= 0:
        offer(scratch, BEST, width, key + factors[LATE] * late)
    if is_safe:
        offer(scratch, SAFEST, reserve, key + factors[LATE] * max(late, 0))


@compiled_in_place
def waits_after(
    section: Section, partial: BeamStates, side: int, x: int, row: int, start: int
) -> tuple[int, int]:
    """Return the sum of starts and the number of long waits if a dispatch starts at a time.

    From a start is subtracted when the wait of the task's next dispatch begins.
    """
    rows, long_wait = section.rows, section.limits[0]
    since = rows[row, SINCE]
    previous = rows[row, PREVIOUS]
    if previous != NOTHING:
        since = max(since, partial.starts[side, x, previous] + rows[previous, LENGTH])
    starts = partial.counters[side, x, STARTS] + start
    long_waits = partial.counters[side, x, LONG_WAITS] + int(start - since > long_wait)
    if rows[row, NEXT_SINCE] != FAR:
        since = max(rows[row, NEXT_SINCE], start + rows[row, LENGTH])
        starts -= since
        if rows[row, NEXT_START] != NOTHING:
            long_waits += int(rows[row, NEXT_START] - since > long_wait)
    return starts, long_waits


@compiled_in_place
def is_ahead_of_guide(scratch: Scratch, row: int) -> bool:
    """Return whether every CPU is free when the guide needs it next, after ``row`` was placed."""
    for cpu in range(len(scratch.free)):
        follows = scratch.guide[cpu, GUIDE_FIRST]
        if scratch.guide[cpu, GUIDE_ROW] == row:
            follows = scratch.guide[cpu, GUIDE_SECOND]
        if scratch.free[cpu] > follows:
            return False
    return True


@compiled_in_place
def hash_of(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    row: int,
    cpu: int,
) -> int:
    """Return a hash of what has been placed, and of the state of the CPUs."""
    rows = section.rows
    code = partial.counters[side, x, HASH] ^ rows[row, CODE]
    for i in range(len(scratch.free)):
        last = row if i == cpu else partial.cpus[side, x, i, BEFORE]
        if last >= 0:
            of_last = 31 * rows[last, FRAGMENT] + rows[last, EXIT] % 1009
            of_last += rows[last, ALWAYS] % 1013
            code += (i + 1) * (scratch.free[i] % 1000003) * 999983 * (of_last + 17)
    return int(code)


@compiled_in_place
def changed_unlike(
    section: Section, partial: BeamStates, side: int, x: int, row: int, start: int, ready: int
) -> int:
    """Return by how much the number of dispatches changes that are ready too late for the guide."""
    rows, placed = section.rows, partial.starts
    change = -1 if ready > rows[row, GUIDE_START] else 0
    end = start + rows[row, LENGTH]
    after = rows[row, NEXT]
    if after != NOTHING and end > rows[after, GUIDE_START]:
        waker = rows[after, WAKER]
        change += 1
        if waker != NOTHING and placed[side, x, waker] != FAR:
            woken_at = placed[side, x, waker] + rows[after, OFFSET]
            change -= int(woken_at > rows[after, GUIDE_START])
    for i in range(section.woken_first[row], section.woken_first[row + 1]):
        woken = section.woken[i]
        guided = rows[woken, GUIDE_START]
        if start + rows[woken, OFFSET] <= guided:
            continue
        change += 1
        previous = rows[woken, PREVIOUS]
        if previous == row:
            change -= int(end > guided)
        elif previous != NOTHING and placed[side, x, previous] != FAR:
            change -= int(placed[side, x, previous] + rows[previous, LENGTH] > guided)
    return change


@compiled_in_place
def number_late(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    row: int,
    urgent_count: int,
) -> int:
    """Let the most urgent dispatches follow, each where a CPU is free first.

    Returns the number of those that are late then; -1 if it is certain that one will be late.
    """
    rows, free, ahead, urgent = section.rows, scratch.free, scratch.ahead, scratch.urgent
    soonest = free[0]
    for i in range(len(free)):
        ahead[i] = partial.cpus[side, x, i, PASSED]
        soonest = min(soonest, free[i])
    ahead[scratch.child[ON]] = scratch.child[CHILD_PASSED]
    late = 0
    for k in range(urgent_count):
        other = urgent[k, URGENT_ROW]
        if other == row:
            continue
        ready, latest = urgent[k, URGENT_READY], rows[other, LATEST]
        if max(ready, soonest) > latest:
            return -1
        first = 0
        for i in range(1, len(free)):
            if free[i] < free[first]:
                first = i
        start, ahead[first] = fitting(
            section, first, ahead[first], max(ready, free[first]), rows[other, LENGTH]
        )
        late += int(start > latest)
        free[first] = start + rows[other, LENGTH]
    return late
