"""Tables in HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

MOST_ROWS = 30
"""At most this many rows of a table are shown."""

MOST_COLUMNS = 12
"""The table of a matrix is shown for at most this number of types."""

MOST_CHARACTERS = 120
"""At most this many characters of a value are shown."""


def html_table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    count: int | None = None,
) -> str:
    """Return a small table, with everything escaped, that says what it leaves out.

    Parameters
    ----------
    caption
        What stands above it.
    columns
        Their headings. A column in which every value is None is left out.
    rows
        The values of each row, in the order of the columns; the first ``MOST_ROWS`` are shown.
    count
        The number of rows that there are, if ``rows`` has the first ones only.
    """
    shown = rows[:MOST_ROWS]
    used = [
        place for place in range(len(columns)) if any(row[place] is not None for row in shown)
    ] or range(len(columns))
    left_out = (len(rows) if count is None else count) - len(shown)
    parts = [
        "<table>",
        f'<caption style="text-align: left; white-space: nowrap">{escape(caption)}</caption>',
        _row("th", [columns[place] for place in used]),
        *(_row("td", [row[place] for place in used]) for row in shown),
    ]
    if left_out > 0:
        noun = "row" if left_out == 1 else "rows"
        parts.append(f'<tr><td colspan="{len(used)}">… and {left_out:,} more {noun}</td></tr>')
    return "\n".join([*parts, "</table>"])


def _row(tag: str, values: Sequence[object]) -> str:
    return (
        f"<tr>{''.join(f'<{tag}{_align(value)}>{_text(value)}</{tag}>' for value in values)}</tr>"
    )


def _align(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f' style="text-align: {"right" if is_number else "left"}"'


def _text(value: object) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # noqa: PLR2004
    text = str(value)
    if len(text) > MOST_CHARACTERS:
        text = text[: MOST_CHARACTERS - 1] + "…"
    return escape(text)
