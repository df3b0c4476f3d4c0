"""The schedulers of SMASH: queues of threads, or of batches of threads, for one CPU or several.

Debattista, Vella and Cordina, *Cache-affinity scheduling for fine grain multithreading*.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from dfopt.simulate.contract import Policy, SpinLock, Thread, Why
from dfopt.structs import Positive


class UniSmash(Policy):
    """The plain scheduler for one CPU (Debattista, Vella and Cordina, section 3).

    A single circular queue; threads run until they yield, block or end. Only CPU 0 is used.
    """

    name = "uni-smash"

    def __init__(self) -> None:
        self._queue: deque[Thread] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up."""
        self._queue.append(thread)
        return 0

    def pick(self, cpu: int) -> Thread | None:
        """Take the first, on CPU 0."""
        return self._queue.popleft() if self._queue and not cpu else None


class SharedSmash(UniSmash):
    """The shared run queue (Debattista, Vella and Cordina, section 3).

    Every CPU takes threads from one queue and puts them back there, and holds a spin lock for
    each such operation. Threads run until they yield, block or end. An idle CPU sleeps until
    a thread is put into the queue, and takes the lock only if one is left for it.
    """

    name = "shared-smash"

    def __init__(self) -> None:
        super().__init__()
        self._lock = SpinLock()

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The run queue's lock."""
        return (self._lock,)

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Put it at the end."""
        self.engine.acquire(self._lock)
        super().ready(thread, why, cpu)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first."""
        if self._queue:
            self.engine.acquire(self._lock)
        return super().pick(0)


@dataclass(slots=True, eq=False)
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

    threads: deque[Thread] = field(default_factory=deque)
    size: int = 0
    dispatches: int = 0

    def join(self, thread: Thread) -> None:
        """Take a thread in."""
        self.threads.append(thread)
        self.size += 1
        thread.own = self


@dataclass(eq=False)
class BatchPolicy(Policy):
    """A CPU runs the threads of its current batch, one after the other (section 4).

    A new thread joins the current batch of the CPU that made it; when that has ``max_batch_size``
    threads, the overflow batch, which is put away when it is full. The current batch runs for
    ``max_batch_count`` dispatches and is put away for the next one; a batch that all threads
    have left is destroyed. Batches are put at the end of one queue and taken from its top, unless a
    scheduler says otherwise.

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

    max_batch_size: Positive = 32
    max_batch_count: Positive = 128

    def begin(self) -> None:
        """Prepare for the machine's CPUs."""
        cpus = self.engine.cpus
        # None if and only if there is nothing to run on the CPU (section 6).
        self.current: list[Batch | None] = [None] * cpus
        self.overflow: list[Batch | None] = [None] * cpus
        # By CPU: how many batches come before the overflow batch.
        self._ahead = [0] * cpus
        self._queue: deque[Batch] = deque()

    # Where batches wait.

    def put(self, batch: Batch, cpu: int) -> None:
        """Put the current batch away, after its dispatches are used up."""
        self._queue.append(batch)

    def put_full(self, batch: Batch, cpu: int) -> int | None:
        """Put a full overflow batch away; return the CPU to ask, or None for all."""
        self._queue.append(batch)
        return cpu

    def take(self, cpu: int) -> Batch | None:
        """Return the next batch of a CPU."""
        return self._queue.popleft() if self._queue else None

    def queued(self, cpu: int) -> int:
        """Return the number of batches in the queue that a CPU takes from."""
        return len(self._queue)

    # The contract of policies.

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Let it go on in its batch, or join one."""
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


class UnibatchSmash(BatchPolicy):
    """Batches on one CPU (Debattista, Vella and Cordina, section 4).

    Full overflow batches and batches whose dispatches are used up go to the end of the batch run
    queue. Only CPU 0 is used. For what the paper leaves open see :class:`BatchPolicy`.
    """

    name = "unibatch-smash"

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Let it go on in its batch, or join one, on CPU 0."""
        return super().ready(thread, why, 0)

    def pick(self, cpu: int) -> Thread | None:
        """Take the next thread, on CPU 0."""
        return None if cpu else super().pick(0)


class SmpbatchSmash(BatchPolicy):
    """A shared queue of batches (Debattista, Vella and Cordina, section 5.1).

    Every CPU has its own current and overflow batch, which need no lock. Full overflow batches
    and batches whose dispatches are used up go to the end of the shared batch queue, and CPUs
    take the next batch from there; each such operation holds the lock BQlck. An idle CPU sleeps
    until a batch is put into the queue, and takes the lock only if one is left for it. For
    what the paper leaves open see :class:`BatchPolicy`.
    """

    name = "smpbatch-smash"

    def begin(self) -> None:
        """Prepare the shared batch queue."""
        super().begin()
        self._lock = SpinLock()

    @property
    def locks(self) -> Sequence[SpinLock]:
        """The batch queue's lock."""
        return (self._lock,)

    def put(self, batch: Batch, cpu: int) -> None:
        """Append it to the shared queue."""
        self.put_full(batch, cpu)
        # This CPU may take its overflow batch next.
        for idle in self.engine.idle():
            self.engine.offer(idle)

    def put_full(self, batch: Batch, cpu: int) -> None:
        """Append it to the shared queue, for any CPU."""
        self.engine.acquire(self._lock)
        super().put_full(batch, cpu)

    def take(self, cpu: int) -> Batch | None:
        """Take the first batch of the shared queue."""
        if self._queue:
            self.engine.acquire(self._lock)
        return super().take(cpu)


@dataclass(eq=False)
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
    For the rest see :class:`BatchPolicy`, with ``max_batch_size`` and ``max_batch_count``.

    Of a full overflow batch that no idle CPU takes the text says two things: it "is placed onto
    the local batch run queue", and an excess batch "is placed onto that same processor's
    migration batch". The first names the overflow batch and is the default. By the second, which
    ``offer_excess`` chooses, the end of the dispatches only adds to what is offered ("can also").

    Parameters
    ----------
    offer_excess
        Whether a full overflow batch becomes the migration batch when no CPU is idle.
    """

    name = "wf-smash"

    offer_excess: bool = False

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
