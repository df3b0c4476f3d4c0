"""shared-smash: one queue of threads for all CPUs, behind one lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from dfopt.simulate.run_queue.policy import Policy, Why
from dfopt.simulate.run_queue.spin_lock import SpinLock
from dfopt.simulate.run_queue.thread import Thread


class SharedSmash(Policy):
    """The shared run queue (Debattista, Vella and Cordina, section 3).

    Every CPU takes threads from one queue and puts them back there, and holds a spin lock for
    each such operation. Threads run until they yield, block or end. An idle CPU sleeps until
    somebody puts a thread into the queue, and takes the lock only if one is left for it.
    """

    name: ClassVar[str] = "shared-smash"

    def __init__(self) -> None:
        self._queue: deque[Thread] = deque()
        self._lock = SpinLock()

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The run queue's lock."""
        return (self._lock,)

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Put it at the end."""
        del why, cpu
        self.engine.acquire(self._lock)
        self._queue.append(thread)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first."""
        del cpu
        if not self._queue:
            return None
        self.engine.acquire(self._lock)
        return self._queue.popleft()
