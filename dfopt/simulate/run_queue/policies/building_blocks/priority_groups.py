"""Priority groups: the threads of an application that use the same data fragment."""

from __future__ import annotations

from collections import deque

from dfopt.simulate.run_queue.contract import Thread
from dfopt.simulate.run_queue.policies.building_blocks.priority_array import Entity, RunQueue


class Bin:
    """The threads of a group that wait for one epoch; an entry of a priority list."""

    __slots__ = ("group", "is_queued", "threads")

    def __init__(self, group: PriorityGroup) -> None:
        self.group = group
        self.threads: deque[Thread] = deque()
        self.is_queued = False


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

    __slots__ = ("application", "bins", "fragment", "members", "priority", "queue")

    def __init__(
        self, application: int, fragment: int, queue: GroupedRunQueue, priority: int
    ) -> None:
        self.application = application
        self.fragment = fragment
        self.queue = queue
        self.priority = priority
        self.members = 0
        self.bins = [Bin(self), Bin(self)]

    def waiting(self) -> int:
        """Return how many of its threads wait."""
        return sum(len(entry.threads) for entry in self.bins)


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

    __slots__ = ("batch", "epoch", "groups")

    def __init__(self, cpu: int) -> None:
        super().__init__(cpu)
        self.epoch = 0
        self.batch: PriorityGroup | None = None
        self.groups = 0

    def swap(self) -> None:
        """Begin the next epoch, with the group that the last one ended with."""
        super().swap()
        self.epoch += 1
        if self.batch is not None:
            self.run_on(self.batch)

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
        thread = entry.threads.pop()
        self.waiting -= 1
        if not entry.threads:
            array.remove(entry, group.priority)
            entry.is_queued = False
        return thread

    def _bins(self, group: PriorityGroup) -> tuple[Bin, Bin]:
        return group.bins[self.epoch & 1], group.bins[(self.epoch + 1) & 1]


class GroupedEntity(Entity):
    """The data that the scheduler keeps about a thread that may be in a group."""

    __slots__ = ("group",)

    def __init__(self, static: int, time_slice: int) -> None:
        super().__init__(static, time_slice)
        self.group: PriorityGroup | None = None
