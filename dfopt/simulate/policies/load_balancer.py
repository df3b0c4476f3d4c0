"""Run queues of their own for all CPUs, and load balancers such as that of Linux 2.6."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from dfopt.simulate.contract import Policy, SpinLock, Thread
from dfopt.structs import Natural, Positive

PRIORITIES = 140
"""Number of priorities; 0 is the most urgent. Those below 100 are for real-time threads."""

NEVER = -1

BITS = tuple(1 << priority for priority in range(PRIORITIES))


class BalancedPolicy(Policy):
    """A policy with a queue for each CPU, where CPUs pull threads from others by time.

    All CPUs balance every ``tick_interval``, and those with nothing to run every ``idle_interval``,
    while a thread waits.
    """

    idle_interval: int = 0
    """Time between two balancings of a CPU that has nothing to run; 0: there are none."""

    _queues: Sequence[Any]
    """By CPU; ``waiting`` says of each whether a thread waits there."""

    _has_idle_tick = False

    def balance(self, cpu: int) -> bool:
        """Let a CPU pull threads; return whether it is to pick one if it is idle."""
        raise NotImplementedError

    def idle(self) -> Sequence[int]:
        """Return the idle CPUs in the order in which they balance."""
        return self.engine.idle()

    def tick(self) -> None:
        """Let all CPUs balance, one after the other."""
        self._balance(range(self.engine.cpus))

    def expect_idle_tick(self) -> None:
        """Let CPUs with nothing to run balance soon, if a thread waits."""
        if (
            self.idle_interval
            and not self._has_idle_tick
            and any(queue.waiting for queue in self._queues)
        ):
            self._has_idle_tick = True
            self.engine.call_at(self.engine.now + self.idle_interval, self._idle_tick)

    def _idle_tick(self) -> None:
        self._has_idle_tick = False
        self._balance(self.idle())
        if self.engine.idle():
            self.expect_idle_tick()

    def _balance(self, cpus: Sequence[int]) -> None:
        for cpu in cpus:
            self.engine.charge(cpu)
            if self.balance(cpu):
                self.engine.offer(cpu)


class PriorityArray:
    """A list for each priority, and a bitmap of those that hold something.

    Attributes
    ----------
    bitmap
        Bit p is set when list p holds something.
    lists
        First in, first out; policies put threads in, or groups of threads.
    """

    __slots__ = ("bitmap", "lists")

    def __init__(self) -> None:
        self.bitmap = 0
        self.lists: list[deque[Any]] = [deque() for _ in range(PRIORITIES)]

    def append(self, entry: object, priority: int) -> None:
        """Put something at the end of a list."""
        self.lists[priority].append(entry)
        self.bitmap |= BITS[priority]

    def appendleft(self, entry: object, priority: int) -> None:
        """Put something in front of a list."""
        self.lists[priority].appendleft(entry)
        self.bitmap |= BITS[priority]

    def remove(self, entry: object, priority: int) -> None:
        """Take something out of the middle of a list."""
        entries = self.lists[priority]
        entries.remove(entry)
        if not entries:
            self.bitmap ^= BITS[priority]

    def priorities(self) -> Iterator[int]:
        """Yield the priorities whose lists hold something, the most urgent first."""
        bits = self.bitmap
        while bits:
            bit = bits & -bits
            bits ^= bit
            yield bit.bit_length() - 1


@dataclass(slots=True, eq=False)
class RunQueue:
    """The run queue of one CPU.

    Attributes
    ----------
    cpu
        Its number.
    active, expired
        Threads with time left, and those that have used theirs up; the two are swapped when the
        first is empty.
    waiting
        How many threads are in either.
    expired_since
        When the first thread since the last swap used up its time, or :data:`NEVER`.
    best_expired
        The most urgent static priority in the expired array.
    failed
        How many times in a row the CPU's load balancer found an imbalance and moved nothing.
    lock
        The lock of the queue.
    """

    cpu: int
    active: PriorityArray = field(default_factory=PriorityArray)
    expired: PriorityArray = field(default_factory=PriorityArray)
    waiting: int = 0
    expired_since: int = NEVER
    best_expired: int = PRIORITIES
    failed: int = 0
    lock: SpinLock = field(default_factory=SpinLock)

    def swap(self) -> None:
        """Begin the next epoch, the turn of the threads that have used up their time."""
        self.active, self.expired = self.expired, self.active
        self.expired_since = NEVER
        self.best_expired = PRIORITIES

    def take(self) -> Thread:
        """Take the first thread of the most urgent list; the active array holds one."""
        active = self.active
        bitmap = active.bitmap
        bit = bitmap & -bitmap
        entries = active.lists[bit.bit_length() - 1]
        thread: Thread = entries.popleft()
        if not entries:
            active.bitmap = bitmap ^ bit
        self.waiting -= 1
        return thread


@dataclass(eq=False, kw_only=True)
class BalancedQueues(BalancedPolicy):
    """A run queue for each CPU, and a load balancer that pulls threads from the busiest.

    A CPU balances when it has nothing to run, every ``idle_rebalance_interval`` while that lasts
    and a thread waits elsewhere, and every ``rebalance_interval``. The policy decides what is
    moved, and to which list. ``LinuxO1`` explains the parameters.
    """

    rebalance_interval: Natural = 200_000_000
    idle_rebalance_interval: Positive = 1_000_000
    imbalance_percent: Annotated[int, Meta(ge=100)] = 125
    cache_hot_time: Natural = 2_500_000
    cache_nice_tries: Natural = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tick_interval = self.rebalance_interval
        self.idle_interval = self.idle_rebalance_interval

    def begin(self) -> None:
        """Make the queues."""
        self._queues: list[RunQueue] = [self.new_queue(cpu) for cpu in range(self.engine.cpus)]
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
        return self._queues

    def idle(self) -> Sequence[int]:
        """Return the idle CPUs by number."""
        return sorted(self.engine.idle())

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
            for priority in array.priorities():
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
        self.expect_idle_tick()
        return False
