"""The kernel: it lets threads run on CPUs as the policy decides, event by event.

Events are the ends of bursts and time slices, timers and devices, arrivals, calls that the policy
asked for, and the steps of CPUs' work in the scheduler. The steps of a thread between two bursts
take no time by themselves. The time that a policy and its locks take, in its callbacks, is work of
a CPU, and what follows from a callback happens when its work is done.

Interrupts are served by a CPU: it takes the time of a burst, and waits until the CPU has finished
what it does in the scheduler. A timer is served where it was set, and a device's interrupt where
the request was made: by the CPU where the thread ran last. Threads that arrive by themselves are
announced by interrupts on all CPUs in turn. What happens at time 0 takes no CPU's time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace
from typing import Any

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError
from dfopt.problem.cache import Cache
from dfopt.simulate.contract import DISK, NOBODY, Policy, SpinLock, State, Task, Thread, Why
from dfopt.simulate.cpu import STALLED, Cpu
from dfopt.simulate.recorder import Counters, Recorder, packed_wakeup
from dfopt.simulate.scenario import LockDistribution, Machine
from dfopt.simulate.workload import NewThread, Workload

# Members of an enumeration take long to look up.
READY = State.READY
NEW, WOKEN = Why.NEW, Why.WOKEN

Event = tuple[int, int, Any]
"""Time, unique number, and object: a CPU at the end of its burst, its time slice or a task in the
scheduler, a thread that wakes up or arrives, or a function to call."""


class Kernel:
    """Runs the threads of a workload under a policy.

    The policy sees it as its :class:`KernelInterface`; actions of threads wake and make threads.
    What they ask for is noted; the kernel and its CPUs act on it after the callback.

    Parameters
    ----------
    machine
        CPUs and overheads.
    workload
        A fresh one: the simulation uses up its programs.
    caches
        Those of all CPUs; they are empty.
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
    caches
        By CPU: what its cache holds.
    random
        For the policy's choices.
    counters
        The counts so far.
    agenda, numbers
        A heap of the events to come, and the numbers that make them unique.
    waiting
        By band: the number of ready threads.
    resting
        The idle CPUs, the one first that has been idle for longest. One that has found nothing to
        run is among them while it still does what its look has cost.
    preempted
        CPUs that are to choose anew even if something runs there.
    alive
        The number of threads that have not ended, with those that have yet to arrive.
    tasks
        What the CPU at work is to do, of that which the callbacks have asked for.
    asked
        CPUs that are asked to choose.
    settled
        The number of CPUs in ``asked`` that were asked before the present callbacks.
    shares
        CPU, tasks and CPUs that are asked, of parts of a callback that is over.
    charged
        The CPU that is at work in an interrupt, or in a function called by time; else ``NOBODY``.
    events
        The number of events so far.
    """

    def __init__(
        self,
        machine: Machine,
        workload: Workload,
        caches: Sequence[Cache],
        policy: Policy,
        *,
        seed: int = 0,
    ) -> None:
        self.machine = machine
        self.cpus = machine.cpus
        self.workload = workload
        self.caches = caches
        self.policy = policy
        self.random = random.Random(seed)
        # Lock times have random numbers of their own: the policy's choices stay the same.
        is_exponential = machine.lock_distribution is LockDistribution.EXPONENTIAL
        self._holds = random.Random(f"locks {seed}") if is_exponential else None
        self.now = 0
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
        self.tasks: list[Task] = []
        self.asked: list[int] = []
        self.settled = 0
        self.shares: list[tuple[int, list[Task], list[int]]] = []
        self.charged = NOBODY
        self._call_time = machine.call_time
        self._has_called = False
        self._cpu_numbers = range(machine.cpus)

        # What a policy may ask for; the contract says more.
        self.events = 0
        self._arrivals = 0
        self._cpus = [Cpu(number, self) for number in self._cpu_numbers]
        policy.engine = self

    def executed(self, thread: Thread) -> int:
        """Return the time for which a thread has executed until now."""
        cpu = thread.cpu
        if cpu is None or self.running[cpu] is not thread:
            return thread.run_time
        return thread.run_time + self._cpus[cpu].progress()

    def run(self, until: int | None = None) -> None:  # noqa: PLR0912 - in one piece, for its speed
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
        heap, asked = self.agenda, self.asked
        last = LARGEST_TOTAL if until is None else min(until, LARGEST_TOTAL)
        self._start()
        calls, since, events = 0, 0, 0
        is_cut = False
        while heap:
            now, number, what = heappop(heap)
            if now > last:
                if last != until:
                    raise DfoptError(
                        "the simulation lasts longer than 2^62; give its times a larger unit"
                    )
                is_cut = True
                break
            if what.__class__ is Cpu:
                if what.due != number:
                    continue
                self.now = now
                if what.is_at_work:
                    what.go_on()
                else:
                    what.burst_ends()
                    calls = 0
            else:
                self.now = now
                calls = self._act(what, calls)
                if calls == STALLED:
                    if not self._is_awaited(since):
                        break
                    calls, since = 0, now
            events += 1
            if asked:
                self._settle()
            if not self.alive and not any(cpu.is_at_work for cpu in self._cpus):
                break
        self.events = events
        if is_cut:
            self.now = last
        self._end(is_cut=is_cut)

    def _start(self) -> None:
        for new in self.workload.threads:
            heappush(self.agenda, (new.arrival, next(self.numbers), new))
        self.policy.begin()
        self.cost_nothing()
        if self.policy.tick_interval:
            self.call_at(self.policy.tick_interval, self._tick)

    def _tick(self) -> None:
        if self.alive:
            self.policy.tick()
            self.call_at(self.now + self.policy.tick_interval, self._tick)

    def _act(self, what: Any, calls: int) -> int:
        """Let something happen; return the number of calls by the clock since a thread acted."""
        if what.__class__ is Thread:
            assert what.cpu is not None  # it waits, and so has run
            self._cpus[what.cpu].interrupt(partial(self.wake, what, None))
            return 0
        if what.__class__ is NewThread:
            self._arrive(what)
        else:
            self._call(what)
            return calls + 1
        return calls

    def _arrive(self, new: NewThread) -> None:
        """Let a thread appear that no other makes."""
        if self.now:
            cpu = self._cpus[self._arrivals % self.cpus]
            self._arrivals += 1
            cpu.interrupt(partial(self.spawn, new, None))
        else:
            self.spawn(new, None)
            self.cost_nothing()

    def _call(self, happening: Callable[[], None]) -> None:
        """Call a function at its time; CPU 0 is at work, unless it says which one."""
        self.charged = 0
        happening()
        if self.tasks:
            self.shares.append((self.charged, *self.taken()))
        self.charged = NOBODY
        if self.shares:
            # CPUs that were asked without any work are asked at once.
            shares, self.shares = self.shares, []
            for number, tasks, asked in shares:
                self._cpus[number].interrupt(partial(self._take_over, tasks, asked))

    def _take_over(self, tasks: list[Task], asked: list[int]) -> None:
        self.settled = len(self.asked)
        self.tasks.extend(tasks)
        self.asked.extend(asked)

    def _is_awaited(self, since: int) -> bool:
        """Return whether a thread will still act after :data:`STALLED` calls from ``since`` on."""
        if self.now == since:
            raise self.stalled()
        return any(
            what.due == number and not what.is_at_work
            if isinstance(what, Cpu)
            else isinstance(what, Thread | NewThread)
            for _, number, what in self.agenda
        ) or (any(self.waiting) and any(cpu.is_at_work for cpu in self._cpus))

    def _settle(self) -> None:
        """Let the CPUs choose that were asked to."""
        asked, running, preempted = self.asked, self.running, self.preempted
        for position, number in enumerate(asked):  # the list grows meanwhile
            cpu = self._cpus[number]
            self.settled = len(asked)
            if cpu.is_at_work:
                cpu.is_called = True
            elif running[number] is None:
                preempted.discard(number)
                cpu.wake_up()
            elif number in preempted:
                preempted.remove(number)
                cpu.take_off()
            if position > STALLED:
                raise self.stalled()
        asked.clear()
        self.settled = 0

    def _end(self, *, is_cut: bool) -> None:
        """Close the open dispatches, and refuse an end at which threads still wait."""
        for cpu in self._cpus:
            cpu.stop()
        self.recorder.count(self.counters, self.machine.domains)
        self.counters.executed = sum(thread.run_time for thread in self.threads)
        self.counters.end = self.now
        if self.alive and not is_cut:
            raise self._stuck()

    def _stuck(self) -> DfoptError:
        """Return the error of a simulation in which threads wait, but nothing happens any more."""
        lost = [thread.name for thread in self.threads if thread.state is State.READY]
        if lost:
            return self.fault(
                f"has lost {len(lost)} ready threads, {lost[0]} among them: all CPUs are idle; let "
                "pick() return them"
            )
        blocked = [thread for thread in self.threads if thread.state is State.BLOCKED]
        return DfoptError(
            f"the workload is in a deadlock: {len(blocked)} threads wait for each other, "
            f"{blocked[0].name} for {blocked[0].waits_for}"
        )

    @property
    def costs(self) -> SimpleNamespace:
        """What :attr:`caches` hold, as policies read it that were written for earlier versions."""
        return SimpleNamespace(
            held=[cache.fragment for cache in self.caches],
            left=[cache.leaves for cache in self.caches],
        )

    def preempt(self, cpu: int) -> None:
        """Let a CPU choose anew after the current event."""
        self._check(cpu)
        self.preempted.add(cpu)
        self._ask((cpu,))

    def offer(self, cpu: int) -> None:
        """Ask a CPU to pick after the current event, if it is idle then."""
        self._check(cpu)
        self._ask((cpu,))

    def acquire(self, lock: SpinLock, hold: int | None = None) -> None:
        """Take a lock for one operation of the CPU at work."""
        if hold is None:
            hold = self.machine.lock_time
        if self._is_some(hold):
            if self._holds is not None:
                hold = max(1, round(self._holds.expovariate(1 / hold)))
            self.tasks.append((lock, hold))

    def spend(self, time: int) -> None:
        """Let the CPU at work spend time on the policy."""
        if self._is_some(time):
            self.tasks.append(time)

    def charge(self, cpu: int) -> None:
        """Let another CPU do what comes next, in a function called by time."""
        self._check(cpu)
        if self.tasks:
            self.shares.append((self.charged, *self.taken()))
        self.charged = cpu

    def taken(self) -> tuple[list[Task], list[int]]:
        """Take out what the present callbacks have asked for: tasks, and CPUs to be asked then."""
        tasks, self.tasks = self.tasks, []
        self._has_called = False
        asked = self.asked[self.settled :]
        del self.asked[self.settled :]
        return tasks, asked

    def fault(self, problem: str) -> DfoptError:
        """Return the error of a policy that breaks its contract."""
        return DfoptError(f"the policy {self.policy.name!r} {problem}")

    def stalled(self) -> DfoptError:
        """Return the error of a loop without an end."""
        return DfoptError(
            f"under the policy {self.policy.name!r} time stands still at {self.now}: threads are "
            "picked again and again and execute nothing"
        )

    def cost_nothing(self) -> None:
        """Let what the present callbacks have asked for take no time."""
        self.tasks.clear()
        self._has_called = False

    def call_at(self, time: int, happening: Callable[[], None]) -> None:
        """Call a function at a time."""
        if time.__class__ is not int or time < self.now:
            raise self.fault(
                f"asks at {self.now} for a call at {time}; name a time that is an integer and not "
                "over"
            )
        heappush(self.agenda, (time, next(self.numbers), happening))

    def is_idle(self, cpu: int) -> bool:
        """Return whether nothing runs on a CPU."""
        return self.running[cpu] is None

    def idle(self) -> list[int]:
        """Return the idle CPUs, the one first that has been idle for longest."""
        return list(self.resting)

    # What actions of threads ask for.

    def spawn(self, new: NewThread, parent: Thread | None) -> None:
        """Make a thread."""
        for setting in self.workload.settings:
            new = setting.applied(new)
        thread = Thread(len(self.threads), new, parent, self.now)
        if new.cpus_allowed is not None:
            allowed = frozenset(new.cpus_allowed).intersection(self._cpu_numbers)
            if not allowed:
                named = ", ".join(map(str, sorted(new.cpus_allowed)))
                raise DfoptError(
                    f"the thread {new.name} may run on CPU {named} only, but there are only 0 to "
                    f"{self.cpus - 1}; allow one of them"
                )
            if len(allowed) < self.cpus:
                thread.cpus_allowed = allowed
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
        now = thread.woken_at = self.now
        thread.waker = waker = None if cpu is None else self.running[cpu]
        self._note_wakeup(
            packed_wakeup(now, NOBODY if waker is None else waker.number, thread.number, why is NEW)
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
            if self.resting:
                self._ask(self.resting)
        elif target in self.resting:
            self._ask((target,))
        elif target != NOBODY:
            self._check(target)

    def _check(self, cpu: int) -> None:
        """Refuse a CPU that does not exist."""
        if cpu not in self._cpu_numbers:
            raise self.fault(
                f"names CPU {cpu!r}, but there are only 0 to {self.cpus - 1}; name one of them"
            )

    def _is_some(self, time: int) -> bool:
        """Return whether there is any time to spend; refuse an impossible one."""
        if time.__class__ is not int or time < 0:
            raise self.fault(
                f"spends a time of {time} at {self.now}; name an integer that is not negative"
            )
        return time > 0

    def _ask(self, cpus: Collection[int]) -> None:
        """Ask CPUs to choose; if any of them is idle, the CPU at work takes time to call it."""
        self.asked.extend(cpus)
        if self._call_time and not self._has_called:
            resting, charged = self.resting, self.charged
            if any(cpu in resting and cpu != charged for cpu in cpus):
                self._has_called = True
                self.tasks.append(self._call_time)
