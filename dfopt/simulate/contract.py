"""The contract of policies: what a policy decides, what it sees, and what it may ask for.

A :class:`Policy` has a handful of callbacks. It may read everything of a :class:`Thread`, and
write ``own`` only. Through ``engine``, a :class:`KernelInterface`, it sees the simulation and asks
for what it needs. It may have spin locks (:class:`SpinLock`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Any, ClassVar, Protocol, TypeAlias

from dfopt.problem.cache import UNMANAGED, Cache
from dfopt.simulate.parameters import check_fields
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.workload import (
    Burst,
    NewThread,
    Step,
    Workload,
)
from dfopt.structs import Natural

NOBODY = -1
"""No CPU has this number: where :meth:`Policy.ready` returns it, no CPU is asked to pick."""


class State(Enum):
    """The states of a thread."""

    READY = "ready"
    RUNNING = "running"
    BLOCKED = "blocked"
    ENDED = "ended"


class Why(Enum):
    """The reasons why a thread is ready."""

    NEW = "new"
    WOKEN = "woken"
    EXPIRED = "its time slice is used up"
    PREEMPTED = "another one took its CPU"
    YIELDED = "it let others run first"
    CHANGED = "it changes to another fragment"


GAVE_UP = frozenset((Why.EXPIRED, Why.YIELDED))
"""The reasons of threads that are ready but have to let others run first."""


DISK, KERNEL, USER = range(3)
"""Bands of urgency: woken by a disk, in kernel mode, in user mode."""


class Thread:
    """A thread; policies may read everything, and write ``own`` only.

    Attributes
    ----------
    number
        Its number, in the order in which threads appear.
    name, kind, application, nice
        See :class:`~dfopt.simulate.workload.NewThread`.
    weight
        Its share of a CPU, relative to others; if the workload does not say, that of ``nice``.
    cpus_allowed
        The CPUs of this machine where it may run; None: all.
    parent
        The thread that made it; None for those that were there from the beginning.
    waker
        The thread that last woke it, or made it; None for interrupts and the beginning.
    state
        What it does now.
    fragment
        The fragment that its next burst uses, or the burst that is running.
    burst
        That burst; None if it does something else first.
    left
        The time for which that burst still executes.
    band
        ``DISK``, ``KERNEL`` or ``USER``.
    cpu
        The CPU where it runs or ran last; None before the first time.
    run_time
        The time for which it executed, without penalties, up to the last time it stopped. While it
        runs, :meth:`KernelInterface.executed` knows more.
    ready_at
        When it became ready.
    woken_at
        When it last became ready after it had been blocked, or when it was made.
    stopped_at
        When it last left a CPU; None before the first time.
    waits_for
        What it is blocked on.
    own
        For the policy: its own data about the thread.
    """

    __slots__ = (
        "application",
        "band",
        "burst",
        "cpu",
        "cpus_allowed",
        "fragment",
        "kind",
        "left",
        "name",
        "nice",
        "number",
        "own",
        "parent",
        "pending",
        "ready_at",
        "run_time",
        "state",
        "steps",
        "stopped_at",
        "waits_for",
        "waker",
        "wakes_by_disk",
        "weight",
        "woken_at",
    )

    def __init__(self, number: int, new: NewThread, parent: Thread | None, now: int) -> None:
        self.number = number
        self.name = new.name
        self.kind = new.kind
        self.application = new.application
        self.nice = new.nice
        self.weight = new.real_weight
        self.cpus_allowed: frozenset[int] | None = None
        self.parent = parent
        self.waker: Thread | None = None
        self.steps = new.steps
        self.state = State.BLOCKED
        # What it does first, unless that is a burst; it has been taken out of the steps.
        self.pending: Step | None = None
        self.burst: Burst | None = None
        self.fragment = UNMANAGED
        self.left = 0
        self.band = USER
        self.cpu: int | None = None
        self.run_time = 0
        self.ready_at = now
        self.woken_at = now
        self.stopped_at: int | None = None
        self.waits_for = ""
        self.wakes_by_disk = False
        # Any: only the policy knows what it remembers.
        self.own: Any = None

    def may_run_on(self, cpu: int) -> bool:
        """Return whether it is allowed to run on a CPU."""
        return self.cpus_allowed is None or cpu in self.cpus_allowed

    def look_ahead(self) -> None:
        """Find out what it is going to do next."""
        step: Any = next(self.steps, None)
        if step.__class__ is Burst:
            self.burst = step
            self.left = step.time
            self.fragment = step.fragment
            self.band = KERNEL if step.is_kernel else USER
        else:
            self.burst = None
            self.pending = step

    def __repr__(self) -> str:
        return f"<Thread {self.name} {self.state.value}>"


@dataclass(slots=True, eq=False)
class SpinLock:
    """A lock around a run queue. CPUs spin on it and get it in the order in which they come.

    Attributes
    ----------
    free_at
        When it is free again, if no CPU waits for it.
    attempts, misses
        The number of operations that wanted it, and the number of those that found it taken.
    spun
        The time for which CPUs have waited for it.
    waiting
        By CPU that waits, in their order: a function that takes the lock at a time.
    """

    free_at: int = 0
    attempts: int = 0
    misses: int = 0
    spun: int = 0
    waiting: deque[Callable[[int], None]] = field(default_factory=deque)

    def is_free(self, now: int) -> bool:
        """Return whether a CPU that comes now gets it at once."""
        return self.free_at <= now and not self.waiting

    def release(self, now: int) -> None:
        """Hand it to the CPU that has waited for longest, if it is free now."""
        if self.waiting and self.free_at <= now:
            self.waiting.popleft()(now)


Task: TypeAlias = int | tuple[SpinLock, int]
"""What a CPU does in the scheduler: a time to spend, or a lock with how long it is held."""


class KernelInterface(Protocol):
    """The part of the simulation that a policy may read, and the requests that it may make."""

    @property
    def now(self) -> int:
        """The time, from 0."""

    @property
    def cpus(self) -> int:
        """Number of CPUs."""

    @property
    def machine(self) -> Machine:
        """The machine."""

    @property
    def workload(self) -> Workload:
        """The workload, with the names of its fragments."""

    @property
    def caches(self) -> Sequence[Cache]:
        """By CPU: its cache; ``fragment`` and ``leaves`` say what that holds."""

    @property
    def threads(self) -> Sequence[Thread]:
        """All threads that have appeared, by number."""

    @property
    def running(self) -> Sequence[Thread | None]:
        """By CPU: the thread that runs there, or None."""

    @property
    def random(self) -> Random:
        """Random numbers for the policy's choices."""

    def is_idle(self, cpu: int) -> bool:
        """Return whether nothing runs on a CPU."""

    def idle(self) -> list[int]:
        """Return the idle CPUs, the one first that has been idle for longest."""

    def executed(self, thread: Thread) -> int:
        """Return the time for which a thread has executed until now, also while it runs."""

    def preempt(self, cpu: int) -> None:
        """Let a CPU choose anew after the current event; an idle CPU is asked to pick.

        Raises
        ------
        DfoptError
            When there is no such CPU.
        """

    def offer(self, cpu: int) -> None:
        """Ask a CPU to pick after the current event, if it is idle then.

        Raises
        ------
        DfoptError
            When there is no such CPU.
        """

    def acquire(self, lock: SpinLock, hold: int | None = None) -> None:
        """Take a lock for one operation of the CPU at work.

        The CPU asks for it once it has done what it was asked to do before, and spins until it
        gets it. What the operation changes is changed at once.

        Parameters
        ----------
        lock
            The lock.
        hold
            How long it is held; None: the machine's ``lock_time``, with its distribution.

        Raises
        ------
        DfoptError
            When the time is negative, or no integer.
        """

    def spend(self, time: int) -> None:
        """Let the CPU at work spend time on the policy, such as on looking at queues.

        Raises
        ------
        DfoptError
            When the time is negative, or no integer.
        """

    def charge(self, cpu: int) -> None:
        """Let another CPU do what comes next, in :meth:`Policy.tick` or a function called by time.

        Without it CPU 0 is at work there. Elsewhere it is the CPU where something happens: where
        the thread runs, or which serves the interrupt.

        Raises
        ------
        DfoptError
            When there is no such CPU.
        """

    def call_at(self, time: int, happening: Callable[[], None]) -> None:
        """Call a function at a time.

        Raises
        ------
        DfoptError
            When that time is over, or no integer.
        """


