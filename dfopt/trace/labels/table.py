"""Tables of labels: CSV files that say which fragment a thread uses, and when."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dfopt.errors import FileError
from dfopt.files.storage import read_text, write_text
from dfopt.files.streams import shown_name
from dfopt.structs import replace
from dfopt.trace.labels.inference import Inferred
from dfopt.trace.trace import UNMANAGED, Trace

TID = ("tid", "pid")
DF = ("df", "group", "cgroup")
"""Names of the columns; the first one that a header has counts."""

OPEN_START = -(1 << 63) + 1
OPEN_END = (1 << 63) - 1
"""Times before and after all others, for an interval that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One line of a table: ``tid`` uses ``df`` from ``start`` to just before ``end``.

    Parameters
    ----------
    line
        Its number in the file, counted from 1.
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


def read_table(path: str | Path) -> tuple[LabelRow, ...]:
    """Return the rows of a table of labels.

    Raises
    ------
    FileError
        When the file is no table, lacks a column or a value, or the time of a row is no interval.
    """
    file = shown_name(path)
    lines = csv.reader(io.StringIO(read_text(path)), strict=True)
    try:
        header = [name.strip() for name in next(lines, ())]
        columns = _columns(header) if any(header) else None
        rows = [
            _row(cells, columns, len(header), lines.line_num)
            for cells in lines
            if columns and cells
        ]
    except (csv.Error, FileError) as error:
        problem = (
            error.problem if isinstance(error, FileError) else f"is no CSV ({error}); correct it"
        )
        raise FileError(problem, place=f"line {lines.line_num}", file=file) from None
    if columns is None:
        raise FileError("is empty; begin it with the line tid,df", file=file)
    if not rows:
        raise FileError("names no thread; add lines below the header", file=file)
    return tuple(rows)


def _columns(header: Sequence[str]) -> tuple[int, int, int | None, int | None]:
    """Return the indices of the columns tid, df, start and end."""
    required = []
    for names in (TID, DF):
        places = [header.index(name) for name in names if name in header]
        if not places:
            raise FileError(
                f"has no column {' or '.join(names)}; begin it with a line such as tid,df or "
                "tid,start,end,df"
            )
        required.append(places[0])
    for name in ("tid", "df", "start", "end"):
        if header.count(name) > 1:
            raise FileError(f"has two columns {name}; leave one")
    start, end = (header.index(name) if name in header else None for name in ("start", "end"))
    return required[0], required[1], start, end


def _row(
    cells: Sequence[str], columns: tuple[int, int, int | None, int | None], width: int, line: int
) -> LabelRow:
    if len(cells) != width:
        raise FileError(f"has {len(cells)} values under {width} columns; correct it")
    tid, df, start, end = ("" if place is None else cells[place].strip() for place in columns)
    if not tid:
        raise FileError("names no thread; give its tid")
    row = LabelRow(
        line=line,
        tid=tid,
        df=df or None,
        start=_time("start", start) if start else OPEN_START,
        end=_time("end", end) if end else OPEN_END,
    )
    if row.start > row.end:
        raise FileError(f"starts at {row.start}, after its end at {row.end}; swap them")
    return row


def _time(name: str, text: str) -> int:
    try:
        time = int(text)
    except ValueError:
        raise FileError(
            f"{name} is {text!r}; give an integer in the trace's unit of time, or nothing"
        ) from None
    if not OPEN_START <= time <= OPEN_END:
        raise FileError(f"{name} is {time}, too large; correct it")
    return time


def save_labels(path: str | Path, trace: Trace, inferred: Sequence[Inferred] | None = None) -> None:
    """Write the labels of a trace as a CSV file, with a confidence where they were inferred.

    Labels that were not inferred come with the columns ``tid``, ``start``, ``end`` and ``df``;
    ``start`` and ``end`` are empty where a task uses one fragment all the time, and ``df`` where
    it is not managed. :func:`~dfopt.trace.labels.label` reads the file.

    Parameters
    ----------
    path
        The file.
    trace
        With labels.
    inferred
        The inferred fragments of its tasks, if its labels were inferred. A task without a managed
        dispatch is written without a label, even if a fragment was inferred for it.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    if inferred is None:
        _write(path, ("tid", "start", "end", "df"), _stretches(trace))
        return
    # A task that never ran keeps its label: the user has not left it out.
    left_out = set(trace.task.tolist()) - set(trace.task[trace.fragment != UNMANAGED].tolist())
    kept = [
        replace(found, fragment=None) if task in left_out else found
        for task, found in enumerate(inferred)
    ]
    write_labels(path, trace, kept)


def write_labels(path: str | Path, trace: Trace, inferred: Sequence[Inferred]) -> None:
    """Write the inferred fragments of the tasks of a trace as a CSV file.

    Its columns are ``tid``, ``df`` (empty for a task that is not managed), ``confidence`` and
    ``comm`` (the last that the task had). :func:`~dfopt.trace.labels.label` reads it.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    comms = _last_comms(trace)
    rows = (
        (task.name, found.fragment or "", f"{found.confidence:.3f}", comms.get(number, ""))
        for number, (task, found) in enumerate(zip(trace.tasks, inferred, strict=True))
    )
    _write(path, ("tid", "df", "confidence", "comm"), rows)


def _write(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[str | int]]) -> None:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    write_text(path, text.getvalue())


def _stretches(trace: Trace) -> Iterator[tuple[str, str | int, str | int, str]]:
    """Yield a row for each stretch of time in which a task uses one fragment."""
    order = np.lexsort((trace.start, trace.task))
    task, fragment = trace.task[order], trace.fragment[order]
    begins = (np.diff(task, prepend=-1) != 0) | (np.diff(fragment, prepend=UNMANAGED - 1) != 0)
    first = np.flatnonzero(begins)
    for position, row in enumerate(first.tolist()):
        name = trace.tasks[task[row]].name
        df = "" if fragment[row] == UNMANAGED else trace.fragments[fragment[row]]
        opens = row == 0 or task[row - 1] != task[row]
        after = int(first[position + 1]) if position + 1 < len(first) else len(order)
        closes = after == len(order) or task[after] != task[row]
        start: str | int = "" if opens else int(trace.start[order[row]])
        end: str | int = "" if closes else int(trace.start[order[after]])
        yield name, start, end, df


def _last_comms(trace: Trace) -> dict[int, str]:
    if trace.comm is None:
        return {}
    pairs = zip(trace.task.tolist(), trace.comm.tolist(), strict=True)
    return {task: trace.comms[comm] for task, comm in pairs if comm >= 0}
