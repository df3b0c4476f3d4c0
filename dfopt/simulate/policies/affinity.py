"""Affinity to processors: the policies FP, LP and MI of Squillante and Lazowska."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from dfopt.simulate.contract import GAVE_UP, Thread, TimeSliced, Why


class FixedProcessor(TimeSliced):
    """Every thread always runs on the CPU that it was assigned to when it appeared (FP).

    The strictest of Squillante and Lazowska's policies. A CPU serves its threads in the order in
    which they became ready, and idles while threads of other CPUs wait. They assume that all CPUs
    have equally many threads; here a new one goes to the CPU that has fewest (of several, the
    lowest number), which is round robin until threads end.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of its CPU's queue; 0: never.

    References
    ----------
    M. S. Squillante and E. D. Lazowska, "Using Processor-Cache Affinity Information in
    Shared-Memory Multiprocessor Scheduling", IEEE Transactions on Parallel and Distributed
    Systems 4(2), 1993, pp. 131-143: policy FP.
    """

    name = "fp"

    def begin(self) -> None:
        """Make the queues."""
        self._queues: list[deque[Thread]] = [deque() for _ in range(self.engine.cpus)]
        self._threads = [0] * self.engine.cpus

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up at the thread's CPU."""
        if why is Why.NEW:
            thread.own = self._threads.index(min(self._threads))
            self._threads[thread.own] += 1
        own: int = thread.own
        self._queues[own].append(thread)
        return own

    def pick(self, cpu: int) -> Thread | None:
        """Take the first of this CPU's."""
        queue = self._queues[cpu]
        return queue.popleft() if queue else None

    def ended(self, thread: Thread, cpu: int) -> None:
        """Make room for others."""
        self._threads[cpu] -= 1


class LastProcessor(TimeSliced):
    """A CPU takes the first ready thread that ran there last; if there is none, the first of all.

    This is LP: all that is remembered of a thread is where it ran last. A thread that becomes ready
    goes to that CPU if it is idle, and else to any that is. In Squillante and Lazowska's model
    threads leave their CPU for a while. One that stays ready, since it yields or its slice is used
    up, could keep its CPU for ever; here it waits in the common queue, where no CPU prefers it,
    until it has run again.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of the common queue; 0: never.

    References
    ----------
    M. S. Squillante and E. D. Lazowska, "Using Processor-Cache Affinity Information in
    Shared-Memory Multiprocessor Scheduling", IEEE Transactions on Parallel and Distributed
    Systems 4(2), 1993, pp. 131-143: policy LP.
    """

    name = "lp"

    def begin(self) -> None:
        """Make the queues."""
        self._queue: OrderedDict[Thread, None] = OrderedDict()
        self._own: list[OrderedDict[Thread, None]] = [
            OrderedDict() for _ in range(self.engine.cpus)
        ]

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Queue up in the common queue, and among those that its last CPU prefers."""
        last = thread.cpu
        if last is not None and why not in GAVE_UP:
            own = self._own[last]
            goes_there = self.engine.is_idle(last) and not own
            own[thread] = None
            # This CPU is asked first; the others are asked as well, since several may be ready.
            self.engine.offer(last)
            if goes_there:
                # Not in the common queue: a CPU that switches at this moment would take it.
                return
        self._queue[thread] = None

    def pick(self, cpu: int) -> Thread | None:
        """Take the first of this CPU's own, or of all."""
        queue = self._own[cpu] or self._queue
        if not queue:
            return None
        thread, _ = queue.popitem(last=False)
        self._queue.pop(thread, None)
        if thread.cpu is not None:
            self._own[thread.cpu].pop(thread, None)
        return thread


class MinimumIntervening(TimeSliced):
    """A CPU takes the ready thread after which the fewest others ran there (intervening ones).

    The more threads ran on a CPU since a thread did, the less of that thread's data is left there.
    A free CPU takes, of the ready threads that ran on it before, the one with the fewest
    intervening threads. If there is none, it takes the first of the common queue. A thread that
    becomes ready while several CPUs are idle goes to the CPU where it has the fewest.

    Executions are counted, so a thread that ran twice counts twice; where a CPU chooses among
    threads, this makes no difference. In Squillante and Lazowska's model threads leave their CPU
    for a while. A thread that stays ready, since it yields or its slice is used up, has no
    intervening threads and could keep its CPU for ever; here it waits in the common queue, where
    no CPU prefers it, until it has run again.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of the common queue; 0: never.

    References
    ----------
    M. S. Squillante and E. D. Lazowska, "Using Processor-Cache Affinity Information in
    Shared-Memory Multiprocessor Scheduling", IEEE Transactions on Parallel and Distributed
    Systems 4(2), 1993, pp. 131-143: policy MI.
    """

    name = "mi"

    def begin(self) -> None:
        """Make the queue, and the heaps."""
        # The ready threads, and whether a CPU may prefer them.
        self._queue: OrderedDict[Thread, bool] = OrderedDict()
        # By CPU: how many executions there were, and threads that ran there, the last one first.
        # A thread is at most once in a heap: it runs there again only if it is taken out.
        self._executions = [0] * self.engine.cpus
        self._heaps: list[list[tuple[int, int]]] = [[] for _ in range(self.engine.cpus)]
        # Idle CPUs, and the threads that go there; these are in no queue, from which a CPU that
        # switches at this moment would take them.
        self._going: dict[int, Thread] = {}

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Go to an idle CPU, or queue up in the common queue and at every CPU where it ran."""
        if why is Why.NEW:
            thread.own = _History()
        if why in GAVE_UP:
            self._queue[thread] = False
            return
        history: _History = thread.own
        idle = self.engine.idle() if history.ran else ()
        executions, ran = self._executions, history.ran
        here = [where for where in idle if where in ran and where not in self._going]
        if here:
            # This CPU is asked first; the others are asked as well, since several may be ready.
            best = min(here, key=lambda where: executions[where] - ran[where])
            self._going[best] = thread
            self.engine.offer(best)
            return
        self._queue[thread] = True
        for where in history.missing:
            heappush(self._heaps[where], (-history.ran[where], thread.number))
        history.missing.clear()

    def pick(self, cpu: int) -> Thread | None:
        """Take the one with the fewest intervening, or the first."""
        thread = self._going.pop(cpu, None)
        if thread is None:
            if not self._queue:
                return None
            thread = self._nearest(cpu)
            if thread is None:
                thread, _ = self._queue.popitem(last=False)
            else:
                del self._queue[thread]
        history: _History = thread.own
        self._executions[cpu] += 1
        history.ran[cpu] = self._executions[cpu]
        history.missing.add(cpu)
        return thread

    def _nearest(self, cpu: int) -> Thread | None:
        """Return the ready thread that ran here last."""
        heap, threads, queue = self._heaps[cpu], self.engine.threads, self._queue
        while heap:
            _, number = heappop(heap)
            thread = threads[number]
            if queue.get(thread, False):
                return thread
            # It is not ready; it comes back when it is.
            thread.own.missing.add(cpu)
        return None


@dataclass(slots=True, eq=False)
class _History:
    """The CPUs on which a thread ran.

    Attributes
    ----------
    ran
        By CPU: the number of its last execution there.
    missing
        The CPUs among them that do not have it in their heap.
    """

    ran: dict[int, int] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
