"""Watches what CPUs and locks do in a simulation, and checks that all of the time adds up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from unittest.mock import patch

from dfopt.simulate.contract import SpinLock
from dfopt.simulate.cpu import Cpu
from dfopt.simulate.simulation import Simulation

Stretch = tuple[int, int]


@dataclass
class Watched:
    """The work in the scheduler by CPU, and by lock when CPUs came, got it and gave it back."""

    work: dict[int, list[Stretch]] = field(default_factory=lambda: defaultdict(list))
    came: dict[SpinLock, list[tuple[Cpu, int]]] = field(default_factory=lambda: defaultdict(list))
    held: dict[SpinLock, list[tuple[Cpu, Stretch]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def check(self, done: Simulation) -> None:
        """Check a simulation that has been watched."""
        self._check_cpus(done)
        self._check_locks(done)

    def _check_cpus(self, done: Simulation) -> None:
        counters, trace = done.counters, done.trace
        end = counters.end
        inside = outside = 0
        for cpu in range(trace.cpus):
            own = trace.cpu == cpu
            rows = list(zip(trace.start[own].tolist(), trace.end[own].tolist(), strict=True))
            work = [stretch for stretch in self.work[cpu] if stretch[0] < stretch[1]]
            for stretches in (rows, work):
                assert all(before[1] <= after[0] for before, after in pairwise(stretches))
                assert not stretches or (stretches[0][0] >= 0 and stretches[-1][1] <= end)
            busy, worked = sum(map(_length, rows)), sum(map(_length, work))
            within = _common(rows, work)
            inside += within
            outside += worked - within
            assert counters.penalties[cpu] + within <= busy
            assert busy + worked - within <= end
        assert counters.spun + counters.interrupted == inside
        # The rest is for switches, and for dispatches that are cut before they begin.
        switches = counters.overhead - outside
        switch_time = done.engine.machine.switch_time
        if done.engine.alive:
            assert switches >= counters.context_switches * switch_time
        elif switch_time:
            assert switches % switch_time == 0
            assert counters.context_switches <= switches // switch_time <= counters.dispatches
        else:
            assert switches == 0

    def _check_locks(self, done: Simulation) -> None:
        for lock, held in self.held.items():
            # First come, first served; and nobody waits while it is free.
            free_at = 0
            for (who, came), (holder, (begins, ends)) in zip(self.came[lock], held, strict=False):
                assert who is holder
                assert begins == max(came, free_at)
                free_at = ends
            waits = len(self.came[lock]) - len(held)
            assert waits == len(lock.waiting)
            assert not waits or free_at >= done.counters.end
        locks = self.held.keys()
        assert sum(lock.spun for lock in locks) <= sum(
            _length(stretch) for work in self.work.values() for stretch in work
        )


def _length(stretch: Stretch) -> int:
    return stretch[1] - stretch[0]


def _common(rows: list[Stretch], work: list[Stretch]) -> int:
    """Return the time that lies in both of two lists in the order of time."""
    total = row = 0
    for begins, ends in work:
        while row < len(rows) and rows[row][1] <= begins:
            row += 1
        at = row
        while at < len(rows) and rows[at][0] < ends:
            total += min(ends, rows[at][1]) - max(begins, rows[at][0])
            at += 1
    return total


@contextmanager
def watched() -> Iterator[Watched]:
    """Watch the simulations in a block; there must be only one."""
    seen = Watched()
    account, is_free = Cpu._account, SpinLock.is_free
    go_on, take = Cpu.go_on, Cpu._take
    at_work: list[Cpu] = []

    def noted_account(cpu: Cpu, now: int) -> None:
        seen.work[cpu.number].append((cpu._began, now))
        account(cpu, now)

    def noted_go_on(cpu: Cpu) -> None:
        at_work.append(cpu)
        go_on(cpu)
        at_work.pop()

    def noted_is_free(lock: SpinLock, now: int) -> bool:
        seen.came[lock].append((at_work[-1], now))
        return is_free(lock, now)

    def noted_take(cpu: Cpu, lock: SpinLock, hold: int, now: int) -> None:
        take(cpu, lock, hold, now)
        seen.held[lock].append((cpu, (now, lock.free_at)))

    with (
        patch.object(Cpu, "_account", noted_account),
        patch.object(SpinLock, "is_free", noted_is_free),
        patch.object(Cpu, "go_on", noted_go_on),
        patch.object(Cpu, "_take", noted_take),
    ):
        yield seen
