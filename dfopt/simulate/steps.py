"""Actions of threads between bursts: they exchange messages, lock, sleep, read, spawn and yield.

An action may be used again and again, by one thread or many. The object that it works on (a
channel, a lock, a device) belongs to one simulation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from dfopt.checks import check_integer
from dfopt.errors import DfoptError
from dfopt.simulate.contract import Thread
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.workload import Burst, NewThread, Pause, Steps

ROOM = 3
"""A third of a full channel must be free again before threads that wait for room go on."""

# Members of an enumeration take long to look up.
BLOCKED, YIELDED = Pause.BLOCKED, Pause.YIELDED


@dataclass(slots=True, eq=False)
class Channel:
    """Messages between threads.

    Parameters
    ----------
    name
        Named in errors about threads that wait here.
    messages
        The number of messages that it holds.
    waiting
        The threads that wait for a message.
    limit
        A thread that sends to a channel with this number of messages waits until a third of them
        is gone, as with a TCP socket of Linux. A thread that comes after one that waits, waits as
        well. 0: there is no limit.
    held_up
        The threads that wait for room, in their order, each with the number of messages it sends.
    """

    name: str
    messages: int = 0
    waiting: deque[Thread] = field(default_factory=deque)
    limit: int = 0
    held_up: deque[tuple[Thread, int]] = field(default_factory=deque)

    def put(self, kernel: Kernel, messages: int, cpu: int | None) -> None:
        """Put messages in; each of them wakes one of the threads that wait for one."""
        while messages and self.waiting:
            messages -= 1
            kernel.wake(self.waiting.popleft(), cpu)
        self.messages += messages


@dataclass(slots=True, eq=False)
class Mutex:
    """A lock that blocks threads that find it taken; they get it in the order they came."""

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

    def perform(self, kernel: Kernel, thread: Thread) -> Pause | None:
        """Do it."""
        channel = self.channel
        if channel.limit and (channel.held_up or channel.messages >= channel.limit):
            channel.held_up.append((thread, self.messages))
            thread.waits_for = f"room in {channel.name}"
            return BLOCKED
        channel.put(kernel, self.messages, thread.cpu)
        return None


@dataclass(frozen=True, slots=True)
class Receive:
    """Take a message out of a channel, or wait for one."""

    channel: Channel

    def perform(self, kernel: Kernel, thread: Thread) -> Pause | None:
        """Do it."""
        channel = self.channel
        if channel.messages:
            channel.messages -= 1
            while channel.held_up and ROOM * channel.messages <= (ROOM - 1) * channel.limit:
                sender, messages = channel.held_up.popleft()
                channel.put(kernel, messages, thread.cpu)
                kernel.wake(sender, thread.cpu)
            return None
        channel.waiting.append(thread)
        thread.waits_for = channel.name
        return BLOCKED


@dataclass(frozen=True, slots=True)
class Acquire:
    """Take a lock, or wait for it."""

    mutex: Mutex

    def perform(self, kernel: Kernel, thread: Thread) -> Pause | None:
        """Do it."""
        mutex = self.mutex
        if mutex.holder is None:
            mutex.holder = thread
            return None
        kernel.counters.lock_waits += 1
        mutex.waiting.append(thread)
        thread.waits_for = mutex.name
        return BLOCKED


@dataclass(frozen=True, slots=True)
class Release:
    """Give a lock to the next thread that waits for it, or set it free."""

    mutex: Mutex

    def perform(self, kernel: Kernel, thread: Thread) -> None:
        """Do it."""
        mutex = self.mutex
        if mutex.holder is not thread:
            raise DfoptError(
                f"the thread {thread.name} releases {mutex.name}, which it does not hold; let it "
                "acquire that first"
            )
        mutex.holder = mutex.waiting.popleft() if mutex.waiting else None
        if mutex.holder is not None:
            kernel.wake(mutex.holder, thread.cpu)


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for a timer."""

    time: int

    def __post_init__(self) -> None:
        check_integer(self.time, "time")

    def perform(self, kernel: Kernel, thread: Thread) -> Pause:
        """Do it."""
        thread.waits_for = "a timer"
        kernel.wake_at(kernel.now + self.time, thread)
        return BLOCKED


@dataclass(frozen=True, slots=True)
class InputOutput:
    """Wait until a device has served a request; a disk interrupt then wakes the thread."""

    device: Device
    time: int

    def __post_init__(self) -> None:
        check_integer(self.time, "time")

    def perform(self, kernel: Kernel, thread: Thread) -> Pause:
        """Do it."""
        device = self.device
        device.free_at = max(kernel.now, device.free_at) + self.time
        thread.waits_for = device.name
        thread.wakes_by_disk = True
        kernel.wake_at(device.free_at, thread)
        return BLOCKED


@dataclass(frozen=True, slots=True)
class Spawn:
    """Make a thread."""

    child: NewThread

    def perform(self, kernel: Kernel, thread: Thread) -> None:
        """Do it."""
        kernel.spawn(self.child, thread)


def spawn_all(children: Iterable[NewThread], time: int) -> Steps:
    """Yield the steps of a main thread that makes others one by one.

    Parameters
    ----------
    children
        The threads that it makes, each of which is asked for when its turn comes.
    time
        Execution time to make one of them.
    """
    burst = Burst(time) if time else None
    for child in children:
        if burst is not None:
            yield burst
        yield Spawn(child)


@dataclass(frozen=True, slots=True)
class Yield:
    """Let others run first."""

    def perform(self, kernel: Kernel, thread: Thread) -> Pause:
        """Do it."""
        return YIELDED
