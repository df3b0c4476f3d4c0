"""Data affinity: threads that share data run in succession on one CPU (Pinter and Zalmanovici)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from dfopt.problem.cache import UNMANAGED
from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.linux_o1 import (
    EXPIRED,
    NEW,
    WOKEN,
    YIELDED,
    Entity,
    LinuxO1,
    PriorityArray,
    RunQueue,
)
from dfopt.structs import Natural

NOT_INTERACTIVE = -1


@dataclass(slots=True, eq=False)
class Bin:
    """The threads of a group that wait for one epoch; an entry of a priority list."""

    group: PriorityGroup
    threads: deque[Thread] = field(default_factory=deque)
    is_queued: bool = False


@dataclass(slots=True, eq=False)
class PriorityGroup:
    """A priority group.

    Attributes
    ----------
    application, fragment
        The application and the fragment that its threads share.
    queue
        The run queue of the CPU that it is mapped to.
    priority
        Of all its threads: the static priority of the first.
    members
        How many threads use the fragment, those that are blocked among them.
    bins
        By the parity of the queue's epoch: those that wait for this epoch, and for the next.
    """

    application: int
    fragment: int
    queue: GroupedRunQueue
    priority: int
    members: int = 0
    bins: tuple[Bin, Bin] = field(init=False)

    def __post_init__(self) -> None:
        self.bins = Bin(self), Bin(self)

    def waiting(self) -> int:
        """Return how many of its threads wait."""
        return sum(len(entry.threads) for entry in self.bins)


@dataclass(slots=True, eq=False)
class GroupedRunQueue(RunQueue):
    """A run queue whose lists hold bins as well as threads.

    Attributes
    ----------
    epoch
        Number of swaps.
    batch
        The group that ran last, if it is still here.
    groups
        How many groups are mapped to it.
    """

    epoch: int = 0
    batch: PriorityGroup | None = None
    groups: int = 0

    def swap(self) -> None:
        """Begin the next epoch, with the group that the last one ended with."""
        RunQueue.swap(self)
        self.epoch += 1
        if self.batch is not None:
            self.run_on(self.batch)

    def take(self) -> Thread:
        """Take the first thread of the first entry; a group stays there until it is empty."""
        active = self.active
        bitmap = active.bitmap
        entry = active.lists[(bitmap & -bitmap).bit_length() - 1][0]
        if not isinstance(entry, Bin):
            return RunQueue.take(self)
        self.batch = entry.group
        return self._taken(entry, active, entry.threads.popleft())

    def run_on(self, group: PriorityGroup) -> None:
        """Make a group the batch, and put it in front of its list."""
        self.batch = group
        entry = group.bins[self.epoch & 1]
        entries = self.active.lists[group.priority]
        if entry.is_queued and entries[0] is not entry:
            entries.remove(entry)
            entries.appendleft(entry)

    def put(self, thread: Thread, group: PriorityGroup, *, is_next: bool, is_first: bool) -> None:
        """Put a thread into its group, for this epoch or the next.

        The group that ran last stays in front of its list, so that it goes on.
        """
        entry = group.bins[(self.epoch + is_next) & 1]
        if is_first:
            entry.threads.appendleft(thread)
        else:
            entry.threads.append(thread)
        self.waiting += 1
        if not entry.is_queued:
            entry.is_queued = True
            if is_next:
                self.expired.append(entry, group.priority)
            elif group is self.batch:
                self.active.appendleft(entry, group.priority)
            else:
                self.active.append(entry, group.priority)

    def take_off(self, group: PriorityGroup) -> tuple[list[Thread], list[Thread]]:
        """Take all waiting threads of a group out: those of this epoch, and of the next."""
        taken: list[list[Thread]] = []
        for array, entry in zip((self.active, self.expired), self._bins(group), strict=True):
            if entry.is_queued:
                array.remove(entry, group.priority)
                entry.is_queued = False
            taken.append(list(entry.threads))
            self.waiting -= len(entry.threads)
            entry.threads.clear()
        return taken[0], taken[1]

    def take_last(self, group: PriorityGroup) -> Thread:
        """Take out the thread of a group that would run last."""
        now, later = self._bins(group)
        array, entry = (self.expired, later) if later.threads else (self.active, now)
        return self._taken(entry, array, entry.threads.pop())

    def _taken(self, entry: Bin, array: PriorityArray, thread: Thread) -> Thread:
        """Note that a thread has left a bin, which leaves its list when it is empty."""
        self.waiting -= 1
        if not entry.threads:
            array.remove(entry, entry.group.priority)
            entry.is_queued = False
        return thread

    def _bins(self, group: PriorityGroup) -> tuple[Bin, Bin]:
        return group.bins[self.epoch & 1], group.bins[(self.epoch + 1) & 1]


@dataclass(slots=True, eq=False)
class GroupedEntity(Entity):
    """The data that the scheduler keeps about a thread that may be in a group."""

    group: PriorityGroup | None = None


@dataclass(eq=False, kw_only=True)
class DataAffinity(LinuxO1):
    """The O(1) scheduler, with threads mapped to the CPU of their data fragment.

    Each application has a map from fragments to a CPU and a priority group, and a counter of the
    threads that use the fragment. The rules are those of the paper's section 4.1; *reading* says
    what was chosen where the paper leaves it open:

    1. A thread that arrives with a new fragment goes to the CPU with the fewest threads that run
       or wait. Reading, for ties: to the CPU with the fewest groups. This decides at the
       beginning, while all threads are still blocked.
    2. A thread that arrives with a known fragment goes to the fragment's CPU, into its group.
    3. A thread that changes to another fragment leaves its group and arrives again, before it
       touches the data. Reading of "preempting it if necessary": it must leave its CPU if the
       fragment is another CPU's, or if other threads of the batch that runs there still wait.
    4. A thread that wakes up is looked up by its fragment, and arrives as in 1 or 2.
    5. When a thread ends, or changes, the fragment's counter falls; at 0 the group may be
       removed. Reading: it is removed at the next rebalancing. Until then a thread that arrives
       finds the fragment known.
    6. The load balancer finds out whether managed threads, those with a group, cause the
       imbalance, or the others. If managed threads cause it, whole groups are moved. A group that
       runs cannot be moved; then threads without a group are moved. A group is split when the
       imbalance lasts. If the others cause it, only they are moved. Readings: the cause is the
       sort of threads of which the two CPUs differ by more, and managed threads if the
       differences are equal; threads that run are counted. Of the groups that leave no greater
       imbalance, the balancer moves the first in the order of the O(1) balancer. The group that
       ran last has its data in the cache, and counts as cache-hot. Threads that are split off
       make a group of their own, until they wake up and are looked up again.

    Further readings: a group is one entry in a priority list, at the static priority of its first
    thread. Its threads run first in, first out, since the paper's bins have no order. A CPU that
    has begun with a group (a batch) goes on with it while one of its threads is ready and has
    some of its time slice left, the paper's quota. Threads that have used it up wait for the next
    epoch (the paper's époque), which begins when the arrays are swapped. An epoch begins with the
    group that the last one ended with, since the order of bins is free. A time slice is never
    renewed within an epoch, even for interactive threads, so that batches end. Threads of other
    groups of the same priority do not interrupt a batch. More urgent threads do, as under O(1),
    and the batch goes on after them. Bursts without a fragment do not change a thread's fragment,
    since no call announces another one. Threads that never had a fragment behave as under O(1).

    Parameters
    ----------
    split_after
        A group may be split when a CPU has failed to balance this number of times in a row.
    **parameters
        Those of :class:`LinuxO1`.
    """

    name = "data-affinity"

    split_after: Natural = 10

    def begin(self) -> None:
        """Make the queues."""
        super().begin()
        self._applications: dict[int, dict[int, PriorityGroup]] = {}
        # Groups that may be removed; a dictionary, for its order.
        self._removable: dict[PriorityGroup, None] = {}
        # The same objects, with the type that they have here.
        self._grouped: list[GroupedRunQueue] = self._queues  # type: ignore[assignment]

    def new_queue(self, cpu: int) -> RunQueue:
        """Return an empty run queue."""
        return GroupedRunQueue(cpu)

    def new_entity(self, static: int, time_slice: int) -> Entity:
        """Return the data that the policy keeps about a new thread."""
        return GroupedEntity(static, time_slice, left=time_slice)

    # The map.

    def arrive(self, thread: Thread, entity: GroupedEntity, cpu: int | None) -> PriorityGroup:
        """Put a thread into the group of its fragment, and out of any other.

        ``cpu`` is where it runs, and where it is not counted; None if it does not run.
        """
        if entity.group is not None:
            self.leave(entity.group)
        fragments = self._applications.setdefault(thread.application, {})
        group = fragments.get(thread.fragment)
        if group is None:
            # Rule 1.
            queue = min(
                self._grouped,
                key=lambda queue: (self.load(queue.cpu) - (queue.cpu == cpu), queue.groups),
            )
            queue.groups += 1
            group = PriorityGroup(thread.application, thread.fragment, queue, entity.static)
            fragments[thread.fragment] = group
        elif not group.members:
            self._removable.pop(group, None)
        group.members += 1
        entity.group = group
        entity.priority = group.priority
        entity.interactive = NOT_INTERACTIVE
        return group

    def leave(self, group: PriorityGroup) -> None:
        """Count one thread less (rule 5)."""
        group.members -= 1
        if not group.members:
            self._removable[group] = None

    def remove_groups(self) -> None:
        """Remove the groups without a thread."""
        for group in self._removable:
            fragments = self._applications[group.application]
            # A part that was split off is not in the map.
            if fragments.get(group.fragment) is group:
                del fragments[group.fragment]
                group.queue.groups -= 1
            if group.queue.batch is group:
                group.queue.batch = None
        self._removable.clear()

    # Callbacks.

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up in the group of the fragment (rules 1, 2 and 4), or as under O(1)."""
        if why is NEW:
            self.admit(thread, cpu)
        entity: GroupedEntity = thread.own
        group, fragment = entity.group, thread.fragment
        if fragment != UNMANAGED and (group is None or group.fragment != fragment or why is WOKEN):
            known = self._applications.get(thread.application)
            if group is None or known is None or known.get(fragment) is not group:
                group = self.arrive(thread, entity, None)
        if group is None:
            if why is NEW:
                return self.start(thread, cpu)
            return super().ready(thread, why, cpu)
        ran = thread.run_time - entity.run_time
        if ran:
            entity.run_time = thread.run_time
            entity.left -= ran
        is_next = why is YIELDED
        if entity.left <= 0:
            self.refill(entity)
            is_next = True
        queue = group.queue
        if self._has_locks:
            self.engine.acquire(queue.lock)
        is_first = why is Why.PREEMPTED or (why is EXPIRED and not is_next)
        queue.put(thread, group, is_next=is_next, is_first=is_first)
        if not is_next:
            self.check_preemption(queue.cpu, entity.priority)
        # The first one to come to an idle CPU runs there.
        if (queue.waiting > 1 or not self.engine.is_idle(queue.cpu)) and self.engine.idle():
            self.expect_idle_tick()
        return queue.cpu

    def changes(self, thread: Thread, fragment: int, cpu: int) -> bool:
        """Move a thread to the group of the fragment that it changes to (rule 3)."""
        entity: GroupedEntity = thread.own
        group = entity.group
        if thread.fragment == UNMANAGED or (
            group is not None and group.fragment == thread.fragment
        ):
            return False
        group = self.arrive(thread, entity, cpu)
        queue = self._grouped[cpu]
        batch = queue.batch
        if group.queue is not queue:
            return True
        if batch is not None and batch is not group and batch.bins[queue.epoch & 1].threads:
            return True
        queue.run_on(group)
        return False

    def ended(self, thread: Thread, cpu: int) -> None:
        """Count one thread less (rule 5)."""
        super().ended(thread, cpu)
        entity: GroupedEntity = thread.own
        if entity.group is not None:
            self.leave(entity.group)

    def tick(self) -> None:
        """Remove groups without a thread, and rebalance."""
        self.remove_groups()
        super().tick()

    # Rule 6.

    def pull(self, source: RunQueue, target: RunQueue, wanted: int, excess: int) -> int:
        """Move whole groups, else threads without a group, else a part of a group.

        Where threads without a group cause the imbalance, only they are moved.
        """
        assert isinstance(source, GroupedRunQueue)
        assert isinstance(target, GroupedRunQueue)
        if 2 * (self._managed(source) - self._managed(target)) < excess:
            return self.pull_threads(source, target, wanted)
        moved = 0
        for group in list(self._groups(source)):
            size = group.waiting()
            if moved < wanted and moved + size < excess and self._may_move(group, source, target):
                self._move(group, source, target)
                moved += size
        if not moved:
            moved = self.pull_threads(source, target, wanted)
        if not moved and target.failed >= self.split_after:
            moved = self._split(source, target, wanted)
        return moved

    def _managed(self, queue: GroupedRunQueue) -> int:
        """Return how many threads with a group wait or run on a CPU."""
        running = self.engine.running[queue.cpu]
        waiting = sum(group.waiting() for group in self._groups(queue))
        return waiting + (running is not None and running.own.group is not None)

    def _groups(self, source: GroupedRunQueue) -> Iterator[PriorityGroup]:
        """Yield the groups with a thread that waits, the expired first, then by priority."""
        seen: dict[PriorityGroup, None] = {}
        for array in (source.expired, source.active):
            for priority in array.priorities():
                for entry in array.lists[priority]:
                    if isinstance(entry, Bin):
                        seen.setdefault(entry.group)
        yield from seen

    def _may_move(
        self, group: PriorityGroup, source: GroupedRunQueue, target: GroupedRunQueue
    ) -> bool:
        running = self.engine.running[source.cpu]
        if running is not None and running.own.group is group:
            return False
        return group is not source.batch or target.failed > self.cache_nice_tries

    def _move(self, group: PriorityGroup, source: GroupedRunQueue, target: GroupedRunQueue) -> None:
        now, later = source.take_off(group)
        if self._applications[group.application].get(group.fragment) is group:
            source.groups -= 1
            target.groups += 1
        if source.batch is group:
            source.batch = None
        group.queue = target
        for thread in now:
            target.put(thread, group, is_next=False, is_first=False)
        for thread in later:
            target.put(thread, group, is_next=True, is_first=False)
        if now:
            self.check_preemption(target.cpu, group.priority)

    def _split(self, source: GroupedRunQueue, target: GroupedRunQueue, wanted: int) -> int:
        """Split threads off the largest group."""
        largest = max(self._groups(source), key=PriorityGroup.waiting, default=None)
        if largest is None:
            return 0
        part = PriorityGroup(largest.application, largest.fragment, target, largest.priority)
        moved = min(wanted, largest.waiting())
        for _ in range(moved):
            thread = source.take_last(largest)
            entity: GroupedEntity = thread.own
            self.leave(largest)
            part.members += 1
            entity.group = part
            target.put(thread, part, is_next=False, is_first=False)
        self.check_preemption(target.cpu, part.priority)
        return moved
