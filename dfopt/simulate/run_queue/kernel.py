"""The kernel: it lets threads run on CPUs as the policy decides, event by event.

Events are the ends of bursts and time slices, timers and devices, arrivals, and calls that the
policy asked for. The steps of a thread between two bursts take no time by themselves. The time that
a policy and its locks take, in its callbacks, is charged to the CPU at work.

A *dispatch* is a stretch in which one thread uses one fragment on one CPU: a row of the trace. It
goes on when the same thread is picked again at once, and a new one begins when the thread changes
to another fragment. The penalty is paid at its beginning and is never interrupted; after it each
dispatch executes for at least one unit of time. Time slices count execution alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import chain, count
from typing import Any

from dfopt.checks import LARGEST_TOTAL
from dfopt.simulate.run_queue.contract import (
    DISK,
    KERNEL,
    NOBODY,
    USER,
    Policy,
    SpinLock,
    State,
    Thread,
    Why,
)
from dfopt.simulate.run_queue.costs import Costs
from dfopt.simulate.run_queue.policy_errors import (
    STALLED,
    endless,
    not_ready,
    stalled,
    stuck,
    wrong_call,
    wrong_cpu,
    wrong_pick,
    wrong_slice,
    wrong_time,
)
from dfopt.simulate.run_queue.recorder import Counters, Recorder, packed, packed_wakeup
from dfopt.simulate.run_queue.scenario import LockDistribution, Machine
from dfopt.simulate.run_queue.workload import CLEAN, UNMANAGED, Burst, NewThread, Pause, Workload
from dfopt.trace.events import Stop

CANCELLED = -1
"""The event number of a CPU that waits for no event."""

FOREVER = 1 << 62
"""A time slice that never ends."""

# Members of an enumeration take long to look up.
READY, RUNNING, BLOCKED, ENDED = State.READY, State.RUNNING, State.BLOCKED, State.ENDED
NEW, WOKEN, YIELDS = Why.NEW, Why.WOKEN, Why.YIELDED
EXPIRED, PREEMPTED, CHANGED = Why.EXPIRED, Why.PREEMPTED, Why.CHANGED
YIELDED = Pause.YIELDED
SLEEPS, GOES_ON, ENDS = int(Stop.SLEEPS), int(Stop.PREEMPTED), int(Stop.ENDS)

Event = tuple[int, int, Any]
"""Time, unique number, and object: a CPU at the end of its burst or time slice, a thread that wakes
up or arrives, or a function to call."""


class Kernel:
    """Runs the threads of a workload under a policy.

    The policy sees it as its :class:`KernelInterface`; actions of threads wake and make threads.

    Parameters
    ----------
    machine
        CPUs and overheads.
    workload
        A fresh one: the simulation uses up its programs.
    costs
        The costs of switches, with empty caches.
    policy
        A fresh one: it may remember what it saw.
    seed
        Seed of the policy's random choices.

    Attributes
    ----------
    now
        The time, from 0.
    running
        By CPU: the thread that runs there, or None.
    threads
        All threads that have appeared, in that order.
    costs
        ``held`` and ``left`` say what the caches hold.
    random
        For the policy's choices.
    counters
        The counts so far.
    events
        The number of events so far.
    delay
        The time that the CPU at work has spent since ``now`` on the policy and its locks.
    agenda, numbers
        A heap of the events to come, and the numbers that make them unique.
    waiting
        By band: the number of ready threads.
    resting
        The idle CPUs, the one first that has been idle for longest.
    preempted
        CPUs that are to choose anew even if something runs there.
    alive
        The number of threads that have not ended, with those that have yet to arrive.
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
        # Lock times have random numbers of their own: the policy's choices stay the same.
        is_exponential = machine.lock_distribution is LockDistribution.EXPONENTIAL
        self._holds = random.Random(f"locks {seed}") if is_exponential else None
        self.now = 0
        self.events = 0
        self.delay = 0
        self.threads: list[Thread] = []
        self.running: list[Thread | None] = [None] * machine.cpus
        self.counters = Counters(penalties=[0] * machine.cpus, busy=[0] * machine.cpus)
        self.recorder = Recorder()
        self._note_wakeup = self.recorder.wakeups.extend
        self.agenda: list[Event] = []
        self.numbers = count()
        self.waiting = [0, 0, 0]
        self.resting = dict.fromkeys(range(machine.cpus))
        self.preempted: set[int] = set()
        self.alive = len(workload.threads)
        # CPUs that are asked to choose, once what happens now is over.
        self._asked: list[int] = []
        self._cpu_numbers = range(machine.cpus)
        self._cpus = [Cpu(number, self) for number in self._cpu_numbers]
        policy.engine = self

    # What a policy may ask for; the contract says more.

    def preempt(self, cpu: int) -> None:
        """Let a CPU choose anew after the current event."""
        if cpu not in self._cpu_numbers:
            raise wrong_cpu(self.policy, self.cpus, cpu)
        self.preempted.add(cpu)
        self._asked.append(cpu)

    def offer(self, cpu: int) -> None:
        """Ask a CPU to pick after the current event, if it is idle then."""
        if cpu not in self._cpu_numbers:
            raise wrong_cpu(self.policy, self.cpus, cpu)
        self._asked.append(cpu)

    def acquire(self, lock: SpinLock) -> None:
        """Take a lock for one operation; the CPU at work waits for it."""
        hold = self.machine.lock_time
        if hold:
            if self._holds is not None:
                hold = max(1, round(self._holds.expovariate(1 / hold)))
            came = self.now + self.delay
            self.delay += lock.acquire(came, hold) - came

    def spend(self, time: int) -> None:
        """Let the CPU at work spend time on the policy."""
        if time.__class__ is not int or time < 0:
            raise wrong_time(self.policy, self.now, time)
        self.delay += time

    def call_at(self, time: int, happening: Callable[[], None]) -> None:
        """Call a function at a time."""
        if time.__class__ is not int or time < self.now:
            raise wrong_call(self.policy, self.now, time)
        heappush(self.agenda, (time, next(self.numbers), happening))

    def is_idle(self, cpu: int) -> bool:
        """Return whether nothing runs on a CPU."""
        return self.running[cpu] is None

    def idle(self) -> list[int]:
        """Return the idle CPUs, the one first that has been idle for longest."""
        return list(self.resting)

    def executed(self, thread: Thread) -> int:
        """Return the time for which a thread has executed until now."""
        cpu = thread.cpu
        if cpu is None or self.running[cpu] is not thread:
            return thread.run_time
        # While a penalty is paid, the burst begins in the future.
        return thread.run_time + max(0, self.now - self._cpus[cpu].begins)

    # What actions of threads ask for.

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
        """Let a blocked thread go on.

        ``cpu`` is where the thread runs that wakes it; None for an interrupt.
        """
        if self.now > LARGEST_TOTAL:
            raise endless()
        thread.woken_at = self.now
        waker = None if cpu is None else self.running[cpu]
        self._note_wakeup(
            packed_wakeup(
                self.now, NOBODY if waker is None else waker.number, thread.number, why is NEW
            )
        )
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

    # The loop of events.

    def run(self, until: int | None = None) -> None:
        """Run until all threads have ended.

        Parameters
        ----------
        until
            Stop at this time, if they have not.

        Raises
        ------
        DfoptError
            When threads wait for ever, the policy breaks its contract, or times are more than
            2^62.
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
        """Return whether a thread will still act after :data:`STALLED` calls from ``since`` on."""
        if self.now == since:
            raise stalled(self.policy, self.now)
        return any(
            what.due == number if isinstance(what, Cpu) else isinstance(what, Thread | NewThread)
            for _, number, what in self.agenda
        )

    def _settle(self) -> None:
        """Let the CPUs choose that were asked to."""
        asked, running, preempted = self._asked, self.running, self.preempted
        for position, number in enumerate(asked):  # the list grows meanwhile
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
        """Close the open dispatches, and refuse an end at which threads still wait."""
        now = self.now
        for cpu, thread in zip(self._cpus, self.running, strict=True):
            if thread is not None:
                # The time is up; a dispatch that has begun executes for one unit all the same.
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


class Cpu:
    """A CPU of the kernel: it lets the policy pick threads, and runs them.

    Its methods are called at the kernel's time. What they do takes no time, apart from the delay
    that the policy and its locks cause.

    Parameters
    ----------
    number
        Its number.
    kernel
        The kernel that it belongs to.

    Attributes
    ----------
    due
        Number of the event that it waits for, or :data:`CANCELLED`.
    begins
        The time when the running burst began, or goes on, after its penalty.
    slice
        The rest of the time slice at that time.
    is_taken
        Whether its thread leaves it at the end of the penalty.
    free_at
        The time until which it has been busy.
    """

    __slots__ = (
        "_agenda",
        "_costs",
        "_counters",
        "_has_slices",
        "_hears_blocked",
        "_hears_changes",
        "_kernel",
        "_note",
        "_numbers",
        "_policy",
        "_row_end",
        "_row_fragment",
        "_row_leaves",
        "_row_lines",
        "_row_start",
        "_row_stop",
        "_row_thread",
        "_running",
        "_switch_time",
        "begins",
        "due",
        "free_at",
        "is_taken",
        "number",
        "slice",
    )

    def __init__(self, number: int, kernel: Kernel) -> None:
        self.number = number
        self._kernel = kernel
        self._running = kernel.running
        self._counters = kernel.counters
        self._agenda = kernel.agenda
        self._numbers = kernel.numbers
        self._switch_time = kernel.machine.switch_time
        self._costs = kernel.costs
        # Looked up once, since it is called for every dispatch.
        self._note = kernel.recorder.cells.extend
        self._policy = policy = kernel.policy
        self._has_slices = type(policy).slice is not Policy.slice
        self._hears_blocked = type(policy).blocked is not Policy.blocked
        self._hears_changes = type(policy).changes is not Policy.changes
        self.due = CANCELLED
        self.begins = 0
        self.slice = 0
        self.is_taken = False
        self.free_at = 0
        # The thread whose dispatch is open; it may have left the CPU and still be picked again.
        self._row_thread: Thread | None = None
        self._row_start = 0
        self._row_end = 0
        self._row_fragment = UNMANAGED
        self._row_lines = 0
        self._row_leaves = CLEAN
        self._row_stop = GOES_ON

    # What the kernel asks for.

    def choose(self) -> None:
        """Let the policy pick threads until one of them has a burst to run, or it picks none."""
        kernel, policy, counters = self._kernel, self._policy, self._counters
        waiting, number = kernel.waiting, self.number
        picked = 0
        while picked < STALLED:
            picked += 1
            if kernel.preempted:
                # It chooses anew at this moment.
                kernel.preempted.discard(number)
            thread = policy.pick(number)
            if thread is None:
                self._rest()
                return
            if thread.__class__ is not Thread:
                raise wrong_pick(policy, number, thread)
            if thread.state is not READY:
                raise not_ready(policy, thread, number)
            thread.state = RUNNING
            band = thread.band
            waiting[band] -= 1
            if band and (waiting[DISK] or (band == USER and waiting[KERNEL])):
                counters.inversions += 1
            now = kernel.now
            counters.waits += 1
            waited = now - thread.ready_at
            if waited:
                longest = counters.longest_wait
                counters.waited += waited
                counters.longest_wait = waited if waited > longest else longest
            self._running[number] = thread
            self.begins = now  # it has executed nothing since
            if number in kernel.resting:
                del kernel.resting[number]
            time_slice = (policy.slice(thread, number) if self._has_slices else 0) or FOREVER
            if time_slice.__class__ is not int or time_slice < 0:
                raise wrong_slice(policy, thread, time_slice)
            self.slice = time_slice
            thread.cpu = number
            left = thread.stopped_at
            if left is not None and left > now + kernel.delay:
                # Woken while it waits for a lock on another CPU, which it has to leave first.
                kernel.delay = left - now
            burst = thread.burst
            if burst is not None:
                self._begin(thread, burst)
                return
            if self._goes_on(thread):
                return
        raise stalled(policy, kernel.now)

    def burst_ends(self) -> None:
        """Act on the end of a burst or a time slice, or on a thread that had to pay first."""
        thread = self._running[self.number]
        assert thread is not None
        self.execute(thread, self._kernel.now)
        is_taken = self.is_taken
        self.is_taken = False
        if thread.left:
            self._puts_back(thread, PREEMPTED if is_taken else EXPIRED)
            self.choose()
            return
        if is_taken:  # in case it goes on with another burst
            self._kernel.preempt(self.number)
        if not self._goes_on(thread):
            self.choose()

    def take_off(self) -> None:
        """Take the running thread off, as soon as it has paid and executed something."""
        thread, now = self._running[self.number], self._kernel.now
        assert thread is not None
        executed = now - self.begins
        if executed <= 0:
            self.is_taken = True
            self.due = number = next(self._numbers)
            heappush(self._agenda, (self.begins + 1, number, self))
            return
        if executed == thread.left:  # its burst ends at this moment, which comes first
            self.is_taken = True
            return
        self.execute(thread, now)
        self.due = CANCELLED
        self._puts_back(thread, PREEMPTED)
        self.choose()

    # What its thread does.

    def _goes_on(self, thread: Thread) -> bool:
        """Let a thread do what it does next; return whether it still has the CPU."""
        steps = thread.steps
        if thread.pending is not None:
            steps = chain((thread.pending,), steps)
            thread.pending = None
        # Any: to compare its class is the fastest way to tell bursts from steps.
        step: Any
        for step in steps:
            if step.__class__ is Burst:
                thread.burst = step
                thread.left = step.time
                thread.band = KERNEL if step.is_kernel else USER
                if step.fragment != thread.fragment and self._changes(thread, step.fragment):
                    self._puts_back(thread, CHANGED)
                    return False
                if self.slice <= 0:
                    self._puts_back(thread, EXPIRED)
                    return False
                self._begin(thread, step)
                return True
            pause = step.perform(self._kernel, thread)
            if pause is not None:
                self._leaves(thread, pause)
                return False
        self._ends(thread)
        return False

    def _changes(self, thread: Thread, fragment: int) -> bool:
        """Note that a running thread comes to another fragment; return whether it must leave."""
        before, thread.fragment = thread.fragment, fragment
        return self._hears_changes and self._policy.changes(thread, before, self.number)

    def _puts_back(self, thread: Thread, why: Why) -> None:
        """Let a thread leave the CPU although it could go on."""
        self._stop(thread)
        self._kernel.enter(thread, why, self.number)

    def _leaves(self, thread: Thread, pause: Pause) -> None:
        if pause is YIELDED:
            thread.look_ahead()
            self._puts_back(thread, YIELDS)
            return
        self._stop(thread)
        if self._row_thread is thread:
            self._row_stop = SLEEPS
        thread.state = BLOCKED
        self._responds(thread)
        if self._hears_blocked:
            self._policy.blocked(thread, self.number)

    def _ends(self, thread: Thread) -> None:
        self._stop(thread)
        if self._row_thread is thread:
            self._row_stop = ENDS
        thread.state = ENDED
        thread.burst = None
        self._kernel.alive -= 1
        self._responds(thread)
        self._policy.ended(thread, self.number)

    def _responds(self, thread: Thread) -> None:
        counters = self._counters
        time, longest = self._kernel.now - thread.woken_at, counters.longest_response
        counters.responses += 1
        counters.responded += time
        counters.longest_response = time if time > longest else longest

    # Its dispatches.

    def _begin(self, thread: Thread, burst: Burst) -> None:
        """Begin a burst, or its rest, and await its end, or that of the time slice."""
        now = self._kernel.now
        begins = now + self._kernel.delay
        is_open = self._row_thread
        if is_open is thread and self._row_fragment == burst.fragment:
            if begins > self._row_end:
                self._counters.spun += begins - self._row_end
            so_far, leaves = self._row_leaves, burst.leaves
            self._row_leaves = leaves if leaves > so_far else so_far
            penalty = self._costs.go_on(self.number, burst)
        else:
            if is_open is None:
                came = now if now > self.free_at else self.free_at
            else:
                self.close()
                came = self._row_end
            begins = came if came > begins else begins
            if is_open is not thread:
                begins += self._switch_time
            if begins > came:
                self._counters.overhead += begins - came
            self._row_thread = thread
            self._row_start = begins
            self._row_fragment = burst.fragment
            self._row_lines = burst.lines
            self._row_leaves = burst.leaves
            penalty = self._costs.begin(self.number, burst)
        self._row_stop = GOES_ON
        if penalty:
            self._counters.penalties[self.number] += penalty
            begins += penalty
        self.begins = begins
        left = thread.left
        ends = begins + (left if left < self.slice else self.slice)
        self.due = number = next(self._numbers)
        heappush(self._agenda, (ends, number, self))

    def execute(self, thread: Thread, now: int) -> None:
        """Note what its thread has executed up to now."""
        executed = now - self.begins
        thread.left -= executed
        thread.run_time += executed
        self.slice -= executed
        self.begins = self._row_end = now

    def _stop(self, thread: Thread) -> None:
        """Let its thread leave; the dispatch goes on if the thread is picked again at once."""
        thread.stopped_at = end = self._kernel.now + self._kernel.delay
        if end > self._row_end and self._row_thread is thread:
            self._counters.spun += end - self._row_end
            self._row_end = end
        self._running[self.number] = None

    def _rest(self) -> None:
        """Be idle, after the policy has looked for a thread."""
        kernel = self._kernel
        if self._row_thread is not None:
            self.close()
        came = max(kernel.now, self.free_at)
        end = kernel.now + kernel.delay
        if end > came:
            self._counters.overhead += end - came
            self.free_at = end
        kernel.resting[self.number] = None

    def close(self) -> None:
        """End the dispatch."""
        thread, end = self._row_thread, self._row_end
        assert thread is not None
        if end > LARGEST_TOTAL:
            raise endless()
        fragment, lines, leaves = self._row_fragment, self._row_lines, self._row_leaves
        start, stop = self._row_start, self._row_stop
        self._note(packed(self.number, start, end, thread.number, fragment, lines, leaves, stop))
        self._row_thread = None
        self.free_at = end
