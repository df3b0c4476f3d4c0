"""wf-smash: a queue of batches for each CPU, and wait-free migration of batches."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from dfopt.simulate.run_queue.policies.batches import Batch, BatchPolicy


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
    to it. A migration batch that nobody has taken is swapped for the new one and goes to the end
    of the CPU's own queue, so that it does not wait for ever. Idle CPUs are tried from CPU 0 on,
    migration batches from the next CPU on. For the rest see
    :class:`~dfopt.simulate.run_queue.policies.batches.BatchPolicy`.
    """

    name: ClassVar[str] = "wf-smash"

    def begin(self) -> None:
        """Prepare each CPU's batches."""
        super().begin()
        self._queues: list[deque[Batch]] = [deque() for _ in self.current]
        self._migration: list[Batch | None] = [None] * self.engine.cpus

    def put(self, batch: Batch, cpu: int) -> None:
        """Migrate it, if there is another batch to run."""
        queue, excess = self._queues[cpu], self._migration[cpu]
        if not queue and excess is None:
            queue.append(batch)
        elif not self._send(batch):
            self._migration[cpu] = batch
            if excess is not None:
                queue.append(excess)

    def put_full(self, batch: Batch, cpu: int) -> int:
        """Send it to an idle CPU, or else put it into the own queue."""
        if not self._send(batch):
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
