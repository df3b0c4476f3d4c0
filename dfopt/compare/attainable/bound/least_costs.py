"""What entries to a fragment and exits from it cost at least, whatever the schedule.

The cost of a schedule is split into parts that do not overlap:

- a constant: ``always``, which all dispatches pay but the last ones of CPUs (and of the parts into
  which cuts of the recording divide them), and what evicting blocks pay for themselves. Under a
  matrix a dispatch of fragment b pays at least ``min over a of matrix[a, b]``;
- ``entry`` for each visit that follows another one, by its first dispatch;
- ``exit`` for each visit that is followed by another one, by its last dispatch;
- ``first`` and ``last`` for the first and the last visit of each CPU.

Evicting blocks are left out of the visits. That never raises what the visits cost: a dispatch
before a block pays its exit, one after it its entry, and without the block at most these.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals, FixedBlocks
from dfopt.trace.events import Integers, Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeastCosts:
    """Least costs of visits, as columns with a row for each dispatch.

    Parameters
    ----------
    entry
        Of a visit that begins with the dispatch and follows another visit.
    exit
        Of a visit that ends with it and is followed by another visit.
    first, last
        Of a CPU's first visit, by its first dispatch, and of its last visit, by its last one.
    constant
        What every schedule pays besides.
    unit
        What a schedule pays for any number of visits is a multiple of it.
    """

    entry: Integers
    exit: Integers
    first: Integers
    last: Integers
    constant: int
    unit: int


def least_costs(arrivals: Arrivals) -> LeastCosts:
    """Return what visits cost at least."""
    costs, evicting = arrivals.costs, bool(arrivals.blocks.evicts.any())
    cuts = len(set(zip(arrivals.cut_cpu.tolist(), arrivals.cut_time.tolist(), strict=True)))
    none = np.zeros(len(arrivals), np.int64)
    # A block may come first or last on a CPU, where it pays nothing.
    first, last = (none, none) if evicting else (costs.first, costs.last)
    free = arrivals.cpus + cuts
    if costs.matrix.size:
        always, entry, differences = _costs_of_matrix(arrivals)
        leaving = none
    else:
        always, entry, leaving, differences = costs.always, costs.entry, costs.exit, none
        if (last >= always).all():
            # The last dispatch of a CPU pays `last`, which contains `always`.
            last = last - always
            free = cuts
    spared = np.sort(always)[max(0, len(always) - free) :]
    return LeastCosts(
        entry=entry,
        exit=leaving,
        first=first,
        last=last,
        constant=int(always.sum()) - int(spared.sum()) + _own_costs_of_blocks(arrivals),
        unit=gcd(*(int(np.gcd.reduce(c)) for c in (entry, leaving, first, last, differences))) or 1,
    )


def _costs_of_matrix(arrivals: Arrivals) -> tuple[Integers, Integers, Integers]:
    """Return what each dispatch pays at least, what an entry adds at least, and all differences."""
    used = np.unique(arrivals.fragment)
    matrix = arrivals.costs.matrix[np.ix_(used, used)]
    always = matrix.min(axis=0)
    extra = matrix - always
    entry = np.zeros(len(used), np.int64)
    if len(used) > 1:
        others = ~np.eye(len(used), dtype=bool)
        entry = np.min(extra, axis=0, where=others, initial=np.iinfo(np.int64).max)
    column = np.searchsorted(used, arrivals.fragment)
    return always[column], entry[column], extra.ravel()


def _own_costs_of_blocks(arrivals: Arrivals) -> int:
    """Return what evicting blocks pay themselves, but for those with no block before or after."""
    blocks = arrivals.blocks
    evicting = np.flatnonzero(blocks.evicts)
    cpu, part = blocks.cpu[evicting], _parts(arrivals, blocks)[evicting]
    order = np.lexsort((blocks.start[evicting], cpu))
    same = (cpu[order][1:] == cpu[order][:-1]) & (part[order][1:] == part[order][:-1])
    before, after = evicting[order][:-1][same], evicting[order][1:][same]
    return int(blocks.exit[before].sum()) + int(blocks.entry[after].sum())


def _parts(arrivals: Arrivals, blocks: FixedBlocks) -> Numbers:
    """Return the number of cuts on the CPU of each block by the time it starts."""
    parts = np.zeros(len(blocks.cpu), np.int32)
    for cpu in np.unique(arrivals.cut_cpu):
        own = blocks.cpu == cpu
        times = np.sort(arrivals.cut_time[arrivals.cut_cpu == cpu])
        parts[own] = np.searchsorted(times, blocks.start[own], side="right")
    return parts
