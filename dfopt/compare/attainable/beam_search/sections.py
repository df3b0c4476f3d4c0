"""Takes sections out of a schedule for the beam search, from early to late, and puts them back."""

from __future__ import annotations

import itertools

import numpy as np

from dfopt.compare.dispatches import NONE, Dispatches, Rows
from dfopt.native.library import Rows as Records
from dfopt.native.library import rows_of
from dfopt.native.trace import (
    CPU,
    CUT,
    ELEMENT,
    EVICTS,
    FAR,
    FIXED,
    NOTHING,
    PLAIN,
    Section,
    SectionLimits,
)
from dfopt.trace.events import Integers
from dfopt.trace.trace import UNMANAGED


class Sections:
    """A schedule whose sections can be taken out one after the other, from early to late.

    Parameters
    ----------
    dispatches
        The dispatches.
    cpu, start
        A schedule of them; changed.
    wait
        For how long each of them may wait; None: no such limit.
    gives_way
        Whether dispatches start as late as they may in the given order, which leaves the most room
        to sections before them. Costs stay what they are, but waits do not.
    """

    def __init__(
        self,
        dispatches: Dispatches,
        cpu: Integers,
        start: Integers,
        wait: int | None,
        *,
        gives_way: bool = False,
    ) -> None:
        self.dispatches, self.cpu, self.start = dispatches, cpu, start
        self._latest = dispatches.latest_starts(wait)
        count, cpus = len(dispatches), dispatches.cpus
        self._next, self._woken, self._first_woken = dispatches.followers()
        self._local = np.full(count, NOTHING, np.int64)
        matrix = dispatches.matrix
        entry = matrix.mean(axis=0)[dispatches.fragment] if matrix.size else dispatches.entry
        fragments = int(dispatches.fragment.max()) + 1
        uses = np.maximum(np.bincount(dispatches.fragment, minlength=fragments), 1)
        self._weights = np.bincount(dispatches.fragment, entry, fragments) / uses
        codes = np.random.default_rng(0).integers(2**60, size=fragments)
        self._codes = codes[dispatches.fragment]
        self._arrange_blocks()
        index = np.arange(count)
        self._order = np.lexsort((index, dispatches.length > 0, start))
        if gives_way:
            self._start_late()
            self._order = np.lexsort((index, dispatches.length > 0, start))
        by_cpu = np.argsort(cpu[self._order], kind="stable")
        ends = np.searchsorted(cpu[self._order[by_cpu]], np.arange(1, cpus))
        self._positions = np.split(by_cpu, ends)
        self._heads = np.full(cpus, NONE)
        self._inside = index[:0]
        self._begin, self._origin = 0, 0

    def _arrange_blocks(self) -> None:
        """Order the blocks and cuts of each CPU by their starts."""
        blocks, dispatches, cuts = self.dispatches.fixed, self.dispatches, self.dispatches.cuts
        evicts = blocks.fragment == UNMANAGED
        cpu = np.concatenate([blocks.cpu, cuts.cpu])
        start = np.concatenate([blocks.start, cuts.time])
        end = np.concatenate([blocks.end, cuts.time])
        role = np.concatenate([np.where(evicts, EVICTS, PLAIN), np.full(len(cuts.cpu), CUT)])
        block = np.concatenate([np.arange(len(blocks)), np.full(len(cuts.cpu), NONE)])
        order = np.lexsort((end, role != CUT, start, cpu))
        self._fixed_first = np.searchsorted(cpu[order], np.arange(dispatches.cpus + 1))
        self._fixed = rows_of(FIXED, start=start, end=end, role=role, element=block)[order]

    def _start_late(self) -> None:
        """Move every dispatch to as late as it may start while its CPU keeps its order."""
        length, offset = self.dispatches.length.tolist(), self.dispatches.waker_offset.tolist()
        cpus, starts, latest = self.cpu.tolist(), self.start.tolist(), self._latest.tolist()
        follower, woken = self._next.tolist(), self._woken.tolist()
        first_woken = self._first_woken.tolist()
        bounds = [FAR] * self.dispatches.cpus
        fixed = [
            self._fixed[first:end][["start", "end", "role"]].tolist()
            for first, end in itertools.pairwise(self._fixed_first.tolist())
        ]
        for j in reversed(self._order.tolist()):
            cpu, start, lasts = cpus[j], starts[j], length[j]
            # Those of no length could change their order with others that start at the same time.
            if lasts > 0:
                late = min(latest[j], bounds[cpu] - lasts)
                if follower[j] != NONE:
                    late = min(late, starts[follower[j]] - lasts)
                for one in woken[first_woken[j] : first_woken[j + 1]]:
                    late = min(late, starts[one] - offset[one])
                starts[j] = _before_fixed(fixed[cpu], start, late, lasts)
            bounds[cpu] = starts[j]
        self.start[:] = starts

    def cuts(self, first: int, distance: int) -> list[int]:
        """Return where sections may end: about ``distance`` apart, where CPUs have time to spare.

        A section has to end in time for what follows it. Where that starts at once on all CPUs,
        nothing but what the section was before would fit.
        """
        count = len(self._order)
        spare = self._spare_time()
        cuts = [0]
        reach = distance // 4
        for middle in range(distance - first, count, distance):
            low = max(cuts[-1] + 1, middle - reach)
            near = spare[low : min(count, middle + reach + 1)]
            if len(near):
                cuts.append(low + int(np.argmax(near)))
        return [*cuts, count]

    def _spare_time(self) -> Integers:
        """Return for how long CPUs rest between all dispatches before each one and all others."""
        ends = self.start + self.dispatches.length
        spare = np.zeros(len(self._order), np.int64)
        for cpu, positions in enumerate(self._positions):
            if not len(positions):
                continue
            own = self._order[positions]
            fixed = self._fixed[self._fixed_first[cpu] : self._fixed_first[cpu + 1]]
            taken = np.concatenate([[0], np.cumsum(fixed["end"] - fixed["start"])])
            rest = np.zeros(len(own) + 1, np.int64)
            before, after = ends[own[:-1]], self.start[own[1:]]
            blocked = (
                taken[np.searchsorted(fixed["start"], after)]
                - taken[np.searchsorted(fixed["start"], before)]
            )
            rest[1:-1] = np.maximum(after - before - blocked, 0)
            spare += rest[np.searchsorted(positions, np.arange(len(spare)))]
        return spare

    def take(self, begin: int, end: int, limits: SectionLimits, wait: int | None) -> Section:
        """Return the dispatches at ``begin`` … ``end`` - 1 in the order of starts, as a section.

        Parameters
        ----------
        begin, end
            What this leaves out before ``begin`` is never taken again.
        limits
            By how much the sum of waits and the number of long ones may rise.
        wait
            For how long each dispatch may wait, unless it does already; None: no such limit.
        """
        dispatches, cpus = self.dispatches, self.dispatches.cpus
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
            ready = np.maximum(dispatches.ready_from[inside], dispatches.previous_end[inside])
            latest = np.minimum(latest, np.maximum(self.start[inside], ready + wait))
        if end < len(self._order):
            latest = np.minimum(latest, self.start[self._order[end]])
        self._origin = int(dispatches.ready_by[inside].min())
        self._inside, rows = self._rows(inside, latest)
        return self._section(rows, tails, limits)

    def put_back(self, placements: Records) -> None:
        """Take over rows ``PLACEMENT`` of the section that was taken last."""
        inside, start = self._inside, placements["start"] + self._origin
        self.cpu[inside], self.start[inside] = placements["cpu"], start
        order = np.lexsort((inside, self.dispatches.length[inside] > 0, start))
        self._order[self._begin : self._begin + len(inside)] = inside[order]

    def _rows(self, inside: Rows, latest: Integers) -> tuple[Rows, Records]:
        """Return the dispatches in the order of their earliest starts, and their rows."""
        dispatches, local, start = self.dispatches, self._local, self.start
        count = len(inside)
        local[inside] = np.arange(count)
        previous, waker = dispatches.previous[inside], dispatches.waker[inside]
        follower = self._next[inside]
        length, offset = dispatches.length[inside], dispatches.waker_offset[inside]
        before = np.where(previous == NONE, NOTHING, local[previous])
        by = np.where(waker == NONE, NOTHING, local[waker])
        after = np.where(follower == NONE, NOTHING, local[follower])
        since = dispatches.ready_by[inside].copy()
        outside = (previous != NONE) & (before == NOTHING)
        ends = start[previous] + dispatches.length[previous]
        since[outside] = np.maximum(since, ends)[outside]
        low = since.copy()
        outside = (waker != NONE) & (by == NOTHING)
        low[outside] = np.maximum(low, start[waker] + offset)[outside]
        outside = (follower != NONE) & (after == NOTHING)
        latest[outside] = np.minimum(latest, start[follower] - length)[outside]
        next_since = np.where(follower == NONE, FAR, dispatches.ready_by[follower])
        next_start = np.where(outside, start[follower], NOTHING)
        first, last = self._first_woken[inside], self._first_woken[inside + 1]
        for j in np.flatnonzero(last > first).tolist():
            woken = self._woken[first[j] : last[j]]
            beyond = woken[local[woken] == NOTHING]
            if len(beyond):
                latest[j] = min(
                    int(latest[j]), int((start[beyond] - dispatches.waker_offset[beyond]).min())
                )
        local[inside] = NOTHING
        rows = rows_of(
            ELEMENT,
            fragment=dispatches.fragment[inside],
            entry=dispatches.entry[inside],
            exit=dispatches.exit[inside],
            always=dispatches.always[inside],
            first=dispatches.first[inside],
            last=dispatches.last[inside],
            length=length,
            low=low,
            since=since,
            latest=latest,
            previous=before,
            next=after,
            waker=by,
            offset=offset,
            code=self._codes[inside],
            guide_start=start[inside],
            next_since=np.where(next_since == FAR, FAR, next_since - self._origin),
            next_start=np.where(next_start == NOTHING, NOTHING, next_start - self._origin),
        )
        tighten(rows)
        for field in ("low", "since", "latest", "guide_start"):
            rows[field] -= self._origin
        rows["latest"] = np.minimum(rows["latest"], FAR)
        order = np.argsort(rows["low"], kind="stable")
        renumbered = np.empty(count + 1, np.int64)
        renumbered[order] = np.arange(count)
        renumbered[count] = NOTHING  # which is what NOTHING picks
        for field in ("previous", "next", "waker"):
            rows[field] = renumbered[rows[field]]
        return inside[order], rows[order]

    def _section(self, own: Records, tails: Rows, limits: SectionLimits) -> Section:
        """Return the section of its own rows; ``tails`` are those that follow on the CPUs."""
        dispatches, count = self.dispatches, len(own)
        matrix, cpus = dispatches.matrix, dispatches.cpus
        others, fixed, around = self._surroundings(count, tails)
        elements = np.concatenate([own, others])
        managed, fragment = elements["fragment"] >= 0, elements["fragment"]
        used, fragment[managed] = np.unique(fragment[managed], return_inverse=True)
        if matrix.size:
            matrix = matrix[np.ix_(used, used)]
        inside = elements[:count]
        index = np.arange(count)
        guide_cpu, waker = self.cpu[self._inside], inside["waker"]
        guided = np.lexsort((index, inside["length"] > 0, inside["guide_start"], guide_cpu))
        woken = np.flatnonzero(waker != NOTHING)
        woken = woken[np.argsort(waker[woken], kind="stable")]
        return Section(
            elements=elements,
            by_latest=np.lexsort((index, inside["latest"])),
            guided=guided,
            guided_first=_begins(guide_cpu[guided], cpus),
            woken=woken,
            woken_first=_begins(waker[woken], count),
            fixed=fixed,
            cpus=around,
            matrix=np.ascontiguousarray(matrix, np.int64),
            weights=self._weights[used],
            limits=limits,
        )

    def _surroundings(self, count: int, tails: Rows) -> tuple[Records, Records, Records]:
        """Return rows of the elements outside, what stands between dispatches, and the CPUs.

        A section has ``count`` dispatches; ``tails`` are those that follow it on the CPUs.
        """
        dispatches, blocks = self.dispatches, self.dispatches.fixed
        around = rows_of(
            CPU,
            free_from=np.full(dispatches.cpus, -FAR),
            element_before=NOTHING,
            element_after=NOTHING,
        )
        fixed: list[Records] = []
        others: list[tuple[int, ...]] = []
        at = 0
        for cpu in range(dispatches.cpus):
            own = self._fixed[self._fixed_first[cpu] : self._fixed_first[cpu + 1]]
            neighbours = (("element_before", self._heads[cpu]), ("element_after", tails[cpu]))
            limits = [0, len(own)]
            for side, (field, neighbour) in enumerate(neighbours):
                if neighbour == NONE:
                    continue
                around[field][cpu] = count + len(others)
                columns = (
                    dispatches.entry,
                    dispatches.exit,
                    dispatches.always,
                    dispatches.first,
                    dispatches.last,
                )
                of_costs = (int(column[neighbour]) for column in columns)
                others.append((int(dispatches.fragment[neighbour]), *of_costs))
                start = int(self.start[neighbour])
                limits[side] = int(np.searchsorted(own["start"], start, side="right"))
                if field == "element_before":
                    end = start + int(dispatches.length[neighbour])
                    around["free_from"][cpu] = end - self._origin
            part = own[limits[0] : limits[1]].copy()
            part["start"] -= self._origin
            part["end"] -= self._origin
            for row in np.flatnonzero(part["role"] == EVICTS).tolist():
                block = int(part["element"][row])
                part["element"][row] = count + len(others)
                entry, leaving = int(blocks.entry[block]), int(blocks.exit[block])
                edges = int(blocks.first[block]), int(blocks.last[block])
                others.append((-1 - block, entry, leaving, 0, *edges))
            around["fixed_first"][cpu], around["passed_at_end"][cpu] = at, at + len(part)
            fixed.append(part)
            if tails[cpu] != NONE:
                start = int(self.start[tails[cpu]]) - self._origin
                fixed.append(np.array([(start, FAR, PLAIN, NOTHING)], FIXED))
            at += len(part) + int(tails[cpu] != NONE)
            around["fixed_end"][cpu] = at
        table = np.array(others, np.int64).reshape(-1, 6)
        named = dict(zip(ELEMENT.names or (), table.T, strict=False))
        return rows_of(ELEMENT, **named), np.concatenate(fixed), around


