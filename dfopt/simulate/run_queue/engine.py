"""The engine: a heap of events, and the CPUs they happen on.

Events are the ends of bursts and time slices, timers and devices, arrivals, and what policies
asked to be called for. What a thread does between two bursts takes no time by itself; the waiting
for locks around run queues, in callbacks of the policy, is charged to the CPU it happens on.

A *dispatch* is a stretch in which one thread uses one fragment on one CPU: a row of the trace. It
goes on when the same thread is picked again at once, and a new one begins when the thread changes
to another fragment. The penalty is paid at its beginning and is never interrupted, so that every
dispatch gets on, by one unit of time at least; time slices count execution alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError
from dfopt.simulate.run_queue.counters import Counters
from dfopt.simulate.run_queue.cpu import CANCELLED, Cpu
from dfopt.simulate.run_queue.faults import (
    not_ready,
    stalled,
    stuck,
    wrong_call,
    wrong_slice,
    wrong_time,
)
from dfopt.simulate.run_queue.machine import LockDistribution
from dfopt.simulate.run_queue.policy import Policy, Why
from dfopt.simulate.run_queue.recorder import Recorder
from dfopt.simulate.run_queue.steps import Burst, NewThread, Outcome
from dfopt.simulate.run_queue.thread import DISK, KERNEL, USER, State, Thread

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.costs import Costs
    from dfopt.simulate.run_queue.machine import Machine
    from dfopt.simulate.run_queue.spin_lock import SpinLock
    from dfopt.simulate.run_queue.workload import Workload

STALLED = 1_000_000
"""So many dispatches, or calls of the policy, at one moment are taken for a loop without an end; so
many calls between which no thread does anything are taken for a deadlock, if none will."""

FOREVER = 1 << 62
"""A time slice that never ends."""

READY, RUNNING, BLOCKED, ENDED = State.READY, State.RUNNING, State.BLOCKED, State.ENDED

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
        self.threads: list[Thread] = []
        self.running: list[Thread | None] = [None] * machine.cpus
        self.counters = Counters(penalties=[0] * machine.cpus, busy=[0] * machine.cpus)
        self.recorder = Recorder()
        self._heap: list[Happening] = []
        self._numbers = count()
        # Threads that have not ended; those that have yet to arrive among them.
        self._alive = len(workload.threads)
        self._idle = dict.fromkeys(range(machine.cpus))
        # CPUs that have to choose anew, once what happens now is over.
        self._asked: list[int] = []
        self._preempted: set[int] = set()
        # By band: how many threads are ready.
        self._waiting = [0, 0, 0]
        # What the CPU that is at work has spent since ``now`` on the policy and its locks.
        self._delay = 0
        self._has_slices = type(policy).slice is not Policy.slice
        self._hears_blocked = type(policy).blocked is not Policy.blocked
        self._hears_changes = type(policy).changes is not Policy.changes
        self._cpus = [
            Cpu(number, self.running, machine.switch_time, costs, self.counters, self.recorder)
            for number in range(machine.cpus)
        ]
        policy.engine = self

    # What policies may ask.

    def preempt(self, cpu: int) -> None:
        """Let a CPU choose anew, once what happens now is over; an idle one is asked to pick."""
        self._preempted.add(cpu)
        self._asked.append(cpu)

    def offer(self, cpu: int) -> None:
        """Ask a CPU, should it be idle, to pick, once what happens now is over."""
        self._asked.append(cpu)

    def acquire(self, lock: SpinLock) -> None:
        """Take the lock of a run queue for one operation, and let the CPU at work wait for it."""
        hold = self.machine.lock_time
        if hold:
            if self._holds is not None:
                hold = max(1, round(self._holds.expovariate(1 / hold)))
            came = self.now + self._delay
            self._delay += lock.acquire(came, hold) - came

    def spend(self, time: int) -> None:
        """Let the CPU at work spend time on the policy, such as on looking at queues.

        Raises
        ------
        DfoptError
            When that is negative, or no integer.
        """
        if time.__class__ is not int or time < 0:
            raise wrong_time(self.policy, self.now, time)
        self._delay += time

    def call_at(self, time: int, happening: Callable[[], None]) -> None:
        """Call somebody at a time.

        Raises
        ------
        DfoptError
            When that time is over, or no integer.
        """
        if time.__class__ is not int or time < self.now:
            raise wrong_call(self.policy, self.now, time)
        heappush(self._heap, (time, next(self._numbers), happening))

    def is_idle(self, cpu: int) -> bool:
        """Return whether nothing runs on a CPU."""
        return self.running[cpu] is None

    def idle(self) -> list[int]:
        """Return the CPUs on which nothing runs, the one that is so for longest first."""
        return list(self._idle)

    # What threads do.

    def spawn(self, new: NewThread, parent: Thread | None) -> None:
        """Make a thread."""
        thread = Thread(len(self.threads), new, parent, self.now)
        self.threads.append(thread)
        self._alive += parent is not None
        self._becomes_ready(thread, Why.NEW, None if parent is None else parent.cpu)

    def wake(self, thread: Thread, cpu: int | None) -> None:
        """Let a blocked thread go on; ``cpu`` is where that happens, None for an interrupt."""
        self._becomes_ready(thread, Why.WOKEN, cpu)

    def wake_at(self, time: int, thread: Thread) -> None:
        """Let a blocked thread go on at a time."""
        heappush(self._heap, (time, next(self._numbers), thread))

    def _becomes_ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        thread.woken_at = self.now
        self._look_ahead(thread)
        if thread.wakes_by_disk:
            thread.wakes_by_disk = False
            thread.band = DISK
        self._enter(thread, why, cpu)

    def _look_ahead(self, thread: Thread) -> None:
        """Find out what a thread is going to do next."""
        step = thread.pending
        if step is None:
            thread.pending = step = next(thread.steps, None)
        if step.__class__ is Burst:
            assert isinstance(step, Burst)
            thread.burst = step
            thread.left = step.time
            thread.fragment = step.fragment
            thread.band = KERNEL if step.is_kernel else USER
        else:
            thread.burst = None

    def _enter(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Hand a thread to the policy."""
        thread.state = READY
        thread.ready_at = self.now
        self._waiting[thread.band] += 1
        target = self.policy.ready(thread, why, cpu)
        idle = self._idle
        if idle:
            if target is None:
                self._asked.extend(idle)
            elif target in idle:
                self._asked.append(target)

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
        heap = self._heap
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
                self._delay = 0
                self._burst_ends(what)
                calls = 0
            else:
                self.now = now
                self._delay = 0
                if what.__class__ is Thread:
                    self._becomes_ready(what, Why.WOKEN, None)
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
            if not self._alive:
                break
        self._end(is_cut=is_cut)

    def _start(self) -> None:
        for new in self.workload.threads:
            heappush(self._heap, (new.arrival, next(self._numbers), new))
        self.policy.begin()
        if self.policy.tick_interval:
            self.call_at(self.policy.tick_interval, self._tick)

    def _tick(self) -> None:
        if self._alive:
            self.policy.tick()
            self.call_at(self.now + self.policy.tick_interval, self._tick)

    def _is_awaited(self, since: int) -> bool:
        """Return whether a thread will do something after so many calls, the first at ``since``."""
        if self.now == since:
            raise stalled(self.policy, self.now)
        return any(
            what.due == number if isinstance(what, Cpu) else isinstance(what, Thread | NewThread)
            for _, number, what in self._heap
        )

    def _settle(self) -> None:
        """Let CPUs choose anew that were asked to."""
        asked, running, preempted = self._asked, self.running, self._preempted
        for position, number in enumerate(asked):  # which grows meanwhile
            self._delay = 0
            if running[number] is None:
                preempted.discard(number)
                self._choose(self._cpus[number])
            elif number in preempted:
                preempted.remove(number)
                self._take_off(self._cpus[number])
            if position > STALLED:
                raise stalled(self.policy, self.now)
        asked.clear()

    def _take_off(self, cpu: Cpu) -> None:
        """Take the running thread off its CPU, as soon as it has paid and gets on."""
        thread = self.running[cpu.number]
        assert thread is not None
        executed = self.now - cpu.begins
        if executed <= 0:
            cpu.is_taken = True
            self._await(cpu, cpu.begins + 1)
            return
        if executed == thread.left:  # its burst ends at this very moment: that is dealt with first
            cpu.is_taken = True
            return
        cpu.execute(thread, self.now)
        cpu.due = CANCELLED
        cpu.stop(thread, self.now + self._delay)
        self._enter(thread, Why.PREEMPTED, cpu.number)
        self._choose(cpu)

    def _await(self, cpu: Cpu, time: int) -> None:
        cpu.due = number = next(self._numbers)
        heappush(self._heap, (time, number, cpu))

    def _burst_ends(self, cpu: Cpu) -> None:
        """Act on the end of a burst or a time slice, or take off who was let get on."""
        thread = self.running[cpu.number]
        assert thread is not None
        cpu.execute(thread, self.now)
        is_taken = cpu.is_taken
        cpu.is_taken = False
        if thread.left:
            cpu.stop(thread, self.now + self._delay)
            self._enter(thread, Why.PREEMPTED if is_taken else Why.EXPIRED, cpu.number)
            self._choose(cpu)
            return
        if is_taken:  # should it go on with another burst
            self.preempt(cpu.number)
        thread.pending = None
        if not self._goes_on(cpu, thread, is_picked=False):
            self._choose(cpu)

    def _choose(self, cpu: Cpu) -> None:
        """Let the policy choose what a CPU runs, until it runs a burst or is idle."""
        policy, waiting, counters, number = self.policy, self._waiting, self.counters, cpu.number
        for _ in range(STALLED):
            if self._preempted:
                # Whoever asked for it to choose anew has been heard.
                self._preempted.discard(number)
            thread = policy.pick(number)
            if thread is None:
                self._rest(cpu)
                return
            if thread.state is not READY:
                raise not_ready(policy, thread, number)
            thread.state = RUNNING
            band = thread.band
            waiting[band] -= 1
            if band and (waiting[DISK] or (band == USER and waiting[KERNEL])):
                counters.inversions += 1
            counters.waits += 1
            waited = self.now - thread.ready_at
            if waited:
                counters.waited += waited
                counters.longest_wait = max(counters.longest_wait, waited)
            self.running[number] = thread
            if number in self._idle:
                del self._idle[number]
            time_slice = (policy.slice(thread, number) if self._has_slices else 0) or FOREVER
            if time_slice.__class__ is not int or time_slice < 0:
                raise wrong_slice(policy, thread, time_slice)
            cpu.slice = time_slice
            thread.cpu = number
            left = thread.stopped_at
            if left is not None and left > self.now + self._delay:
                # It was woken up while it waited for a lock on another CPU, which it leaves first.
                self._delay = left - self.now
            if self._goes_on(cpu, thread, is_picked=True):
                return
        raise stalled(self.policy, self.now)

    def _goes_on(self, cpu: Cpu, thread: Thread, *, is_picked: bool) -> bool:
        """Let a thread do what it does next; return whether it is still on its CPU."""
        steps = thread.steps
        # Any: looked at by its class, which is faster than all else.
        step: Any = thread.pending
        if step is None:
            step = next(steps, None)
        while True:
            if step.__class__ is Burst:
                if is_picked or self._meets(cpu, thread, step):
                    now = self.now
                    ends = cpu.begin(thread, step, now, now + self._delay)
                    cpu.due = number = next(self._numbers)
                    heappush(self._heap, (ends, number, cpu))
                    return True
                return False
            if step is None:
                self._ends(cpu, thread)
                return False
            is_picked = False
            outcome = step.perform(self, thread)
            thread.pending = None
            if outcome is not None:
                self._leaves(cpu, thread, outcome)
                return False
            step = next(steps, None)

    def _meets(self, cpu: Cpu, thread: Thread, burst: Burst) -> bool:
        """Let a running thread come to its next burst; return whether it goes on with it."""
        thread.pending = thread.burst = burst
        thread.left = burst.time
        thread.band = KERNEL if burst.is_kernel else USER
        before = thread.fragment
        if burst.fragment != before:
            thread.fragment = burst.fragment
            if self._hears_changes and self.policy.changes(thread, before, cpu.number):
                cpu.stop(thread, self.now + self._delay)
                self._enter(thread, Why.CHANGED, cpu.number)
                return False
        if cpu.slice <= 0:
            cpu.stop(thread, self.now + self._delay)
            self._enter(thread, Why.EXPIRED, cpu.number)
            return False
        return True

    def _leaves(self, cpu: Cpu, thread: Thread, outcome: Outcome) -> None:
        cpu.stop(thread, self.now + self._delay)
        if outcome is Outcome.YIELDED:
            self._look_ahead(thread)
            self._enter(thread, Why.YIELDED, cpu.number)
            return
        thread.state = BLOCKED
        self._responds(thread)
        if self._hears_blocked:
            self.policy.blocked(thread, cpu.number)

    def _ends(self, cpu: Cpu, thread: Thread) -> None:
        cpu.stop(thread, self.now + self._delay)
        thread.state = ENDED
        thread.burst = None
        self._alive -= 1
        self._responds(thread)
        self.policy.ended(thread, cpu.number)

    def _responds(self, thread: Thread) -> None:
        counters = self.counters
        time = self.now - thread.woken_at
        counters.responses += 1
        counters.responded += time
        counters.longest_response = max(counters.longest_response, time)

    def _rest(self, cpu: Cpu) -> None:
        """Leave a CPU idle."""
        cpu.rest(self.now, self.now + self._delay)
        self._idle[cpu.number] = None

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
            raise DfoptError("the simulation lasts longer than 2^62; give its times a larger unit")
        self.recorder.count(self.counters)
        self.counters.executed = sum(thread.run_time for thread in self.threads)
        self.counters.end = end
        if self._alive and not is_cut:
            raise stuck(self.policy, self.threads)
