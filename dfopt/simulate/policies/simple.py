"""Simple policies, each with one queue for all CPUs: fcfs, warm-first, random and lifo."""

from __future__ import annotations

from collections import deque

from dfopt.problem.cache import EMPTY
from dfopt.simulate.contract import (
    GAVE_UP,
    NOBODY,
    KernelInterface,
    Thread,
    TimeSliced,
    Why,
)


class FirstComeFirstServed(TimeSliced):
    """Threads run in the order in which they became ready, wherever a CPU is free.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of the queue; 0: never.
    """

    name = "fcfs"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._queue: deque[Thread] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up."""
        self._queue.append(thread)
        return None

    def pick(self, cpu: int) -> Thread | None:
        """Take the first."""
        return self._queue.popleft() if self._queue else None


class WarmFirst(FirstComeFirstServed):
    """Threads run in the order in which they became ready; among idle CPUs the cache decides.

    A thread that becomes ready goes to an idle CPU whose cache holds its fragment, and otherwise
    to one with an empty cache, or to the one that has been idle for longest. A CPU that becomes
    free takes the first thread of the queue, whatever its cache holds. So nobody is overtaken, and
    the rule does something only where CPUs are idle.

    Servers that send a request to a replica which is warm already do the same.

    Parameters
    ----------
    time_slice
        Time after which a thread goes to the end of the queue; 0: never.
    """

    name = "warm-first"

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up; ask the idle CPUs, those with the fragment first."""
        super().ready(thread, why, cpu)
        offer_by_fragment(self.engine, thread.fragment)
        return NOBODY


class RandomChoice(FirstComeFirstServed):
    """Every ready thread is as likely as any other to run next, wherever a CPU is free.

    It is there to compare policies with one that knows nothing.

    Parameters
    ----------
    time_slice
        Time after which a thread is ready again like all others; 0: never.
    """

    name = "random"

    def pick(self, cpu: int) -> Thread | None:
        """Draw one."""
        ready = self._queue
        if not ready:
            return None
        # The last one takes the free place, so that no other has to move.
        position = int(self.engine.random.random() * len(ready))
        ready[position], ready[-1] = ready[-1], ready[position]
        return ready.pop()


class LastInFirstOut(FirstComeFirstServed):
    """The thread that became ready last runs next, wherever a CPU is free.

    A thread that yields, or has used up its slice, goes below all others. On top it would run again
    at once, and the thread that it yields to might wait for ever.

    Parameters
    ----------
    time_slice
        Time after which a thread goes below all others; 0: never.
    """

    name = "lifo"

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Go to the front of the queue, or to its end."""
        if why in GAVE_UP:
            super().ready(thread, why, cpu)
        else:
            self._queue.appendleft(thread)


def offer_by_fragment(engine: KernelInterface, fragment: int) -> None:
    """Ask all idle CPUs: those that hold a fragment, those that hold none, and then the others.

    Of those that hold the fragment, the one that ran last comes first; of the others that which has
    been idle for longest.
    """
    caches, idle = engine.caches, engine.idle()
    for cpu in reversed(idle):
        if caches[cpu].fragment == fragment:
            engine.offer(cpu)
    for cpu in sorted(idle, key=lambda cpu: caches[cpu].fragment != EMPTY):
        engine.offer(cpu)
