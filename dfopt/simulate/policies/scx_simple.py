"""scx_simple, the first example of sched_ext: one queue for all CPUs, in virtual time.

Its queue serves the other policies of sched_ext as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from dfopt.simulate.contract import Thread, TimeSliced, Why
from dfopt.simulate.policies.fair_queues import FairEntity
from dfopt.structs import Natural


class DispatchQueue:
    """Ready threads in the order of a virtual time; of equal ones, in the order they came."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Thread]] = []
        self._arrivals = 0

    def __len__(self) -> int:
        """Return the number of threads."""
        return len(self._heap)

    @property
    def threads(self) -> list[Thread]:
        """The threads, in no order."""
        return [thread for _, _, thread in self._heap]

    def add(self, thread: Thread, time: int) -> None:
        """Take a thread in."""
        self._arrivals += 1
        heappush(self._heap, (time, self._arrivals, thread))

    def take(self, cpu: int) -> Thread | None:
        """Take the first thread that may run on a CPU."""
        passed_over, taken = [], None
        while self._heap and taken is None:
            entry = heappop(self._heap)
            if entry[-1].may_run_on(cpu):
                taken = entry[-1]
            else:
                passed_over.append(entry)
        for entry in passed_over:
            heappush(self._heap, entry)
        return taken


@dataclass(eq=False)
class ScxSimple(TimeSliced):
    """The ready thread with the least virtual run time runs, wherever a CPU is free.

    The rules are those of ``scx_simple`` in its mode with virtual times (the examples of sched_ext
    in the Linux kernel):

    - A thread's virtual run time is the time that it executed, divided by its weight. A new one
      begins with that of the thread which began to run last.
    - A thread that becomes ready counts as at most one slice behind that clock, however long it
      has slept.
    - A thread that wakes up goes to its last CPU if that is idle, else to any idle one. Nothing is
      preempted.
    - A CPU passes over threads that may not run there (``cpus_allowed``).

    Parameters
    ----------
    time_slice
        Time after which a thread goes back to the queue; 0: never.
    """

    name = "scx-simple"
    obeys_cpus_allowed = True

    time_slice: Natural = 20_000_000

    def begin(self) -> None:
        """Make the queue."""
        self._queue = DispatchQueue()
        self._clock = 0

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up in virtual time."""
        if why is Why.NEW:
            thread.own = FairEntity(thread.weight)
            thread.own.vruntime = self._clock
        entity: FairEntity = thread.own
        entity.charge(thread.run_time)
        entity.vruntime = max(entity.vruntime, self._clock - entity.virtual(self.time_slice))
        self._queue.add(thread, entity.vruntime)
        last = thread.cpu
        return last if last is not None and self.engine.is_idle(last) else None

    def pick(self, cpu: int) -> Thread | None:
        """Take the one with the least virtual run time, and set the clock."""
        thread = self._queue.take(cpu)
        if thread is not None:
            self._clock = max(self._clock, thread.own.vruntime)
        return thread
