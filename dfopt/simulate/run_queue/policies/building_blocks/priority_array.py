"""Run queues of the Linux 2.6 scheduler: two arrays of priority lists for each CPU."""

from __future__ import annotations

from collections import deque
from typing import Any

from dfopt.simulate.run_queue.spin_lock import SpinLock

PRIORITIES = 140
"""Number of priorities; 0 is the most urgent. Those below 100 are for real-time threads."""

NEVER = -1

BITS = tuple(1 << priority for priority in range(PRIORITIES))


class PriorityArray:
    """A list for each priority, and a bitmap of those that hold something.

    Attributes
    ----------
    bitmap
        Bit p is set when list p holds something.
    lists
        First in, first out; policies put threads in, or groups of threads.
    """

    __slots__ = ("bitmap", "lists")

    def __init__(self) -> None:
        self.bitmap = 0
        self.lists: list[deque[Any]] = [deque() for _ in range(PRIORITIES)]

    def append(self, entry: object, priority: int) -> None:
        """Put something at the end of a list."""
        self.lists[priority].append(entry)
        self.bitmap |= BITS[priority]

    def appendleft(self, entry: object, priority: int) -> None:
        """Put something in front of a list."""
        self.lists[priority].appendleft(entry)
        self.bitmap |= BITS[priority]

    def remove(self, entry: object, priority: int) -> None:
        """Take something out of the middle of a list."""
        entries = self.lists[priority]
        entries.remove(entry)
        if not entries:
            self.bitmap ^= BITS[priority]


class RunQueue:
    """The run queue of one CPU.

    Attributes
    ----------
    cpu
        Its number.
    active, expired
        Threads with time left, and those that have used theirs up; the two are swapped when the
        first is empty.
    waiting
        How many threads are in either.
    expired_since
        When the first thread since the last swap used up its time, or :data:`NEVER`.
    best_expired
        The most urgent static priority in the expired array.
    failed
        How many times in a row the CPU's load balancer found an imbalance and moved nothing.
    lock
        The lock of the queue.
    """

    __slots__ = (
        "active",
        "best_expired",
        "cpu",
        "expired",
        "expired_since",
        "failed",
        "lock",
        "waiting",
    )

    def __init__(self, cpu: int) -> None:
        self.cpu = cpu
        self.active = PriorityArray()
        self.expired = PriorityArray()
        self.waiting = 0
        self.expired_since = NEVER
        self.best_expired = PRIORITIES
        self.failed = 0
        self.lock = SpinLock()

    def swap(self) -> None:
        """Begin the next epoch, the turn of the threads that have used up their time."""
        self.active, self.expired = self.expired, self.active
        self.expired_since = NEVER
        self.best_expired = PRIORITIES


class Entity:
    """The data that the scheduler keeps about a thread.

    Attributes
    ----------
    static
        Its static priority, 100 to 139.
    priority
        Its dynamic priority.
    interactive
        It is interactive if its dynamic priority is at most this number.
    interactive_sleep
        A longer sleep makes it interactive at once.
    time_slice, left
        Its time slice, and the rest of the slice at ``run_time``.
    is_first_slice
        Whether it still uses the time that its parent gave it.
    average, bonus
        Its sleep average, and the bonus that follows from it, 0 to ``max_bonus``.
    run_time
        Its run time in all when it was last charged.
    """

    __slots__ = (
        "average",
        "bonus",
        "interactive",
        "interactive_sleep",
        "is_first_slice",
        "left",
        "priority",
        "run_time",
        "static",
        "time_slice",
    )

    def __init__(self, static: int, time_slice: int) -> None:
        self.static = static
        self.priority = static
        self.interactive = static
        self.interactive_sleep = 0
        self.time_slice = time_slice
        self.left = time_slice
        self.is_first_slice = False
        self.average = 0
        self.bonus = 0
        self.run_time = 0
