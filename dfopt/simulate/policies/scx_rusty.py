"""scx_rusty, a scheduler of sched_ext: a queue for each last-level cache, and a load balancer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dfopt.simulate.contract import NOBODY, Policy, State, Thread, Why
from dfopt.simulate.policies.fair_queues import FairEntity
from dfopt.simulate.policies.scx_simple import DispatchQueue
from dfopt.structs import Natural, Positive

IMBALANCE = 0.05
"""Domains are balanced whose load is off the average by more than this part of it."""

SHARE_MOVED = 0.5
"""About this part of what a domain has too much is moved at most, and aimed at each time."""


@dataclass(slots=True, eq=False)
class DomainEntity(FairEntity):
    """The data about a thread that belongs to a domain.

    Attributes
    ----------
    domain
        The domain in whose queue it waits.
    target
        The domain that it belongs to from when it is next ready.
    since
        Since when it has been ready or running; meaningless while it is blocked.
    runnable
        The time for which it was ready or running since the last balancing, without that since
        ``since``.
    """

    domain: int = 0
    target: int = 0
    since: int = 0
    runnable: int = 0


@dataclass(eq=False)
class ScxRusty(Policy):
    """The CPUs of a last-level cache share a queue; idle CPUs steal, and a balancer moves threads.

    The rules are those of ``scx_rusty`` (``scheds/rust/scx_rusty`` of github.com/sched-ext/scx):

    - Every thread belongs to a cache domain of the machine; new ones are dealt out in turn. Without
      domains all CPUs are one.
    - A domain has one queue, in the order of virtual run times: time executed, divided by weight.
      Its clock is the largest one that began to run. A thread which becomes ready counts as at most
      one slice behind that.
    - A thread that wakes up goes to its last CPU if that is idle, else to an idle CPU of its
      domain, else to any idle one; else it queues up in its domain. Nothing is preempted.
    - A CPU whose domain has no thread for it steals the first one of another domain, whose turn it
      is. The thread still belongs to its domain.
    - The slice is short while no CPU is idle, and long otherwise.
    - Every ``balance_interval``, domains of more than the average load give threads to those of
      less, when they are next ready: see :func:`balancing_moves`. A thread's load is
      its weight times the part of the interval in which it was ready or running.

    Left out: the boost of interactive threads, which ``scx-lavd`` shows; measured utilisations,
    which decide on slices and stealing there, running averages of loads, and NUMA nodes.

    Parameters
    ----------
    slice_underutil, slice_overutil
        The slice while a CPU is idle, and while none is.
    balance_interval
        Time between two balancings; 0: there are none.
    greedy_threshold
        A CPU steals from domains with at least this number of waiting threads; 0: from none, and
        threads wait for a CPU of their domain.
    """

    name = "scx-rusty"
    obeys_cpus_allowed = True

    slice_underutil: Positive = 20_000_000
    slice_overutil: Positive = 1_000_000
    balance_interval: Natural = 2_000_000_000
    greedy_threshold: Natural = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tick_interval = self.balance_interval

    def begin(self) -> None:
        """Make a queue for each domain."""
        cpus, domains = self.engine.cpus, self.engine.machine.known_domains
        self._members = domains.members
        self._domain_of = domains.domain_of
        self._queues = [DispatchQueue() for _ in self._members]
        self._clocks = [0] * len(self._members)
        # Threads that are bound for a certain CPU, which was idle.
        self._local: list[deque[Thread]] = [deque() for _ in range(cpus)]
        self._turn = 0
        self._victim = [0] * cpus

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Go to an idle CPU, or queue up in the domain."""
        now = self.engine.now
        if why is Why.NEW:
            domain = self._next_domain(thread)
            vruntime = self._clocks[domain]
            thread.own = DomainEntity(
                thread.weight, vruntime, domain=domain, target=domain, since=now
            )
        entity: DomainEntity = thread.own
        entity.charge(thread.run_time)
        if why is Why.WOKEN:
            entity.since = now
        if entity.target != entity.domain:
            entity.domain = entity.target
            entity.vruntime = self._clocks[entity.domain]
        is_woken = why in (Why.NEW, Why.WOKEN)
        idle = self._idle_cpu(thread, thread.cpu if is_woken else None)
        if idle is not None and is_woken:
            self._local[idle].append(thread)
            return idle
        least = self._clocks[entity.domain] - entity.virtual(self._time_slice())
        entity.vruntime = max(entity.vruntime, least)
        self._queues[entity.domain].add(thread, entity.vruntime)
        return NOBODY if idle is None else idle

    def _next_domain(self, thread: Thread) -> int:
        """Return the domain whose turn it is, of those where a thread may run."""
        domains = len(self._members)
        while True:
            domain = self._turn % domains
            self._turn += 1
            if any(map(thread.may_run_on, self._members[domain])):
                return domain

    def _idle_cpu(self, thread: Thread, cpu: int | None) -> int | None:
        """Return a CPU that is idle: a certain one, else one of the domain, else any."""
        first = () if cpu is None else (cpu,)
        foreign = range(self.engine.cpus) if self.greedy_threshold else ()
        targets: tuple[int, ...] = (*first, *self._members[thread.own.domain], *foreign)
        for target in targets:
            is_idle = self.engine.is_idle(target) and not self._local[target]
            if is_idle and thread.may_run_on(target):
                return target
        return None

    def pick(self, cpu: int) -> Thread | None:
        """Take the first thread of the domain, or steal one."""
        if self._local[cpu]:
            thread: Thread | None = self._local[cpu].popleft()
        else:
            thread = self._queues[self._domain_of[cpu]].take(cpu) or self._stolen(cpu)
        if thread is not None:
            entity: DomainEntity = thread.own
            self._clocks[entity.domain] = max(self._clocks[entity.domain], entity.vruntime)
        return thread

    def _stolen(self, cpu: int) -> Thread | None:
        """Take the first thread of another domain."""
        domains = len(self._queues)
        for _ in range(domains if self.greedy_threshold else 0):
            victim = self._victim[cpu] % domains
            self._victim[cpu] += 1
            if victim != self._domain_of[cpu]:
                queue = self._queues[victim]
                thread = queue.take(cpu) if len(queue) >= self.greedy_threshold else None
                if thread is not None:
                    return thread
        return None

    def _time_slice(self) -> int:
        is_underutil = None in self.engine.running
        return self.slice_underutil if is_underutil else self.slice_overutil

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return a slice that is short while no CPU is idle."""
        return self._time_slice()

    def blocked(self, thread: Thread, cpu: int) -> None:
        """Note how long it was ready or running."""
        thread.own.runnable += self.engine.now - thread.own.since

    # The load balancer.

    def tick(self) -> None:
        """Move threads from domains of more load than average to those of less."""
        now = self.engine.now
        members: list[list[tuple[float, Thread]]] = [[] for _ in self._members]
        for thread in self.engine.threads:
            if thread.state is State.ENDED:
                continue
            entity: DomainEntity = thread.own
            if thread.state is not State.BLOCKED:
                entity.runnable += now - entity.since
                entity.since = now
            load = entity.weight * entity.runnable / self.tick_interval
            entity.runnable = 0
            if load:
                members[entity.target].append((load, thread))
        for thread, target in balancing_moves(
            members, lambda thread, domain: any(map(thread.may_run_on, self._members[domain]))
        ):
            thread.own.target = target


def balancing_moves(
    members: Sequence[Sequence[tuple[float, Thread]]], may_move: Callable[[Thread, int], bool]
) -> Iterator[tuple[Thread, int]]:
    """Yield threads that go to another domain, with that domain.

    From the domain of most load to that of least, the thread goes whose load is the nearest to half
    the smaller of their distances from the average, as long as that brings both nearer to it. A
    domain stops when it has given half of what it had too much.

    Parameters
    ----------
    members
        By domain: loads and threads.
    may_move
        Whether a thread may run in a domain.
    """
    left = [list(threads) for threads in members]
    loads = [sum(load for load, _ in threads) for threads in members]
    average = sum(loads) / len(loads)
    to_give = [SHARE_MOVED * (load - average) for load in loads]
    while True:
        source, target = loads.index(max(loads)), loads.index(min(loads))
        excess, lack = loads[source] - average, average - loads[target]
        if min(excess, lack) <= IMBALANCE * average or to_give[source] <= 0:
            return
        aim = SHARE_MOVED * min(excess, lack)
        movable = [
            (abs(load - aim), thread.number, load, thread)
            for load, thread in left[source]
            if may_move(thread, target)
        ]
        if not movable:
            return
        _, _, load, thread = min(movable)
        if abs(excess - load) + abs(lack - load) >= excess + lack:
            return
        yield thread, target
        left[source].remove((load, thread))
        loads[source] -= load
        loads[target] += load
        to_give[source] -= load
