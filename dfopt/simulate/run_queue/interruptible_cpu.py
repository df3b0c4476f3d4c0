"""A CPU that is interrupted: the time that it spends in the scheduler, and on interrupts.

What callbacks have asked for is done first, and what follows from them happens when that is done:
the CPU goes on, and the CPUs are asked that they have named. Interrupts wait for that too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappush

from dfopt.simulate.run_queue.contract import NOBODY
from dfopt.simulate.run_queue.dispatching_cpu import CANCELLED, DispatchingCpu
from dfopt.simulate.run_queue.requests import Requests
from dfopt.simulate.run_queue.work import CpuWork


class InterruptibleCpu(DispatchingCpu):
    """A CPU that does the work of callbacks and interrupts; a burst that runs waits meanwhile.

    Attributes
    ----------
    is_at_work
        Whether it does something in the scheduler.
    is_called
        Whether it has been asked to choose since it has been at work.
    """

    __slots__ = (
        "_asks",
        "_began",
        "_is_suspended",
        "_is_taken",
        "_joins",
        "_pending",
        "_serves",
        "_then",
        "is_at_work",
        "is_called",
    )

    def __init__(self, number: int, kernel: Requests) -> None:
        super().__init__(number, kernel)
        self.is_at_work = False
        self.is_called = False
        # Interrupts that it has yet to serve.
        self._pending: deque[Callable[[], None]] = deque()
        # Its work: since when, what comes then, and who is asked then.
        self._began = 0
        self._then: Callable[[], None] = self._idle
        self._asks: list[int] = []
        # Whether it serves an interrupt, whether a burst waits for that, and whether the time
        # belongs to the dispatch of the thread that goes on then.
        self._serves = False
        self._is_suspended = False
        self._joins = False
        # Whether its thread leaves it at the end of the penalty.
        self._is_taken = False

    def interrupt(self, happening: Callable[[], None]) -> None:
        """Serve an interrupt, as soon as the work in the scheduler is done.

        What happens in it happens at once; a burst that runs waits for as long as that takes.
        """
        if self.is_at_work:
            self._pending.append(happening)
            return
        self._happens(happening)
        if self._kernel.tasks:
            self._is_suspended = self._running[self.number] is not None
            self.due = CANCELLED
            self._work(self._resume if self._is_suspended else self._idle, serves=True)

    def _happens(self, happening: Callable[[], None]) -> None:
        kernel = self._kernel
        if kernel.machine.interrupt_time:
            kernel.tasks.append(kernel.machine.interrupt_time)
        kernel.charged = self.number
        happening()
        kernel.charged = NOBODY

    def progress(self) -> int:
        """Return the time for which its thread has executed since that was last noted."""
        if not self.is_at_work:
            # While a penalty is paid, the burst begins in the future.
            return max(0, self._kernel.now - self._begins)
        return max(0, self._began - self._begins) if self._is_suspended else 0

    def _resume(self) -> None:
        """Let the burst go on that has waited."""
        thread, now = self._running[self.number], self._kernel.now
        assert thread is not None
        self._is_suspended = False
        if self._is_taken:
            self._await(max(now, self._begins + min(1, thread.left)))
        else:
            self._await(self._begins + min(thread.left, self._slice))

    def _idle(self) -> None:
        """Go on being idle."""

    def _work(self, then: Callable[[], None], *, serves: bool = False, joins: bool = False) -> None:
        """Do the work that the callbacks have asked for, and then something.

        ``serves`` says that it serves an interrupt, ``joins`` that the thread at work goes on
        afterwards, so that the time belongs to its dispatch, if that is open.
        """
        kernel = self._kernel
        tasks, self._asks = kernel.taken()
        self.is_at_work = True
        self._then = then
        self._began = kernel.now
        self._serves = serves
        self._joins = joins
        work = CpuWork(
            tasks,
            call_at=self._call_at,
            doubling=kernel.machine.lock_doubling,
            done=self._has_worked,
        )
        work.go_on(kernel.now)

    def _call_at(self, time: int, work: CpuWork) -> None:
        heappush(self._agenda, (time, next(self._numbers), work))

    def _has_worked(self) -> None:
        """Ask the CPUs that were named, serve interrupts that have come, and go on."""
        kernel, then = self._kernel, self._then
        self._account(kernel.now)
        self.is_at_work = False
        kernel.asked.extend(self._asks)
        while self._pending:
            kernel.settled = len(kernel.asked)
            self._happens(self._pending.popleft())
            if kernel.tasks:
                self._work(then, serves=True, joins=self._joins)
                return
        kernel.settled = len(kernel.asked)
        then()
        if self.is_called and not self.is_at_work:
            self.is_called = False
            kernel.asked.append(self.number)

    def _account(self, now: int) -> None:
        """Note what the time of the work was that ends now."""
        counters, time = self._counters, now - self._began
        row = self._row_thread
        if self._is_suspended:
            self._begins += time
            if self._pays_from > self._began:  # on the way to the dispatch
                self._pays_from += time
                self._row_start += time
                counters.overhead += time
            else:
                counters.interrupted += time
        elif row is None:
            counters.overhead += time
        else:
            if self._serves:
                self._served += time
            if self._joins and self._running[self.number] is row:
                self._join_gap()
