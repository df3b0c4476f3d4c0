"""A spin lock around a run queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True, eq=False)
class SpinLock:
    """A lock around a run queue. CPUs spin on it and get it in the order in which they come.

    Attributes
    ----------
    free_at
        When it is free again, if no CPU waits for it.
    attempts, misses
        The number of operations that wanted it, and the number of those that found it taken.
    spun
        The time for which CPUs have waited for it.
    waiting
        By CPU that waits, in their order: a function that takes the lock at a time.
    """

    free_at: int = 0
    attempts: int = 0
    misses: int = 0
    spun: int = 0
    waiting: deque[Callable[[int], None]] = field(default_factory=deque)

    def is_free(self, now: int) -> bool:
        """Return whether a CPU that comes now gets it at once."""
        return self.free_at <= now and not self.waiting

    def release(self, now: int) -> None:
        """Hand it to the CPU that has waited for longest, if it is free now."""
        if self.waiting and self.free_at <= now:
            self.waiting.popleft()(now)


Task: TypeAlias = int | tuple[SpinLock, int]
"""What a CPU does in the scheduler: a time to spend, or a lock with how long it is held."""
