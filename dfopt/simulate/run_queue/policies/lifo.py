"""Last in, first out: one stack for all CPUs."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from dfopt.simulate.run_queue.contract import GAVE_UP, Thread, TimeSliced, Why


class LastInFirstOut(TimeSliced):
    """The thread that became ready last runs next, wherever a CPU is free.

    A thread that yields, or has used up its slice, goes below all others. On top it would run again
    at once, and the thread that it yields to might wait for ever.

    Parameters
    ----------
    time_slice
        Time after which a thread goes below all others; 0: never.
    """

    name: ClassVar[str] = "lifo"

    def __init__(self, time_slice: int = 100_000_000) -> None:
        super().__init__(time_slice)
        self._stack: deque[Thread] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Put it on top."""
        del cpu
        if why in GAVE_UP:
            self._stack.appendleft(thread)
        else:
            self._stack.append(thread)

    def pick(self, cpu: int) -> Thread | None:
        """Take the one on top."""
        del cpu
        return self._stack.pop() if self._stack else None
