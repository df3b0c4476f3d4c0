"""Logs as tables: lines of comma-separated values, under names of columns that may hold times.

Times are numbers of a unit, times with units of their own, or points in time in ISO 8601.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.structs import replace
from dfopt.time_units import NANOSECONDS

DELIMITERS = ",;\t"
"""What may stand between values; the one that the first line has most often does."""

MOST_VALUES = 5
"""At most this many values of a column are named."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Powers of ten with an exponent, so that a product shows its last written digit by its own.
_NANOSECONDS = {unit: Decimal(length).normalize() for unit, length in NANOSECONDS.items()}
_NANOSECONDS |= {"m": Decimal("60E9"), "h": Decimal("3600E9")}
_PART = re.compile(rf"([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(_NANOSECONDS)})\s*")
_PARTS = re.compile(f"(?:{_PART.pattern})+")

_UNIT_WORDS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_UNIT_OF_NAME = re.compile(rf"(?:.*[\W_])?({'|'.join((*_UNIT_WORDS, *NANOSECONDS))})\W*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTable:
    """The names of a CSV file's columns, and its rows with the numbers of their lines."""

    names: list[str]
    rows: list[tuple[int, list[str]]]

    @property
    def lines(self) -> list[int]:
        """The numbers of the rows' lines."""
        return [line for line, _ in self.rows]

    def without(self, other: LogTable) -> LogTable:
        """Return the rows that are not in another table."""
        others = set(other.lines)
        return replace(self, rows=[row for row in self.rows if row[0] not in others])

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


def read_log_table(path: str | Path, what: str) -> LogTable:
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


def unit_in_name(column: str) -> str | None:
    """Return the unit with which a column's name ends, as in ``start_s`` and ``latency (ms)``."""
    found = _UNIT_OF_NAME.fullmatch(column.lower())
    return _UNIT_WORDS.get(found[1], found[1]) if found else None


def is_number(text: str) -> bool:
    """Return whether a time has no unit."""
    try:
        return abs(Decimal(text)) <= LARGEST_TOTAL
    except InvalidOperation:
        return False


def parsed_time(text: str, unit: str | None) -> Decimal | None:
    """Return the nanoseconds of ``9.5`` in this unit, of ``9.5s`` or of ``1m2.25s``; or None.

    The exponent is that of the last digit that is written.
    """
    if unit is not None and is_number(text):
        return Decimal(text) * _NANOSECONDS[unit]
    if _PARTS.fullmatch(text) is None:
        return None
    first, *others = (Decimal(number) * _NANOSECONDS[of] for number, of in _PART.findall(text))
    return sum(others, first)


def parsed_moment(text: str) -> Decimal | None:
    """Return the nanoseconds since 1970 of a time in ISO 8601, in UTC without a zone; or None."""
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    digits = re.search(r"[.,]([0-9]+)", text)
    seconds = since // timedelta(seconds=1) + Decimal(f"0.{digits[1]}" if digits else 0)
    return seconds * _NANOSECONDS["s"]
