"""Two-level multi-scan scheduling (Sohn and Kim), and the one queue that it replaced.

With a queue for each CPU, or one for all, each is behind a spin lock, and has lists for threads
woken by a disk, in kernel mode, and in user mode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dfopt.simulate.contract import (
    NOBODY,
    USER,
    KernelInterface,
    SpinLock,
    Thread,
    TimeSliced,
    Why,
)
from dfopt.structs import Natural


class ReadyQueue:
    """Lists of ready threads, the most urgent first; round robin inside each.

    Parameters
    ----------
    lists
        The number of lists.

    Attributes
    ----------
    count
        The number of threads that it holds; read without the lock.
    lock
        It is held for everything else.
    """

    __slots__ = ("_lists", "count", "lock")

    def __init__(self, lists: int) -> None:
        self._lists: tuple[deque[Thread], ...] = tuple(deque() for _ in range(lists))
        self.count = 0
        self.lock = SpinLock()

    def put(self, engine: KernelInterface, thread: Thread, index: int) -> None:
        """Lock, and append a thread to a list."""
        engine.acquire(self.lock)
        self._lists[index].append(thread)
        self.count += 1

    def holds(self, lists: int) -> bool:
        """Return whether the first lists, ``lists`` of them, hold a thread; needs no lock."""
        return any(self._lists[:lists])

    def take(self, engine: KernelInterface, lists: int) -> Thread | None:
        """Lock, and take the first thread of the first lists, ``lists`` of them, or None."""
        engine.acquire(self.lock)
        for threads in self._lists[:lists]:
            if threads:
                self.count -= 1
                return threads.popleft()
        return None


@dataclass(eq=False, kw_only=True)
class ReadyQueues(TimeSliced):
    """Queues with a list for each band of urgency.

    Parameters
    ----------
    stays_in_kernel
        Whether a thread whose slice ends in kernel mode waits in the list of its band, or among
        those in user mode.
    """

    stays_in_kernel: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._queues: Sequence[ReadyQueue] = ()

    @property
    def locks(self) -> Sequence[SpinLock]:
        """One lock for each queue."""
        return tuple(queue.lock for queue in self._queues)

    def band(self, thread: Thread, why: Why) -> int:
        """Return the band in which a thread waits."""
        return USER if why is Why.EXPIRED and not self.stays_in_kernel else thread.band


class GlobalQueue(ReadyQueues):
    """The scheduler of UNIX System V on several CPUs (Sohn and Kim, sections II and IV).

    One ready queue of priority lists behind one spin lock; kernel-mode priorities come before
    user mode, among them disk wake-ups first, and each list goes round robin. There is no
    affinity: the next CPU that is free takes the first thread.

    The paper does not say how the queue is tested for emptiness, nor whether threads are
    preempted. Here the count is looked at before the lock is taken, as in the paper's own
    scheduler, so that idle CPUs do not spin. A thread that wakes up waits for the next switch:
    the paper says that the end of a quantum and the wake-up of threads run the scheduler, and
    names no preemption. A thread whose time slice ends in kernel mode waits on in kernel mode,
    unless ``stays_in_kernel`` is false; in UNIX System V a slice ends on the way back to user mode.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of its list; 0: never.
    stays_in_kernel
        Whether a thread whose slice ends in kernel mode waits in the list of its band, or among
        those in user mode.
    """

    name = "global-queue"

    def begin(self) -> None:
        """Make the queue."""
        self._queues = [ReadyQueue(USER + 1)]

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Put it into the list of its band; the idle CPUs hear of it when the lock is free."""
        self._queues[0].put(self.engine, thread, self.band(thread, why))
        for idle in self.engine.idle():
            self.engine.offer(idle)
        return NOBODY

    def pick(self, cpu: int) -> Thread | None:
        """Take the first thread of the most urgent list."""
        (queue,) = self._queues
        return queue.take(self.engine, USER + 1) if queue.count else None


