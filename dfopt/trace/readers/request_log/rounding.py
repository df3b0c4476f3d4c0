"""Contradictions in a log that are no larger than its times are rounded."""

from __future__ import annotations

from dfopt.trace.quality import counted
from dfopt.trace.time_units import exact_time


class Rounding:
    """A kind of contradiction, what is done about it, and how often that was so.

    Parameters
    ----------
    done
        What was done, in the past tense; its object is the requests.
    aim
        What for.
    limit
        The largest one that may come from rounding, in the trace's unit.
    unit
        This unit.
    """

    def __init__(self, done: str, aim: str, *, limit: int, unit: str) -> None:
        self.limit = limit
        self.unit = unit
        self._done, self._aim = done, aim
        self._count = self._most = 0

    def takes(self, excess: int) -> bool:
        """Count a contradiction of this size, if it may come from rounding; return whether."""
        if excess > self.limit:
            return False
        self._count += 1
        self._most = max(self._most, excess)
        return True

    def notice(self) -> str | None:
        """Return in one line what was done; None if nothing was."""
        if not self._count:
            return None
        most, limit = (exact_time(time, self.unit) for time in (self._most, self.limit))
        return (
            f"{self._done} {counted(self._count, 'request')} by at most {most}, {self._aim}; with "
            f"times of so few digits, up to {limit} may be rounding"
        )
