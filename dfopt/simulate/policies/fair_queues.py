"""Run queues in virtual time, which fair schedulers share: weights, placement, idle pull."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.load_balancer import BalancedPolicy
from dfopt.structs import Natural
from dfopt.trace.nice import NICE_0

UNIT = NICE_0 << 10
"""Virtual time that a thread of weight 1 gains in one unit of time; integers stay exact enough."""

IDLE_FACTOR = 16
"""CPUs with nothing to run balance more frequently by this factor."""

CACHE_NICE_TRIES = 1
"""After more failures in a row, balancing moves hot threads."""


@dataclass(slots=True, eq=False)
class FairEntity:
    """The data that the scheduler keeps about a thread.

    Attributes
    ----------
    weight
        Its share of a CPU, relative to the weights of the others there.
    vruntime
        Its virtual run time: the time that it executed, divided by its weight.
    deadline
        The virtual time at which its time slice ends.
    lag
        The virtual time that its queue owed it when it went to sleep.
    charged
        The time it had executed when its virtual run time was last brought up to date.
    home
        The CPU in whose virtual time it counts.
    """

    weight: int
    vruntime: int = 0
    deadline: int = 0
    lag: int = 0
    charged: int = 0
    home: int = 0

    def charge(self, executed: int) -> None:
        """Bring the virtual run time up to date with what the thread has executed in all."""
        self.vruntime += self.virtual(executed - self.charged)
        self.charged = executed

    def virtual(self, time: int) -> int:
        """Return the virtual time that it gains when it executes for a time."""
        return time * UNIT // self.weight

    def real(self, virtual: int) -> int:
        """Return the time after which it has gained this virtual time, at least 1."""
        return max(1, -(-virtual * self.weight // UNIT))


@dataclass(slots=True, eq=False)
class FairQueue:
    """The threads that wait for a CPU, in the order of a key.

    Attributes
    ----------
    waiting
        Keys, numbers and threads, the least key first.
    weight, moment
        The sum of the weights of these threads, and the sum of weight times virtual run time.
    clock
        A virtual time which says where an empty queue goes on.
    """

    waiting: list[tuple[int, int, Thread]] = field(default_factory=list)
    weight: int = 0
    moment: int = 0
    clock: int = 0

    def add(self, thread: Thread, key: int) -> None:
        """Take a thread in."""
        entity: FairEntity = thread.own
        insort(self.waiting, (key, thread.number, thread))
        self.weight += entity.weight
        self.moment += entity.weight * entity.vruntime

    def take(self, position: int) -> Thread:
        """Return the thread at a position, and remove it."""
        _, _, thread = self.waiting.pop(position)
        entity: FairEntity = thread.own
        self.weight -= entity.weight
        self.moment -= entity.weight * entity.vruntime
        return thread


@dataclass(eq=False, kw_only=True)
class FairQueues(BalancedPolicy):
    """A queue for each CPU; the rules that CFS and EEVDF have in common.

    - A thread that wakes up goes to the CPU where it ran last if that is idle, else to another
      idle CPU, else there or to the CPU of its waker, wherever less weight is. With cache domains
      only idle CPUs of the domain where it ran last count, and of its waker's if it goes there
      (``select_idle_sibling``).
    - A new thread goes to the CPU with the least weight; of equal ones to its parent's.
    - A CPU that has nothing to run pulls a thread from the queue with the most threads: the one
      that ran longest ago, but none that ran within ``migration_cost``, whose data is hot. It
      looks at the queues of its domain first.
    - Every ``balance_interval`` each CPU pulls a thread in the same way from a CPU that has at
      least two threads more. One with nothing to run tries 16 times as often. If it has found
      nothing but hot threads twice in a row, the next try takes one.

    - A thread runs only where it may (``cpus_allowed``): other CPUs neither get nor pull it.

    Left out: groups of threads, the loads of the past (PELT), and locks of queues. Time slices end
    exactly, and not at the next tick of a clock.
    """

    obeys_cpus_allowed = True

    migration_cost: Natural = 500_000
    balance_interval: Natural = 32_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tick_interval = interval = self.balance_interval
        self.idle_interval = max(1, interval // IDLE_FACTOR) if interval else 0

    def begin(self) -> None:
        """Make the queues."""
        self._queues: list[FairQueue] = [FairQueue() for _ in range(self.engine.cpus)]
        self._failed = [0] * self.engine.cpus
        self.domains = self.engine.machine.known_domains

    # What the scheduler decides.

    def key(self, entity: FairEntity) -> int:
        """Return what queues are sorted by."""
        raise NotImplementedError

    def place(self, entity: FairEntity, cpu: int, why: Why) -> None:
        """Set the virtual times of a thread that comes to a CPU anew."""
        raise NotImplementedError

    def goes_on(self, entity: FairEntity, cpu: int, why: Why) -> None:
        """Set the virtual times of a thread that has left its CPU and is ready."""
        raise NotImplementedError

    def leaves(self, entity: FairEntity) -> None:
        """Remember what a thread takes along that has left the queue of its home."""

    def choose(self, cpu: int) -> int:
        """Return the position of the thread that runs next, in a queue that is not empty."""
        raise NotImplementedError

    def preempts(self, thread: Thread, running: FairEntity, cpu: int) -> bool:
        """Return whether a thread that has come to a queue takes the CPU from the running one."""
        raise NotImplementedError

    # The virtual time of a CPU.

    def charge(self, thread: Thread) -> FairEntity:
        """Bring a thread's virtual run time up to date."""
        entity: FairEntity = thread.own
        entity.charge(self.engine.executed(thread))
        return entity

    def current(self, cpu: int, *, without: FairEntity | None = None) -> FairEntity | None:
        """Return the running thread's data, up to date; None if there is none or it is left out."""
        running = self.engine.running[cpu]
        if running is None or running.own is without:
            return None
        return self.charge(running)

    def totals(self, cpu: int, *, without: FairEntity | None = None) -> tuple[int, int]:
        """Return weight and moment of all threads that wait or run on a CPU."""
        queue = self._queues[cpu]
        running = self.current(cpu, without=without)
        if running is None:
            return queue.weight, queue.moment
        return queue.weight + running.weight, queue.moment + running.weight * running.vruntime

    # Callbacks.

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up, here or where there is room."""
        if why in (Why.NEW, Why.WOKEN):
            target = self.starts_at(thread, cpu) if why is Why.NEW else self.wakes_at(thread, cpu)
            if why is Why.NEW:
                thread.own = FairEntity(thread.weight)
            self.place(thread.own, target, why)
        else:
            assert cpu is not None
            target = cpu
            self.goes_on(self.charge(thread), cpu, why)
        self.enqueue(thread, target)
        return target

    def enqueue(self, thread: Thread, cpu: int) -> None:
        """Put a thread into a queue, and let it take the CPU if it is to run at once."""
        thread.own.home = cpu
        self._queues[cpu].add(thread, self.key(thread.own))
        running = self.current(cpu, without=thread.own)
        if running is not None and self.preempts(thread, running, cpu):
            self.engine.preempt(cpu)

    def pick(self, cpu: int) -> Thread | None:
        """Take the next one of this queue, or pull one from another."""
        queue = self._queues[cpu]
        if not queue.waiting and not self.pull(cpu, least=1):
            self.expect_idle_tick()
            return None
        return queue.take(self.choose(cpu))

    def blocked(self, thread: Thread, cpu: int) -> None:
        """Remember its virtual times for its next wake-up."""
        self.leaves(self.charge(thread))

    # Where threads run.

    def load(self, cpu: int) -> int:
        """Return the number of threads that wait or run on a CPU."""
        return len(self._queues[cpu].waiting) + (self.engine.running[cpu] is not None)

    def is_free(self, cpu: int) -> bool:
        """Return whether nothing runs or waits on a CPU."""
        return self.engine.is_idle(cpu) and not self._queues[cpu].waiting

    def weight(self, cpu: int) -> int:
        """Return the weight of all threads that wait or run on a CPU."""
        return self.totals(cpu)[0]

    def starts_at(self, thread: Thread, cpu: int | None) -> int:
        """Return the CPU of a new thread."""
        allowed = filter(thread.may_run_on, range(self.engine.cpus))
        return min(allowed, key=lambda each: (self.weight(each), each != cpu))

    def wakes_at(self, thread: Thread, waker_cpu: int | None) -> int:
        """Return the CPU of a thread that wakes up."""
        last = thread.cpu
        assert last is not None
        free = self.free_near(last, thread)
        if free is not None:
            return free
        if waker_cpu is None or not thread.may_run_on(waker_cpu):
            return last
        if self.weight(last) <= self.weight(waker_cpu):
            return last
        free = None if self.are_near(last, waker_cpu) else self.free_near(waker_cpu, thread)
        return waker_cpu if free is None else free

    def free_near(self, cpu: int, thread: Thread) -> int | None:
        """Return a free CPU of this CPU's domain, this one or the next, or None."""
        near = self.domains.members[self.domains.domain_of[cpu]]
        start = bisect_left(near, cpu)
        for other in (*near[start:], *near[:start]):
            if self.is_free(other) and thread.may_run_on(other):
                return other
        return None

    def are_near(self, cpu: int, other: int) -> bool:
        """Return whether two CPUs are in the same domain."""
        domain_of = self.domains.domain_of
        return domain_of[cpu] == domain_of[other]

    def balance(self, cpu: int) -> bool:
        """Pull a thread from a CPU that has at least two more; of hot ones only after failures."""
        least, failed = self.load(cpu) + 2, self._failed[cpu]
        if all(self.load(other) < least for other in range(self.engine.cpus)):
            self._failed[cpu] = 0
            return False
        has_pulled = self.pull(cpu, least=least, even_hot=failed > CACHE_NICE_TRIES)
        self._failed[cpu] = 0 if has_pulled else failed + 1
        return has_pulled

    def pull(self, cpu: int, *, least: int, even_hot: bool = False) -> bool:
        """Pull a thread from the longest queue of a CPU with at least this number of threads."""
        coldest = self.engine.now - (0 if even_hot else self.migration_cost)
        for other in self.others(cpu):
            queue = self._queues[other]
            if not queue.waiting or self.load(other) < least:
                continue
            stops = [
                (coldest if thread.stopped_at is None else thread.stopped_at, position)
                for position, (_, _, thread) in enumerate(queue.waiting)
                if thread.may_run_on(cpu) and (even_hot or self.may_move(thread, cpu))
            ]
            stopped, position = min(stops, default=(coldest + 1, 0))
            if stopped <= coldest:
                self.move(queue.take(position), cpu)
                return True
        return False

    def others(self, cpu: int) -> list[int]:
        """Return all other CPUs: those of the same domain first, then by the length of queues."""
        others = [other for other in range(self.engine.cpus) if other != cpu]
        return sorted(
            others,
            key=lambda other: (not self.are_near(cpu, other), -len(self._queues[other].waiting)),
        )

    def may_move(self, thread: Thread, cpu: int) -> bool:
        """Return whether a CPU may pull a thread whose data is cold."""
        return True

    def move(self, thread: Thread, cpu: int) -> None:
        """Put a thread that has left its queue into another one."""
        self.leaves(thread.own)
        self.place(thread.own, cpu, Why.WOKEN)
        self.enqueue(thread, cpu)
