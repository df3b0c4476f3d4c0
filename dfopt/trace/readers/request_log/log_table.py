"""Logs as tables: lines of comma-separated values, under names of columns."""

from __future__ import annotations

import csv
import difflib
import io
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.structs import replace
from dfopt.trace.readers.request_log.log_times import (
    is_number,
    parsed_moment,
    parsed_time,
    unit_in_name,
)

DELIMITERS = ",;\t"
"""What may stand between values; the one that the first line has most often does."""

MOST_VALUES = 5
"""At most this many values of a column are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTable:
    """The names of a CSV file's columns, and its rows with the numbers of their lines."""

    names: list[str]
    rows: list[tuple[int, list[str]]]

    def column(self, name: str) -> list[str]:
        """Return the cells of a column.

        Raises
        ------
        FileError
            When there is no such column, or several.
        """
        if self.names.count(name) != 1:
            nearest = difflib.get_close_matches(name, self.names, n=1)
            hint = f"did you mean {nearest[0]!r}? There" if nearest else "there"
            problem = f"has no column {name!r}; {hint} are {', '.join(self.names)}"
            if name in self.names:
                problem = f"has several columns {name!r}; give all but one another name"
            raise FileError(problem, place="line 1")
        position = self.names.index(name)
        return [row[position] for _, row in self.rows]

    def where(self, name: str, values: Collection[str], *, is_wanted: bool) -> LogTable:
        """Return the rows that have one of these values in a column, or those that have none.

        Raises
        ------
        FileError
            When there are none.
        """
        cells = self.column(name)
        found = [
            row for row, cell in zip(self.rows, cells, strict=True) if (cell in values) == is_wanted
        ]
        if not found:
            there = ", ".join(repr(cell) for cell, _ in Counter(cells).most_common(MOST_VALUES))
            raise FileError(
                f"has no request whose {name!r} {'is' if is_wanted else 'is not'} "
                f"{either(values)}; among its values are {there}"
            )
        return replace(self, rows=found)

    def times(self, name: str, unit: str | None, *, is_point: bool) -> tuple[list[int], int]:
        """Return the times of a column in nanoseconds, and how many its last digit stands for.

        Parameters
        ----------
        name
            What the column is called.
        unit
            Of times that are numbers; None: the one in the column's name.
        is_point
            Whether they are points in time, which may be written in ISO 8601, or be negative.

        Raises
        ------
        FileError
            When a cell is no time, or has no unit.
        """
        unit = unit or unit_in_name(name)
        times = []
        for (line, _), text in zip(self.rows, self.column(name), strict=True):
            time = parsed_time(text, unit)
            if time is None and is_point and not is_number(text):
                time = parsed_moment(text)
            if time is None or (time < 0 and not is_point):
                if not text:
                    problem = "is empty; fill it in, or leave the line out with `where`"
                elif is_number(text) and unit is None:
                    problem = (
                        f"is {text!r} without a unit; say it with `time_unit`: s, ms, us or ns"
                    )
                elif time is not None:
                    problem = "is negative; mend the line, or leave it out"
                else:
                    problem = f"is {text!r}; write a number such as 0.5, or a time such as 1m2.5s"
                    problem += " or 2026-01-31T12:00:00.5" if is_point else ""
                raise FileError(f"{name!r} {problem}", place=f"line {line}")
            times.append(time)
        digit = min((int(time.as_tuple().exponent) for time in times), default=0)
        return [round(time) for time in times], 10 ** max(0, digit)


def either(values: Collection[str]) -> str:
    """Return values as in ``'ok' or 'late'``."""
    return " or ".join(map(repr, values))


def read_table(path: str | Path, what: str) -> LogTable:
    """Return the table in a file whose first line names the columns.

    Parameters
    ----------
    path
        The file. A byte order mark before the first name does not count.
    what
        The noun for what stands on a line.

    Raises
    ------
    FileError
        When it cannot be read, or has no line.
    """
    text = read_text(path, skips_mark=True)
    first = text.lstrip().partition("\n")[0]
    if first[:1] in ("[", "{"):
        raise FileError("is JSON; give a CSV file, whose first line names the columns")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count))
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise FileError(f"is no CSV: {error}", place=f"line {reader.line_num}") from None
    if not rows[1:]:
        raise FileError(f"holds no {what}; its first line names the columns")
    (_, names), *rows = rows
    for line, row in rows:
        if len(row) != len(names):
            raise FileError(
                f"has {len(row)} values, but there are {len(names)} columns; mend the line",
                place=f"line {line}",
            )
    return LogTable(names=names, rows=rows)
