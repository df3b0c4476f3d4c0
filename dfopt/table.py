"""Tables as data: what each column means, and values that nobody has formatted yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

WRITTEN = re.compile(r"(.*?)(?: \[(.*)\])?(?: :(\S*))?", re.DOTALL)

TIME = "time"
"""The format of times: three digits, in a unit that keeps each of them short."""

COST = "cost"
"""The format of costs, whose unit stands behind the title of a table, and in no heading."""

RATIO = "ratio"
"""The format of ratios: two decimal places, and none from 100 on."""


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
    is_bound
        Whether it may be larger than known, which ``≥`` says.
    """

    value: Value
    error: float | None = None
    assumed: bool = False
    is_bound: bool = False


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
        How numbers are written: a specification of Python's ``format``, :data:`TIME`,
        :data:`COST`, :data:`RATIO`, or what chooses a specification by the number. Without one,
        numbers have four digits, and integers all of them. Columns with a format are aligned to
        the right.
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

    def only(self, *names: str) -> Table:
        """Return the table with these columns, in this order."""
        own = [column.name for column in self.columns]
        places = [own.index(name) for name in names]
        return replace(
            self,
            columns=[self.columns[place] for place in places],
            rows=[[row[place] for place in places] for row in self.rows],
        )

    def after(self, name: str, values: Sequence[Value]) -> Table:
        """Return the table with one more column in front, which has a value for each row."""
        rows = [(value, *row) for value, row in zip(values, self.rows, strict=True)]
        return replace(self, columns=(TableColumn(name), *self.columns), rows=rows)

    def largest(self, most: int, *added: str) -> Table:
        """Return the first rows, and one that says how many more there are.

        It has the sums of the columns that are to be ``added`` up.
        """
        rest = self.rows[most:]
        if not rest:
            return self
        sums = [
            sum(value for value in values if isinstance(value, int | float))
            if column.name in added
            else None
            for column, values in zip(self.columns, zip(*rest, strict=True), strict=True)
        ]
        return replace(self, rows=[*self.rows[:most], (f"and {len(rest)} more", *sums[1:])])


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


def facts(rows: Mapping[str, Value], title: str = "", notes: Sequence[str] = ()) -> Table:
    """Return a table of names and what there is to say; those with None are left out."""
    known = [(name, value) for name, value in rows.items() if value is not None]
    return Table(title, columns("", ""), known, notes)


def side_by_side(names: Sequence[str], tables: Sequence[Table], called: str) -> list[Table]:
    """Return tables that differ only in what they are about as one, with a column of names.

    Those with rows stay apart, under their names, if their times have different units. What a note
    says of all tables is said once.
    """
    found = [pair for pair in zip(names, tables, strict=True) if pair[1].rows]
    if not found:
        return []
    first = found[0][1]
    units = [
        {table.columns[place].unit for _, table in found} for place in range(len(first.columns))
    ]
    columns = [
        column if len(unit) == 1 else replace(column, unit="")
        for column, unit in zip(first.columns, units, strict=True)
    ]
    if any(
        column.format == TIME and len(unit) > 1 for column, unit in zip(columns, units, strict=True)
    ):
        return [replace(table, title=f"{name}: {table.title}") for name, table in found]
    rows = [
        row
        for name, table in found
        for row in table.after(called, [name, *[""] * (len(table.rows) - 1)]).rows
    ]
    by = {
        note: [name for name, table in found if note in table.notes]
        for _, table in found
        for note in table.notes
    }
    notes = [
        note if len(those) == len(found) else f"{', '.join(those)}: {note}"
        for note, those in by.items()
    ]
    return [Table(first.title, (TableColumn(called), *columns), rows, notes)]
