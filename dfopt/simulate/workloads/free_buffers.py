"""Free buffers of a kernel's buffer cache: one list, or one for each CPU."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from dfopt.simulate.contract import SpinLock, Thread
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.workload import Pause


@dataclass(slots=True, eq=False)
class FreeBuffers:
    """Lists of free buffers, each behind a spin lock (Sohn and Kim, section VI).

    Parameters
    ----------
    buffers
        How many there are; with a list for each CPU they are dealt out in a circle.
    per_cpu
        Whether each CPU has a list of its own: the two-level policy.

    Attributes
    ----------
    free, locks
        By list; empty before the first buffer is taken.
    borrowed
        How many were taken from the list of another CPU.
    """

    buffers: int
    per_cpu: bool
    free: list[int] = field(default_factory=list)
    locks: list[SpinLock] = field(default_factory=list)
    borrowed: int = 0
    _homes: dict[int, int] = field(default_factory=dict)
    _waiting: deque[Thread] = field(default_factory=deque)

    def take(self, kernel: Kernel, thread: Thread) -> Pause | None:
        """Take one from the CPU's list, or borrow one; wait if there is none at all."""
        if not self.free:
            self._deal(kernel.cpus)
        free, lists = self.free, len(self.free)
        own = (thread.cpu or 0) % lists
        # Rules 3 and 4: the own list, and only if that is empty the others, in a circle.
        for distance in range(lists):
            home = (own + distance) % lists
            if free[home]:
                kernel.acquire(self.locks[home])
                free[home] -= 1
                self.borrowed += distance > 0
                self._homes[thread.number] = home
                return None
        self._waiting.append(thread)
        thread.waits_for = "a free buffer"
        return Pause.BLOCKED

    def give(self, kernel: Kernel, thread: Thread) -> None:
        """Return it to where it is from (rules 2 and 5), or hand it on."""
        home = self._homes.pop(thread.number)
        kernel.acquire(self.locks[home])
        if self._waiting:
            heir = self._waiting.popleft()
            self._homes[heir.number] = home
            kernel.wake(heir, thread.cpu)
        else:
            self.free[home] += 1

    def _deal(self, cpus: int) -> None:
        # Rule 1; the number of CPUs is known only now.
        lists = cpus if self.per_cpu else 1
        self.free = [len(range(cpu, self.buffers, lists)) for cpu in range(lists)]
        self.locks = [SpinLock() for _ in range(lists)]


@dataclass(frozen=True, slots=True)
class TakeBuffer:
    """Take a free buffer, or wait for one; a thread has one at most."""

    pool: FreeBuffers

    def perform(self, kernel: Kernel, thread: Thread) -> Pause | None:
        """Do it."""
        return self.pool.take(kernel, thread)


@dataclass(frozen=True, slots=True)
class GiveBuffer:
    """Give the buffer back."""

    pool: FreeBuffers

    def perform(self, kernel: Kernel, thread: Thread) -> None:
        """Do it."""
        self.pool.give(kernel, thread)
