"""The time that a CPU spends in the scheduler, task by task: on looking, and behind spin locks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from dfopt.simulate.run_queue.spin_lock import SpinLock

Task = int | tuple[SpinLock, int]
"""A time to spend, or a lock with the time for which it is held."""


class CpuWork:
    """Tasks that a CPU carries out one after the other, each when its time has come.

    A lock is asked for when the CPU gets to it, so those who come before then get it first.

    Parameters
    ----------
    tasks
        What is to be done.
    call_at
        Lets a work go on at a time.
    doubling
        With this number of CPUs spinning on it a lock is held for twice as long; 0: for no longer.
    done
        Called at the end.
    """

    __slots__ = ("_call_at", "_done", "_doubling", "_held", "_tasks")

    def __init__(
        self,
        tasks: Iterable[Task],
        *,
        call_at: Callable[[int, CpuWork], None],
        doubling: int,
        done: Callable[[], None],
    ) -> None:
        self._tasks = deque(tasks)
        self._call_at = call_at
        self._doubling = doubling
        self._done = done
        self._held: SpinLock | None = None

    def go_on(self, now: int) -> None:
        """Finish the task that ends now, and begin the next one."""
        held, self._held = self._held, None
        if held is not None:
            held.release(now)
        if not self._tasks:
            self._done()
            return
        task = self._tasks.popleft()
        if isinstance(task, int):
            self._call_at(now + task, self)
            return
        lock, hold = task
        lock.attempts += 1
        if lock.is_free(now):
            self._take(lock, hold, now)
        else:
            lock.misses += 1
            lock.waiting.append(partial(self._get, lock, hold, now))

    def _get(self, lock: SpinLock, hold: int, came: int, now: int) -> None:
        """Take a lock that it has waited for."""
        lock.spun += now - came
        self._take(lock, hold, now)

    def _take(self, lock: SpinLock, hold: int, now: int) -> None:
        if self._doubling:
            # Those who spin load the bus that the holder needs.
            hold += hold * len(lock.waiting) // self._doubling
        lock.free_at = now + hold
        self._held = lock
        self._call_at(lock.free_at, self)
