"""Batches of threads, and the base class of all schedulers with batches."""

from __future__ import annotations

from collections import deque

from dfopt.checks import check_integer
from dfopt.simulate.run_queue.contract import Policy, Thread, Why


class Batch:
    """Threads that take turns on one CPU (Debattista, Vella and Cordina, section 4).

    Attributes
    ----------
    threads
        Its ready threads, in the order in which they run.
    size
        BSize: number of its threads, with one that runs. A thread that blocks or ends leaves it.
    dispatches
        BCount: the number of its dispatches since it became current.
    """

    __slots__ = ("dispatches", "size", "threads")

    def __init__(self) -> None:
        self.threads: deque[Thread] = deque()
        self.size = 0
        self.dispatches = 0

    def join(self, thread: Thread) -> None:
        """Take a thread in."""
        self.threads.append(thread)
        self.size += 1
        thread.own = self


class BatchPolicy(Policy):
    """A CPU runs the threads of its current batch, one after the other (section 4).

    A new thread joins the current batch of the CPU that made it; when that has ``max_batch_size``
    threads, the overflow batch, which is put away when it is full. The current batch runs for
    ``max_batch_count`` dispatches and is put away for the next one; a batch that all threads
    have left is destroyed. Each scheduler says where batches are put and taken from.

    The paper does not say four things. Here:

    - A thread that wakes up is treated like a new one that the waking CPU made, so that
      communicating threads gather in one batch. Woken by an interrupt, it joins where it ran last.
      Threads from the beginning are CPU 0's.
    - A batch need not be full to run: a CPU that has no other takes its overflow batch.
    - An overflow batch that does not get full has its turn after the batches that were in the
      queue when it began; otherwise its threads could wait for ever.
    - Threads that yield stay in their batch, at its end.

    Parameters
    ----------
    max_batch_size
        MAXBSIZE: a batch holds at most this number of threads.
    max_batch_count
        MAXBCOUNT: number of dispatches after which the next batch is taken.
    """

    def __init__(self, max_batch_size: int = 32, max_batch_count: int = 128) -> None:
        check_integer(max_batch_size, "max_batch_size", least=1)
        check_integer(max_batch_count, "max_batch_count", least=1)
        self.max_batch_size = max_batch_size
        self.max_batch_count = max_batch_count

    def begin(self) -> None:
        """Prepare for the machine's CPUs."""
        cpus = self.engine.cpus
        # None if and only if there is nothing to run on the CPU (section 6).
        self.current: list[Batch | None] = [None] * cpus
        self.overflow: list[Batch | None] = [None] * cpus
        # By CPU: how many batches come before the overflow batch.
        self._ahead = [0] * cpus

    # Where batches wait.

    def put(self, batch: Batch, cpu: int) -> None:
        """Put the current batch away, after its dispatches are used up."""
        raise NotImplementedError

    def put_full(self, batch: Batch, cpu: int) -> int | None:
        """Put a full overflow batch away; return the CPU to ask, or None for all."""
        raise NotImplementedError

    def take(self, cpu: int) -> Batch | None:
        """Return the next batch of a CPU."""
        raise NotImplementedError

    def queued(self, cpu: int) -> int:
        """Return the number of batches in the queue that a CPU takes from."""
        raise NotImplementedError

    # The contract of policies.

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Let it go on in its batch, or join one."""
        del why
        batch = thread.own
        if isinstance(batch, Batch):
            batch.threads.append(thread)
            return cpu
        if cpu is None:
            cpu = thread.cpu or 0
        return self._join(thread, cpu)

    def pick(self, cpu: int) -> Thread | None:
        """Take the next thread of the current batch, or of the next one."""
        batch = self.current[cpu]
        if batch is None or not batch.threads or batch.dispatches >= self.max_batch_count:
            if batch is not None and batch.threads:
                self.put(batch, cpu)
            self.current[cpu] = batch = self._next(cpu)
            if batch is None:
                return None
            batch.dispatches = 0
        batch.dispatches += 1
        return batch.threads.popleft()

    def blocked(self, thread: Thread, cpu: int) -> None:
        """Let it leave its batch."""
        self.ended(thread, cpu)

    def ended(self, thread: Thread, cpu: int) -> None:
        """Let it leave its batch."""
        del cpu
        batch = thread.own
        assert isinstance(batch, Batch)
        batch.size -= 1
        thread.own = None

    def _join(self, thread: Thread, cpu: int) -> int | None:
        current = self.current[cpu]
        if current is None:
            current = self.current[cpu] = Batch()
        if current.size < self.max_batch_size:
            current.join(thread)
            return cpu
        overflow = self.overflow[cpu]
        if overflow is None:
            overflow = self.overflow[cpu] = Batch()
            self._ahead[cpu] = self.queued(cpu)
        overflow.join(thread)
        if overflow.size < self.max_batch_size:
            return cpu
        self.overflow[cpu] = None
        return self.put_full(overflow, cpu)

    def _next(self, cpu: int) -> Batch | None:
        overflow = self.overflow[cpu]
        if overflow is None or self._ahead[cpu] > 0:
            batch = self.take(cpu)
            if batch is not None:
                self._ahead[cpu] -= 1
                return batch
        self.overflow[cpu] = None
        return overflow
