"""One ready queue for all CPUs: which two-level multi-scan scheduling replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dfopt.simulate.run_queue.contract import USER, Thread, TimeSliced, Why
from dfopt.simulate.run_queue.policies.building_blocks.ready_queue import ReadyQueue
from dfopt.simulate.run_queue.spin_lock import SpinLock


class GlobalQueue(TimeSliced):
    """The scheduler of UNIX System V on several CPUs (Sohn and Kim, sections II and IV).

    One ready queue of priority lists behind one spin lock; kernel-mode priorities come before
    user mode, among them disk wake-ups first, and each list goes round robin. There is no
    affinity: the next CPU that is free takes the first thread.

    The paper does not say how the queue is tested for emptiness, nor whether threads are
    preempted. Here the count is looked at before the lock is taken, as in the paper's own
    scheduler, so that idle CPUs do not spin. A thread that wakes up waits for the next switch:
    the paper says that the end of a quantum and the wake-up of threads run the scheduler, and
    names no preemption. A thread whose time slice ends in kernel mode waits on in kernel mode,
    unless ``stays_in_kernel`` is false; in UNIX System V a slice ends on the way back to user mode.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of its list; 0: never.
    stays_in_kernel
        Whether a thread whose slice ends in kernel mode waits in the list of its band, or among
        those in user mode.
    """

    name: ClassVar[str] = "global-queue"

    def __init__(self, time_slice: int = 100_000_000, stays_in_kernel: bool = True) -> None:
        super().__init__(time_slice)
        self.stays_in_kernel = stays_in_kernel
        self._queue = ReadyQueue(USER + 1)

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The one lock."""
        return (self._queue.lock,)

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Put it into the list of its band, and call the idle CPUs."""
        del cpu
        is_user = why is Why.EXPIRED and not self.stays_in_kernel
        self._queue.put(self.engine, thread, USER if is_user else thread.band)
        return self._queue.call(self.engine, self._call)

    def _call(self) -> None:
        for cpu in self.engine.idle():
            self.engine.offer(cpu)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first thread of the most urgent list."""
        del cpu
        queue = self._queue
        return queue.take(self.engine, USER + 1) if queue.count else None
