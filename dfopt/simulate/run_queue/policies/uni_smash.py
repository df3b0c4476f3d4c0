"""uni-smash: one circular queue on one CPU."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from dfopt.simulate.run_queue.policy import Policy, Why
from dfopt.simulate.run_queue.thread import Thread


class UniSmash(Policy):
    """The plain scheduler for one CPU (Debattista, Vella and Cordina, section 3).

    A single circular queue; threads run until they yield, block or end. Only CPU 0 is used.
    """

    name: ClassVar[str] = "uni-smash"

    def __init__(self) -> None:
        self._queue: deque[Thread] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up."""
        del why, cpu
        self._queue.append(thread)
        return 0

    def pick(self, cpu: int) -> Thread | None:
        """Take the first, on CPU 0."""
        return self._queue.popleft() if self._queue and not cpu else None
