"""The beam search of a section: one dispatch after the other is placed in all partial schedules."""

from __future__ import annotations

from dfopt.compare.attainable.beam_search.candidates import (
    CHOICES,
    survey,
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
)
from dfopt.compare.attainable.beam_search.children import consider
from dfopt.compare.attainable.beam_search.layout import (
    BEFORE,
    BUSY,
    CODE,
    COST,
    COUNTERS,
    ELEMENT_BEFORE,
    FAR,
    FIXED_FIRST,
    FREE,
    FREE_FROM,
    GUIDE_START,
    GUIDED,
    HASH,
    LENGTH,
    LONG_PRICE,
    LONG_WAITS,
    NEXT_SINCE,
    NEXT_START,
    NOTHING,
    NOW,
    PASSED,
    PREVIOUS,
    RESERVE,
    SAFE,
    SINCE,
    STARTS,
    UNLIKE,
    WAIT_PRICE,
    WIDTH,
    BeamStates,
    Factors,
    Section,
    Table,
)
from dfopt.compare.attainable.beam_search.timeline import closing, fitting, following
from dfopt.compare.attainable.beam_search.waiting_prices import note_waiting
from dfopt.solvers.compilation.compiled import compiled, compiled_in_place


@compiled_in_place
def follow_guide(
    section: Section, partial: BeamStates, scratch: Scratch, side: int, x: int
) -> None:
    """Note what comes next in the guide on each CPU."""
    starts = partial.starts
    for cpu in range(len(scratch.gaps)):
        scratch.guide[cpu, GUIDE_ROW] = NOTHING
        scratch.guide[cpu, GUIDE_FIRST] = FAR
        scratch.guide[cpu, GUIDE_SECOND] = FAR
        at, end = partial.cpus[side, x, cpu, GUIDED], section.guided_first[cpu + 1]
        while at < end and starts[side, x, section.guided[at]] != FAR:
            at += 1
        partial.cpus[side, x, cpu, GUIDED] = at
        if at == end:
            continue
        row = section.guided[at]
        scratch.guide[cpu, GUIDE_ROW] = row
        scratch.guide[cpu, GUIDE_FIRST] = section.rows[row, GUIDE_START]
        at += 1
        while at < end and starts[side, x, section.guided[at]] != FAR:
            at += 1
        if at < end:
            scratch.guide[cpu, GUIDE_SECOND] = section.rows[section.guided[at], GUIDE_START]


