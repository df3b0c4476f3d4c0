"""Lines in caches with least-recently-used replacement, kept in linked lists, compiled.

Loading this module loads numba; import it where it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.simulate.run_queue.workload import CLEAN, INVALIDATED
from dfopt.solvers.compilation.compiled import compiled

ABSENT, HELD, WRITTEN = range(3)
"""A line in a cache: not there, as in memory, or newer than in memory."""

OLDER, NEWER, STATE, OWNER = range(4)
"""Tables of :attr:`Lines.links`."""

MISSES, SHARED_HITS, WRITE_BACKS, INVALIDATIONS, TOUCHED, USED, CAPACITY = range(7)
"""Columns of :attr:`Lines.ledger`."""

Links = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """The lines that each cache holds: one cache for each CPU, then the shared one, perhaps empty.

    There are few arrays, since each further array makes every call slower.

    Parameters
    ----------
    links
        By table, cache and line. ``OLDER`` and ``NEWER``: its neighbours in the order of use; the
        last column is the end, where the newest follows the oldest. ``STATE``: absent, held or
        written. ``OWNER``, in the first row: 1 plus the CPU whose cache has written it, or 0.
    ledger
        By cache: counts of what the bursts of its CPU did, the number of lines that it holds, and
        the number that it can hold.
    times
        The times of a miss, of a hit in the shared cache, of a write-back, and of a miss right
        after a miss of the line before.
    """

    links: Links
    ledger: Integers
    times: Integers


def empty_lines(memory: int, capacity: list[int], times: tuple[int, int, int, int]) -> Lines:
    """Return empty caches over a memory of ``memory`` lines."""
    # Zeros take no memory until they are touched, so only the ends get another value.
    links = np.zeros((4, len(capacity), memory + 1), np.int32)
    links[OLDER, :, memory] = links[NEWER, :, memory] = memory
    ledger = np.zeros((len(capacity), 7), np.int64)
    ledger[:, CAPACITY] = capacity
    return Lines(links=links, ledger=ledger, times=np.array(times, np.int64))


@compiled
def touch(lines: Lines, cpu: int, first: int, number: int, leaves: int) -> int:
    """Let a CPU use a stretch of lines, and return the time that this takes.

    Parameters
    ----------
    lines
        The caches; changed.
    cpu
        The CPU.
    first, number
        The lines, used in this order.
    leaves
        Unless :data:`CLEAN`, all of them are written, and, if :data:`INVALIDATED`, written back at
        once.
    """
    links, ledger = lines.links, lines.ledger
    states, owner, counts = links[STATE, cpu], links[OWNER, 0], ledger[cpu]
    miss, shared_hit, write_back, sequential_miss = lines.times
    shared = len(ledger) - 1
    has_shared = ledger[shared, CAPACITY] > 0
    time = 0
    read = -2  # the last line that came from memory
    for line in range(first, first + number):
        state = states[line]
        if state == ABSENT:
            other = owner[line] - 1
            if other >= 0:
                # Another CPU has written it: memory gets it first.
                links[STATE, other, line] = HELD
                owner[line] = 0
                counts[WRITE_BACKS] += 1
                time += write_back
            counts[MISSES] += 1
            if has_shared and links[STATE, shared, line] != ABSENT:
                counts[SHARED_HITS] += 1
                time += shared_hit
                move_to_front(links[OLDER, shared], links[NEWER, shared], line)
            else:
                time += sequential_miss if read == line - 1 else miss
                read = line
                if has_shared:
                    insert(links, ledger, shared, line)
            if insert(links, ledger, cpu, line):
                counts[WRITE_BACKS] += 1
                time += write_back
            state = HELD
        else:
            move_to_front(links[OLDER, cpu], links[NEWER, cpu], line)
        if leaves != CLEAN:
            if state != WRITTEN:
                counts[INVALIDATIONS] += invalidate_others(links, ledger, cpu, line)
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
def insert(links: Links, ledger: Integers, cache: int, line: int) -> bool:
    """Put a line in front; return whether a written line had to leave."""
    older, newer, states = links[OLDER, cache], links[NEWER, cache], links[STATE, cache]
    was_written = False
    if ledger[cache, USED] == ledger[cache, CAPACITY]:
        last = newer[len(newer) - 1]
        was_written = states[last] == WRITTEN
        if was_written:
            links[OWNER, 0, last] = 0
        states[last] = ABSENT
        unlink(older, newer, last)
    else:
        ledger[cache, USED] += 1
    states[line] = HELD
    link_in_front(older, newer, line)
    return was_written


@compiled
def invalidate_others(links: Links, ledger: Integers, cpu: int, line: int) -> int:
    """Remove a line from the other CPUs' caches; return the number of caches that held it."""
    found = 0
    for other in range(len(ledger) - 1):
        if other != cpu and links[STATE, other, line] != ABSENT:
            links[STATE, other, line] = ABSENT
            unlink(links[OLDER, other], links[NEWER, other], line)
            ledger[other, USED] -= 1
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
