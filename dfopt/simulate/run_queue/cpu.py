"""A CPU: what runs there, the dispatch that is open, and what is paid for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.simulate.run_queue.steps import CLEAN, UNMANAGED, Burst

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.costs import Costs
    from dfopt.simulate.run_queue.counters import Counters
    from dfopt.simulate.run_queue.recorder import Recorder
    from dfopt.simulate.run_queue.thread import Thread

CANCELLED = -1
"""Number of the event that a CPU waits for while it waits for none."""


class Cpu:
    """A CPU.

    Parameters
    ----------
    number
        Which.
    running
        By CPU, what runs there.
    switch_time
        What a switch to another thread takes.
    costs
        What bursts pay.
    counters, recorder
        Of the whole simulation.

    Attributes
    ----------
    due
        Number of the event it waits for.
    begins
        When the burst that runs began, or goes on, after its penalty.
    slice
        What is left of the time slice then.
    is_taken
        Whether its thread leaves it at the end of the penalty.
    free_at
        Until when it has been busy.
    """

    __slots__ = (
        "_counters",
        "_note",
        "_pay",
        "_row_end",
        "_row_fragment",
        "_row_leaves",
        "_row_lines",
        "_row_start",
        "_row_thread",
        "_running",
        "_switch_time",
        "begins",
        "due",
        "free_at",
        "is_taken",
        "number",
        "slice",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - what all CPUs have in common
        self,
        number: int,
        running: list[Thread | None],
        switch_time: int,
        costs: Costs,
        counters: Counters,
        recorder: Recorder,
    ) -> None:
        self.number = number
        self._switch_time = switch_time
        # Bound once, since they are called for every burst and every dispatch.
        self._pay = costs.begin
        self._note = recorder.cells.extend
        self._counters = counters
        self._running = running
        self.due = CANCELLED
        self.begins = 0
        self.slice = 0
        self.is_taken = False
        self.free_at = 0
        # Whose dispatch is open; when it has left the CPU, it may still go on.
        self._row_thread: Thread | None = None
        self._row_start = 0
        self._row_end = 0
        self._row_fragment = UNMANAGED
        self._row_lines = 0
        self._row_leaves = CLEAN

    def begin(self, thread: Thread, burst: Burst, now: int, begins: int) -> int:
        """Begin a burst, or what is left of it; return when that, or the time slice, ends.

        Parameters
        ----------
        thread, burst
            Whose, and which.
        now, begins
            The time, and when the CPU is done with choosing the thread.
        """
        is_open = self._row_thread
        if is_open is thread and self._row_fragment == burst.fragment:
            self._counters.spun += begins - self._row_end
            so_far, leaves = self._row_leaves, burst.leaves
            self._row_leaves = leaves if leaves > so_far else so_far
            penalty = self._pay(self.number, burst, enters=False)
        else:
            if is_open is None:
                came = now if now > self.free_at else self.free_at
            else:
                self.close()
                came = self._row_end
            begins = came if came > begins else begins
            if is_open is not thread:
                begins += self._switch_time
            if begins > came:
                self._counters.overhead += begins - came
            self._row_thread = thread
            self._row_start = begins
            self._row_fragment = burst.fragment
            self._row_lines = burst.lines
            self._row_leaves = burst.leaves
            penalty = self._pay(self.number, burst, enters=True)
        if penalty:
            self._counters.penalties[self.number] += penalty
            begins += penalty
        self.begins = begins
        left = thread.left
        return begins + (left if left < self.slice else self.slice)

    def execute(self, thread: Thread, now: int) -> None:
        """Note what its thread has executed up to now."""
        executed = now - self.begins
        thread.left -= executed
        thread.run_time += executed
        self.slice -= executed
        self.begins = self._row_end = now

    def stop(self, thread: Thread, end: int) -> None:
        """Let its thread leave; the dispatch may still go on, should it be picked at once."""
        thread.stopped_at = end
        if end > self._row_end and self._row_thread is thread:
            self._counters.spun += end - self._row_end
            self._row_end = end
        self._running[self.number] = None

    def rest(self, now: int, end: int) -> None:
        """Do nothing, after having looked for something to do until the end."""
        if self._row_thread is not None:
            self.close()
        came = max(now, self.free_at)
        if end > came:
            self._counters.overhead += end - came
            self.free_at = end

    def close(self) -> None:
        """End the dispatch."""
        thread, end = self._row_thread, self._row_end
        assert thread is not None
        fragment, lines, leaves = self._row_fragment, self._row_lines, self._row_leaves
        self._note((self.number, self._row_start, end, thread.number, fragment, lines, leaves))
        self._row_thread = None
        self.free_at = end
