"""Run queues of their own for all CPUs, and the load balancer of Linux 2.6 between them."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.checks import check_integer
from dfopt.simulate.run_queue.contract import Policy, Thread
from dfopt.simulate.run_queue.policies.building_blocks.priority_array import PriorityArray, RunQueue
from dfopt.simulate.run_queue.spin_lock import SpinLock


class BalancedQueues(Policy):
    """A run queue for each CPU, and a load balancer that pulls threads from the busiest.

    A CPU balances when it has nothing to run, every ``idle_rebalance_interval`` while that lasts
    and a thread waits elsewhere, and every ``rebalance_interval``. The policy decides what is
    moved, and to which list. ``LinuxO1`` explains the parameters.
    """

    def __init__(
        self,
        *,
        rebalance_interval: int = 200_000_000,
        idle_rebalance_interval: int = 1_000_000,
        imbalance_percent: int = 125,
        cache_hot_time: int = 2_500_000,
        cache_nice_tries: int = 1,
    ) -> None:
        check_integer(rebalance_interval, "rebalance_interval")
        check_integer(idle_rebalance_interval, "idle_rebalance_interval", least=1)
        check_integer(imbalance_percent, "imbalance_percent", least=100)
        check_integer(cache_hot_time, "cache_hot_time")
        check_integer(cache_nice_tries, "cache_nice_tries")
        self.tick_interval = rebalance_interval
        self.idle_rebalance_interval = idle_rebalance_interval
        self.imbalance_percent = imbalance_percent
        self.cache_hot_time = cache_hot_time
        self.cache_nice_tries = cache_nice_tries
        self._has_idle_tick = False

    def begin(self) -> None:
        """Make the queues."""
        cpus = range(self.engine.cpus)
        self._queues = [self.new_queue(cpu) for cpu in cpus]
        # CPUs that have found nothing to run.
        self._resting = set(cpus)
        self._has_locks = self.engine.machine.lock_time > 0

    def new_queue(self, cpu: int) -> RunQueue:
        """Return an empty run queue."""
        return RunQueue(cpu)

    @property
    def locks(self) -> Sequence[SpinLock]:
        """One lock for each CPU."""
        return tuple(queue.lock for queue in self._queues)

    def load(self, cpu: int) -> int:
        """Return the number of threads that wait or run on a CPU."""
        return self._queues[cpu].waiting + (self.engine.running[cpu] is not None)

    def sources(self, cpu: int) -> Sequence[RunQueue]:
        """Return the queues from which a CPU may pull threads."""
        del cpu
        return self._queues

    def tick(self) -> None:
        """Rebalance all CPUs, one after the other."""
        for cpu in range(self.engine.cpus):
            self.engine.charge(cpu)
            if self.balance(cpu):
                self.engine.offer(cpu)

    def balance(self, cpu: int, *, is_new_idle: bool = False) -> bool:
        """Pull threads from the busiest queue, if it is too long; return whether any came.

        Reading: half the difference is moved, and one thread if the CPU has none at all. A CPU
        that is about to become idle does not count its failures: only lasting imbalances are
        worth moving threads away from their caches.
        """
        engine, own = self.engine, self._queues[cpu]
        here = most = self.load(cpu)
        busiest = own
        for queue in self.sources(cpu):
            if queue.waiting:
                load = queue.waiting + (engine.running[queue.cpu] is not None)
                if load > most:
                    busiest, most = queue, load
        # With a difference below two, moving a thread only moves the imbalance.
        if most - here <= 1 or 100 * most < self.imbalance_percent * here:
            own.failed = 0
            return False
        if self._has_locks:
            engine.acquire(busiest.lock)
            engine.acquire(own.lock)
        wanted = (most - here) // 2 if here else 1
        if self.pull(busiest, own, wanted, most - here):
            own.failed = 0
            return True
        own.failed += not is_new_idle
        return False

    def pull(self, source: RunQueue, target: RunQueue, wanted: int, excess: int) -> int:
        """Move threads between queues.

        Parameters
        ----------
        source, target
            From the busiest queue to that of the CPU that balances.
        wanted
            At most this number of threads is moved.
        excess
            The number of threads that the first queue has more than the second.

        Returns
        -------
        int
            The number of threads that were moved.
        """
        raise NotImplementedError

    def pull_threads(self, source: RunQueue, target: RunQueue, wanted: int) -> int:
        """Move single threads: the expired first, then by priority; from the ends of lists."""
        moved = 0
        for array in (source.expired, source.active):
            bits = array.bitmap
            while bits:
                bit = bits & -bits
                bits ^= bit
                priority = bit.bit_length() - 1
                moved += self._pull_from(array, priority, source, target, wanted - moved)
                if moved == wanted:
                    return moved
        return moved

    def _pull_from(
        self,
        array: PriorityArray,
        priority: int,
        source: RunQueue,
        target: RunQueue,
        wanted: int,
    ) -> int:
        is_forced = target.failed > self.cache_nice_tries
        entries = array.lists[priority]
        moved = 0
        for position in range(len(entries) - 1, -1, -1):
            entry = entries[position]
            if not isinstance(entry, Thread) or not (is_forced or self.is_cold(entry)):
                continue
            del entries[position]
            source.waiting -= 1
            target.active.append(entry, priority)
            target.waiting += 1
            self.check_preemption(target.cpu, priority)
            moved += 1
            if moved == wanted:
                break
        if not entries:
            array.bitmap &= ~(1 << priority)
        return moved

    def is_cold(self, thread: Thread) -> bool:
        """Return whether a thread that waits has no data in its CPU's cache any more."""
        left = thread.stopped_at
        return left is None or self.engine.now - left >= self.cache_hot_time

    def check_preemption(self, cpu: int, priority: int) -> None:
        """Take the running thread off a CPU if a more urgent one has come."""
        raise NotImplementedError

    # What a policy calls while a CPU rests.

    def find_work(self, cpu: int) -> bool:
        """Balance for a CPU whose queue is empty; if nothing comes, the CPU rests."""
        if self.balance(cpu, is_new_idle=True):
            return True
        self._resting.add(cpu)
        if any(queue.waiting for queue in self._queues):
            self.expect_idle_tick()
        return False

    def expect_idle_tick(self) -> None:
        """Let the CPUs that rest balance soon; called when a thread waits."""
        if not self._has_idle_tick:
            self._has_idle_tick = True
            engine = self.engine
            engine.call_at(engine.now + self.idle_rebalance_interval, self._idle_tick)

    def _idle_tick(self) -> None:
        self._has_idle_tick = False
        engine = self.engine
        for cpu in sorted(self._resting):
            if engine.running[cpu] is not None:
                continue
            engine.charge(cpu)
            if self.balance(cpu):
                engine.offer(cpu)
        if self._resting and any(queue.waiting for queue in self._queues):
            self.expect_idle_tick()
