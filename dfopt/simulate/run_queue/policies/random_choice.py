"""A ready thread at random: what a policy is worth that knows nothing."""

from __future__ import annotations

from typing import ClassVar

from dfopt.simulate.run_queue.contract import Thread, TimeSliced, Why


class RandomChoice(TimeSliced):
    """Every ready thread is as likely as any other to run next, wherever a CPU is free.

    Parameters
    ----------
    time_slice
        After so long a thread is ready again like all others; 0: never.
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
        # The last one takes its place, so that nothing has to move up.
        place = int(self.engine.random.random() * len(ready))
        ready[place], ready[-1] = ready[-1], ready[place]
        return ready.pop()