def _before_fixed(fixed: list[tuple[int, int, int]], start: int, late: int, length: int) -> int:
    """Return the latest start up to ``late`` on a CPU, without passing what counts for its cost.

    Of ``fixed``, what lies behind everything that is still to come is dropped.
    """
    while fixed and fixed[-1][0] >= late + length:
        fixed.pop()
    for begin, end, role in reversed(fixed):
        if begin <= start:
            break
        if role == CUT:
            late = min(late, begin - 1)
        elif role == EVICTS or (begin < late + length and late < end):
            late = min(late, begin - length)
    return late


def _begins(numbers: Integers, count: int) -> Integers:
    """Return where each of the numbers 0 … ``count`` begins in sorted ones."""
    return np.searchsorted(numbers, np.arange(count + 1)).astype(np.int64)


def tighten(rows: Records) -> None:
    """Let earliest and latest starts leave time for what comes before and after."""
    lows, ends = rows["low"].tolist(), rows["latest"].tolist()
    lengths, offsets = rows["length"].tolist(), rows["offset"].tolist()
    causes = zip(rows["previous"].tolist(), rows["waker"].tolist(), strict=True)
    linked = [
        (j, before, by)
        for j, (before, by) in enumerate(causes)
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
    rows["low"], rows["latest"] = lows, ends
