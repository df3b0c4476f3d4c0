"""CFS, the completely fair scheduler: that of Linux from 2.6.23 to 6.5."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.fair_queues import FairEntity, FairQueues
from dfopt.structs import Natural, Positive


@dataclass(eq=False, kw_only=True)
class Cfs(FairQueues):
    """The thread with the least virtual run time runs.

    The rules are those of Linux 5.x (``kernel/sched/fair.c``):

    - A thread's virtual run time is the time that it executed, divided by its weight. A CPU runs
      the thread with the least.
    - Its time slice is its share, by weight, of a period: ``latency``, or ``min_granularity`` for
      each thread of the CPU if that is longer.
    - A thread that wakes up has at most half a ``latency`` less virtual run time than the least of
      its queue. A new thread begins one slice behind the least.
    - It preempts the running thread if that has more virtual run time by ``wakeup_granularity``.
    - A thread that yields lets all others of its queue run first.

    Where threads run: see ``FairQueues``.

    Parameters
    ----------
    latency, min_granularity, wakeup_granularity
        Linux has 6 ms, 0.75 ms and 1 ms, times 2 for two CPUs, 3 for four, 4 for eight or more.
    migration_cost
        A thread that ran within this time is hot, and not pulled.
    balance_interval
        Time between two balancings of all CPUs; 0: a CPU pulls only when it has nothing to run.
    """

    name = "cfs"

    latency: Positive = 24_000_000
    min_granularity: Positive = 3_000_000
    wakeup_granularity: Natural = 4_000_000

    def key(self, entity: FairEntity) -> int:
        """Return the virtual run time."""
        return entity.vruntime

    def least(self, cpu: int, *, without: FairEntity | None = None) -> int:
        """Return the least virtual run time of a CPU's threads; it never goes back."""
        queue = self._queues[cpu]
        running = self.current(cpu, without=without)
        times = [key for key, _, _ in queue.waiting[:1]]
        if running is not None:
            times.append(running.vruntime)
        queue.clock = max([queue.clock, *([min(times)] if times else [])])
        return queue.clock

    def place(self, entity: FairEntity, cpu: int, why: Why) -> None:
        """Give a new thread a debt of a slice, and one that has slept a small credit at most."""
        least = self.least(cpu, without=entity)
        if why is Why.NEW:
            entity.vruntime = least + entity.virtual(self.share(entity, cpu))
            return
        if entity.home != cpu:
            entity.vruntime += least - self.least(entity.home)
        entity.vruntime = max(entity.vruntime, least - entity.virtual(self.latency // 2))

    def goes_on(self, entity: FairEntity, cpu: int, why: Why) -> None:
        """Let all others of the queue run first if it yields."""
        waiting = self._queues[cpu].waiting
        if why is Why.YIELDED and waiting:
            entity.vruntime = max(entity.vruntime, waiting[-1][0] + 1)

    def choose(self, cpu: int) -> int:
        """Return the first."""
        self.least(cpu)
        return 0

    def preempts(self, thread: Thread, running: FairEntity, cpu: int) -> bool:
        """Return whether the running thread has had enough more than this one."""
        entity: FairEntity = thread.own
        return running.vruntime - entity.vruntime > entity.virtual(self.wakeup_granularity)

    def share(self, entity: FairEntity, cpu: int) -> int:
        """Return the time slice of a thread which is not in the queue."""
        queue = self._queues[cpu]
        running = self.current(cpu, without=entity)
        weight = queue.weight + entity.weight + (running.weight if running else 0)
        threads = len(queue.waiting) + 1 + (running is not None)
        period = max(self.latency, threads * self.min_granularity)
        return max(self.min_granularity, period * entity.weight // weight)

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return the share of the period."""
        return self.share(thread.own, cpu)