@compiled_in_place
def go_on(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    sizes: Table,
    factors: Factors,
) -> None:
    """Put the children of a partial schedule into the lists."""
    urgent_count = survey(
        section,
        partial,
        side,
        x,
        sizes,
        scratch.fragments,
        scratch.choices,
        scratch.urgent,
        scratch.gaps,
    )
    note_waiting(section, scratch, partial.counters[side, x, NOW], factors)
    follow_guide(section, partial, scratch, side, x)
    is_safe = partial.counters[side, x, SAFE]
    fragments = scratch.fragments.shape[0]
    for cpu in range(len(scratch.gaps)):
        # The last choice is what comes next in the guide: it keeps a safe schedule safe.
        for choice in range(fragments * CHOICES + is_safe):
            if choice < fragments * CHOICES:
                row = scratch.choices[cpu, choice // CHOICES, choice % CHOICES]
            else:
                row = scratch.guide[cpu, GUIDE_ROW]
            if row != NOTHING:
                consider(
                    section,
                    partial,
                    scratch,
                    side,
                    x,
                    row,
                    cpu,
                    factors,
                    sizes[WIDTH],
                    sizes[RESERVE],
                    urgent_count,
                )


@compiled_in_place
def is_repeated(scratch: Scratch, slot: int) -> bool:
    """Return whether a safe child is among the best ones, too."""
    for i in range(scratch.lengths[BEST]):
        best = scratch.slots[BEST, i]
        if scratch.children[BEST, best, CHILD_HASH] == scratch.children[SAFEST, slot, CHILD_HASH]:
            return bool(scratch.children[BEST, best, CHILD_SAFE])
    return False


@compiled_in_place
def make(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    level: int,
    group: int,
    slot: int,
    kept: int,
) -> None:
    """Turn a child into a partial schedule."""
    side, other = level % 2, 1 - level % 2
    children = scratch.children
    x, row = children[group, slot, PARENT], children[group, slot, ROW]
    cpu, start = children[group, slot, ON], children[group, slot, AT]
    for i in range(partial.starts.shape[2]):
        partial.starts[other, kept, i] = partial.starts[side, x, i]
    partial.starts[other, kept, row] = start
    for i in range(partial.pointers.shape[2]):
        partial.pointers[other, kept, i] = partial.pointers[side, x, i]
    for i in range(partial.cpus.shape[2]):
        for column in range(4):
            partial.cpus[other, kept, i, column] = partial.cpus[side, x, i, column]
    partial.cpus[other, kept, cpu, FREE] = start + section.rows[row, LENGTH]
    partial.cpus[other, kept, cpu, BEFORE] = row
    partial.cpus[other, kept, cpu, PASSED] = children[group, slot, CHILD_PASSED]
    now = partial.counters[side, x, NOW]
    code = partial.counters[side, x, HASH] ^ section.rows[row, CODE]
    partial.counters[other, kept, COST] = children[group, slot, CHILD_COST]
    partial.counters[other, kept, NOW] = max(now, start)
    partial.counters[other, kept, HASH] = code
    partial.counters[other, kept, UNLIKE] = children[group, slot, CHILD_UNLIKE]
    partial.counters[other, kept, SAFE] = children[group, slot, CHILD_SAFE]
    partial.counters[other, kept, BUSY] = children[group, slot, CHILD_BUSY]
    partial.counters[other, kept, STARTS] = children[group, slot, CHILD_STARTS]
    partial.counters[other, kept, LONG_WAITS] = children[group, slot, CHILD_LONG]
    partial.steps[level, kept, 0] = x
    partial.steps[level, kept, 1] = row
    partial.steps[level, kept, 2] = cpu


@compiled_in_place
def cost_of_guide(section: Section, answer: Table) -> None:
    """Write down what the section costs in the guide, the sum of starts, and the long waits."""
    rows = section.rows
    cost, starts, long_waits = 0, 0, 0
    for cpu in range(len(section.cpus)):
        passed = section.cpus[cpu, FIXED_FIRST]
        before = section.cpus[cpu, ELEMENT_BEFORE]
        for at in range(section.guided_first[cpu], section.guided_first[cpu + 1]):
            row = section.guided[at]
            start, passes = fitting(section, cpu, passed, rows[row, GUIDE_START], rows[row, LENGTH])
            cost += following(section, before, passed, passes, row)
            before, passed = row, passes
            end = start + rows[row, LENGTH]
            since = rows[row, SINCE]
            previous = rows[row, PREVIOUS]
            if previous != NOTHING:
                since = max(since, rows[previous, GUIDE_START] + rows[previous, LENGTH])
            starts += start
            long_waits += int(start - since > section.limits[0])
            if rows[row, NEXT_SINCE] != FAR:
                since = max(rows[row, NEXT_SINCE], end)
                starts -= since
                if rows[row, NEXT_START] != NOTHING:
                    long_waits += int(rows[row, NEXT_START] - since > section.limits[0])
        cost += closing(section, cpu, before, passed)
    answer[0], answer[1], answer[2] = cost, starts, long_waits


@compiled
def place_all(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    sizes: Table,
    factors: Factors,
    answer: Table,
) -> int:
    """Return the number of the best complete schedule; ``NOTHING`` if none is within the limits.

    ``answer`` receives the cost of the guide, its sum of starts and its number of long waits,
    then the same three of the schedule.
    """
    count, cpus = len(section.low), len(section.cpus)
    cost_of_guide(section, answer)
    scratch.held[:] = 0
    for i in range(count):
        partial.starts[0, 0, i] = FAR
    for i in range(partial.pointers.shape[2] - 1):
        partial.pointers[0, 0, i] = section.fragment_first[i]
    partial.pointers[0, 0, partial.pointers.shape[2] - 1] = 0
    for cpu in range(cpus):
        partial.cpus[0, 0, cpu, FREE] = section.cpus[cpu, FREE_FROM]
        partial.cpus[0, 0, cpu, BEFORE] = section.cpus[cpu, ELEMENT_BEFORE]
        partial.cpus[0, 0, cpu, PASSED] = section.cpus[cpu, FIXED_FIRST]
        partial.cpus[0, 0, cpu, GUIDED] = section.guided_first[cpu]
    for i in range(COUNTERS):
        partial.counters[0, 0, i] = 0
    partial.counters[0, 0, SAFE] = 1
    kept = 1
    for level in range(count):
        scratch.lengths[:] = 0
        for x in range(kept):
            go_on(section, partial, scratch, level % 2, x, sizes, factors)
        kept = 0
        for group in range(2):
            for i in range(scratch.lengths[group]):
                slot = scratch.slots[group, i]
                if group == BEST or not is_repeated(scratch, slot):
                    make(section, partial, scratch, level, group, slot, kept)
                    kept += 1
        if kept == 0:
            return NOTHING
    return cheapest(section, partial, count % 2, kept, factors, answer)


@compiled_in_place
def cheapest(
    section: Section,
    partial: BeamStates,
    side: int,
    kept: int,
    factors: Factors,
    answer: Table,
) -> int:
    """Return which complete schedule within the limits is the best; ``NOTHING`` if there is none.

    See :func:`place_all` for the ``answer``.
    """
    chosen, least = NOTHING, 0.0
    for x in range(kept):
        cost = partial.counters[side, x, COST]
        for cpu in range(len(section.cpus)):
            before, passed = partial.cpus[side, x, cpu, BEFORE], partial.cpus[side, x, cpu, PASSED]
            cost += closing(section, cpu, before, passed)
        starts, long_waits = (
            partial.counters[side, x, STARTS],
            partial.counters[side, x, LONG_WAITS],
        )
        if starts - answer[1] > section.limits[1] or long_waits - answer[2] > section.limits[2]:
            continue
        total = cost + factors[WAIT_PRICE] * starts + factors[LONG_PRICE] * long_waits
        if chosen == NOTHING or total < least:
            chosen, least = x, total
            answer[3], answer[4], answer[5] = cost, starts, long_waits
    return int(chosen)
