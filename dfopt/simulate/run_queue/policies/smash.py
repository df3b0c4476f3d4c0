"""The schedulers of SMASH: queues of threads, or of batches of threads, for one CPU or several.

Debattista, Vella and Cordina, *Cache-affinity scheduling for fine grain multithreading*.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from dfopt.simulate.run_queue.contract import Policy, Thread, Why
from dfopt.simulate.run_queue.policies.building_blocks.batches import Batch, BatchPolicy
from dfopt.simulate.run_queue.spin_lock import SpinLock


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


class SharedSmash(Policy):
    """The shared run queue (Debattista, Vella and Cordina, section 3).

    Every CPU takes threads from one queue and puts them back there, and holds a spin lock for
    each such operation. Threads run until they yield, block or end. An idle CPU sleeps until
    a thread is put into the queue, and takes the lock only if one is left for it.
    """

    name: ClassVar[str] = "shared-smash"

    def __init__(self) -> None:
        self._queue: deque[Thread] = deque()
        self._lock = SpinLock()

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The run queue's lock."""
        return (self._lock,)

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Put it at the end."""
        del why, cpu
        self.engine.acquire(self._lock)
        self._queue.append(thread)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first."""
        del cpu
        if not self._queue:
            return None
        self.engine.acquire(self._lock)
        return self._queue.popleft()


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


class SmpbatchSmash(BatchPolicy):
    """A shared queue of batches (Debattista, Vella and Cordina, section 5.1).

    Every CPU has its own current and overflow batch, which need no lock. Full overflow batches
    and batches whose dispatches are used up go to the end of the shared batch queue, and CPUs
    take the next batch from there; each such operation holds the lock BQlck. An idle CPU sleeps
    until a batch is put into the queue, and takes the lock only if one is left for it. For
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


class WfSmash(BatchPolicy):
    """Wait-free batch scheduling (Debattista, Vella and Cordina, section 6).

    Every CPU has its own batch run queue, current, overflow and migration batch; there are no
    locks, and the atomic operations on the pointers that CPUs share take no time here.

    - Sender-initiated migration: a full overflow batch becomes the current batch of an idle CPU;
      if there is none, it goes to the end of the CPU's own queue.
    - When the dispatches of the current batch are used up and the CPU has another batch, the
      current one is migrated, too: to an idle CPU, or else it becomes the migration batch.
    - Receiver-initiated migration: a CPU that runs out of work takes its own migration batch back,
      or scans the others' migration batches.

    The text has the dispatches' limit where it means the size's (BSize against MAXBCOUNT), and
    the thread where it means the batch that is migrated. Further readings: the batch run queue
    that "consists of more than one batch" includes the current one, which is "directly attached"
    to it. A migration batch that no CPU has taken is swapped for the new one and goes to the end
    of the CPU's own queue, so that it does not wait for ever. Idle CPUs are tried from CPU 0 on,
    migration batches from the next CPU on. Waking a CPU that sleeps costs ``machine.wake_time``.
    For the rest see :class:`~dfopt.simulate.run_queue.policies.batches.BatchPolicy`, with
    ``max_batch_size`` and ``max_batch_count``.

    Of a full overflow batch that no idle CPU takes the text says two things: it "is placed onto
    the local batch run queue", and an excess batch "is placed onto that same processor's
    migration batch". The first names the overflow batch and is the default. By the second, which
    ``offer_excess`` chooses, the end of the dispatches only adds to what is offered ("can also").

    Parameters
    ----------
    offer_excess
        Whether a full overflow batch becomes the migration batch when no CPU is idle.
    """

    name: ClassVar[str] = "wf-smash"

    def __init__(self, *, offer_excess: bool = False, **limits: int) -> None:
        super().__init__(**limits)
        self.offer_excess = offer_excess

    def begin(self) -> None:
        """Prepare each CPU's batches."""
        super().begin()
        self._queues: list[deque[Batch]] = [deque() for _ in self.current]
        self._migration: list[Batch | None] = [None] * self.engine.cpus

    def put(self, batch: Batch, cpu: int) -> None:
        """Migrate it, if there is another batch to run."""
        if self._queues[cpu] or self._migration[cpu] is not None:
            self._migrate(batch, cpu)
        else:
            self._queues[cpu].append(batch)

    def put_full(self, batch: Batch, cpu: int) -> int:
        """Send it to an idle CPU, or else offer it or put it into the own queue."""
        if self.offer_excess:
            self._migrate(batch, cpu)
        elif not self._send(batch):
            self._queues[cpu].append(batch)
        return cpu

    def take(self, cpu: int) -> Batch | None:
        """Take the own queue's first batch, or a migration batch."""
        if self._queues[cpu]:
            return self._queues[cpu].popleft()
        cpus = self.engine.cpus
        for step in range(cpus):
            other = (cpu + step) % cpus
            batch = self._migration[other]
            if batch is not None:
                self._migration[other] = None
                return batch
        return None

    def queued(self, cpu: int) -> int:
        """Return the length of the own queue."""
        return len(self._queues[cpu])

    def _migrate(self, batch: Batch, cpu: int) -> None:
        """Send a batch to an idle CPU, or else let it be the migration batch."""
        if not self._send(batch):
            excess, self._migration[cpu] = self._migration[cpu], batch
            if excess is not None:
                self._queues[cpu].append(excess)

    def _send(self, batch: Batch) -> bool:
        """Make a batch the current one of an idle CPU; return whether there is one."""
        # A CPU is idle if and only if it has no current batch.
        for cpu, current in enumerate(self.current):
            if current is None:
                self.current[cpu] = batch
                batch.dispatches = 0
                self.engine.offer(cpu)
                return True
        return False
