"""Tables of labels: CSV files that say which fragment a thread uses, and when."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.files.streams import shown_name

TID = ("tid", "pid")
DF = ("df", "group", "cgroup")
"""What the columns may be called, the first that a header has counts."""

OPEN_START = -(1 << 63) + 1
OPEN_END = (1 << 63) - 1
"""Times before and after all others, for an interval that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: ``tid`` uses ``df`` from ``start`` to just before ``end``.

    Parameters
    ----------
    line
        Where it stands, counted from 1.
    tid
        Number of the thread, or the name of one life of it.
    df
        The fragment; None if the thread is not managed.
    start, end
        In the trace's unit of time.
    """

    line: int
    tid: str
    df: str | None
    start: int
    end: int


def read_table(path: str | Path) -> tuple[Row, ...]:
    """Return the rows of a table of labels.

    Raises
    ------
    FileError
        When the file is none, lacks a column or a value, or a row's time is no interval.
    """
    file = shown_name(path)
    lines = csv.reader(io.StringIO(read_text(path)), strict=True)
    try:
        header = [name.strip() for name in next(lines, ())]
        columns = _columns(header, file)
        rows = tuple(
            _row(cells, columns, len(header), lines.line_num, file) for cells in lines if cells
        )
    except csv.Error as error:
        raise FileError(
            f"is no CSV ({error}); correct it", place=f"line {lines.line_num}", file=file
        ) from None
    if not rows:
        raise FileError("names no thread; add lines below the header", file=file)
    return rows


def _columns(header: Sequence[str], file: str) -> tuple[int, int, int | None, int | None]:
    """Return where tid, df, start and end stand."""
    if not any(header):
        raise FileError("is empty; begin it with the line tid,df", file=file)
    found: list[int] = []
    for names in (TID, DF):
        known = [header.index(name) for name in names if name in header]
        if not known:
            raise FileError(
                f"has no column {' or '.join(names)}; begin it with a line such as tid,df or "
                "tid,start,end,df",
                place="line 1",
                file=file,
            )
        found.append(known[0])
    for name in ("tid", "df", "start", "end"):
        if header.count(name) > 1:
            raise FileError(f"has two columns {name}; leave one", place="line 1", file=file)
    start, end = (header.index(name) if name in header else None for name in ("start", "end"))
    return found[0], found[1], start, end


def _row(
    cells: Sequence[str],
    columns: tuple[int, int, int | None, int | None],
    width: int,
    line: int,
    file: str,
) -> Row:
    place = f"line {line}"
    if len(cells) != width:
        raise FileError(
            f"has {len(cells)} values under {width} columns; correct it", place=place, file=file
        )
    tid, df, start, end = (None if at is None else cells[at].strip() for at in columns)
    row = Row(
        line=line,
        tid=_tid(tid or "", place, file),
        df=df or None,
        start=_time(start, OPEN_START, "start", place, file),
        end=_time(end, OPEN_END, "end", place, file),
    )
    if row.start > row.end:
        raise FileError(
            f"starts at {row.start}, after its end at {row.end}; swap them", place=place, file=file
        )
    return row


def _tid(text: str, place: str, file: str) -> str:
    if not text:
        raise FileError("names no thread; give its tid", place=place, file=file)
    return text


def _time(text: str | None, default: int, name: str, place: str, file: str) -> int:
    if not text:
        return default
    try:
        time = int(text)
    except ValueError:
        raise FileError(
            f"{name} is {text!r}; give an integer in the trace's unit of time, or nothing",
            place=place,
            file=file,
        ) from None
    if not OPEN_START <= time <= OPEN_END:
        raise FileError(f"{name} is {time}, too large; correct it", place=place, file=file)
    return time
