"""A thread as the engine runs it and policies see it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from dfopt.simulate.run_queue.steps import UNMANAGED, Burst, NewThread, Step


class State(Enum):
    """What a thread is doing."""

    READY = "ready"
    RUNNING = "running"
    BLOCKED = "blocked"
    ENDED = "ended"


DISK, KERNEL, USER = range(3)
"""Bands of urgency: woken by a disk, in kernel mode, in user mode."""


class Thread:
    """A thread; policies may read everything, and write ``own`` only.

    Attributes
    ----------
    number
        In the order of appearance.
    name, kind, application, nice
        See :class:`~dfopt.simulate.run_queue.steps.NewThread`.
    parent
        Who made it; None for those that were there from the beginning.
    state
        What it is doing.
    fragment
        What its next burst uses, or the one that is running.
    burst
        That burst; None if it does something else first.
    left
        What is left of the burst.
    band
        ``DISK``, ``KERNEL`` or ``USER``.
    cpu
        Where it runs or ran last; None before the first time.
    run_time
        How long it ran, without penalties, up to the last time it stopped.
    ready_at
        When it became ready.
    woken_at
        When it became ready after it had been blocked, or was made.
    stopped_at
        When it last left a CPU; None before the first time.
    waits_for
        What it is blocked on.
    own
        For the policy: whatever it has to remember about the thread.
    """

    __slots__ = (
        "application",
        "band",
        "burst",
        "cpu",
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
        "wakes_by_disk",
        "woken_at",
    )

    def __init__(self, number: int, new: NewThread, parent: Thread | None, now: int) -> None:
        self.number = number
        self.name = new.name
        self.kind = new.kind
        self.application = new.application
        self.nice = new.nice
        self.parent = parent
        self.steps = new.steps
        self.state = State.BLOCKED
        # What it does first, unless that is a burst; looked at already.
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
        # What a policy remembers is its own affair, and of its own type.
        self.own: Any = None

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