@dataclass(eq=False, kw_only=True)
class TwoLevelMultiScan(ReadyQueues):
    """Local round robin, and a semi-global scheduler that scans all queues band by band.

    The rules, with the section of the paper:

    - III.1: each CPU has a ready queue with its own lock; threads go round robin.
    - III.2: a new thread is given to the CPU after the one that got the last one, in a circle.
    - III.1: a thread that wakes up goes to the queue of its affinity CPU, which is the one that
      it ran on last: by migrating it changes its affinity.
    - III.2, the dispatcher: each scan looks into the CPU's own queue, then into the others, in a
      circle from the next CPU on, for a thread of its range; every scan has a wider range.
    - The dispatcher, lines 6 and 19: the count of a queue is tested before it is locked.

    The dispatcher's pseudo-code tests the count of a whole queue. Then queues without a thread in
    the range are locked in vain. ``count_of_queue`` follows it. By default the threads in the
    range are counted. This was chosen by its result: a third scan that locks queues in vain slows
    Cswitch by far more than the 3 % that were measured.

    The paper contradicts itself on when queues are scanned. Its ``local_scheduler()`` asks the
    semi-global one only when its own queue is empty; its text scans all queues for kernel mode
    at every context switch, before anything in user mode runs. ``at_every_switch`` chooses; the
    text is the default, because by the other reading a second scan prevents no inversion as long
    as a CPU has a user-mode thread, and a third one costs nothing. With a single scan they are
    the same.

    An idle CPU is woken up "by the interrupt" (``local_scheduler()``, line 17). Reading: as soon
    as a thread is in its queue and the lock is free, the idle CPUs are called, its affinity CPU
    first and then the others in the circle. A thread that is ready preempts none.

    A time slice may end in kernel mode. The paper does not say how the thread waits then. In UNIX
    System V, from which the scheduler is derived, a slice ends on the way back to user mode.
    ``stays_in_kernel`` chooses. A result rests on it: with user priority a third scan gains
    some 1 % in Read, where 22 % were measured.

    One more reading: all queues are seen as they are at one instant, although looking takes time.

    Handoff scheduling is named with the paper's data structure and not described. With
    ``has_handoff`` a thread that wakes up is handed to an idle CPU, its affinity CPU first, without
    a queue and a lock. By default it goes through a queue.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of its list; 0: never.
    at_every_switch
        Whether all queues are scanned at every switch, or only when the CPU's own is empty.
    count_of_queue
        Whether all threads of a queue are counted before it is locked, or those in the range.
    look_time
        Time that a CPU takes to look at the count of one queue, in each scan.
    stays_in_kernel
        Whether a thread whose slice ends in kernel mode waits in the list of its band, or among
        those in user mode.
    has_handoff
        Whether threads that wake up are handed to idle CPUs.
    """

    lists: ClassVar[tuple[int, int, int]]
    """The list that threads of each band are in."""

    ranges: ClassVar[tuple[int, ...]]
    """How many lists each scan looks at."""

    at_every_switch: bool = True
    count_of_queue: bool = False
    look_time: Natural = 0
    has_handoff: bool = False

    def begin(self) -> None:
        """Make the queues."""
        cpus = range(self.engine.cpus)
        self._queues = [ReadyQueue(self.ranges[-1]) for _ in cpus]
        # The circle as each CPU sees it.
        self._circles = [(*self._queues[cpu:], *self._queues[:cpu]) for cpu in cpus]
        self._handed: dict[int, Thread] = {}
        self._next = 0

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Put it into a CPU's queue, and call CPUs to run it."""
        engine, cpus, affinity = self.engine, len(self._queues), thread.cpu
        if why is Why.NEW or affinity is None:
            affinity = self._next
            self._next = (affinity + 1) % cpus
        if self.has_handoff and why is Why.WOKEN:
            free = [other for other in engine.idle() if other not in self._handed]
            if free:
                target = affinity if affinity in free else free[0]
                self._handed[target] = thread
                return target
        self._queues[affinity].put(engine, thread, self.lists[self.band(thread, why)])
        if None in engine.running:
            for distance in range(cpus):
                other = (affinity + distance) % cpus
                if engine.running[other] is None:
                    engine.offer(other)
        return NOBODY

    def pick(self, cpu: int) -> Thread | None:
        """Scan the queues."""
        if cpu in self._handed:
            return self._handed.pop(cpu)
        engine, circle, look_time = self.engine, self._circles[cpu], self.look_time
        if not self.at_every_switch:
            own = circle[0]
            engine.spend(look_time)
            if own.count:
                return own.take(engine, self.ranges[-1])
        for lists in self.ranges:
            for queue in circle:
                if look_time:
                    engine.spend(look_time)
                if queue.count and (self.count_of_queue or queue.holds(lists)):
                    thread = queue.take(engine, lists)
                    if thread is not None:
                        return thread
        return None


class OneScan(TwoLevelMultiScan):
    """Without bands: the CPU's own queue first, then the first thread found in the circle."""

    name = "tlms-1"
    lists = (0, 0, 0)
    ranges = (1,)


class TwoScans(TwoLevelMultiScan):
    """Kernel mode first, then all."""

    name = "tlms-2"
    lists = (0, 0, 1)
    ranges = (1, 2)


class ThreeScans(TwoLevelMultiScan):
    """Disk wake-ups first, then all of kernel mode, then all.

    The paper does not say what the third range is; it says that disk interrupts gain.
    """

    name = "tlms-3"
    lists = (0, 1, 2)
    ranges = (1, 2, 3)