class Policy:
    """Decides which ready thread runs where; one object lives for one simulation.

    Only :meth:`ready` and :meth:`pick` must be there. Callbacks may look at everything that
    :attr:`engine` shows, and ask it to :meth:`~KernelInterface.preempt`,
    :meth:`~KernelInterface.offer`, :meth:`~KernelInterface.acquire`,
    :meth:`~KernelInterface.spend` and :meth:`~KernelInterface.call_at`. Parameters of a policy are
    keyword arguments of its constructor with defaults, or its fields if it is a data class; their
    types say what is allowed. Scenarios and users may set them.
    """

    name: ClassVar[str]
    """Its name on the command line and in files."""

    tick_interval: int = 0
    """Time between two calls of :meth:`tick`; 0: it is never called."""

    obeys_cpus_allowed: ClassVar[bool] = False
    """Whether it looks where threads may run; if not, it is unfit for threads that are bound."""

    engine: KernelInterface
    """The simulation; set before :meth:`begin`."""

    scenario: Scenario
    """The scenario that is simulated, with the costs of switches; set before :meth:`begin`."""

    def __post_init__(self) -> None:
        """Check the parameters of a policy that is a data class; called while it is made."""
        check_fields(self)

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The spin locks around its queues, for the figures about waiting; often none."""
        return ()

    def unfit(self, workload: Workload, cpus: int) -> str | None:
        """Return why the policy makes no sense for a workload on these CPUs, or None.

        Called when :attr:`scenario` is set, and before :attr:`engine` is. When all policies are
        simulated, those are left out that return a reason.
        """
        if workload.restricts_cpus and not self.obeys_cpus_allowed:
            return "some threads may not run on all CPUs, which it does not look at"
        return None

    def unused(self) -> str | None:
        """Return which of the policy's rules never came into effect, and why, or None.

        Called at the end of a simulation.
        """
        return None

    def begin(self) -> None:
        """Prepare; :attr:`engine` knows machine and fragments, and there are no threads yet."""

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Take a thread in that has become ready.

        Parameters
        ----------
        thread
            The thread. Its ``burst`` says what it will do.
        why
            Why it is ready.
        cpu
            The CPU on which that happened: the one where it ran, or where the thread runs that woke
            or made it. None for interrupts, and for threads from the beginning.

        Returns
        -------
        int or None
            The CPU that is to run it; if that CPU is idle, it is asked to :meth:`pick`. None: all
            idle CPUs are asked. ``NOBODY``: none is, for instance because the policy itself asks
            with :meth:`~KernelInterface.offer`.
        """
        raise NotImplementedError("ready() must be there")

    def pick(self, cpu: int) -> Thread | None:
        """Return the thread that a CPU runs next, and forget it; None: the CPU stays idle."""
        raise NotImplementedError("pick() must be there")

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return the time for which a picked thread may execute, without penalties; 0: no limit."""
        return 0

    def blocked(self, thread: Thread, cpu: int) -> None:
        """Act on a thread that has left its CPU to wait for something."""

    def ended(self, thread: Thread, cpu: int) -> None:
        """Act on the end of a thread."""

    def changes(self, thread: Thread, fragment: int, cpu: int) -> bool:
        """Act on a running thread that is about to use another fragment, ``thread.fragment``.

        Parameters
        ----------
        thread
            The thread.
        fragment
            The fragment that it used so far.
        cpu
            The CPU where it runs.

        Returns
        -------
        bool
            Whether it leaves its CPU before it touches the data, and is :meth:`ready` anew.
        """
        return False

    def tick(self) -> None:
        """Act on the clock, every ``tick_interval``."""


@dataclass(eq=False)
class TimeSliced(Policy):
    """A policy under which each thread executes for at most one time slice after it is picked.

    Parameters
    ----------
    time_slice
        The length of the slice; 0: it does not end.
    """

    time_slice: Natural = 100_000_000

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return the time slice."""
        return self.time_slice
