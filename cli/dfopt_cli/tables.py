"""How tables and the numbers in them look."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table

LARGE = 100
"""From here on nobody wants decimal places."""

GAP = 2
"""Blanks between columns."""

SHORTEST_NAME = 14
"""Columns of text that may be broken keep this width, or their own."""


class WholeTable(Table):
    """A table that is wider than the terminal rather than without the ends of its numbers.

    Rich takes from all columns alike where there is no room; a number that loses its end is
    another one. So only columns of names are broken (``overflow="fold"``), and not into letters.
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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def times(ratio: float | None) -> str:
    """Return a ratio; where only the bound is 0 there is none."""
    if ratio is None:
        return "–"
    return f"{ratio:.2f}" if ratio < LARGE else f"{ratio:,.0f}"


def share(part: int, whole: int) -> str:
    """Return a part as a percentage; of nothing it is nothing."""
    return f"{part / whole:.1%}" if whole else "–"
