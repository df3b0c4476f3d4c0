"""EEVDF, the scheduler of Linux since 6.6: earliest eligible virtual deadline first."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.fair_queues import FairEntity, FairQueues
from dfopt.structs import Positive


@dataclass(eq=False, kw_only=True)
class Eevdf(FairQueues):
    """Of the threads that have not had more than their share, the earliest deadline runs.

    The rules are those of Linux 6.6 (Stoica and Abdel-Wahab, *Earliest eligible virtual deadline
    first*, 1995; ``kernel/sched/fair.c``):

    - A thread's *lag* is the average virtual run time of its queue, by weight, less its own. It is
      eligible when its lag is not negative.
    - Its deadline is its virtual run time at the beginning of its time slice, plus the slice.
    - A CPU runs the eligible thread with the earliest deadline, until its slice ends or it blocks.
    - A thread that wakes up keeps the lag with which it went to sleep, at most two slices of it,
      enlarged such that its own weight in the average does not lessen it. A new thread has no lag,
      and half a slice.
    - It preempts the running thread if that is not eligible any more and its own deadline is the
      earliest (``RUN_TO_PARITY``).
    - A thread that yields puts its deadline off by a slice.

    Where threads run: see ``FairQueues``. Left out: the delayed dequeue of sleepers and the slices
    of a thread's own, which came with 6.12.

    Parameters
    ----------
    time_slice
        The slice of every thread. Linux 6.6 has 0.75 ms (newer kernels 0.70 ms), times 2 for two
        CPUs, 3 for four, 4 for eight or more.
    migration_cost
        A thread that ran within this time is hot, and not pulled.
    balance_interval
        Time between two balancings of all CPUs; 0: a CPU pulls only when it has nothing to run.
    """

    name = "eevdf"

    time_slice: Positive = 3_000_000

    def key(self, entity: FairEntity) -> int:
        """Return the deadline."""
        return entity.deadline

    def place(self, entity: FairEntity, cpu: int, why: Why) -> None:
        """Keep the lag; a new thread has none."""
        queue = self._queues[cpu]
        weight, moment = self.totals(cpu, without=entity)
        if weight:
            queue.clock = moment // weight
            # When it comes, the average moves towards it, and its lag would shrink.
            entity.lag = entity.lag * (weight + entity.weight) // weight
        else:
            entity.lag = 0
        entity.vruntime = queue.clock - entity.lag
        time_slice = entity.virtual(self.time_slice)
        entity.deadline = entity.vruntime + (time_slice // 2 if why is Why.NEW else time_slice)

    def goes_on(self, entity: FairEntity, cpu: int, why: Why) -> None:
        """Give a new deadline if the slice is over."""
        if why is Why.EXPIRED:
            entity.vruntime = max(entity.vruntime, entity.deadline)
        if entity.vruntime >= entity.deadline:
            entity.deadline = entity.vruntime + entity.virtual(self.time_slice)
        if why is Why.YIELDED:
            entity.deadline += entity.virtual(self.time_slice)

    def leaves(self, entity: FairEntity) -> None:
        """Remember the lag."""
        weight, moment = self.totals(entity.home, without=entity)
        weight += entity.weight
        moment += entity.weight * entity.vruntime
        self._queues[entity.home].clock = moment // weight
        most = 2 * entity.virtual(self.time_slice)
        entity.lag = min(max(moment // weight - entity.vruntime, -most), most)

    def choose(self, cpu: int) -> int:
        """Return the first eligible thread in the order of deadlines."""
        queue = self._queues[cpu]
        weight, moment = self.totals(cpu)
        # Not all of them are above their average.
        return next(
            position
            for position, (_, _, thread) in enumerate(queue.waiting)
            if thread.own.vruntime * weight <= moment
        )

    def preempts(self, thread: Thread, running: FairEntity, cpu: int) -> bool:
        """Return whether the running thread has had its share, and this one comes next."""
        weight, moment = self.totals(cpu)
        if running.vruntime * weight <= moment:
            return False
        return self._queues[cpu].waiting[self.choose(cpu)][2] is thread

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return the time until the deadline."""
        entity: FairEntity = thread.own
        return entity.real(entity.deadline - entity.vruntime)
