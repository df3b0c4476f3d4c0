"""A CPU that runs dispatches: what they pay, when their bursts end, and their rows of the trace.

A *dispatch* is a stretch in which one thread uses one fragment on one CPU: a row of the trace. It
goes on when the same thread is picked again at once, and a new one begins when the thread changes
to another fragment. The penalty is paid at its beginning and is never preempted; after it each
dispatch executes for at least one unit of time, if it is that long. Time slices count execution
alone.
"""

from __future__ import annotations

from heapq import heappush

from dfopt.simulate.run_queue.contract import Thread
from dfopt.simulate.run_queue.recorder import packed
from dfopt.simulate.run_queue.requests import Requests
from dfopt.simulate.run_queue.workload import CLEAN, UNMANAGED, Burst
from dfopt.trace.events import Stop

CANCELLED = -1
"""The event number of a CPU that waits for no event."""

GOES_ON = int(Stop.PREEMPTED)


class DispatchingCpu:
    """A CPU that runs the bursts of threads, and notes its dispatches.

    A dispatch stays open when its thread leaves, since that may be picked again at once. The time
    from there to the next dispatch is a gap: if the same dispatch goes on it joins that, and
    otherwise it is overhead.

    Parameters
    ----------
    number
        Its number.
    kernel
        The kernel that it belongs to.

    Attributes
    ----------
    due
        Number of the event that it waits for, or :data:`CANCELLED`.
    """

    __slots__ = (
        "_agenda",
        "_begins",
        "_costs",
        "_counters",
        "_kernel",
        "_left_before",
        "_note",
        "_numbers",
        "_pays_from",
        "_penalty",
        "_row_end",
        "_row_fragment",
        "_row_leaves",
        "_row_lines",
        "_row_start",
        "_row_stop",
        "_row_thread",
        "_running",
        "_served",
        "_slice",
        "_switch_time",
        "due",
        "number",
    )

    def __init__(self, number: int, kernel: Requests) -> None:
        self.number = number
        self._kernel = kernel
        self._running = kernel.running
        self._counters = kernel.counters
        self._agenda = kernel.agenda
        self._numbers = kernel.numbers
        self._switch_time = kernel.machine.switch_time
        self._costs = kernel.costs
        # Looked up once, since it is called for every dispatch.
        self._note = kernel.recorder.cells.extend
        self.due = CANCELLED
        # The time when the running burst began, or goes on, after its penalty.
        self._begins = 0
        # The penalty that it pays before that, and from when on.
        self._penalty = 0
        self._pays_from = 0
        # The rest of the time slice at that time.
        self._slice = 0
        # The thread whose dispatch is open; it may have left the CPU and still be picked again.
        self._row_thread: Thread | None = None
        self._row_start = 0
        self._row_end = 0
        self._row_fragment = UNMANAGED
        self._row_lines = 0
        self._row_leaves = CLEAN
        self._left_before = CLEAN
        self._row_stop = GOES_ON
        # The time that interrupts took since the open dispatch was left.
        self._served = 0

    def _begin(self, thread: Thread, burst: Burst) -> None:
        """Begin a burst, or its rest, and await its end, or that of the time slice."""
        begins = self._kernel.now
        is_open = self._row_thread
        if is_open is thread and self._row_fragment == burst.fragment:
            if begins > self._row_end:
                self._join_gap()
            self._left_before = so_far = self._row_leaves
            leaves = burst.leaves
            self._row_leaves = leaves if leaves > so_far else so_far
            penalty = self._costs.go_on(self.number, burst)
        else:
            if is_open is not None:
                if begins > self._row_end:
                    self._end_gap()
                else:
                    self._close()
            if is_open is not thread and self._switch_time:
                begins += self._switch_time
                self._counters.overhead += self._switch_time
            self._row_thread = thread
            self._row_start = self._row_end = begins
            self._row_fragment = burst.fragment
            self._row_lines = burst.lines
            self._row_leaves = burst.leaves
            penalty = self._costs.begin(self.number, burst)
        self._row_stop = GOES_ON
        self._pays_from = begins
        self._penalty = penalty
        if penalty:
            self._counters.penalties[self.number] += penalty
            begins += penalty
        self._begins = begins
        left = thread.left
        ends = begins + (left if left < self._slice else self._slice)
        self.due = number = next(self._numbers)
        heappush(self._agenda, (ends, number, self))

    def _await(self, time: int) -> None:
        """Wait for the end of the burst, or of the time slice."""
        self.due = number = next(self._numbers)
        heappush(self._agenda, (time, number, self))

    def _execute(self, thread: Thread, now: int) -> None:
        """Note what its thread has executed up to now."""
        executed = now - self._begins
        thread.left -= executed
        thread.run_time += executed
        self._slice -= executed
        self._begins = self._row_end = now

    def _cut(self, thread: Thread, now: int) -> None:
        """Close the dispatch of a running thread at the end of the simulation.

        A burst that has executed nothing is undone. If its dispatch has no other one it is left
        out, and the CPU's time on it is overhead.
        """
        counters = self._counters
        if now > self._begins:
            self._execute(thread, now)
            self._close()
            return
        counters.penalties[self.number] -= self._penalty
        counters.overhead += now - self._pays_from
        counters.interrupted -= self._begins - self._penalty - self._pays_from
        if self._row_end > self._row_start:
            self._row_leaves = self._left_before
            self._close()

    def _join_gap(self) -> None:
        """Let the open dispatch last until now, with what has been done since it was left."""
        counters, now = self._counters, self._kernel.now
        counters.spun += now - self._row_end - self._served
        counters.interrupted += self._served
        self._served = 0
        self._row_end = now

    def _end_gap(self) -> None:
        """Close the open dispatch, which ended when its thread left."""
        self._counters.overhead += self._kernel.now - self._row_end
        self._served = 0
        self._close()

    def _close(self) -> None:
        """End the dispatch."""
        thread = self._row_thread
        assert thread is not None
        self._note(
            packed(
                self.number,
                self._row_start,
                self._row_end,
                thread.number,
                self._row_fragment,
                self._row_lines,
                self._row_leaves,
                self._row_stop,
            )
        )
        self._row_thread = None
