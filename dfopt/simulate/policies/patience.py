"""Patience: a CPU changes to another fragment only when a thread has waited for a while."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass

from dfopt.problem.cache import EMPTY, UNMANAGED
from dfopt.simulate.contract import GAVE_UP, NOBODY, Thread, TimeSliced, Why
from dfopt.simulate.policies.simple import offer_by_fragment
from dfopt.structs import Natural

Queue = OrderedDict[Thread, None]


@dataclass(eq=False, kw_only=True)
class Patience(TimeSliced):
    """A CPU stays with its fragment, and would rather be idle for a while than change to another.

    The rules, in this order:

    1. A free CPU takes the thread that has waited longest, of those that use the fragment which its
       cache holds, or no fragment.
    2. If there is none, it takes the thread that has waited longest of all, provided that this one
       has waited for ``patience``, or that its cache is empty.
    3. If there is none, it is idle until a thread comes that it may take, or a thread has waited
       for ``patience``.

    A thread that becomes ready is offered to idle CPUs with its fragment first, of these to the
    one that ran last. Otherwise that CPU changes which has been idle for longest. A thread that
    comes to another fragment leaves its CPU and waits like all others. One that yields, or has
    used up its slice, lets those run first that have waited for ``patience``; after these it comes
    before other fragments. Threads that block before their slice ends can keep a CPU for as long
    as some of them are ready.

    :func:`~dfopt.compare.attainable.patience.run_patiently` replays the same rule on the arrivals
    of a recorded trace.

    Parameters
    ----------
    patience
        The time for which a thread waits before a CPU changes to its fragment. With 0 no CPU is
        idle while a thread is ready.
    time_slice
        Time after which a thread lets others run; 0: never.
    """

    name = "patience"

    patience: Natural = 100_000

    def begin(self) -> None:
        """Make the queues."""
        self._all: Queue = OrderedDict()
        # By fragment: those that want to run, and those that gave up their CPU.
        self._own: defaultdict[int, Queue] = defaultdict(OrderedDict)
        self._gave_up: defaultdict[int, Queue] = defaultdict(OrderedDict)
        self._called_at: int | None = None

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up; ask the idle CPUs, those with the fragment first."""
        self._all[thread] = None
        (self._gave_up if why in GAVE_UP else self._own)[thread.fragment][thread] = None
        offer_by_fragment(self.engine, thread.fragment)
        return NOBODY

    def pick(self, cpu: int) -> Thread | None:
        """Take a thread by the rules, or see to it that the CPU is asked again."""
        now, held = self.engine.now, self.engine.caches[cpu].fragment
        if not self._all:
            return None
        longest = next(iter(self._all))
        is_due = held == EMPTY or longest.ready_at + self.patience <= now
        thread = self._first(self._own, held)
        if thread is None and is_due:
            thread = longest
        if thread is None:
            thread = self._first(self._gave_up, held)
        if thread is None:
            self._call_at(longest.ready_at + self.patience)
            return None
        del self._all[thread]
        for queues in (self._own, self._gave_up):
            queues[thread.fragment].pop(thread, None)
        return thread

    def changes(self, thread: Thread, fragment: int, cpu: int) -> bool:
        """Let it leave its CPU if that would have to change the fragment."""
        return thread.fragment not in (UNMANAGED, self.engine.caches[cpu].fragment)

    def _first(self, queues: defaultdict[int, Queue], held: int) -> Thread | None:
        """Return who has waited longest of those that this cache costs nothing."""
        fragments = (held, UNMANAGED)
        threads = [next(iter(queues[fragment])) for fragment in fragments if queues[fragment]]
        return min(threads, key=lambda thread: thread.ready_at, default=None)

    def _call_at(self, time: int) -> None:
        if self._called_at is None or time < self._called_at:
            self._called_at = time
            self.engine.call_at(time, self._patience_ends)

    def _patience_ends(self) -> None:
        self._called_at = None
        offer_by_fragment(self.engine, EMPTY)
