"""Names as numbers, in the order in which they first occur."""

from __future__ import annotations

from dfopt.trace.trace import TraceTask


class Numbering(dict[str, int]):
    """A number for each name: asking for a new name's number gives it the next one."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of their numbers."""
        return tuple(self)

    @property
    def tasks(self) -> tuple[TraceTask, ...]:
        """The names as those of tasks."""
        return tuple(TraceTask(name=name) for name in self)
