"""The cheapest schedule of a few dispatches within a waiting limit, found by trying them all.

What is tried are *sequences*: which dispatches a CPU runs, in which order, and between which of its
blocks. In each of them every dispatch starts as early as it can. That loses nothing. A cost
depends on the sequences alone. For given sequences, the starts that keep all rules on what comes
first are closed under the earlier of two starts, dispatch by dispatch, so an earliest choice
exists. It meets the latest starts if any choice does. A dispatch that starts earlier by 1 waits 1
less, and its task's next one waits at most 1 more, so the sum of all waits is least there, too.

A limit on the number of long waits is different: a dispatch can avoid a long wait because the one
before it starts later. So the dispatches that may wait long are tried as well; the others give one
more rule of the same kind: if dispatch j starts at a time, the one before it cannot end earlier
than that time minus the longest wait, unless j became ready late enough itself.

Sequences are built in the order of starts, so no set of sequences is built in two ways (except for
equal starts). Two dispatches that start at once on one CPU, because one of them takes no time, are
tried in both orders; then a schedule can cost more than its sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from dfopt.compare.attainable.check import WaitingLimit
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.trace.trace import UNMANAGED

INFINITE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class FixedBlock:
    number: int
    start: int
    end: int
    matters: bool
    """Whether a dispatch may cost less after it: it evicts, or a cut lies in it."""


@dataclass(slots=True)
class Cpu:
    blocks: list[FixedBlock]
    cuts: list[int]
    free: int = -INFINITE
    passed: int = 0
    """Number of blocks that lie before the next dispatch."""
    last: int = NONE
    """The last dispatch, or ``dispatches`` plus the number of the evicting block after it."""
    epoch: int = 0
    """Number of cuts before the last element."""
    sequence: list[int] = field(default_factory=list)


def cheapest_schedule(arrivals: Dispatches, limit: WaitingLimit) -> tuple[int, Dispatches] | None:
    """Return the least cost within a limit and a schedule that has it; None if there is none."""
    enumeration = Enumeration(arrivals, limit)
    enumeration.extend(0, 0, -INFINITE, 0)
    if enumeration.schedule is None:
        return None
    return enumeration.least, enumeration.schedule


class Enumeration:
    """A search through all sequences, in the order of starts."""

    def __init__(self, arrivals: Dispatches, limit: WaitingLimit) -> None:
        self.limit = limit
        self.dispatches = len(arrivals.row)
        self.fragment = arrivals.fragment.tolist()
        self.length = arrivals.length.tolist()
        self.ready = arrivals.ready_by.tolist()
        self.previous = arrivals.previous.tolist()
        self.waker = arrivals.waker.tolist()
        self.offset = arrivals.waker_offset.tolist()
        latest = arrivals.latest_starts(limit.each)
        self.latest = latest.tolist()
        self.recorded, blocks = arrivals, arrivals.fixed
        self.entry = arrivals.entry.tolist() + blocks.entry.tolist()
        self.exit = arrivals.exit.tolist() + blocks.exit.tolist()
        self.always = arrivals.always.tolist() + [0] * len(blocks.start)
        self.first = arrivals.first.tolist() + blocks.first.tolist()
        self.last = arrivals.last.tolist() + blocks.last.tolist()
        # A block has a fragment of its own.
        self.fragment += [-1 - number for number in range(len(blocks.start))]
        self.matrix = arrivals.matrix.tolist()
        self.evicts = (blocks.fragment == UNMANAGED).tolist()
        self.cpus = []
        for number in range(arrivals.cpus):
            cuts = sorted(arrivals.cuts.time[arrivals.cuts.cpu == number].tolist())
            own = np.flatnonzero(blocks.cpu == number).tolist()
            fixed = []
            for block in sorted(own, key=lambda block: blocks.start[block]):
                start, end = int(blocks.start[block]), int(blocks.end[block])
                matters = self.evicts[block] or any(start <= cut <= end for cut in cuts)
                fixed.append(FixedBlock(block, start, end, matters))
            self.cpus.append(Cpu(fixed, cuts))
        self.start = [0] * self.dispatches
        self.cpu = [0] * self.dispatches
        self.least = INFINITE
        self.schedule: Dispatches | None = None

    def extend(self, done: int, cost: int, now: int, waited: int) -> None:  # noqa: PLR0912
        """Try all ways to go on with dispatches that start at ``now`` or later.

        ``done`` has a bit for each dispatch that has started; so far all of it has cost ``cost``.
        """
        if cost >= self.least:
            return
        if done == (1 << self.dispatches) - 1:
            self._complete(cost)
            return
        candidates = []
        for j in range(self.dispatches):
            if done >> j & 1:
                continue
            if now > self.latest[j]:
                return
            before, waker = self.previous[j], self.waker[j]
            if (before == NONE or done >> before & 1) and (waker == NONE or done >> waker & 1):
                ready = self.ready[j]
                if before != NONE:
                    ready = max(ready, self.start[before] + self.length[before])
                start = ready
                if waker != NONE:
                    start = max(start, self.start[waker] + self.offset[j])
                candidates.append((j, ready, start))
        for j, ready, earliest in candidates:
            tried_unused = False
            for number, cpu in enumerate(self.cpus):
                if not (cpu.blocks or cpu.cuts or cpu.sequence):
                    # CPUs without anything are all the same.
                    if tried_unused:
                        continue
                    tried_unused = True
                for start, passed in self._places(cpu, j, max(earliest, cpu.free)):
                    wait = waited + start - ready
                    if start < now or (self.limit.total is not None and wait > self.limit.total):
                        continue
                    self._start(done, cost, wait, j, number, start, passed)

    def _places(self, cpu: Cpu, j: int, start: int) -> list[tuple[int, int]]:
        """Return when dispatch j can start on a CPU, each with the number of blocks before it."""
        places = []
        length, matters = self.length[j], True
        for passed in range(cpu.passed, len(cpu.blocks) + 1):
            if start > self.latest[j]:
                break
            block = cpu.blocks[passed] if passed < len(cpu.blocks) else None
            if matters and (block is None or start + length <= block.start):
                places.append((start, passed))
                matters = False
            if block is not None:
                start = max(start, block.end)
                matters |= block.matters
        return places

    def _start(  # noqa: PLR0913, PLR0917
        self, done: int, cost: int, waited: int, j: int, number: int, start: int, passed: int
    ) -> None:
        """Try all ways to go on after dispatch j has started."""
        cpu = self.cpus[number]
        kept = cpu.free, cpu.passed, cpu.last, cpu.epoch
        for block in cpu.blocks[cpu.passed : passed]:
            if self.evicts[block.number]:
                cost += self._step(cpu, self.dispatches + block.number, block.start)
        cost += self._step(cpu, j, start)
        cpu.free, cpu.passed = start + self.length[j], passed
        cpu.sequence.append(j)
        self.start[j], self.cpu[j] = start, number
        self.extend(done | 1 << j, cost, start, waited)
        cpu.sequence.pop()
        cpu.free, cpu.passed, cpu.last, cpu.epoch = kept

    def _step(self, cpu: Cpu, element: int, start: int) -> int:
        """Let a dispatch or block follow on a CPU; return the cost."""
        before, epoch = cpu.last, sum(cut <= start for cut in cpu.cuts)
        same_epoch = epoch == cpu.epoch
        cpu.last, cpu.epoch = element, epoch
        if before == NONE:
            return self.first[element] if same_epoch else 0
        if not same_epoch:
            return 0
        if self.matrix:
            return self.matrix[self.fragment[before]][self.fragment[element]]
        if self.fragment[before] == self.fragment[element]:
            return self.always[before]
        return self.always[before] + self.exit[before] + self.entry[element]

    def _complete(self, cost: int) -> None:
        """Keep a complete schedule if it is the cheapest one."""
        for cpu in self.cpus:
            kept = cpu.last, cpu.epoch
            for block in cpu.blocks[cpu.passed :]:
                if self.evicts[block.number]:
                    cost += self._step(cpu, self.dispatches + block.number, block.start)
            if cpu.last != NONE and cpu.epoch == len(cpu.cuts):
                cost += self.last[cpu.last]
            cpu.last, cpu.epoch = kept
        if cost >= self.least:
            return
        starts = self.start.copy()
        if self.limit.long is not None:
            starts = self._without_long_waits()
        if starts:
            self.least = cost
            self.schedule = self.recorded.moved(np.array(self.cpu), np.array(starts, np.int64))

    def _without_long_waits(self) -> list[int]:
        """Return starts of the same sequences with few long waits; none if there are none."""
        assert self.limit.long is not None
        assert self.limit.most_long is not None
        most = min(self.limit.most_long, self.dispatches)
        for long in combinations(range(self.dispatches), most):
            starts = self._earliest(set(range(self.dispatches)) - set(long), self.limit.long)
            if starts:
                return starts
        return []

    def _earliest(self, short: set[int], long: int) -> list[int]:  # noqa: PLR0912
        """Return the earliest starts in which ``short`` wait at most ``long``; none if too late."""
        # The blocks around a dispatch stay what they are in the sequences.
        after = [-INFINITE] * self.dispatches
        until = [INFINITE] * self.dispatches
        pairs = []
        for cpu in self.cpus:
            for j in cpu.sequence:
                for block in cpu.blocks:
                    if self.start[j] >= block.end:
                        after[j] = block.end
                    else:
                        until[j] = min(until[j], block.start - self.length[j])
            pairs += list(pairwise(cpu.sequence))
        starts = [max(ready, end) for ready, end in zip(self.ready, after, strict=True)]
        # No chain of the rules leads beyond this, unless starts delay each other for ever.
        horizon = max(starts) + 2 * sum(self.length)
        while True:
            known = starts.copy()
            for before, then in pairs:
                starts[then] = max(starts[then], starts[before] + self.length[before])
            for j in range(self.dispatches):
                before, waker = self.previous[j], self.waker[j]
                if waker != NONE:
                    starts[j] = max(starts[j], starts[waker] + self.offset[j])
                if before != NONE:
                    starts[j] = max(starts[j], starts[before] + self.length[before])
                if j in short and starts[j] > self.ready[j] + long:
                    if before == NONE:
                        return []
                    ends = starts[j] - long
                    starts[before] = max(starts[before], ends - self.length[before])
            if any(
                start > min(latest, end, horizon)
                for start, latest, end in zip(starts, self.latest, until, strict=True)
            ):
                return []
            if starts == known:
                break
        waits = 0
        for j, before in enumerate(self.previous):
            ready = self.ready[j]
            if before != NONE:
                ready = max(ready, starts[before] + self.length[before])
            waits += starts[j] - ready
        if self.limit.total is not None and waits > self.limit.total:
            return []
        return starts
