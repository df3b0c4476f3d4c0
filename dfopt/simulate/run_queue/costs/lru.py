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

MISSES, SHARED_HITS, WRITE_BACKS, INVALIDATIONS, TOUCHED, FAR_HITS, USED, CAPACITY, SHARED = range(
    9
)
"""Columns of :attr:`Lines.ledger`."""

Links = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """The lines that each cache holds: one cache for each CPU, then the shared ones, perhaps empty.

    There are few arrays, since each further array makes every call slower.

    Parameters
    ----------
    links
        By table, cache and line. ``OLDER`` and ``NEWER``: its neighbours in the order of use; the
        last column is the end, where the newest follows the oldest. ``STATE``: absent, held or
        written. ``OWNER``, in the first row: 1 plus the CPU whose cache has written it, or 0.
    ledger
        By cache: counts of what the bursts of its CPU did, the number of lines that it holds, the
        number that it can hold, and the cache that its CPU shares with others; of a shared cache
        it is the cache itself.
    times
        The times of a miss, of a hit in the CPU's shared cache, of a write-back, of a miss right
        after a miss of the line before, and of a hit in the shared cache of others; -1 if those
        are not asked.
    """

    links: Links
    ledger: Integers
    times: Integers


def empty_lines(
    memory: int, capacity: list[int], shared: list[int], times: tuple[int, int, int, int, int]
) -> Lines:
    """Return empty caches over a memory of ``memory`` lines."""
    # Zeros take no memory until they are touched, so only the ends get another value.
    links = np.zeros((4, len(capacity), memory + 1), np.int32)
    links[OLDER, :, memory] = links[NEWER, :, memory] = memory
    ledger = np.zeros((len(capacity), 9), np.int64)
    ledger[:, CAPACITY] = capacity
    ledger[:, SHARED] = shared
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
    miss, shared_hit, write_back, sequential_miss, far_hit = lines.times
    shared = counts[SHARED]
    has_shared = ledger[shared, CAPACITY] > 0
    time = 0
    read = -2  # the last line that came from memory
    for line in range(first, first + number):
        if states[line] == ABSENT:
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
                if far_hit >= 0 and is_far(links, ledger, shared, line):
                    counts[FAR_HITS] += 1
                    time += far_hit
                else:
                    time += sequential_miss if read == line - 1 else miss
                    read = line
                if has_shared:
                    insert(links, ledger, shared, line)
            if insert(links, ledger, cpu, line):
                counts[WRITE_BACKS] += 1
                time += write_back
        else:
            move_to_front(links[OLDER, cpu], links[NEWER, cpu], line)
        if leaves != CLEAN:
            write(links, ledger, cpu, line)
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
def write(links: Links, ledger: Integers, cpu: int, line: int) -> None:
    """Note that a CPU has written a line, and remove it from all caches but this CPU's own two."""
    if links[STATE, cpu, line] == WRITTEN:
        return
    shared = ledger[cpu, SHARED]
    for other in range(len(ledger)):
        if other not in (cpu, shared) and links[STATE, other, line] != ABSENT:
            links[STATE, other, line] = ABSENT
            unlink(links[OLDER, other], links[NEWER, other], line)
            ledger[other, USED] -= 1
            ledger[cpu, INVALIDATIONS] += 1
    links[STATE, cpu, line] = WRITTEN
    links[OWNER, 0, line] = cpu + 1


@compiled
def is_far(links: Links, ledger: Integers, shared: int, line: int) -> bool:
    """Return whether another shared cache holds a line."""
    for other in range(len(ledger)):
        is_shared = ledger[other, SHARED] == other
        if is_shared and other != shared and links[STATE, other, line] != ABSENT:
            return True
    return False


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
