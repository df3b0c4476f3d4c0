"""The contract of run-queue policies: a handful of callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.engine import Engine
    from dfopt.simulate.run_queue.scenario import Scenario
    from dfopt.simulate.run_queue.spin_lock import SpinLock
    from dfopt.simulate.run_queue.thread import Thread
    from dfopt.simulate.run_queue.workload import Workload


NOBODY = -1
"""No CPU has this number: where :meth:`Policy.ready` returns it, none is asked to pick."""


class Why(Enum):
    """Why a thread is ready."""

    NEW = "new"
    WOKEN = "woken"
    EXPIRED = "its time slice is used up"
    PREEMPTED = "another one took its CPU"
    YIELDED = "it let others run first"
    CHANGED = "it changes to another fragment"


class Policy:
    """Decides which ready thread runs where; one object lives for one simulation.

    Only :meth:`ready` and :meth:`pick` must be there. Callbacks may look at everything that the
    engine has, and ask it to :meth:`~Engine.preempt`, :meth:`~Engine.offer`,
    :meth:`~Engine.acquire`, :meth:`~Engine.spend` and :meth:`~Engine.call_at`. Parameters of a
    policy are keyword arguments of its constructor with defaults; workloads and users may set them.
    """

    name: ClassVar[str]
    """What it is called on the command line and in files."""

    tick_interval: int = 0
    """How often :meth:`tick` is called; 0: never."""

    engine: Engine
    """The simulation; set before :meth:`begin`."""

    scenario: Scenario
    """What is simulated, and what switches cost in it; set before :meth:`begin`."""

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The spin locks around its queues, for what a run says of waiting; often none."""
        return ()

    def unfit(self, workload: Workload, cpus: int) -> str | None:
        """Return why it makes no sense for a workload on so many CPUs; None: it does.

        Called before :attr:`engine` is set; whoever runs many policies leaves it out then.
        """
        del workload, cpus
        return None

    def begin(self) -> None:
        """Prepare; the engine knows machine and fragments, and there are no threads yet."""

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Take a thread in that has become ready.

        Parameters
        ----------
        thread
            Its ``burst`` says what it will do.
        why
            Why.
        cpu
            On which CPU that happened: where it ran, or where the one runs that woke or made it;
            None for interrupts and for threads from the beginning.

        Returns
        -------
        int or None
            The CPU that is to run it; should it be idle, it is asked to :meth:`pick`. None: all
            idle CPUs are asked. ``NOBODY``: none is, for instance because the policy itself does
            that with :meth:`~Engine.offer`.
        """
        raise NotImplementedError("ready() must be there")

    def pick(self, cpu: int) -> Thread | None:
        """Return the thread that a CPU runs next, which is in no queue then; None: it is idle."""
        raise NotImplementedError("pick() must be there")

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return how long a thread that is picked may execute, penalties apart; 0: for ever."""
        del thread, cpu
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
            What it used so far.
        cpu
            Where it runs.

        Returns
        -------
        bool
            Whether it leaves its CPU before it touches the data, and is :meth:`ready` anew.
        """
        del thread, fragment, cpu
        return False

    def tick(self) -> None:
        """Act on the clock, every ``tick_interval``."""
