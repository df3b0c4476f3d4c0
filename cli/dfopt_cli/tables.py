"""The layout of tables and of the numbers in them."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table

LARGE = 100
"""Ratios from here on have no decimal places."""

GAP = 2
"""Blanks between columns."""

SHORTEST_NAME = 14
"""Columns whose names may be broken keep this width, or that of their longest name."""


class WholeTable(Table):
    """A table whose numbers always keep their ends; it may be wider than the terminal.

    Where there is no room, Rich narrows all columns alike, and a number without its end is
    another number. So only columns of names are broken (``overflow="fold"``), and these keep
    a least width.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it as wide as it has to be."""
        for column in self.columns:
            column.no_wrap = column.overflow != "fold"
        least = sum(map(_least_width, self.columns)) + GAP * (len(self.columns) - 1)
        width = max(options.max_width, least)
        return super().__rich_console__(console, options.update(width=width))


def _least_width(column: Column) -> int:
    texts = map(str, (column.header, *column.cells))
    own = max((cell_len(line) for text in texts for line in text.splitlines()), default=0)
    return own if column.no_wrap else min(own, SHORTEST_NAME)


def plain_table() -> Table:
    """Return a table without lines, to be printed with :func:`~dfopt_cli.printing.print_rich`."""
    return WholeTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0))


def pairs(rows: Mapping[str, str], *, style: str = "") -> Table:
    """Return a table of names and what there is to say."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold", style=style)
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def times(ratio: float | None) -> str:
    """Return a ratio as text; None, where only the bound is 0, is a dash."""
    if ratio is None:
        return "–"
    return f"{ratio:.2f}" if ratio < LARGE else f"{ratio:,.0f}"


def share(part: int, whole: int) -> str:
    """Return a part as a percentage; a dash if the whole is 0."""
    return f"{part / whole:.1%}" if whole else "–"
