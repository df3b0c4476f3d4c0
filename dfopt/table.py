"""Tables as data: what each column means, and values that nobody has formatted yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

WRITTEN = re.compile(r"(.*?)(?: \[(.*)\])?(?: :(\S*))?", re.DOTALL)

TIME = "time"
"""The format of times: three digits, in a unit that keeps each of them short."""


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A value that is assumed, or known within an error.

    Parameters
    ----------
    value
        The value itself.
    error
        Half the width of its interval; None if it has none.
    assumed
        Whether it rests on an assumption, which ``~`` says.
    """

    value: Value
    error: float | None = None
    assumed: bool = False


Value = str | float | bool | Uncertain | None
"""What a row holds: a text, a number, or None where nothing is known or there is nothing to say."""


Format = str | Callable[[float], str]
"""How numbers are written: see :class:`TableColumn`."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its name, unit and format.

    Parameters
    ----------
    name
        Its heading.
    unit
        The unit of its values; None or empty if they have none.
    format
        How numbers are written: a specification of Python's ``format``, :data:`TIME`, or what
        chooses a specification by the number. Without one, numbers have four digits, and integers
        all of them. Columns with a format are aligned to the right.
    """

    name: str
    unit: str | None = ""
    format: Format = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, in the order of the columns.

    Parameters
    ----------
    title
        What stands above it.
    columns, rows
        Its columns, and the values of each row.
    notes
        What to know about it, a sentence each.
    """

    title: str
    columns: Sequence[TableColumn] = ()
    rows: Sequence[Sequence[Value]] = ()
    notes: Sequence[str] = ()


def columns(*written: str) -> tuple[TableColumn, ...]:
    """Return columns that are written as ``name [unit] :format``, such as ``wait [ns] :time``."""
    return tuple(
        TableColumn(*match.groups(default=""))
        for match in (WRITTEN.fullmatch(text) for text in written)
        if match is not None
    )


def table_of(
    title: str, holders: Iterable[object], shown: Mapping[str, str], notes: Sequence[str] = ()
) -> Table:
    """Return a table of attributes, such as ``wait.mean``, and how their columns are written."""
    rows = [[attrgetter(name)(holder) for name in shown] for holder in holders]
    return Table(title, columns(*shown.values()), rows, notes)


def facts(rows: Mapping[str, Value], title: str = "") -> Table:
    """Return a table of names and what there is to say; those with None are left out."""
    known = [(name, value) for name, value in rows.items() if value is not None]
    return Table(title, columns("", ""), known)
