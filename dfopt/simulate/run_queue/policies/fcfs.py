"""First come, first served: one queue for all CPUs."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from dfopt.simulate.run_queue.contract import Thread, TimeSliced, Why


class FirstComeFirstServed(TimeSliced):
    """Threads run in the order in which they became ready, wherever a CPU is free.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of the queue; 0: never.
    """

    name: ClassVar[str] = "fcfs"

    def __init__(self, time_slice: int = 100_000_000) -> None:
        super().__init__(time_slice)
        self._queue: deque[Thread] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up."""
        del why, cpu
        self._queue.append(thread)
        return None

    def pick(self, cpu: int) -> Thread | None:
        """Take the first."""
        del cpu
        return self._queue.popleft() if self._queue else None
