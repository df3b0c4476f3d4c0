"""What policies have in common that give every thread the same time slice."""

from __future__ import annotations

from dfopt.checks import check_integer
from dfopt.simulate.run_queue.policy import Policy
from dfopt.simulate.run_queue.thread import Thread


class TimeSliced(Policy):
    """A policy under which a thread that is picked executes for one time slice at most.

    Parameters
    ----------
    time_slice
        How long; 0: for ever.
    """

    def __init__(self, time_slice: int = 100_000_000) -> None:
        check_integer(time_slice, "time_slice")
        self.time_slice = time_slice

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return the time slice."""
        del thread, cpu
        return self.time_slice
