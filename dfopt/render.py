"""Tables as text for a terminal, as HTML, as data frames and as rows of JSON."""

from __future__ import annotations

import importlib
import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

from dfopt.checks import described
from dfopt.errors import MethodError
from dfopt.table import COST, RATIO, TIME, Table, TableColumn, Uncertain, Value
from dfopt.time_units import LARGE, readable_time

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

UNKNOWN = "–"
"""Stands where there is no value."""

MOST_ROWS = 30
"""At most this many rows of a table are shown in HTML."""

MOST_COLUMNS = 12
"""The table of a matrix is shown for at most this number of types."""

MOST_CHARACTERS = 120
"""At most this many characters of a value are shown in HTML."""

GAP = 2
"""Blanks between columns on a terminal."""

SHORTEST_NAME = 14
"""Columns of texts may be broken on a terminal; they keep this width, or that of their longest."""

HEADING_LINES = 2

FrameLibrary = Literal["pandas", "polars"]
"""The libraries whose data frames can be made."""


def printable(name: object) -> str:
    """Return a name from a file as it is safe to show on a terminal, on one line."""
    text = str(name)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown or "''"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 line`` or ``2 switches``."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def share(part: float, whole: float) -> str:
    """Return a part as a percentage; a dash if the whole is 0."""
    return f"{part / whole:.1%}" if whole else UNKNOWN


def cell_text(value: Value, column: TableColumn) -> str:
    """Return a value as its column shows it."""
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return _number(value, column, like=value)
        case Uncertain(value=known, error=error):
            before = ("~" if value.assumed else "") + ("≥ " if value.is_bound else "")
            shown = before + cell_text(known, column)
            if error is None or not isinstance(known, int | float):
                return shown
            return f"{shown}\n±{_number(error, column, like=known)}"
    return printable(value) if value else ""


def _number(number: float, column: TableColumn, *, like: float) -> str:
    """Return a number in its column's format, with as many places as one ``like`` it."""
    if column.format == TIME:
        return readable_time(number, column.unit)
    chosen = column.format(like) if callable(column.format) else column.format
    if chosen == RATIO:
        chosen = ".2f" if like < LARGE else ",.0f"
    if chosen in {"", COST}:
        small = abs(like) < 10_000  # noqa: PLR2004 - four digits
        chosen = "," if isinstance(like, int) else ",.4g" if small else ",.0f"
    return format(number, chosen)


def heading(column: TableColumn) -> str:
    """Return a column's name with its unit, unless that stands elsewhere."""
    in_heading = column.unit and column.format not in {TIME, COST}
    return f"{column.name} [{column.unit}]" if in_heading else column.name


def caption(table: Table) -> str:
    """Return the title of a table with the unit of its costs."""
    units = {column.unit for column in table.columns if column.format == COST}
    return ", costs in ".join([table.title, *filter(None, units)]) if table.title else ""


def _places(table: Table) -> list[int]:
    """Return the columns that are shown: those in which there is any value, if there are rows."""
    places = range(len(table.columns))
    return [place for place in places if any(row[place] is not None for row in table.rows)] or list(
        places
    )


def _is_number(value: Value) -> bool:
    known = value.value if isinstance(value, Uncertain) else value
    return isinstance(known, int | float) and not isinstance(known, bool)


def _drawn(table: Table) -> Iterator[tuple[str, list[str], bool]]:
    """Yield what is shown of each column: heading, texts, and whether they stand to the right."""
    has_headings = any(column.name for column in table.columns)
    for place in _places(table):
        column, values = table.columns[place], [row[place] for row in table.rows]
        is_right = bool(column.format) or all(_is_number(v) for v in values if v is not None)
        texts = [cell_text(value, column) for value in values]
        yield heading(column), texts, is_right and has_headings and bool(values)


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """A table as Rich prints it, without lines; it may be wider than the terminal.

    Where there is no room, Rich narrows all columns alike, and a number without its end is
    another number. So only columns of texts are broken.
    """

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield title, rows as wide as they have to be, and notes."""
        from rich.text import Text

        width = options.max_width
        if self.table.title:
            yield Text(printable(caption(self.table)), style="bold")
        if self.table.columns:
            yield from self._rows(console, options)
        if self.table.notes and self.table.columns:
            yield ""
        filled = textwrap.TextWrapper(width, subsequent_indent="  ", break_on_hyphens=False).fill
        for note in self.table.notes:
            yield Text(filled(printable(note)), style="dim")

    def _rows(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.cells import cell_len
        from rich.table import Table as Grid

        has_headings = any(column.name for column in self.table.columns)
        grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=has_headings)
        columns: list[list[str]] = []
        least = -GAP
        for name, cells, right in _drawn(self.table):
            lines = [line for cell in cells for line in cell.split("\n")]
            shown = _broken(name, max(map(cell_len, lines))) if right else name
            own = max(map(cell_len, [*shown.split("\n"), *lines]))
            is_name = not has_headings and not columns
            grid.add_column(
                shown,
                justify="right" if right else "left",
                no_wrap=right or is_name,
                overflow="fold",
                style="bold" if is_name else "",
            )
            least += GAP + (own if right or is_name else min(own, SHORTEST_NAME))
            columns.append(cells)
        for row in zip(*columns, strict=True):
            grid.add_row(*row)
        yield from console.render(grid, options.update(width=max(options.max_width, least)))


def _broken(name: str, width: int) -> str:
    """Return a heading that is as narrow as its column's cells, if two lines have room for it."""
    for least in range(max(width, 1), len(name)):
        lines = textwrap.wrap(name, least, break_long_words=False)
        if len(lines) <= HEADING_LINES:
            return "\n".join(lines)
    return name


