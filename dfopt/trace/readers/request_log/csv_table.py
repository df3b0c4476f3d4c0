"""Tables of comma-separated values, as servers and spreadsheets write them."""

from __future__ import annotations

import csv
import difflib
import io
from dataclasses import dataclass
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import read_text

DELIMITERS = (",", ";", "\t")
"""What may stand between values; the one that gives the first line most names does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvTable:
    """The names of a CSV file's columns, and its lines with their numbers."""

    names: list[str]
    rows: list[tuple[int, list[str]]]

    def position(self, name: str) -> int:
        """Return where a column stands.

        Raises
        ------
        FileError
            When there is no such column, or several.
        """
        if name not in self.names:
            nearest = difflib.get_close_matches(name, self.names, n=1)
            hint = f"did you mean {nearest[0]!r}? There" if nearest else "there"
            raise FileError(
                f"has no column {name!r}; {hint} are {', '.join(self.names)}", place="line 1"
            )
        if self.names.count(name) > 1:
            raise FileError(
                f"has {self.names.count(name)} columns {name!r}; give all but one another name",
                place="line 1",
            )
        return self.names.index(name)


def read_table(path: str | Path, what: str) -> CsvTable:
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
    if text.lstrip()[:1] in ("[", "{"):
        raise FileError("is JSON; give a CSV file, whose first line names the columns")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
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
    return CsvTable(names=names, rows=rows)


def _delimiter(text: str) -> str:
    def names(delimiter: str) -> int:
        try:
            return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), ()))
        except csv.Error:
            return 0

    return max(DELIMITERS, key=names)
