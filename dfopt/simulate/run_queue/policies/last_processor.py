"""LP: a CPU prefers the threads that ran on it last."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

from dfopt.simulate.run_queue.contract import GAVE_UP, Thread, TimeSliced, Why


class LastProcessor(TimeSliced):
    """A CPU takes the first ready thread that ran there last; if there is none, the first of all.

    All that is remembered of a thread is where it ran last. A thread that becomes ready goes to
    that CPU if it is idle, and else to any that is. In Squillante and Lazowska's model threads
    leave their CPU for a while. One that stays ready, since it yields or its slice is used up,
    could keep its CPU for ever; here it waits in the common queue, where no CPU prefers it, until
    it has run again.

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

    name: ClassVar[str] = "lp"

    def __init__(self, time_slice: int = 100_000_000) -> None:
        super().__init__(time_slice)
        self._queue: OrderedDict[Thread, None] = OrderedDict()
        self._own: list[OrderedDict[Thread, None]] = []

    def begin(self) -> None:
        """Make the queues."""
        self._own = [OrderedDict() for _ in range(self.engine.cpus)]

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Queue up in the common queue, and among those that its last CPU prefers."""
        del cpu
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
        own = self._own[cpu]
        if own:
            thread, _ = own.popitem(last=False)
            self._queue.pop(thread, None)
            return thread
        if not self._queue:
            return None
        thread, _ = self._queue.popitem(last=False)
        if thread.cpu is not None:
            self._own[thread.cpu].pop(thread, None)
        return thread
