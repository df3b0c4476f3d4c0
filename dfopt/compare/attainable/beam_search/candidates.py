"""Which dispatches could be the next ones of a partial schedule."""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.beam_search.layout import (
    AHEAD,
    END,
    FAR,
    FIXED_END,
    FREE,
    LATEST,
    LENGTH,
    LOW,
    NOTHING,
    NOW,
    OFFSET,
    PASSED,
    PREVIOUS,
    START,
    URGENT,
    WAKER,
    BeamStates,
    Section,
    Table,
)
from dfopt.solvers.compilation.compiled import compiled_in_place

MOST_SEEN = 24
"""At most 24 dispatches of a fragment are looked at, the most urgent ones."""

# Columns of Scratch.fragments: of those dispatches of a fragment that may be waited for: the one
# that is ready first, and when it is; the most urgent one, and its latest start.
SOONEST, SOONEST_READY, MOST_URGENT, URGENT_LATEST = range(4)
OF_FRAGMENT = 4

# Columns of Scratch.choices: the most urgent dispatch of a fragment that is ready when a CPU is
# free; the most urgent and the longest one of those that also end before the next block; the first
# and the most urgent one of those that may be waited for.
RELEASED, FITTING, LONGEST, FIRST_READY, FIRST_LATEST = range(5)
CHOICES = 5

# Columns of Scratch.urgent: the dispatches that have to start soonest, and when each can.
URGENT_ROW, URGENT_READY = range(2)


@compiled_in_place
def ready_time(section: Section, partial: BeamStates, side: int, x: int, row: int) -> int:
    """Return when a dispatch is ready; ``FAR`` if what it waits for has not been placed."""
    rows, starts = section.rows, partial.starts
    ready = rows[row, LOW]
    previous = rows[row, PREVIOUS]
    if previous != NOTHING:
        if starts[side, x, previous] == FAR:
            return FAR
        ready = max(ready, starts[side, x, previous] + rows[previous, LENGTH])
    waker = rows[row, WAKER]
    if waker != NOTHING:
        if starts[side, x, waker] == FAR:
            return FAR
        ready = max(ready, starts[side, x, waker] + rows[row, OFFSET])
    return int(ready)


@compiled_in_place
def gap_of(section: Section, partial: BeamStates, side: int, x: int, cpu: int) -> int:
    """Return the time from when a CPU can go on until its next block."""
    fixed = section.fixed
    start = max(partial.cpus[side, x, cpu, FREE], partial.counters[side, x, NOW])
    row, end = partial.cpus[side, x, cpu, PASSED], section.cpus[cpu, FIXED_END]
    while row < end and fixed[row, START] <= start:
        start = max(start, fixed[row, END])
        row += 1
    return int(fixed[row, START] - start) if row < end else FAR


@compiled_in_place
def survey(
    section: Section,
    partial: BeamStates,
    side: int,
    x: int,
    sizes: Table,
    fragments: Table,
    choices: Table,
    urgent: Table,
    gaps: Table,
) -> int:
    """Note what could come next in a partial schedule; return how many urgent dispatches."""
    cpus = choices.shape[0]
    now = partial.counters[side, x, NOW]
    rank = np.searchsorted(section.low, now, side="right") + sizes[AHEAD]
    reach = section.low[min(rank, len(section.low) - 1)]
    for cpu in range(cpus):
        gaps[cpu] = gap_of(section, partial, side, x, cpu)
    for a in range(fragments.shape[0]):
        survey_fragment(section, partial, side, x, a, reach, fragments, choices, gaps)
        for cpu in range(cpus):
            if choices[cpu, a, RELEASED] == NOTHING:
                choices[cpu, a, FIRST_READY] = fragments[a, SOONEST]
            choices[cpu, a, FIRST_LATEST] = fragments[a, MOST_URGENT]
            drop_repeated(choices, cpu, a)
    return note_urgent(section, partial, side, x, sizes[URGENT], urgent)


