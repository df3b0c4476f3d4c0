"""What policies and threads may ask the kernel for, and what they see of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from heapq import heappush
from itertools import count
from types import SimpleNamespace
from typing import Any

from dfopt.errors import DfoptError
from dfopt.problem.cache import Cache
from dfopt.simulate.contract import DISK, NOBODY, Policy, SpinLock, State, Task, Thread, Why
from dfopt.simulate.recorder import Counters, Recorder, packed_wakeup
from dfopt.simulate.scenario import LockDistribution, Machine
from dfopt.simulate.workload import NewThread, Workload

# Members of an enumeration take long to look up.
READY = State.READY
NEW, WOKEN = Why.NEW, Why.WOKEN

STALLED = 1_000_000
"""An endless loop has at least this number of dispatches, or calls of the policy, at one moment.

A deadlock has at least this number of calls without a thread that acts in between or later.
"""

Event = tuple[int, int, Any]
"""Time, unique number, and object: a CPU at the end of its burst, its time slice or a task in the
scheduler, a thread that wakes up or arrives, or a function to call."""


class Requests:
    """The state of a simulation, and the requests that policies and threads make.

    Requests are noted here; the kernel and its CPUs act on them after the callback.

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