def terminal_text(tables: Sequence[Table], *, width: int = 80, in_colour: bool = False) -> str:
    """Return tables as text, with an empty line between them and none at the end."""
    from rich.console import Console

    drawn = io.StringIO()
    console = Console(
        file=drawn,
        width=width,
        force_terminal=in_colour,
        # Brackets and colons in a name are part of the name.
        highlight=False,
        markup=False,
        emoji=False,
    )
    for number, table in enumerate(tables):
        console.print(*[""] * bool(number), TerminalTable(table), sep="\n", crop=False)
    return "\n".join(line.rstrip() for line in drawn.getvalue().split("\n")).rstrip("\n")


def html(table: Table, *, count: int | None = None) -> str:
    """Return a small table, with everything escaped, that says what it leaves out.

    Parameters
    ----------
    table
        Its first ``MOST_ROWS`` rows are shown.
    count
        The number of rows that there are, if ``table`` has the first ones only.
    """
    rows = table.rows[:MOST_ROWS]
    drawn = list(_drawn(replace(table, rows=rows)))
    left_out = (len(table.rows) if count is None else count) - len(rows)
    has_headings = any(name for name, _, _ in drawn)
    title = escape(caption(table))
    parts = ["<table>"]
    if title:
        parts.append(f'<caption style="text-align: left; white-space: nowrap">{title}</caption>')
    if has_headings:
        parts.append(_row("th", [(name, right) for name, _, right in drawn]))
    columns = []
    for _, cells, right in drawn:
        # Without headings they are sentences, which are whole.
        cut = map(_cut, cells) if has_headings else cells
        columns.append([(text, right) for text in cut])
    parts += [_row("td", cells) for cells in zip(*columns, strict=True)]
    if left_out > 0:
        noun = "row" if left_out == 1 else "rows"
        parts.append(f'<tr><td colspan="{len(drawn)}">… and {left_out:,} more {noun}</td></tr>')
    return "\n".join([*parts, "</table>", *(f"<p>{escape(note)}</p>" for note in table.notes)])


def _row(tag: str, cells: Iterable[tuple[str, bool]]) -> str:
    texts = (
        f'<{tag} style="text-align: {"right" if right else "left"}">{escape(text)}</{tag}>'
        for text, right in cells
    )
    return f"<tr>{''.join(texts)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def records(table: Table) -> list[dict[str, Any]]:
    """Return the rows as objects of JSON; names end with the unit, such as ``run_time_ns``."""
    names = _names(table)
    values = (
        [value.value if isinstance(value, Uncertain | Enum) else value for value in row]
        for row in table.rows
    )
    return [dict(zip(names, row, strict=True)) for row in values]


def _names(table: Table) -> list[str]:
    return [
        "_".join([*column.name.lower().split(), *(column.unit or "").split()])
        for column in table.columns
    ]


def frame(table: Table, library: FrameLibrary | None = None) -> Any:
    """Return a data frame with the keys of :func:`records` as columns.

    Parameters
    ----------
    table
        The table. Columns of integers in which some are None have pandas' type ``Int64``, since
        a float could not hold large ones.
    library
        Which frame to make; None takes pandas if it is installed, else polars.

    Raises
    ------
    MethodError
        When the library is unknown or not installed.
    """
    library = library or installed_library()
    if library not in get_args(FrameLibrary):
        raise MethodError(f"{described(library)} makes no data frames; name pandas or polars")
    try:
        frames = importlib.import_module(library)
    except ImportError:
        raise MethodError(f"{library} is not installed; run 'pip install {library}'") from None
    rows = records(table)
    values = {name: [row[name] for row in rows] for name in _names(table)}
    if library == "polars":
        return frames.DataFrame(values, strict=False)
    return frames.DataFrame(
        {
            name: frames.array(column, dtype="Int64") if _lacks_integers(column) else column
            for name, column in values.items()
        },
        columns=list(values),
    )


def installed_library() -> FrameLibrary:
    """Return the library that is installed: pandas, or else polars.

    Raises
    ------
    MethodError
        When neither is.
    """
    for library in get_args(FrameLibrary):
        if find_spec(library) is not None:
            return library  # type: ignore[no-any-return]
    raise MethodError("data frames need pandas or polars; run 'pip install pandas'")


def _lacks_integers(column: list[Any]) -> bool:
    """Return whether some values are None and all others are integers."""
    return {type(value) for value in column} == {int, type(None)}
