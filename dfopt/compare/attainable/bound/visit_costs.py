"""What visits cost at least, whatever the schedule: in the whole trace, and in a stretch of it.

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

from dfopt.compare.attainable.bound.start_windows import Blocks, blocks_by_cpu, start_windows
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.trace.events import Integers
from dfopt.trace.trace import UNMANAGED

FORBIDDEN = 2**60
"""The cost of an entry where no visit can begin: more than all sums of other costs."""


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


def least_costs(dispatches: Dispatches) -> LeastCosts:
    """Return what visits cost at least."""
    evicting = bool((dispatches.fixed.fragment == UNMANAGED).any())
    cuts = len(set(zip(dispatches.cuts.cpu.tolist(), dispatches.cuts.time.tolist(), strict=True)))
    none = np.zeros(len(dispatches), np.int64)
    # A block may come first or last on a CPU, where it pays nothing.
    first, last = (none, none) if evicting else (dispatches.first, dispatches.last)
    free = dispatches.cpus + cuts
    if dispatches.matrix.size:
        always, entry, differences = _costs_of_matrix(dispatches)
        leaving = none
    else:
        always, entry, leaving = dispatches.always, dispatches.entry, dispatches.exit
        differences = none
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
        constant=int(always.sum()) - int(spared.sum()) + _own_costs_of_blocks(dispatches),
        unit=gcd(*(int(np.gcd.reduce(c)) for c in (entry, leaving, first, last, differences))) or 1,
    )


def _costs_of_matrix(dispatches: Dispatches) -> tuple[Integers, Integers, Integers]:
    """Return what each dispatch pays at least, what an entry adds at least, and all differences."""
    used = np.unique(dispatches.fragment)
    matrix = dispatches.matrix[np.ix_(used, used)]
    always = matrix.min(axis=0)
    extra = matrix - always
    entry = np.zeros(len(used), np.int64)
    if len(used) > 1:
        others = ~np.eye(len(used), dtype=bool)
        entry = np.min(extra, axis=0, where=others, initial=np.iinfo(np.int64).max)
    column = np.searchsorted(used, dispatches.fragment)
    return always[column], entry[column], extra.ravel()


def _own_costs_of_blocks(dispatches: Dispatches) -> int:
    """Return what evicting blocks pay themselves, but for those with no block before or after."""
    fixed = dispatches.fixed
    total = 0
    for cpu in range(dispatches.cpus):
        own = fixed.chosen((fixed.fragment == UNMANAGED) & (fixed.cpu == cpu))
        cuts = np.sort(dispatches.cuts.time[dispatches.cuts.cpu == cpu])
        part = np.searchsorted(cuts, own.start, "right")
        same = part[1:] == part[:-1]
        total += int(own.exit[:-1][same].sum() + own.entry[1:][same].sum())
    return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceStretch:
    """A stretch of time, and the dispatches that may start in it, as columns ordered by dispatch.

    Parameters
    ----------
    begin, end
        It is from ``begin`` to just before ``end``.
    blocks
        For each CPU its blocks in the stretch.
    dispatch
        Rows of the :class:`~dfopt.compare.dispatches.Dispatches`.
    fragment
        Their fragments.
    first, last
        Each starts from ``first`` to ``last``, in every schedule within the limit.
    length
        The recorded length; not used by a bound that holds for all lengths.
    entry, exit
        What a visit costs at least that begins with the dispatch, or ends with it.
    opening, closing
        What the first visit of a CPU costs if it begins with it, and the last one if it ends with
        it; 0 where that is before or after the stretch.
    """

    begin: int
    end: int
    blocks: Blocks
    dispatch: Rows
    fragment: Integers
    first: Integers
    last: Integers
    length: Integers
    entry: Integers
    exit: Integers
    opening: Integers
    closing: Integers

    @property
    def seen_from(self) -> Integers:
        """Times at which a CPU holds the fragment, unless a visit to it starts after them.

        A dispatch without any length may end a visit at the very moment at which it is ready: it is
        looked at one unit of time before.
        """
        times: Integers = self.first - (self.length == 0)
        return times

    def part(self, begin: int, end: int) -> TraceStretch:
        """Return a part of the stretch.

        Of a fragment's dispatches that may start throughout this time, only the cheapest matter.
        """
        first, last = self.first, self.last
        meets = (first < end) & (last >= begin)
        throughout = meets & (first < begin) & (last >= end)
        chosen = [np.flatnonzero(meets & ~throughout)]
        always = np.flatnonzero(throughout)
        for costs in (self.entry, self.exit, self.opening, self.closing):
            by_cost = always[np.lexsort((costs[always], self.fragment[always]))]
            chosen.append(by_cost[np.unique(self.fragment[by_cost], return_index=True)[1]])
        rows = np.unique(np.concatenate(chosen))
        return TraceStretch(
            begin=begin,
            end=end,
            blocks=_blocks_within(self.blocks, begin, end),
            dispatch=self.dispatch[rows],
            fragment=self.fragment[rows],
            first=first[rows],
            last=last[rows],
            length=self.length[rows],
            entry=self.entry[rows],
            exit=self.exit[rows],
            opening=self.opening[rows] * (begin <= first.min(initial=begin)),
            closing=self.closing[rows] * (end > last.max(initial=end - 1)),
        )

    def running(self, fragment: Integers, time: Integers) -> Integers:
        """Return how many dispatches of a fragment certainly run at a time: d ≤ t < r + p.

        Only those count that start in the stretch.
        """
        ends = self.first + self.length
        certain = (self.last < ends) & (self.first >= self.begin)
        count = np.zeros(len(time), np.int64)
        for number in np.unique(fragment):
            named, own = fragment == number, certain & (self.fragment == number)
            begun = np.searchsorted(np.sort(self.last[own]), time[named], "right")
            count[named] = begun - np.searchsorted(np.sort(ends[own]), time[named], "right")
        return count

    def least_entries(self, fragments: Integers, times: Integers, points: Integers) -> Integers:
        """Return what an entry to a fragment costs at least after each point until the next one.

        It is :data:`FORBIDDEN` where none may start, and after a fragment's last point.

        Parameters
        ----------
        fragments
            The fragments, in increasing order.
        times
            Increasing times from ``begin`` on, with the one just before ``end``.
        points
            For each fragment its points of time, in increasing order: the position of the fragment
            times ``len(times)``, plus that of the time. Each has these two times.
        """
        rows = np.flatnonzero(np.isin(self.fragment, fragments))
        number = np.searchsorted(fragments, self.fragment[rows]) * len(times)
        first = np.searchsorted(times, np.maximum(self.first[rows], self.begin + 1))
        last = np.searchsorted(times, np.minimum(self.last[rows], self.end - 1))
        begin = np.searchsorted(points, number + first) - 1
        end = np.searchsorted(points, number + last)
        inside = begin < end
        begin, end, cost = begin[inside], end[inside], self.entry[rows][inside]
        # A range is covered by two ranges whose length is a power of two; those of each power are
        # collected first, then handed down to the two halves of each range.
        level = np.log2(np.maximum(end - begin, 1)).astype(np.int64)
        least = np.full(len(points), FORBIDDEN)
        for power in range(int(level.max(initial=0)), -1, -1):
            own, length = level == power, 1 << power
            np.minimum.at(least, begin[own], cost[own])
            np.minimum.at(least, end[own] - length, cost[own])
            if power:
                half = length // 2
                least[half:] = np.minimum(least[half:], least[:-half])
        return least


def whole_stretch(
    dispatches: Dispatches, costs: LeastCosts, wait: int, *, uses_lengths: bool
) -> TraceStretch:
    """Return the whole time of a trace, under a waiting limit.

    Parameters
    ----------
    dispatches, costs
        At least one dispatch, and what visits cost.
    wait, uses_lengths
        As in :class:`~dfopt.compare.attainable.bound.proof.WaitingProof`.
    """
    first, last = start_windows(dispatches, wait, uses_lengths=uses_lengths)
    cuts = dispatches.cuts.time
    begin, end = int((first - (dispatches.length == 0)).min()), int(last.max()) + 1
    return TraceStretch(
        begin=begin,
        end=end,
        blocks=_blocks_within(blocks_by_cpu(dispatches), begin, end),
        dispatch=np.arange(len(dispatches)),
        fragment=dispatches.fragment.astype(np.int64),
        first=first,
        last=last,
        length=dispatches.length,
        entry=costs.entry,
        exit=costs.exit,
        # A cut may come before the first dispatch of a CPU, or after the last one.
        opening=costs.first * (cuts > first.min()).all(),
        closing=costs.last * (cuts <= last.max()).all(),
    )


def _blocks_within(blocks: Blocks, begin: int, end: int) -> Blocks:
    return tuple(
        (begins[inside], ends[inside])
        for begins, ends in blocks
        for inside in [(ends > begin) & (begins < end)]
    )
