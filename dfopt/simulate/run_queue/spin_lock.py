"""A spin lock around a run queue, with the waiting it causes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class SpinLock:
    """A lock that CPUs spin on, in the order in which they come.

    Attributes
    ----------
    free_at
        When it is free again.
    attempts, misses
        How often it was wanted, and how often it was taken then.
    spun
        How long CPUs have waited for it.
    """

    free_at: int = 0
    attempts: int = 0
    misses: int = 0
    spun: int = 0

    def acquire(self, now: int, hold: int) -> int:
        """Return when an operation that comes now, and holds the lock so long, is done."""
        self.attempts += 1
        begin = now
        if self.free_at > now:
            self.misses += 1
            self.spun += self.free_at - now
            begin = self.free_at
        self.free_at = begin + hold
        return self.free_at
