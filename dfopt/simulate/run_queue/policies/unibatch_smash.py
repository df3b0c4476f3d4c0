"""unibatch-smash: a queue of batches on one CPU."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from dfopt.simulate.run_queue.policies.batches import Batch, BatchPolicy
from dfopt.simulate.run_queue.policy import Why
from dfopt.simulate.run_queue.thread import Thread


class UnibatchSmash(BatchPolicy):
    """Batches on one CPU (Debattista, Vella and Cordina, section 4).

    Full overflow batches and batches whose dispatches are used up go to the end of the batch run
    queue. Only CPU 0 is used. For what the paper leaves open see
    :class:`~dfopt.simulate.run_queue.policies.batches.BatchPolicy`.
    """

    name: ClassVar[str] = "unibatch-smash"

    def begin(self) -> None:
        """Prepare the batch run queue."""
        super().begin()
        self._queue: deque[Batch] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Let it go on in its batch, or join one, on CPU 0."""
        del cpu
        return super().ready(thread, why, 0)

    def pick(self, cpu: int) -> Thread | None:
        """Take the next thread, on CPU 0."""
        return None if cpu else super().pick(0)

    def put(self, batch: Batch, cpu: int) -> None:
        """Append it to the batch run queue."""
        del cpu
        self._queue.append(batch)

    def put_full(self, batch: Batch, cpu: int) -> int:
        """Append it to the batch run queue."""
        self._queue.append(batch)
        return cpu

    def take(self, cpu: int) -> Batch | None:
        """Take the batch at the top."""
        del cpu
        return self._queue.popleft() if self._queue else None

    def queued(self, cpu: int) -> int:
        """Return the length of the batch run queue."""
        del cpu
        return len(self._queue)
