"""The O(1) scheduler of Linux 2.6, with CPU affinity."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from dfopt.simulate.contract import SpinLock, Thread, Why
from dfopt.simulate.policies.load_balancer import BalancedPolicy
from dfopt.structs import Natural, Percent, Positive

PRIORITIES = 140
"""Number of priorities; 0 is the most urgent. Those below 100 are for real-time threads."""

NEVER = -1

BITS = tuple(1 << priority for priority in range(PRIORITIES))

DEFAULT_PRIORITY = 120
"""The static priority of nice 0."""

NICE_LEVELS = 40

HIGHEST, LOWEST = PRIORITIES - NICE_LEVELS, PRIORITIES - 1
"""The dynamic priorities of threads that are not real-time lie between these."""

URGENT_FACTOR = 4
"""Slices of threads with a negative nice are longer by this factor."""

# Members of an enumeration take long to look up.
NEW, WOKEN, EXPIRED, YIELDED = Why.NEW, Why.WOKEN, Why.EXPIRED, Why.YIELDED

EXIT_WEIGHT = 4
"""A child that ends contributes a quarter of its parent's new sleep average."""


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


@dataclass(slots=True, eq=False)
class Entity:
    """The data that the scheduler keeps about a thread.

    Attributes
    ----------
    static
        Its static priority, 100 to 139.
    priority
        Its dynamic priority.
    interactive
        It is interactive if its dynamic priority is at most this number.
    interactive_sleep
        A longer sleep makes it interactive at once.
    time_slice, left
        Its time slice, and the rest of the slice at ``run_time``.
    is_first_slice
        Whether it still uses the time that its parent gave it.
    average, bonus
        Its sleep average, and the bonus that follows from it, 0 to ``max_bonus``.
    run_time
        Its run time in all when it was last charged.
    """

    static: int
    time_slice: int
    left: int = 0
    priority: int = 0
    interactive: int = 0
    interactive_sleep: int = 0
    is_first_slice: bool = False
    average: int = 0
    bonus: int = 0
    run_time: int = 0


