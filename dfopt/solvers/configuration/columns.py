"""The columns of the configuration LP: contents of CPUs, and all that were ever found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.solvers.configuration.features import Content


@dataclass(frozen=True, slots=True)
class Column:
    """A content of a CPU of one group.

    Parameters
    ----------
    group
        The number of the group.
    content
        What the CPU holds.
    cost
        What that costs, in the instance's time unit; rounded down where the grid is coarse.
    """

    group: int
    content: Content
    cost: int


class Pool:
    """All columns found so far, each once, whatever they were found for."""

    def __init__(self) -> None:
        self._columns: dict[tuple[int, Content], Column] = {}

    def add(self, column: Column) -> bool:
        """Add a column; return whether it is news."""
        key = (column.group, column.content)
        known = self._columns.get(key)
        if known is not None and known.cost <= column.cost:
            return False
        self._columns[key] = column
        return True

    def within(self, limit: int | None) -> Iterator[Column]:
        """Yield the columns that cost at most ``limit``."""
        return (
            column for column in self._columns.values() if limit is None or column.cost <= limit
        )

    def __len__(self) -> int:
        return len(self._columns)
