"""FP: every thread has its CPU."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from dfopt.simulate.run_queue.contract import Thread, TimeSliced, Why


class FixedProcessor(TimeSliced):
    """Every thread always runs on the CPU that it was assigned to when it appeared.

    The strictest of Squillante and Lazowska's policies. A CPU serves its threads in the order in
    which they became ready, and idles while threads of other CPUs wait. They assume that all CPUs
    have equally many threads; here a new one goes to the CPU that has fewest (of several, the
    lowest number), which is round robin until threads end.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of its CPU's queue; 0: never.

    References
    ----------
    M. S. Squillante and E. D. Lazowska, "Using Processor-Cache Affinity Information in
    Shared-Memory Multiprocessor Scheduling", IEEE Transactions on Parallel and Distributed
    Systems 4(2), 1993, pp. 131-143: policy FP.
    """

    name: ClassVar[str] = "fp"

    def __init__(self, time_slice: int = 100_000_000) -> None:
        super().__init__(time_slice)
        self._queues: list[deque[Thread]] = []
        self._threads: list[int] = []

    def begin(self) -> None:
        """Make the queues."""
        self._queues = [deque() for _ in range(self.engine.cpus)]
        self._threads = [0] * self.engine.cpus

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up at the thread's CPU."""
        del cpu
        if why is Why.NEW:
            thread.own = self._threads.index(min(self._threads))
            self._threads[thread.own] += 1
        own = thread.own
        assert isinstance(own, int), "every thread is new once"
        self._queues[own].append(thread)
        return own

    def pick(self, cpu: int) -> Thread | None:
        """Take the first of this CPU's."""
        queue = self._queues[cpu]
        return queue.popleft() if queue else None

    def ended(self, thread: Thread, cpu: int) -> None:
        """Make room for others."""
        del thread
        self._threads[cpu] -= 1
