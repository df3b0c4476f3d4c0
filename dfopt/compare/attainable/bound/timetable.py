"""Earliest starts that respect when all CPUs are certainly busy (timetable reasoning).

A dispatch with d < r + p runs from d to r + p in every schedule, so it keeps a CPU then; and blocks
keep theirs. Another dispatch fits only where some CPU has no block from its start to its end, and
where at none of these times all CPUs are kept.
"""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.dispatches import Rows
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Flags, Integers


def blocks_by_cpu(arrivals: Arrivals) -> tuple[tuple[Integers, Integers], ...]:
    """Return for each CPU begin and end of the times for which blocks keep it, each time once."""
    blocks = arrivals.blocks
    found = []
    for cpu in range(arrivals.cpus):
        own = np.flatnonzero(blocks.cpu == cpu)
        own = own[np.argsort(blocks.start[own], kind="stable")]
        begin, end = blocks.start[own], np.maximum.accumulate(blocks.end[own])
        # Where blocks overlap, the later one counts from the end of the earlier ones on.
        begin[1:] = np.maximum(begin[1:], end[:-1])
        found.append((begin[begin < end], end[begin < end]))
    return tuple(found)


def after_busy_times(arrivals: Arrivals, earliest: Integers, latest: Integers) -> Integers:
    """Return earliest starts at which dispatches fit, if they are later.

    Parameters
    ----------
    arrivals
        The dispatches, at least one; the lengths are as recorded.
    earliest, latest
        Times between which each of them starts.
    """
    blocks = blocks_by_cpu(arrivals)
    begin, end = (np.concatenate(part) for part in zip(*blocks, strict=True))
    certain = latest < earliest + arrivals.length
    begins = np.concatenate([begin, latest[certain]])
    ends = np.concatenate([end, (earliest + arrivals.length)[certain]])
    times, position = np.unique(np.concatenate([begins, ends]), return_inverse=True)
    change = np.zeros(len(times), np.int64)
    np.add.at(change, position[: len(begins)], 1)
    np.add.at(change, position[len(begins) :], -1)
    first = np.cumsum([0, *(len(own) for own, _ in blocks)])
    found: Integers = _first_fits(
        earliest, latest, arrivals.length, certain, times, np.cumsum(change), first, begin, end
    )
    return found


@compiled
def _first_fits(  # noqa: PLR0913, PLR0917
    earliest: Integers,
    latest: Integers,
    length: Integers,
    certain: Flags,
    times: Integers,
    kept: Integers,
    first: Rows,
    begin: Integers,
    end: Integers,
) -> Integers:
    """Return when each dispatch fits.

    ``kept[i]`` CPUs are kept from ``times[i]`` to ``times[i + 1]``. The blocks of a CPU are the
    rows of ``begin`` and ``end`` from ``first[cpu]`` to just before ``first[cpu + 1]``.
    """
    cpus = len(first) - 1
    fits = latest.copy()
    for row in range(len(earliest)):
        own_end = earliest[row] + length[row]
        for cpu in range(cpus):
            start = earliest[row]
            block = first[cpu] + np.searchsorted(end[first[cpu] : first[cpu + 1]], start, "right")
            slot = max(0, np.searchsorted(times, start, "right") - 1)
            while start < fits[row]:
                if block < first[cpu + 1] and begin[block] < start + length[row]:
                    start = max(start, end[block])
                    block += 1
                elif slot < len(times) - 1 and times[slot] < start + length[row]:
                    # What it keeps itself is in its way nowhere.
                    own = certain[row] and latest[row] <= times[slot] < own_end
                    if times[slot + 1] > start and kept[slot] - own >= cpus:
                        start = times[slot + 1]
                    slot += 1
                else:
                    break
            fits[row] = min(fits[row], start)
    return fits
