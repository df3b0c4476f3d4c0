"""Lines in caches with least-recently-used replacement, kept in linked lists, compiled.

Loading this module loads numba; import it where it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.simulate.run_queue.steps import CLEAN, INVALIDATED
from dfopt.solvers.compiled import compiled

ABSENT, HELD, WRITTEN = range(3)
"""A line in a cache: not there, as in memory, or newer than in memory."""

MISSES, SHARED_HITS, WRITE_BACKS, INVALIDATIONS, TOUCHED = range(5)
"""Columns of :attr:`Lines.counts`."""

MISS, SHARED_HIT, WRITE_BACK = range(3)
"""Entries of :attr:`Lines.times`."""

Links = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
States = npt.NDArray[np.int8]


class Lines(NamedTuple):
    """Which cache holds which lines; a row of each table is a cache, the last one the shared one.

    Parameters
    ----------
    older, newer
        By cache and line: its neighbours in the order of use. The last column is the end where the
        newest follows the oldest.
    states
        By cache and line: absent, held, or written.
    owner
        By line: 1 plus the CPU whose cache has written it; 0: none.
    used, capacity
        By cache: how many lines it holds, and how many it can hold.
    times
        What a miss, a hit in the shared cache, and a write-back take.
    counts
        By CPU: what happened.
    """

    older: Links
    newer: Links
    states: States
    owner: Links
    used: Integers
    capacity: Integers
    times: Integers
    counts: Integers


def empty_lines(memory: int, capacity: list[int], times: tuple[int, int, int], cpus: int) -> Lines:
    """Return empty caches over a memory of so many lines."""
    caches = len(capacity)
    # Zeros take no memory until they are touched; only the ends need another value.
    older = np.zeros((caches, memory + 1), np.int32)
    newer = np.zeros((caches, memory + 1), np.int32)
    older[:, memory] = newer[:, memory] = memory
    return Lines(
        older=older,
        newer=newer,
        states=np.zeros((caches, memory), np.int8),
        owner=np.zeros(memory, np.int32),
        used=np.zeros(caches, np.int64),
        capacity=np.array(capacity, np.int64),
        times=np.array(times, np.int64),
        counts=np.zeros((cpus, 5), np.int64),
    )


@compiled
def touch(lines: Lines, cpu: int, first: int, number: int, leaves: int) -> int:
    """Let a CPU use a stretch of lines, and return what that takes.

    Parameters
    ----------
    lines
        The caches; changed.
    cpu
        Which.
    first, number
        The lines, used in this order.
    leaves
        Unless :data:`CLEAN`, all of them are written, and, if :data:`INVALIDATED`, written back at
        once.
    """
    states, owner, counts = lines.states[cpu], lines.owner, lines.counts[cpu]
    miss, shared_hit, write_back = lines.times
    cpus = len(lines.counts)
    has_shared = len(lines.capacity) > cpus
    time = 0
    for line in range(first, first + number):
        state = states[line]
        if state == ABSENT:
            other = owner[line] - 1
            if other >= 0:
                # Another CPU has written it: memory gets it first.
                lines.states[other, line] = HELD
                owner[line] = 0
                counts[WRITE_BACKS] += 1
                time += write_back
            counts[MISSES] += 1
            if has_shared and lines.states[cpus, line] != ABSENT:
                counts[SHARED_HITS] += 1
                time += shared_hit
                move_to_front(lines.older[cpus], lines.newer[cpus], line)
            else:
                time += miss
                if has_shared:
                    insert(lines, cpus, line)
            if insert(lines, cpu, line):
                counts[WRITE_BACKS] += 1
                time += write_back
            state = HELD
            states[line] = HELD
        else:
            move_to_front(lines.older[cpu], lines.newer[cpu], line)
        if leaves != CLEAN:
            if state != WRITTEN:
                counts[INVALIDATIONS] += invalidate_others(lines, cpu, cpus, line)
                states[line] = WRITTEN
                owner[line] = cpu + 1
            if leaves == INVALIDATED:
                states[line] = HELD
                owner[line] = 0
                counts[WRITE_BACKS] += 1
                time += write_back
    counts[TOUCHED] += number
    return int(time)


@compiled
def insert(lines: Lines, cache: int, line: int) -> bool:
    """Put a line in front; return whether one that was written had to leave."""
    older, newer, states = lines.older[cache], lines.newer[cache], lines.states[cache]
    end = len(states)
    was_written = False
    if lines.used[cache] == lines.capacity[cache]:
        last = newer[end]
        was_written = states[last] == WRITTEN
        if was_written:
            lines.owner[last] = 0
        states[last] = ABSENT
        unlink(older, newer, last)
    else:
        lines.used[cache] += 1
    states[line] = HELD
    link_in_front(older, newer, line)
    return was_written


@compiled
def invalidate_others(lines: Lines, cpu: int, cpus: int, line: int) -> int:
    """Throw a line out of the other CPUs' caches; return how many held it."""
    found = 0
    for other in range(cpus):
        if other != cpu and lines.states[other, line] != ABSENT:
            lines.states[other, line] = ABSENT
            unlink(lines.older[other], lines.newer[other], line)
            lines.used[other] -= 1
            found += 1
    return found


@compiled
def move_to_front(older: Links, newer: Links, line: int) -> None:
    """Note that a line has been used."""
    if older[len(older) - 1] != line:
        unlink(older, newer, line)
        link_in_front(older, newer, line)


@compiled
def unlink(older: Links, newer: Links, line: int) -> None:
    """Take a line out of the order of use."""
    before, after = older[line], newer[line]
    newer[before] = after
    older[after] = before


@compiled
def link_in_front(older: Links, newer: Links, line: int) -> None:
    """Put a line into the order of use as the newest."""
    end = len(older) - 1
    before = older[end]
    older[line] = before
    newer[line] = end
    newer[before] = line
    older[end] = line