@dataclass(eq=False, kw_only=True)
class LinuxO1(BalancedPolicy):
    """Per-CPU run queues with an active and an expired array of 140 priority lists.

    The rules are those of Linux 2.6.4 (Pinter and Zalmanovici, section 4; Ziemba et al., section
    2), with parts of later versions: cache-hot threads are those of the scheduling domains that
    came with 2.6.7, because both papers' descriptions need them. The time slices and the place of
    a child behind others are later, too: in 2.6.4 slices fall in equal steps over all nice values,
    and a child is put in front of its parent.

    - A CPU runs the first thread of its most urgent list; the arrays are swapped when the active
      one is empty.
    - The time slice follows from nice: ``time_slice`` for 0, a twentieth of it less for each
      step up; four times as long for a negative nice.
    - The dynamic priority is the static one less a bonus of -5 to 5 for the share of time spent
      asleep. It is computed when a thread wakes up, and when its time slice is used up.
    - A child starts on its parent's CPU, behind those of its priority, with half of what is left
      of the parent's time slice, which goes back if it ends within it. Threads from the
      beginning are programs: each starts on the CPU with the fewest threads, in a circle.
    - A thread that wakes up goes to the CPU it ran on last, and preempts the running one if its
      dynamic priority is more urgent.
    - A thread whose slice is used up goes to the expired array; an interactive one stays in the
      active array unless the expired ones starve. Interactive threads of one priority take turns
      within their slices.
    - A preempted thread stays in front of its list; one that yields goes to the expired array.
    - The balancer: see :class:`BalancedQueues`. Of threads that wait, the expired are pulled
      first, then by priority; never those that run, and those with data in the cache only when
      balancing has failed repeatedly.

    Left out: real-time priorities, hyper-threads and nodes, smoothed loads, the credit of a thread
    for waiting after an interrupt, the credit that interactive threads earn and lose, wake-ups
    that move a thread to the waker's CPU, and the kernel thread that moves running threads away.
    Reading: run time is charged before the priority is computed, not a switch later.

    Parameters
    ----------
    time_slice
        Of nice 0.
    min_time_slice
        No slice is shorter.
    max_sleep_average
        The sleep average of the full bonus.
    max_bonus
        Difference between the largest and the smallest bonus.
    interactive_delta
        Bonus above the neutral one from which on a thread of nice 0 is interactive.
    starvation_limit
        Time for each thread of its queue after which expired threads starve; 0: never.
    granularity
        Turn of interactive threads of one priority, for the largest bonus and one CPU; it doubles
        with each step below.
    child_penalty
        Percentage of its parent's bonus that a child inherits.
    rebalance_interval
        Time between two balancings of a CPU; 0: only when it has nothing to run.
    idle_rebalance_interval
        The same for a CPU that has nothing to run.
    imbalance_percent
        A CPU pulls from a queue that has at least this percentage of its own number of threads.
    cache_hot_time
        For this time after it stopped, a thread has data in the cache.
    cache_nice_tries
        After more failures than this in a row such threads are pulled as well.
    """

    name = "linux-o1"

    rebalance_interval: Natural = 200_000_000
    idle_rebalance_interval: Positive = 1_000_000
    imbalance_percent: Annotated[int, Meta(ge=100)] = 125
    cache_hot_time: Natural = 2_500_000
    cache_nice_tries: Natural = 1
    time_slice: Positive = 100_000_000
    min_time_slice: Positive = 5_000_000
    max_sleep_average: Positive = 1_000_000_000
    max_bonus: Positive = 10
    interactive_delta: Natural = 2
    starvation_limit: Natural = 1_000_000_000
    granularity: Positive = 10_000_000
    child_penalty: Percent = 95

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tick_interval = self.rebalance_interval
        self.idle_interval = self.idle_rebalance_interval

    def begin(self) -> None:
        """Make the queues, and a table of how often interactive threads take turns."""
        self._queues: list[RunQueue] = [self.new_queue(cpu) for cpu in range(self.engine.cpus)]
        self._has_locks = self.engine.machine.lock_time > 0
        self._next = 0
        most = self.max_bonus
        self._turns = [
            self.granularity * self.engine.cpus * 2 ** (max(1, most - bonus) - 1)
            for bonus in range(most + 1)
        ]

    # Priorities and time slices.

    def new_entity(self, static: int, time_slice: int) -> Entity:
        """Return the data that the policy keeps about a new thread."""
        return Entity(static, time_slice, left=time_slice)

    def admit(self, thread: Thread, cpu: int | None) -> None:
        """Make a new thread known, and share its parent's time slice."""
        nice, most = thread.nice, self.max_bonus
        levels = NICE_LEVELS // 2
        base = self.time_slice * (URGENT_FACTOR if nice < 0 else 1)
        time_slice = max(self.min_time_slice, base * (levels - nice) // levels)
        thread.own = entity = self.new_entity(DEFAULT_PRIORITY + nice, time_slice)
        delta = (nice + levels) * most // NICE_LEVELS - levels * most // NICE_LEVELS
        delta += self.interactive_delta
        entity.interactive = entity.static - delta
        entity.interactive_sleep = self.max_sleep_average * (most // 2 + delta + 1) // most - 1
        if thread.parent is not None and cpu is not None:
            parent: Entity = thread.parent.own
            self.charge(thread.parent, parent)
            # A slice of 0 would have no end.
            entity.left = max(1, (parent.left + 1) // 2)
            entity.is_first_slice = True
            parent.left = max(1, parent.left // 2)
            entity.average = (
                parent.bonus * self.child_penalty // 100 * self.max_sleep_average // most
            )
            # So that the kernel asks how long the parent may still run.
            self.engine.preempt(cpu)
        self.set_priority(entity)

    def charge(self, thread: Thread, entity: Entity) -> None:
        """Subtract the run time of a thread from its time slice and its sleep average.

        The larger the bonus, the slower it is lost.
        """
        ran = thread.run_time - entity.run_time
        if ran:
            entity.run_time = thread.run_time
            entity.left -= ran
            average = entity.average - (ran // entity.bonus if entity.bonus else ran)
            entity.average = average if average > 0 else 0

    def set_priority(self, entity: Entity) -> None:
        """Compute bonus and dynamic priority from the sleep average."""
        most = self.max_bonus
        entity.bonus = bonus = entity.average * most // self.max_sleep_average
        priority = entity.static + most // 2 - bonus
        entity.priority = min(max(priority, HIGHEST), LOWEST)

    # Callbacks.

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up: awake, in turn, or expired."""
        if why is WOKEN:
            return self.wake(thread)
        if why is NEW:
            self.admit(thread, cpu)
            return self.start(thread, cpu)
        entity: Entity = thread.own
        self.charge(thread, entity)
        assert cpu is not None
        queue = self._queues[cpu]
        if self._has_locks:
            self.engine.acquire(queue.lock)
        queue.waiting += 1
        if why is YIELDED:
            if entity.left <= 0:
                self.refill(entity)
            queue.expired.append(thread, entity.priority)
        elif entity.left <= 0:
            self.expire(thread, entity, queue)
        elif why is EXPIRED and entity.priority <= entity.interactive:
            queue.active.append(thread, entity.priority)
        else:
            queue.active.appendleft(thread, entity.priority)
        if self.engine.idle():
            self.expect_idle_tick()
        return cpu

    def start(self, thread: Thread, cpu: int | None) -> int:
        """Queue a new thread up, behind those of its priority."""
        if cpu is None:
            cpu = self.least_loaded()
            self._next = (cpu + 1) % self.engine.cpus
        self.enqueue(thread, cpu)
        if self.engine.idle():
            self.expect_idle_tick()
        return cpu

    def enqueue(self, thread: Thread, cpu: int) -> RunQueue:
        """Put a thread into a CPU's active array, behind those of its priority."""
        queue = self._queues[cpu]
        if self._has_locks:
            self.engine.acquire(queue.lock)
        queue.waiting += 1
        queue.active.append(thread, thread.own.priority)
        return queue

    def least_loaded(self) -> int:
        """Return the CPU with the fewest threads, the first in a circle."""
        cpus = self.engine.cpus
        circle = [(self._next + step) % cpus for step in range(cpus)]
        return min(circle, key=self.load)

    def wake(self, thread: Thread) -> int:
        """Queue a thread up that has slept, where it ran last."""
        engine = self.engine
        entity: Entity = thread.own
        cpu, stopped = thread.cpu, thread.stopped_at
        assert cpu is not None
        assert stopped is not None
        self.charge(thread, entity)
        # A thread that still waits for a lock when it is woken leaves its CPU later than now.
        slept = engine.now - stopped
        if slept > entity.interactive_sleep:
            # A long sleep makes a thread interactive, but does not give it the full bonus.
            entity.average = max(0, self.max_sleep_average - self.time_slice)
        elif slept > 0:
            average = entity.average + slept * max(1, self.max_bonus - entity.bonus)
            entity.average = min(average, self.max_sleep_average)
        self.set_priority(entity)
        if entity.left <= 0:
            self.refill(entity)
        queue = self.enqueue(thread, cpu)
        self.check_preemption(cpu, entity.priority)
        # The first one to come to an idle CPU runs there.
        if (queue.waiting > 1 or engine.running[cpu] is not None) and engine.idle():
            self.expect_idle_tick()
        return cpu

    def refill(self, entity: Entity) -> None:
        """Give a new time slice."""
        entity.left = entity.time_slice
        entity.is_first_slice = False

    def expire(self, thread: Thread, entity: Entity, queue: RunQueue) -> None:
        """Queue a thread up that has used up its time slice."""
        self.refill(entity)
        self.set_priority(entity)
        now = self.engine.now
        if queue.expired_since == NEVER:
            queue.expired_since = now
        is_interactive = entity.priority <= entity.interactive
        if is_interactive and not self._starves(queue, entity, now):
            queue.active.append(thread, entity.priority)
            return
        queue.expired.append(thread, entity.priority)
        queue.best_expired = min(queue.best_expired, entity.static)

    def _starves(self, queue: RunQueue, entity: Entity, now: int) -> bool:
        """Return whether expired threads have waited too long, or are more urgent."""
        limit = self.starvation_limit * queue.waiting
        return (0 < limit <= now - queue.expired_since) or entity.static > queue.best_expired

    def next_epoch(self, queue: RunQueue) -> bool:
        """Find work for a queue with an empty active array; return whether there is any."""
        if not queue.waiting and not self.find_work(queue.cpu):
            queue.expired_since = NEVER
            return False
        if not queue.active.bitmap:
            queue.swap()
        return True

    def pick(self, cpu: int) -> Thread | None:
        """Take the first thread of the most urgent list."""
        queue = self._queues[cpu]
        if self._has_locks:
            self.engine.acquire(queue.lock)
        return queue.take() if queue.active.bitmap or self.next_epoch(queue) else None

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return what is left of the time slice, or the time to an interactive thread's turn."""
        entity: Entity = thread.own
        left = entity.left
        if entity.priority <= entity.interactive:
            turn: int = self._turns[entity.bonus]
            if left > turn:
                first = turn - (entity.time_slice - left) % turn
                if left - first >= turn:
                    return first
        return left

    def ended(self, thread: Thread, cpu: int) -> None:
        """Give the parent back what the child has not used, and a part of its sleep average."""
        entity: Entity = thread.own
        if thread.parent is None:
            return
        self.charge(thread, entity)
        parent: Entity = thread.parent.own
        if entity.is_first_slice and entity.left > 0:
            parent.left = min(parent.left + entity.left, max(parent.left, parent.time_slice))
        if entity.average < parent.average:
            parent.average += (entity.average - parent.average) // EXIT_WEIGHT

    # What the load balancer asks.

    def pull(self, source: RunQueue, target: RunQueue, wanted: int, excess: int) -> int:
        """Move single threads between queues.

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
        return self.pull_threads(source, target, wanted)

    def check_preemption(self, cpu: int, priority: int) -> None:
        """Preempt when the running thread is less urgent."""
        running = self.engine.running[cpu]
        if running is not None and priority < running.own.priority:
            self.engine.preempt(cpu)

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

    def find_work(self, cpu: int) -> bool:
        """Balance for a CPU whose queue is empty; if nothing comes, the CPU rests."""
        if self.balance(cpu, is_new_idle=True):
            return True
        self.expect_idle_tick()
        return False
