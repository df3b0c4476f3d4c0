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


def busy_times(arrivals: Arrivals) -> tuple[Rows, Integers, Integers]:
    """Return CPU, begin and end of the times for which blocks keep CPUs: each time once, in order.

    Ordered by CPU, then by time.
    """
    blocks = arrivals.blocks
    order = np.lexsort((blocks.start, blocks.cpu))
    cpu, begin, end = blocks.cpu[order].astype(np.intp), blocks.start[order], blocks.end[order]
    for number in range(arrivals.cpus):
        own = slice(*np.searchsorted(cpu, [number, number + 1]))
        # Where blocks overlap, the later one counts from the end of the earlier ones on.
        reached = np.maximum.accumulate(end[own])
        begin[own][1:] = np.maximum(begin[own][1:], reached[:-1])
        end[own] = reached
    kept = begin < end
    return cpu[kept], begin[kept], end[kept]


def after_busy_times(arrivals: Arrivals, earliest: Integers, latest: Integers) -> Integers:
    """Return earliest starts at which dispatches fit, if they are later.

    Parameters
    ----------
    arrivals
        The dispatches, at least one; the lengths are as recorded.
    earliest, latest
        Times between which each of them starts.
    """
    cpu, begin, end = busy_times(arrivals)
    certain = latest < earliest + arrivals.length
    begins = np.concatenate([begin, latest[certain]])
    ends = np.concatenate([end, (earliest + arrivals.length)[certain]])
    times, position = np.unique(np.concatenate([begins, ends]), return_inverse=True)
    change = np.zeros(len(times), np.int64)
    np.add.at(change, position[: len(begins)], 1)
    np.add.at(change, position[len(begins) :], -1)
    first = np.searchsorted(cpu, np.arange(arrivals.cpus + 1))
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
