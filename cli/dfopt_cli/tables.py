"""How tables and the numbers in them look."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

LARGE = 100
"""From here on nobody wants decimal places."""


def plain_table() -> Table:
    """Return a table without lines."""
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))


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
