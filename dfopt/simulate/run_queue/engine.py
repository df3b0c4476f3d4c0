"""The engine: a heap of events, and the CPUs they happen on.

Events are the ends of bursts and time slices, timers and devices, arrivals, and what policies
asked to be called for. What a thread does between two bursts takes no time by itself; the waiting
for locks around run queues, in callbacks of the policy, is charged to the CPU it happens on.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from dfopt.checks import LARGEST_TOTAL
from dfopt.simulate.run_queue.counters import Counters
from dfopt.simulate.run_queue.cpu import Cpu
from dfopt.simulate.run_queue.faults import (
    STALLED,
    endless,
    stalled,
    stuck,
    wrong_call,
    wrong_cpu,
    wrong_time,
)
from dfopt.simulate.run_queue.machine import LockDistribution
from dfopt.simulate.run_queue.policy import NOBODY, Why
from dfopt.simulate.run_queue.recorder import Recorder
from dfopt.simulate.run_queue.steps import NewThread
from dfopt.simulate.run_queue.thread import DISK, State, Thread

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.costs import Costs
    from dfopt.simulate.run_queue.machine import Machine
    from dfopt.simulate.run_queue.policy import Policy
    from dfopt.simulate.run_queue.spin_lock import SpinLock
    from dfopt.simulate.run_queue.workload import Workload

# Members of an enumeration take long to look up.
READY, NEW, WOKEN = State.READY, Why.NEW, Why.WOKEN

Happening = tuple[int, int, Any]
"""When, a number that makes it unique, and what: a CPU whose burst or time slice ends, a thread
that wakes up or arrives, or something to call."""


class Engine:
    """Runs the threads of a workload under a policy.

    Parameters
    ----------
    machine
        CPUs and overheads.
    workload
        Fresh: its programs are used up.
    costs
        What switches cost, with empty caches.
    policy
        Fresh: it may remember what it saw.
    seed
        Of the policy's random choices.

    Attributes
    ----------
    now
        The time, from 0.
    running
        By CPU: the thread that runs there, or None.
    threads
        All that have appeared, in that order.
    costs
        ``held`` and ``left`` say what the caches hold.
    random
        For the policy's choices.
    counters
        What has been counted.
    events
        How many have happened.
    delay
        What the CPU that is at work has spent since ``now`` on the policy and its locks.
    agenda, numbers
        A heap of what will happen, and what makes each of it unique: for CPUs.
    waiting
        By band: how many threads are ready.
    resting
        The CPUs on which nothing runs, the one that is so for longest first.
    preempted
        CPUs that are to choose anew even if something runs there.
    alive
        How many threads have not ended; those that have yet to arrive are among them.
    """

    def __init__(
        self, machine: Machine, workload: Workload, costs: Costs, policy: Policy, *, seed: int = 0
    ) -> None:
        self.machine = machine
        self.cpus = machine.cpus
        self.workload = workload
        self.costs = costs
        self.policy = policy
        self.random = random.Random(seed)
        # Of their own, so that they leave the policy's choices as they are.
        is_exponential = machine.lock_distribution is LockDistribution.EXPONENTIAL
        self._holds = random.Random(f"locks {seed}") if is_exponential else None
        self.now = 0
        self.events = 0
        self.delay = 0
        self.threads: list[Thread] = []
        self.running: list[Thread | None] = [None] * machine.cpus
        self.counters = Counters(penalties=[0] * machine.cpus, busy=[0] * machine.cpus)
        self.recorder = Recorder()
        self.agenda: list[Happening] = []
        self.numbers = count()
        self.waiting = [0, 0, 0]
        self.resting = dict.fromkeys(range(machine.cpus))
        self.preempted: set[int] = set()
        self.alive = len(workload.threads)
        # CPUs that have to choose anew, once what happens now is over.
        self._asked: list[int] = []
        self._cpu_numbers = range(machine.cpus)
        self._cpus = [Cpu(number, self) for number in self._cpu_numbers]
        policy.engine = self

    # What policies may ask.

    def preempt(self, cpu: int) -> None:
        """Let a CPU choose anew, once what happens now is over; an idle one is asked to pick.

        Raises
        ------
        DfoptError
            When there is no such CPU.
        """
        if cpu not in self._cpu_numbers:
            raise wrong_cpu(self.policy, self.cpus, cpu)
        self.preempted.add(cpu)
        self._asked.append(cpu)

    def offer(self, cpu: int) -> None:
        """Ask a CPU, should it be idle, to pick, once what happens now is over.

        Raises
        ------
        DfoptError
            When there is no such CPU.
        """
        if cpu not in self._cpu_numbers:
            raise wrong_cpu(self.policy, self.cpus, cpu)
        self._asked.append(cpu)

    def acquire(self, lock: SpinLock) -> None:
        """Take the lock of a run queue for one operation, and let the CPU at work wait for it."""
        hold = self.machine.lock_time
        if hold:
            if self._holds is not None:
                hold = max(1, round(self._holds.expovariate(1 / hold)))
            came = self.now + self.delay
            self.delay += lock.acquire(came, hold) - came

    def spend(self, time: int) -> None:
        """Let the CPU at work spend time on the policy, such as on looking at queues.

        Raises
        ------
        DfoptError
            When that is negative, or no integer.
        """
        if time.__class__ is not int or time < 0:
            raise wrong_time(self.policy, self.now, time)
        self.delay += time

    def call_at(self, time: int, happening: Callable[[], None]) -> None:
        """Call somebody at a time.

        Raises
        ------
        DfoptError
            When that time is over, or no integer.
        """
        if time.__class__ is not int or time < self.now:
            raise wrong_call(self.policy, self.now, time)
        heappush(self.agenda, (time, next(self.numbers), happening))

    def is_idle(self, cpu: int) -> bool:
        """Return whether nothing runs on a CPU."""
        return self.running[cpu] is None

    def idle(self) -> list[int]:
        """Return the CPUs on which nothing runs, the one that is so for longest first."""
        return list(self.resting)

    # What threads do.

    def spawn(self, new: NewThread, parent: Thread | None) -> None:
        """Make a thread."""
        thread = Thread(len(self.threads), new, parent, self.now)
        self.threads.append(thread)
        self.alive += parent is not None
        self.wake(thread, None if parent is None else parent.cpu, NEW)

    def wake_at(self, time: int, thread: Thread) -> None:
        """Let a blocked thread go on at a time."""
        heappush(self.agenda, (time, next(self.numbers), thread))

    def wake(self, thread: Thread, cpu: int | None, why: Why = WOKEN) -> None:
        """Let a blocked thread go on; ``cpu`` is where that happens, None for an interrupt."""
        thread.woken_at = self.now
        thread.look_ahead()
        if thread.wakes_by_disk:
            thread.wakes_by_disk = False
            thread.band = DISK
        self.enter(thread, why, cpu)

    def enter(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Hand a thread to the policy."""
        thread.state = READY
        thread.ready_at = self.now
        self.waiting[thread.band] += 1
        target = self.policy.ready(thread, why, cpu)
        if target is None:
            self._asked.extend(self.resting)
        elif target in self.resting:
            self._asked.append(target)
        elif target not in self._cpu_numbers and target != NOBODY:
            raise wrong_cpu(self.policy, self.cpus, target)

    # What happens.

    def run(self, until: int | None = None) -> None:
        """Run until all threads have ended.

        Parameters
        ----------
        until
            Stop at this time, if they have not.

        Raises
        ------
        DfoptError
            When nothing can happen any more, the policy does what it must not, or times come to
            more than 2^62.
        """
        heap = self.agenda
        self._start()
        calls, since, is_cut = 0, 0, False
        while heap:
            if until is not None and heap[0][0] > until:
                self.now = until
                is_cut = True
                break
            now, number, what = heappop(heap)
            if what.__class__ is Cpu:
                if what.due != number:
                    continue
                self.now = now
                self.delay = 0
                what.burst_ends()
                calls = 0
            else:
                self.now = now
                self.delay = 0
                if what.__class__ is Thread:
                    self.wake(what, None)
                    calls = 0
                elif what.__class__ is NewThread:
                    self.spawn(what, None)
                else:
                    what()
                    calls += 1
                    if calls == STALLED:
                        if not self._is_awaited(since):
                            break
                        calls, since = 0, now
            self.events += 1
            if self._asked:
                self._settle()
            if not self.alive:
                break
        self._end(is_cut=is_cut)

    def _start(self) -> None:
        for new in self.workload.threads:
            heappush(self.agenda, (new.arrival, next(self.numbers), new))
        self.policy.begin()
        if self.policy.tick_interval:
            self.call_at(self.policy.tick_interval, self._tick)

    def _tick(self) -> None:
        if self.alive:
            self.policy.tick()
            self.call_at(self.now + self.policy.tick_interval, self._tick)

    def _is_awaited(self, since: int) -> bool:
        """Return whether a thread will do something after so many calls, the first at ``since``."""
        if self.now == since:
            raise stalled(self.policy, self.now)
        return any(
            what.due == number if isinstance(what, Cpu) else isinstance(what, Thread | NewThread)
            for _, number, what in self.agenda
        )

    def _settle(self) -> None:
        """Let CPUs choose anew that were asked to."""
        asked, running, preempted = self._asked, self.running, self.preempted
        for position, number in enumerate(asked):  # which grows meanwhile
            self.delay = 0
            if running[number] is None:
                preempted.discard(number)
                self._cpus[number].choose()
            elif number in preempted:
                preempted.remove(number)
                self._cpus[number].take_off()
            if position > STALLED:
                raise stalled(self.policy, self.now)
        asked.clear()

    def _end(self, *, is_cut: bool) -> None:
        """Close what is open, and refuse an end at which somebody still waits."""
        now = self.now
        for cpu, thread in zip(self._cpus, self.running, strict=True):
            if thread is not None:
                # Only where the time is up; what has begun gets on all the same.
                self.now = max(now, cpu.begins + 1)
                cpu.execute(thread, self.now)
                cpu.close()
        end = max(self.now, *(cpu.free_at for cpu in self._cpus))
        if end > LARGEST_TOTAL:
            raise endless()
        self.recorder.count(self.counters)
        self.counters.executed = sum(thread.run_time for thread in self.threads)
        self.counters.end = end
        if self.alive and not is_cut:
            raise stuck(self.policy, self.threads)