@compiled_in_place
def survey_fragment(
    section: Section,
    partial: BeamStates,
    side: int,
    x: int,
    a: int,
    reach: int,
    fragments: Table,
    choices: Table,
    gaps: Table,
) -> None:
    """Note which dispatches of a fragment that are ready by the time ``reach`` could come next."""
    starts = partial.starts
    for column in range(fragments.shape[1]):
        fragments[a, column] = FAR
    fragments[a, SOONEST] = NOTHING
    fragments[a, MOST_URGENT] = NOTHING
    choices[:, a, :] = NOTHING
    at, end = partial.pointers[side, x, a], section.fragment_first[a + 1]
    while at < end and starts[side, x, section.urgent[0, at]] != FAR:
        at += 1
    partial.pointers[side, x, a] = at
    seen = 0
    while at < end and seen < MOST_SEEN:
        row = section.urgent[0, at]
        at += 1
        if starts[side, x, row] != FAR:
            continue
        seen += 1
        if section.rows[row, LOW] > reach:
            continue
        ready = ready_time(section, partial, side, x, row)
        if ready > reach:
            continue
        note_waiting_time(fragments, a, row, ready, section.rows[row, LATEST])
        for cpu in range(choices.shape[0]):
            free = partial.cpus[side, x, cpu, FREE]
            if ready <= max(free, partial.counters[side, x, NOW]):
                note_choice(section, choices, cpu, a, row, gaps[cpu])


@compiled_in_place
def note_waiting_time(fragments: Table, a: int, row: int, ready: int, latest: int) -> None:
    """Note when a dispatch is ready and has to start; they come by their latest starts."""
    if ready < fragments[a, SOONEST_READY]:
        fragments[a, SOONEST_READY] = ready
        fragments[a, SOONEST] = row
    if fragments[a, MOST_URGENT] == NOTHING:
        fragments[a, MOST_URGENT] = row
        fragments[a, URGENT_LATEST] = latest


@compiled_in_place
def note_choice(section: Section, choices: Table, cpu: int, a: int, row: int, gap: int) -> None:
    """Note a dispatch that is ready when a CPU is free; they come by their latest starts."""
    if choices[cpu, a, RELEASED] == NOTHING:
        choices[cpu, a, RELEASED] = row
    if section.rows[row, LENGTH] <= gap:
        if choices[cpu, a, FITTING] == NOTHING:
            choices[cpu, a, FITTING] = row
        longest = choices[cpu, a, LONGEST]
        if longest == NOTHING or section.rows[row, LENGTH] > section.rows[longest, LENGTH]:
            choices[cpu, a, LONGEST] = row


@compiled_in_place
def drop_repeated(choices: Table, cpu: int, a: int) -> None:
    """Keep every dispatch once among the choices for a CPU and a fragment."""
    for choice in range(1, CHOICES):
        for other in range(choice):
            if choices[cpu, a, other] == choices[cpu, a, choice]:
                choices[cpu, a, choice] = NOTHING


@compiled_in_place
def note_urgent(
    section: Section, partial: BeamStates, side: int, x: int, most: int, urgent: Table
) -> int:
    """Note the dispatches that have to start soonest; return how many."""
    rows, starts, pointers = section.rows, partial.starts, partial.pointers
    count, last = len(section.low), pointers.shape[2] - 1
    at = pointers[side, x, last]
    while at < count and starts[side, x, section.urgent[1, at]] != FAR:
        at += 1
    pointers[side, x, last] = at
    noted = 0
    while at < count and noted < most:
        row = section.urgent[1, at]
        at += 1
        if starts[side, x, row] == FAR:
            ready = ready_time(section, partial, side, x, row)
            urgent[noted, URGENT_ROW] = row
            urgent[noted, URGENT_READY] = rows[row, LOW] if ready == FAR else ready
            noted += 1
    return noted
