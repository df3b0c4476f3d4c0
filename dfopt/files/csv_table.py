"""Tables in CSV files: the first line names the columns, and each further line is a row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from dfopt.checks import did_you_mean
from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.structs import Record

DELIMITERS = ",;\t"
"""What may stand between values; the one that the first line has most often does."""


class CsvTable(Record):
    """The names of the columns, and the rows with the numbers of their lines.

    Cells and names stand without the blanks around them.
    """

    names: list[str]
    rows: list[tuple[int, list[str]]]

    @property
    def lines(self) -> list[int]:
        """The numbers of the rows' lines."""
        return [line for line, _ in self.rows]

    def column(self, *names: str) -> list[str]:
        """Return the cells of a column, the first that there is of these.

        Raises
        ------
        FileError
            When there is no such column, or several.
        """
        name = next((name for name in names if name in self.names), names[0])
        if self.names.count(name) != 1:
            either = " or ".join(map(repr, names))
            problem = f"has no column {either}; {did_you_mean(name, self.names)}"
            if name in self.names:
                problem = f"has several columns {name!r}; give all but one another name"
            raise FileError(problem, place="line 1")
        position = self.names.index(name)
        return [row[position] for _, row in self.rows]


def read_csv_table(path: str | Path, example: str) -> CsvTable:
    """Return the table in a file.

    Parameters
    ----------
    path
        The file. A byte order mark before the first name does not count.
    example
        How the first line may begin, for errors.

    Raises
    ------
    FileError
        When it cannot be read, is no CSV, or has no rows.
    """
    return csv_table(read_text(path, skips_mark=True), example)


def csv_table(text: str, example: str) -> CsvTable:
    """Return the table that a text holds; see :func:`read_csv_table`."""
    first = text.lstrip().partition("\n")[0]
    if first[:1] in ("[", "{"):
        raise FileError("is JSON; give a CSV file, whose first line names the columns")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise FileError(
            f"is no CSV ({error}); mend the line", place=f"line {reader.line_num}"
        ) from None
    if not rows[1:]:
        raise FileError(
            f"holds no rows; its first line names the columns, such as {example}, and others follow"
        )
    (_, names), *rows = rows
    for line, row in rows:
        if len(row) != len(names):
            raise FileError(
                f"has {len(row)} values, but there are {len(names)} columns; mend the line",
                place=f"line {line}",
            )
    return CsvTable(names=names, rows=rows)
