"""The columns of the configuration LP: contents of CPUs, and all that were ever priced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.solvers.configuration.pricing import Content, Stock


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
        What that costs at most to be counted as such, in the instance's time unit.
    """

    group: int
    content: Content
    cost: int

    def fits(self, stock: Stock) -> bool:
        """Whether ``stock`` has the tasks and the tokens."""
        return all(stock.tasks[one] >= number for one, number in self.content.tasks) and all(
            stock.tokens[token] > 0 for token in self.content.tokens
        )


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

    def within(self, limit: int | None, stock: Stock) -> Iterator[Column]:
        """Yield the columns that cost at most ``limit`` and fit into ``stock``."""
        for column in self._columns.values():
            if (limit is None or column.cost <= limit) and column.fits(stock):
                yield column

    def __len__(self) -> int:
        return len(self._columns)
