"""One ready queue for all CPUs: what two-level multi-scan scheduling replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dfopt.simulate.run_queue.contract import USER, SpinLock, Thread, TimeSliced, Why
from dfopt.simulate.run_queue.policies.building_blocks.ready_queue import ReadyQueue


class GlobalQueue(TimeSliced):
    """The scheduler of UNIX System V on several CPUs (Sohn and Kim, sections II and IV).

    One ready queue of priority lists behind one spin lock; kernel-mode priorities come before
    user mode, among them disk wake-ups first, and each list goes round robin. There is no
    affinity: the next CPU that is free takes the first thread.

    The paper is silent on the queue's test for emptiness and on preemption. Readings: the count
    is looked at before the lock is taken, as in the paper's own scheduler, so that idle CPUs do
    not spin; and a thread that wakes up waits for the next switch, as the paper names the end of
    a quantum and the wake-up of threads as what runs the scheduler, but no preemption.

    Parameters
    ----------
    time_slice
        After so long a thread goes to the end of its list; 0: never.
    """

    name: ClassVar[str] = "global-queue"

    def __init__(self, time_slice: int = 100_000_000) -> None:
        super().__init__(time_slice)
        self._queue = ReadyQueue(USER + 1)

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The one lock."""
        return (self._queue.lock,)

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Put it into the list of its band, and call the idle CPUs."""
        del why, cpu
        self._queue.put(self.engine, thread, thread.band)
        return self._queue.call(self.engine, self._call)

    def _call(self) -> None:
        for cpu in self.engine.idle():
            self.engine.offer(cpu)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first thread of the most urgent list."""
        del cpu
        queue = self._queue
        return queue.take(self.engine, USER + 1) if queue.count else None
