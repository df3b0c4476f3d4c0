"""Takes a stretch of time out of a schedule for the core, and puts it back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.dispatches import NONE, Dispatches, Rows
from dfopt.native.stretch import (
    BLOCK,
    CUT,
    ELEMENT,
    HEAD,
    LINKS,
    MOVES,
    NEVER,
    NOBODY,
    STAYS,
    TAIL,
    Stretch,
)
from dfopt.trace.trace import UNMANAGED

Table = NDArray[np.int64]
Elements = NDArray[np.void]


class Timeline:
    """A schedule from which stretches are taken one after the other, from early to late.

    Parameters
    ----------
    dispatches
        The dispatches.
    cpu, start
        A schedule of them; changed.
    latest
        The latest start of each dispatch.
    """

    def __init__(self, dispatches: Dispatches, cpu: Table, start: Table, latest: Table) -> None:
        self.dispatches = dispatches
        self.cpu, self.start, self.latest = cpu, start, latest
        count = len(dispatches)
        self._next, self._woken, self._first_woken = dispatches.followers()
        self.order = np.lexsort((start + dispatches.length, start))
        self._local = np.full(count, NOBODY, np.int64)
        self._heads = np.full(dispatches.cpus, NONE, np.int64)
        by_cpu = np.lexsort((start + dispatches.length, start, cpu))
        self._by_cpu = by_cpu
        self._cpu_starts = start[by_cpu].copy()
        self._cpu_begin = np.searchsorted(cpu[by_cpu], np.arange(dispatches.cpus + 1))
        blocks = dispatches.fixed
        self._block_begin = np.searchsorted(blocks.cpu, np.arange(dispatches.cpus + 1))
        evicting = np.flatnonzero(blocks.fragment == UNMANAGED)
        # Cuts and evicting blocks: CPU, time, whether it is a cut, which block.
        self._marks = np.concatenate(
            [
                np.stack(
                    [
                        dispatches.cuts.cpu.astype(np.int64),
                        dispatches.cuts.time,
                        np.zeros(len(dispatches.cuts.cpu), np.int64) - 1,
                    ]
                ),
                np.stack([blocks.cpu[evicting].astype(np.int64), blocks.start[evicting], evicting]),
            ],
            axis=1,
        )
        order = np.lexsort((self._marks[1], self._marks[0]))
        self._marks = self._marks[:, order]
        self._mark_begin = np.searchsorted(self._marks[0], np.arange(dispatches.cpus + 1))
        self._taken = 0

    def take(self, begin: int, end: int) -> tuple[Rows, Stretch]:
        """Return the dispatches at ``begin`` … ``end`` - 1 in the order of starts, as a stretch.

        What this leaves out before ``begin`` is never taken again.
        """
        dispatches, cpus = self.dispatches, self.dispatches.cpus
        for row in self.order[self._taken : begin].tolist():
            self._heads[self.cpu[row]] = row
        self._taken = begin
        inside = np.sort(self.order[begin:end])
        k = len(inside)
        self._local[inside] = np.arange(k)
        limit = int(self.start[self.order[end]]) if end < len(self.order) else NEVER
        tails = np.full(cpus, NONE, np.int64)
        if limit != NEVER:
            for cpu in range(cpus):
                low, high = self._cpu_begin[cpu], self._cpu_begin[cpu + 1]
                place = low + int(np.searchsorted(self._cpu_starts[low:high], limit))
                # Of several that start at the same time some may be inside.
                while place < high and self._local[self._by_cpu[place]] != NOBODY:
                    place += 1
                if place < high:
                    tails[cpu] = self._by_cpu[place]
        followers = self._next[inside]
        woken = self._woken_by(inside)
        outside = np.concatenate([followers[followers != NONE], woken, tails[tails != NONE]])
        outside = np.unique(outside[self._local[outside] == NOBODY])
        heads = self._heads[self._heads != NONE]
        given = np.concatenate([inside, outside, heads])
        g = len(given)
        self._local[outside] = k + np.arange(len(outside))
        rows = _elements(g)
        rows["length"] = dispatches.length[given]
        rows["fragment"] = dispatches.fragment[given]
        for cost in ("entry", "exit", "always", "first", "last"):
            rows[cost] = getattr(dispatches, cost)[given]
        rows["role"] = STAYS
        rows["role"][:k] = MOVES
        rows["cpu"] = self.cpu[given]
        rows["start"] = self.start[given]
        rows["end"] = rows["start"] + rows["length"]
        rows["latest"] = np.minimum(self.latest[given], limit)
        linked = slice(0, k + len(outside))
        self._link(rows[linked], given[linked])
        self._local[inside] = NOBODY
        self._local[outside] = NOBODY
        rows = self._with_marks(rows, tails, outside, k)
        return inside, self._stretch(rows, k)

    def put_back(self, inside: Rows, cpu: Table, start: Table, begin: int, end: int) -> None:
        """Take over CPUs and starts of the dispatches of a stretch."""
        self.cpu[inside] = cpu
        self.start[inside] = start
        part = self.order[begin:end]
        self.order[begin:end] = part[
            np.lexsort((self.start[part] + self.dispatches.length[part], self.start[part]))
        ]

    def _woken_by(self, inside: Rows) -> Rows:
        counts = self._first_woken[inside + 1] - self._first_woken[inside]
        total = int(counts.sum())
        begin = np.repeat(self._first_woken[inside] - np.cumsum(counts) + counts, counts)
        return self._woken[begin + np.arange(total)]

    def _link(self, rows: Elements, given: Rows) -> None:
        """Fill in what depends on other dispatches: by their elements, or by their times."""
        dispatches, local = self.dispatches, self._local
        since = dispatches.ready_by[given]
        previous = dispatches.previous[given]
        element = np.where(previous == NONE, NOBODY, local[previous])
        # Elements outside that follow others outside need not know of them.
        rows["previous"] = element
        outside = (previous != NONE) & (element == NOBODY)
        ends = self.start[previous] + dispatches.length[previous]
        rows["since"] = np.where(outside, np.maximum(since, ends), since)
        follows = np.flatnonzero(element != NOBODY)
        rows["next"][element[follows]] = follows
        waker = dispatches.waker[given]
        element = np.where(waker == NONE, NOBODY, local[waker])
        rows["waker"] = element
        rows["offset"] = dispatches.waker_offset[given]
        outside = (waker != NONE) & (element == NOBODY)
        woken_at = self.start[waker] + dispatches.waker_offset[given]
        rows["ready"] = np.where(outside, np.maximum(rows["since"], woken_at), rows["since"])
        for woken in np.flatnonzero(element != NOBODY).tolist():
            by = element[woken]
            rows["sibling"][woken] = rows["woken"][by]
            rows["woken"][by] = woken

    def _with_marks(self, rows: Elements, tails: Rows, outside: Rows, k: int) -> Elements:
        """Add cuts, evicting blocks and the ends of the CPUs; link the elements of each CPU."""
        cpus = self.dispatches.cpus
        blocks = self.dispatches.fixed
        heads = np.flatnonzero(self._heads != NONE)
        head_at = dict(zip(heads.tolist(), range(k + len(outside), len(rows)), strict=True))
        starts, ends = rows["start"], rows["end"]
        extra: list[Elements] = []
        at = len(rows)
        inside_of = rows["cpu"][:k]
        by_cpu = np.lexsort((rows["end"][:k], rows["start"][:k], inside_of))
        begin = np.searchsorted(inside_of[by_cpu], np.arange(cpus + 1))
        chains: list[list[int]] = []
        for cpu in range(cpus):
            own = by_cpu[begin[cpu] : begin[cpu + 1]].tolist()
            low, high = self._mark_begin[cpu], self._mark_begin[cpu + 1]
            times = self._marks[1, low:high]
            if cpu in head_at:
                head = head_at[cpu]
                low_mark = low + int(np.searchsorted(times, starts[head], side="right"))
            else:
                head, low_mark = at, low
                extra.append(_edge(HEAD, cpu, -NEVER))
                at += 1
            if tails[cpu] != NONE:
                tail = k + int(np.searchsorted(outside, tails[cpu]))
                high_mark = low + int(np.searchsorted(times, starts[tail], side="right"))
            else:
                tail, high_mark = at, high
                extra.append(_edge(TAIL, cpu, NEVER))
                at += 1
            marks: list[tuple[int, int, int]] = []
            for mark in range(low_mark, high_mark):
                time, block = int(self._marks[1, mark]), int(self._marks[2, mark])
                if block < 0:
                    row = _edge(CUT, cpu, time)
                else:
                    row = _edge(STAYS, cpu, time)
                    row["end"] = blocks.end[block]
                    row["fragment"] = -1 - block
                    row["entry"], row["exit"] = blocks.entry[block], blocks.exit[block]
                    row["first"], row["last"] = blocks.first[block], blocks.last[block]
                extra.append(row)
                marks.append((time, int(row["end"][0]) if block >= 0 else -NEVER, at))
                at += 1
            keyed = [(int(starts[e]), int(ends[e]), e) for e in own]
            merged = [e for _, _, e in sorted([*keyed, *marks])] if marks else own
            chains.append([head, *merged, tail])
        rows = np.concatenate([rows, *extra])
        for cpu, chain in enumerate(chains):
            links = np.array(chain)
            rows["after"][links[:-1]] = links[1:]
            rows["before"][links[1:]] = links[:-1]
            rows["cpu"][links] = cpu
        return rows

    def _stretch(self, rows: Elements, k: int) -> Stretch:
        dispatches = self.dispatches
        blocks = dispatches.fixed
        cpus = dispatches.cpus
        moving = rows[:k]
        low = int(moving["ready"].min()) if k else 0
        high = int(moving["end"].max()) if k else 1
        latest = moving["latest"]
        latest = latest[latest < NEVER // 2]
        chosen: list[tuple[int, Table]] = []
        for cpu in range(cpus):
            first, last = self._block_begin[cpu], self._block_begin[cpu + 1]
            own_ends = blocks.end[first:last]
            begin = first + int(np.searchsorted(own_ends, low, side="right"))
            end = last
            if len(latest) == k and k:
                final = int(latest.max()) + int(moving["length"].max())
                end = first + int(np.searchsorted(blocks.start[first:last], final, side="left"))
                end = max(end, begin)
            chosen.append((cpu, np.arange(begin, end)))
        # About one block begins in each cell of the calendar.
        cells = max(1, *(len(own) for _, own in chosen))
        width = max(1, -(-(high - low) // cells))
        calendar = np.zeros((cpus, cells), np.int64)
        kept = np.empty(cpus + sum(len(own) for _, own in chosen), BLOCK)
        at = 0
        for cpu, own in chosen:
            kept[at : at + len(own)]["start"] = blocks.start[own]
            kept[at : at + len(own)]["end"] = blocks.end[own]
            kept[at + len(own)] = NEVER, NEVER + 1
            edges = low + width * np.arange(cells)
            calendar[cpu] = at + np.searchsorted(blocks.end[own], edges, side="right")
            calendar[cpu, 0] = at
            at += len(own) + 1
        rows["rank"][np.lexsort((np.arange(k), moving["fragment"]))] = np.arange(k)
        return Stretch(
            elements=rows,
            dispatches=k,
            blocks=kept,
            calendar=calendar,
            begin=low,
            cell=width,
            matrix=np.ascontiguousarray(dispatches.matrix, np.int64),
        )


def _elements(number: int) -> Elements:
    """Return elements without links."""
    rows = np.zeros(number, ELEMENT)
    for link in LINKS:
        rows[link] = NOBODY
    return rows


def _edge(role: int, cpu: int, time: int) -> Elements:
    """Return an element that is no dispatch."""
    row = _elements(1)
    row["role"], row["cpu"], row["latest"] = role, cpu, NEVER
    row["start"] = row["end"] = time
    row["fragment"] = -(2**40) - role
    return row
