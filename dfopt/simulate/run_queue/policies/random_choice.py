"""A ready thread at random, to compare policies with one that knows nothing."""

from __future__ import annotations

from typing import ClassVar

from dfopt.simulate.run_queue.contract import Thread, TimeSliced, Why


class RandomChoice(TimeSliced):
    """Every ready thread is as likely as any other to run next, wherever a CPU is free.

    Parameters
    ----------
    time_slice
        Time after which a thread is ready again like all others; 0: never.
    """

    name: ClassVar[str] = "random"

    def __init__(self, time_slice: int = 100_000_000) -> None:
        super().__init__(time_slice)
        self._ready: list[Thread] = []

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Take it in; there is no order."""
        del why, cpu
        self._ready.append(thread)

    def pick(self, cpu: int) -> Thread | None:
        """Draw one."""
        del cpu
        ready = self._ready
        if not ready:
            return None
        # The last one takes the free place, so that no other has to move.
        position = int(self.engine.random.random() * len(ready))
        ready[position], ready[-1] = ready[-1], ready[position]
        return ready.pop()
