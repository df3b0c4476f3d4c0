"""smpbatch-smash: one queue of batches for all CPUs, behind one lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from dfopt.simulate.run_queue.policies.batches import Batch, BatchPolicy
from dfopt.simulate.run_queue.spin_lock import SpinLock


class SmpbatchSmash(BatchPolicy):
    """A shared queue of batches (Debattista, Vella and Cordina, section 5.1).

    Every CPU has its own current and overflow batch, which need no lock. Full overflow batches
    and batches whose dispatches are used up go to the end of the shared batch queue, and CPUs
    take the next batch from there; each such operation holds the lock BQlck. An idle CPU sleeps
    until somebody puts a batch into the queue, and takes the lock only if one is left for it. For
    what the paper leaves open see
    :class:`~dfopt.simulate.run_queue.policies.batches.BatchPolicy`.
    """

    name: ClassVar[str] = "smpbatch-smash"

    def begin(self) -> None:
        """Prepare the shared batch queue."""
        super().begin()
        self._queue: deque[Batch] = deque()
        self._lock = SpinLock()

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The batch queue's lock."""
        return (self._lock,)

    def put(self, batch: Batch, cpu: int) -> None:
        """Append it to the shared queue."""
        del cpu
        self.engine.acquire(self._lock)
        self._queue.append(batch)
        # This CPU may take its overflow batch next.
        for idle in self.engine.idle():
            self.engine.offer(idle)

    def put_full(self, batch: Batch, cpu: int) -> None:
        """Append it to the shared queue, for any CPU."""
        del cpu
        self.engine.acquire(self._lock)
        self._queue.append(batch)

    def take(self, cpu: int) -> Batch | None:
        """Take the first batch of the shared queue."""
        del cpu
        if not self._queue:
            return None
        self.engine.acquire(self._lock)
        return self._queue.popleft()

    def queued(self, cpu: int) -> int:
        """Return the length of the shared queue."""
        del cpu
        return len(self._queue)
