"""Takes sections out of a schedule for the beam search, from early to late, and puts them back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.beam_search.layout import (
    ALWAYS,
    CODE,
    COLUMNS,
    CUT,
    ELEMENT,
    ELEMENT_AFTER,
    ELEMENT_BEFORE,
    END,
    ENTRY,
    EVICTS,
    EXIT,
    FAR,
    FIRST,
    FIXED_END,
    FIXED_FIRST,
    FRAGMENT,
    FREE_FROM,
    GUIDE_CPU,
    GUIDE_START,
    LAST,
    LATEST,
    LENGTH,
    LOW,
    NEXT,
    NEXT_SINCE,
    NEXT_START,
    NOTHING,
    OFFSET,
    PASSED_AT_END,
    PLAIN,
    PREVIOUS,
    ROLE,
    SINCE,
    START,
    WAKER,
    Section,
    Table,
)
from dfopt.compare.dispatches import Rows
from dfopt.trace.events import Integers


class Sections:
    """A schedule whose sections can be taken out one after the other, from early to late.

    Parameters
    ----------
    arrivals
        The dispatches.
    cpu, start
        A schedule of them; changed.
    wait
        For how long each of them may wait; None: no such limit.
    """

    def __init__(self, arrivals: Arrivals, cpu: Table, start: Table, wait: int | None) -> None:
        self.arrivals, self.cpu, self.start = arrivals, cpu, start
        self._latest = arrivals.latest_starts(wait)
        count, cpus = len(arrivals), arrivals.cpus
        self._next, self._woken, self._first_woken = arrivals.followers()
        self._local = np.full(count, NOTHING, np.int64)
        costs = arrivals.costs
        entry = costs.matrix.mean(axis=0)[arrivals.fragment] if costs.matrix.size else costs.entry
        fragments = int(arrivals.fragment.max()) + 1
        uses = np.maximum(np.bincount(arrivals.fragment, minlength=fragments), 1)
        self._weights = np.bincount(arrivals.fragment, entry, fragments) / uses
        self._codes = np.random.default_rng(0).integers(2**60, size=count)
        index = np.arange(count)
        self._order = np.lexsort((index, arrivals.length > 0, start))
        by_cpu = np.argsort(cpu[self._order], kind="stable")
        ends = np.searchsorted(cpu[self._order[by_cpu]], np.arange(1, cpus))
        self._positions = np.split(by_cpu, ends)
        self._heads = np.full(cpus, NONE)
        self._inside = index[:0]
        self._begin, self._origin = 0, 0
        self._arrange_blocks()

    def _arrange_blocks(self) -> None:
        """Order the blocks and cuts of each CPU by their starts."""
        blocks, arrivals = self.arrivals.blocks, self.arrivals
        cuts = len(arrivals.cut_cpu)
        cpu = np.concatenate([blocks.cpu, arrivals.cut_cpu])
        start = np.concatenate([blocks.start, arrivals.cut_time])
        end = np.concatenate([blocks.end, arrivals.cut_time])
        role = np.concatenate([np.where(blocks.evicts, EVICTS, PLAIN), np.full(cuts, CUT)])
        block = np.concatenate([np.arange(len(blocks.cpu)), np.full(cuts, NONE)])
        order = np.lexsort((end, role != CUT, start, cpu))
        self._fixed_first = np.searchsorted(cpu[order], np.arange(arrivals.cpus + 1))
        self._fixed = np.column_stack([start, end, role, block])[order].astype(np.int64)

    def take(self, begin: int, end: int, limits: Table, wait: int | None) -> Section:
        """Return the dispatches at ``begin`` … ``end`` - 1 in the order of starts, as a section.

        Parameters
        ----------
        begin, end
            What this leaves out before ``begin`` is never taken again.
        limits
            See :class:`Section`; by how much the sum of waits and the number of long ones may rise.
        wait
            For how long each dispatch may wait, unless it does already; None: no such limit.
        """
        arrivals, cpus = self.arrivals, self.arrivals.cpus
        passed = self._order[self._begin : begin]
        self._heads[self.cpu[passed]] = passed
        self._begin = begin
        tails = np.full(cpus, NONE)
        for cpu, positions in enumerate(self._positions):
            at = int(np.searchsorted(positions, end))
            if at < len(positions):
                tails[cpu] = self._order[positions[at]]
        inside = np.sort(self._order[begin:end])
        latest = self._latest[inside]
        if wait is not None:
            ready = np.maximum(arrivals.ready_from[inside], arrivals.previous_end[inside])
            latest = np.minimum(latest, np.maximum(self.start[inside], ready + wait))
        if end < len(self._order):
            latest = np.minimum(latest, self.start[self._order[end]])
        self._origin = int(arrivals.ready_by[inside].min())
        self._inside, rows = self._rows(inside, latest)
        return self._section(rows, tails, limits)

    def put_back(self, cpu: Table, start: Table) -> None:
        """Take over CPUs and starts of the section that was taken last."""
        inside, start = self._inside, start + self._origin
        self.cpu[inside], self.start[inside] = cpu, start
        order = np.lexsort((inside, self.arrivals.length[inside] > 0, start))
        self._order[self._begin : self._begin + len(inside)] = inside[order]

    def _rows(self, inside: Rows, latest: Integers) -> tuple[Rows, Table]:
        """Return the dispatches in the order of their earliest starts, and their rows."""
        arrivals, local, start = self.arrivals, self._local, self.start
        count = len(inside)
        local[inside] = np.arange(count)
        previous, waker = arrivals.previous[inside], arrivals.waker[inside]
        follower = self._next[inside]
        length, offset = arrivals.length[inside], arrivals.waker_offset[inside]
        before = np.where(previous == NONE, NOTHING, local[previous])
        by = np.where(waker == NONE, NOTHING, local[waker])
        after = np.where(follower == NONE, NOTHING, local[follower])
        since = arrivals.ready_by[inside].copy()
        outside = (previous != NONE) & (before == NOTHING)
        ends = start[previous] + arrivals.length[previous]
        since[outside] = np.maximum(since, ends)[outside]
        low = since.copy()
        outside = (waker != NONE) & (by == NOTHING)
        low[outside] = np.maximum(low, start[waker] + offset)[outside]
        outside = (follower != NONE) & (after == NOTHING)
        latest[outside] = np.minimum(latest, start[follower] - length)[outside]
        next_since = np.where(follower == NONE, FAR, arrivals.ready_by[follower])
        next_start = np.where(outside, start[follower], NOTHING)
        first, last = self._first_woken[inside], self._first_woken[inside + 1]
        for j in np.flatnonzero(last > first).tolist():
            woken = self._woken[first[j] : last[j]]
            beyond = woken[local[woken] == NOTHING]
            if len(beyond):
                latest[j] = min(
                    int(latest[j]), int((start[beyond] - arrivals.waker_offset[beyond]).min())
                )
        local[inside] = NOTHING
        low, latest = tightened(low, latest, before, by, length, offset)
        order = np.argsort(low, kind="stable")
        renumbered = np.empty(count + 1, np.int64)
        renumbered[order] = np.arange(count)
        renumbered[count] = NOTHING  # which is what NOTHING picks
        rows = np.zeros((count, COLUMNS), np.int64)
        costs = arrivals.costs
        for column, values in (
            (FRAGMENT, arrivals.fragment[inside]), (ENTRY, costs.entry[inside]),
            (EXIT, costs.exit[inside]), (ALWAYS, costs.always[inside]),
            (FIRST, costs.first[inside]), (LAST, costs.last[inside]), (LENGTH, length),
            (LOW, low), (SINCE, since), (LATEST, latest), (PREVIOUS, renumbered[before]),
            (NEXT, renumbered[after]), (WAKER, renumbered[by]), (OFFSET, offset),
            (CODE, self._codes[inside]), (GUIDE_START, start[inside]),
            (GUIDE_CPU, self.cpu[inside]), (NEXT_SINCE, next_since), (NEXT_START, next_start),
        ):  # fmt: skip
            rows[:, column] = values
        rows[:, [LOW, SINCE, LATEST, GUIDE_START]] -= self._origin
        for column, none in ((NEXT_SINCE, FAR), (NEXT_START, NOTHING)):
            rows[rows[:, column] != none, column] -= self._origin
        rows[:, LATEST] = np.minimum(rows[:, LATEST], FAR)
        return inside[order], rows[order]

    def _section(self, rows: Table, tails: Rows, limits: Table) -> Section:
        """Return the section of some dispatches, of which all rows but those around are known."""
        arrivals = self.arrivals
        matrix, cpus, count = arrivals.costs.matrix, arrivals.cpus, len(rows)
        others, fixed, around = self._surroundings(count, tails)
        rows = np.concatenate([rows, others])
        managed = rows[:, FRAGMENT] >= 0
        used, rows[managed, FRAGMENT] = np.unique(rows[managed, FRAGMENT], return_inverse=True)
        if matrix.size:
            matrix = matrix[np.ix_(used, used)]
        inside = rows[:count]
        index, latest, fragment = np.arange(count), inside[:, LATEST], inside[:, FRAGMENT]
        urgent = np.stack([np.lexsort((index, latest, fragment)), np.lexsort((index, latest))])
        is_long, guide_cpu, waker = inside[:, LENGTH] > 0, inside[:, GUIDE_CPU], inside[:, WAKER]
        guided = np.lexsort((index, is_long, inside[:, GUIDE_START], guide_cpu))
        woken = np.flatnonzero(waker != NOTHING)
        woken = woken[np.argsort(waker[woken], kind="stable")]
        return Section(
            rows=rows,
            low=inside[:, LOW].copy(),
            urgent=urgent.astype(np.int64),
            fragment_first=_begins(fragment[urgent[0]], len(used)),
            guided=guided.astype(np.int64),
            guided_first=_begins(guide_cpu[guided], cpus),
            woken=woken.astype(np.int64),
            woken_first=_begins(waker[woken], count),
            fixed=fixed,
            cpus=around,
            matrix=np.ascontiguousarray(matrix, np.int64),
            weights=self._weights[used],
            limits=limits,
        )

    def _surroundings(self, count: int, tails: Rows) -> tuple[Table, Table, Table]:
        """Return rows of the elements outside, what stands between dispatches, and the CPUs.

        A section has ``count`` dispatches; ``tails`` are those that follow it on the CPUs.
        """
        arrivals, costs, blocks = self.arrivals, self.arrivals.costs, self.arrivals.blocks
        around = np.zeros((arrivals.cpus, 6), np.int64)
        around[:, FREE_FROM] = -FAR
        around[:, [ELEMENT_BEFORE, ELEMENT_AFTER]] = NOTHING
        fixed: list[Table] = []
        others: list[list[int]] = []
        at = 0
        for cpu in range(arrivals.cpus):
            own = self._fixed[self._fixed_first[cpu] : self._fixed_first[cpu + 1]]
            neighbours = ((ELEMENT_BEFORE, self._heads[cpu]), (ELEMENT_AFTER, tails[cpu]))
            limits = [0, len(own)]
            for side, (column, neighbour) in enumerate(neighbours):
                if neighbour == NONE:
                    continue
                around[cpu, column] = count + len(others)
                columns = (costs.entry, costs.exit, costs.always, costs.first, costs.last)
                of_costs = [int(column[neighbour]) for column in columns]
                others.append([int(arrivals.fragment[neighbour]), *of_costs])
                start = int(self.start[neighbour])
                limits[side] = int(np.searchsorted(own[:, START], start, side="right"))
                if column == ELEMENT_BEFORE:
                    end = start + int(arrivals.length[neighbour])
                    around[cpu, FREE_FROM] = end - self._origin
            part = own[limits[0] : limits[1]].copy()
            part[:, [START, END]] -= self._origin
            for row in np.flatnonzero(part[:, ROLE] == EVICTS).tolist():
                block = int(part[row, ELEMENT])
                part[row, ELEMENT] = count + len(others)
                entry, leaving = int(blocks.entry[block]), int(blocks.exit[block])
                edges = int(blocks.first[block]), int(blocks.last[block])
                others.append([-1 - block, entry, leaving, 0, *edges])
            around[cpu, FIXED_FIRST], around[cpu, PASSED_AT_END] = at, at + len(part)
            fixed.append(part)
            if tails[cpu] != NONE:
                start = int(self.start[tails[cpu]]) - self._origin
                fixed.append(np.array([[start, FAR, PLAIN, NOTHING]], np.int64))
            at += len(part) + int(tails[cpu] != NONE)
            around[cpu, FIXED_END] = at
        rows = np.zeros((len(others), COLUMNS), np.int64)
        rows[:, : LAST + 1] = np.array(others, np.int64).reshape(-1, LAST + 1)
        return rows, np.concatenate(fixed), around


def _begins(numbers: Table, count: int) -> Table:
    """Return where each of the numbers 0 … ``count`` begins in sorted ones."""
    return np.searchsorted(numbers, np.arange(count + 1)).astype(np.int64)


def tightened(
    low: Integers,
    latest: Integers,
    previous: Integers,
    waker: Integers,
    length: Integers,
    offset: Integers,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return earliest and latest starts that leave time for what comes before and after."""
    lows, ends = low.tolist(), latest.tolist()
    lengths, offsets = length.tolist(), offset.tolist()
    linked = [
        (j, before, by)
        for j, (before, by) in enumerate(zip(previous.tolist(), waker.tolist(), strict=True))
        if before != NOTHING or by != NOTHING
    ]
    for j, before, by in linked:
        if before != NOTHING:
            lows[j] = max(lows[j], lows[before] + lengths[before])
        if by != NOTHING:
            lows[j] = max(lows[j], lows[by] + offsets[j])
    for j, before, by in reversed(linked):
        if before != NOTHING:
            ends[before] = min(ends[before], ends[j] - lengths[before])
        if by != NOTHING:
            ends[by] = min(ends[by], ends[j] - offsets[j])
    return np.array(lows, np.int64), np.array(ends, np.int64)
