"""What a thread does: bursts of execution, and what it does between them.

A thread's program is an iterator of steps. Steps may be used again and again, by one thread or
many; what they work on (channels, locks, devices) belongs to one simulation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from dfopt.checks import check_integer, described
from dfopt.errors import DfoptError, InstanceError

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.engine import Engine
    from dfopt.simulate.run_queue.thread import Thread

MOST_URGENT, LEAST_URGENT = -20, 19
"""Between these are nice values."""

UNMANAGED = -1
"""The fragment of a burst that uses none; it disturbs no cache."""

ROOM = 3
"""One part in so many of a channel must be free again before those that wait for room go on."""

CLEAN, DIRTY, INVALIDATED = range(3)
"""How a burst leaves its fragment; indices into :data:`dfopt.trace.trace.LEAVES`."""


class Outcome(Enum):
    """What a step means for the CPU."""

    BLOCKED = "blocked"
    YIELDED = "yielded"


# Members of an enumeration take long to look up.
BLOCKED, YIELDED = Outcome.BLOCKED, Outcome.YIELDED


@dataclass(frozen=True, slots=True)
class Burst:
    """Execution, in user mode unless it says otherwise.

    Parameters
    ----------
    time
        How long, at least 1, in the simulation's unit, without what the switch to it costs.
    fragment
        Number of the data fragment that it uses, or :data:`UNMANAGED`.
    lines
        How many lines of it are read when the cache holds another fragment.
    leaves
        :data:`CLEAN`, :data:`DIRTY` or :data:`INVALIDATED`.
    is_kernel
        Whether it runs in kernel mode.
    extents
        For caches of lines: what it touches, as (first line, number of lines) in the lines of the
        whole memory; without it, the first ``lines`` lines of its fragment.
    """

    time: int
    fragment: int = UNMANAGED
    lines: int = 0
    leaves: int = CLEAN
    is_kernel: bool = False
    extents: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        check_integer(self.time, "time", least=1)
        check_integer(self.fragment, "fragment", least=UNMANAGED)
        check_integer(self.lines, "lines")
        if self.leaves not in (CLEAN, DIRTY, INVALIDATED):
            raise InstanceError(f"must be 0, 1 or 2, not {described(self.leaves)}", place="leaves")


class Step(Protocol):
    """Something a thread does that takes no time by itself."""

    def perform(self, engine: Engine, thread: Thread) -> Outcome | None:
        """Do it; None: the thread goes on at once."""


Steps = Iterator["Burst | Step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThread:
    """A thread to be.

    Parameters
    ----------
    name
        Unique in the workload.
    steps
        What it does; used up by one simulation.
    kind
        Its class, such as ``"HTTP"``; schedulers that tell classes apart go by it.
    application
        Number of the application it belongs to.
    nice
        -20 (urgent) to 19.
    arrival
        When it appears, for those that are there from the beginning.
    """

    name: str
    steps: Steps
    kind: str = ""
    application: int = 0
    nice: int = 0
    arrival: int = 0

    def __post_init__(self) -> None:
        check_integer(self.nice, "nice", least=MOST_URGENT)
        if self.nice > LEAST_URGENT:
            raise InstanceError(f"must be at most {LEAST_URGENT}, not {self.nice}", place="nice")
        check_integer(self.arrival, "arrival")


@dataclass(slots=True, eq=False)
class Channel:
    """Messages between threads.

    Parameters
    ----------
    name
        What threads are said to wait for.
    messages
        How many it holds.
    waiting
        Those that wait for a message.
    limit
        Whoever sends to one that holds so many waits until a third of them is gone, as with a TCP
        socket of Linux; and so does whoever comes after one that waits. 0: there is no limit.
    held_up
        Those that wait for room, in their order, and how many messages they send.
    """

    name: str
    messages: int = 0
    waiting: deque[Thread] = field(default_factory=deque)
    limit: int = 0
    held_up: deque[tuple[Thread, int]] = field(default_factory=deque)

    def put(self, engine: Engine, messages: int, cpu: int | None) -> None:
        """Put messages in; each wakes one of those that wait for it."""
        while messages and self.waiting:
            messages -= 1
            engine.wake(self.waiting.popleft(), cpu)
        self.messages += messages


@dataclass(slots=True, eq=False)
class Mutex:
    """A lock that blocks whoever finds it taken, and is handed on in order."""

    name: str
    holder: Thread | None = None
    waiting: deque[Thread] = field(default_factory=deque)


@dataclass(slots=True, eq=False)
class Device:
    """Serves one request after the other, such as a disk."""

    name: str
    free_at: int = 0


@dataclass(frozen=True, slots=True)
class Send:
    """Put messages into a channel, or wait until it has room."""

    channel: Channel
    messages: int = 1

    def __post_init__(self) -> None:
        check_integer(self.messages, "messages")

    def perform(self, engine: Engine, thread: Thread) -> Outcome | None:
        """Do it."""
        channel = self.channel
        if channel.limit and (channel.held_up or channel.messages >= channel.limit):
            channel.held_up.append((thread, self.messages))
            thread.waits_for = f"room in {channel.name}"
            return BLOCKED
        channel.put(engine, self.messages, thread.cpu)
        return None


@dataclass(frozen=True, slots=True)
class Receive:
    """Take a message out of a channel, or wait for one."""

    channel: Channel

    def perform(self, engine: Engine, thread: Thread) -> Outcome | None:
        """Do it."""
        channel = self.channel
        if channel.messages:
            channel.messages -= 1
            while channel.held_up and ROOM * channel.messages <= (ROOM - 1) * channel.limit:
                sender, messages = channel.held_up.popleft()
                channel.put(engine, messages, thread.cpu)
                engine.wake(sender, thread.cpu)
            return None
        channel.waiting.append(thread)
        thread.waits_for = channel.name
        return BLOCKED


@dataclass(frozen=True, slots=True)
class Acquire:
    """Take a lock, or wait for it."""

    mutex: Mutex

    def perform(self, engine: Engine, thread: Thread) -> Outcome | None:
        """Do it."""
        mutex = self.mutex
        if mutex.holder is None:
            mutex.holder = thread
            return None
        engine.counters.lock_waits += 1
        mutex.waiting.append(thread)
        thread.waits_for = mutex.name
        return BLOCKED


@dataclass(frozen=True, slots=True)
class Release:
    """Hand a lock on."""

    mutex: Mutex

    def perform(self, engine: Engine, thread: Thread) -> None:
        """Do it."""
        mutex = self.mutex
        if mutex.holder is not thread:
            raise DfoptError(
                f"the thread {thread.name} releases {mutex.name}, which it does not hold; let it "
                "acquire that first"
            )
        mutex.holder = mutex.waiting.popleft() if mutex.waiting else None
        if mutex.holder is not None:
            engine.wake(mutex.holder, thread.cpu)


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for a timer."""

    time: int

    def __post_init__(self) -> None:
        check_integer(self.time, "time")

    def perform(self, engine: Engine, thread: Thread) -> Outcome:
        """Do it."""
        thread.waits_for = "a timer"
        engine.wake_at(engine.now + self.time, thread)
        return BLOCKED


@dataclass(frozen=True, slots=True)
class InputOutput:
    """Wait until a device has served a request; the thread then wakes up by a disk interrupt."""

    device: Device
    time: int

    def __post_init__(self) -> None:
        check_integer(self.time, "time")

    def perform(self, engine: Engine, thread: Thread) -> Outcome:
        """Do it."""
        device = self.device
        device.free_at = max(engine.now, device.free_at) + self.time
        thread.waits_for = device.name
        thread.wakes_by_disk = True
        engine.wake_at(device.free_at, thread)
        return BLOCKED


@dataclass(frozen=True, slots=True)
class Spawn:
    """Make a thread."""

    child: NewThread

    def perform(self, engine: Engine, thread: Thread) -> None:
        """Do it."""
        engine.spawn(self.child, thread)


@dataclass(frozen=True, slots=True)
class Yield:
    """Let others run first."""

    def perform(self, engine: Engine, thread: Thread) -> Outcome:
        """Do it."""
        del engine, thread
        return YIELDED
