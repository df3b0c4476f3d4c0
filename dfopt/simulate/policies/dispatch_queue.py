"""A dispatch queue of sched_ext: ready threads in virtual time, some of them bound to CPUs."""

from __future__ import annotations

from heapq import heappop, heappush

from dfopt.simulate.contract import Thread


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
