"""A ready queue of priority lists behind one spin lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dfopt.simulate.run_queue.contract import NOBODY, KernelInterface, Thread
from dfopt.simulate.run_queue.spin_lock import SpinLock


class ReadyQueue:
    """Lists of ready threads, the most urgent first; round robin inside each.

    Parameters
    ----------
    lists
        The number of lists.

    Attributes
    ----------
    count
        The number of threads that it holds; read without the lock.
    lock
        It is held for everything else.
    """

    __slots__ = ("_lists", "count", "lock")

    def __init__(self, lists: int) -> None:
        self._lists: tuple[deque[Thread], ...] = tuple(deque() for _ in range(lists))
        self.count = 0
        self.lock = SpinLock()

    def put(self, engine: KernelInterface, thread: Thread, index: int) -> None:
        """Lock, and append a thread to a list."""
        engine.acquire(self.lock)
        self._lists[index].append(thread)
        self.count += 1

    def call(self, engine: KernelInterface, caller: Callable[[], None]) -> int:
        """Call the idle CPUs, if there are any; they hear of it when the lock is free."""
        if None in engine.running:
            caller()
        return NOBODY

    def holds(self, lists: int) -> bool:
        """Return whether the first lists, ``lists`` of them, hold a thread; needs no lock."""
        return any(self._lists[:lists])

    def take(self, engine: KernelInterface, lists: int) -> Thread | None:
        """Lock, and take the first thread of the first lists, ``lists`` of them, or None."""
        engine.acquire(self.lock)
        for index in range(lists):
            threads = self._lists[index]
            if threads:
                self.count -= 1
                return threads.popleft()
        return None
