"""Labels in files: tables of threads and fragments, which are written too, and lists of cgroups."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from dfopt.errors import FileError
from dfopt.files.csv_table import csv_table
from dfopt.files.storage import naming, placed, read_text, shown_name, write_text
from dfopt.structs import Record, replace
from dfopt.trace.events import Marks
from dfopt.trace.labels.inference import Inferred
from dfopt.trace.labels.relabelling import label_changes
from dfopt.trace.labels.threads import Tids, report_unknown
from dfopt.trace.trace import UNMANAGED, Trace

TID = ("tid", "pid")
DF = ("df", "group", "cgroup")
"""Names of the columns; the first one that a header has counts."""

TIMES = ("start", "end")

OPEN_START = -(1 << 63) + 1
OPEN_END = (1 << 63) - 1
"""Times before and after all others, for an interval that is open."""

NO_CGROUP = "-"
"""``ps`` prints this for a thread in no control group, such as a thread of the kernel."""

UNIFIED = "0::"
"""Stands before the path in the single hierarchy of version 2."""


class LabelRow(Record):
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
    start: int = OPEN_START
    end: int = OPEN_END


def label_by_file(trace: Trace, path: str | Path) -> Trace:
    """Return a trace labelled by a CSV file.

    Parameters
    ----------
    trace
        The trace to label.
    path
        Its first line names the columns: ``tid`` (or ``pid``) and ``df`` (or ``group``), with
        ``start`` and ``end`` if labels hold for a time only; other columns do not matter. Times
        are integers in ``trace.header.time_unit``, the end is the first moment that is outside,
        and an empty one is open. A tid is the number of a thread and means all of its lives, or
        it is the name of one life, such as ``123.2``. Times without a row, or with an empty
        fragment, are not managed. A warning counts the rows about threads that are not in the
        trace.

    Raises
    ------
    FileError
        When the file is no such table, two rows are about one thread at the same time, or no
        thread of the file is in the trace.
    """
    with naming(path):
        return _label_rows(trace, _in_table(read_text(path, skips_mark=True)), shown_name(path))


def label_by_cgroup(trace: Trace, path: str | Path) -> Trace:
    """Return a trace in which the fragment of a thread is its control group.

    Parameters
    ----------
    trace
        The trace to label.
    path
        A thread's number and its control group on each line, as ``ps -eLo tid=,cgroup=`` prints
        them (``-`` is none), or a CSV file with the columns ``tid`` and ``cgroup``.

    Raises
    ------
    FileError
        When the file has neither shape, names a thread twice, or none of the trace.
    """
    text = read_text(path, skips_mark=True)
    first = text.partition("\n")[0]
    is_table = "," in first and not first.split()[0].isdecimal()
    with naming(path):
        rows = list(_in_table(text) if is_table else _in_list(text))
        if not rows:
            raise FileError("is empty; fill it with ps -eLo tid=,cgroup=")
        return _label_rows(trace, rows, shown_name(path))


def _in_table(text: str) -> list[LabelRow]:
    """Return the rows of a table of labels."""
    table = csv_table(text, "tid,df or tid,start,end,df")
    nothing = [""] * len(table.rows)
    times = (table.column(name) if name in table.names else nothing for name in TIMES)
    rows = []
    for line, tid, df, *interval in zip(
        table.lines, table.column(*TID), table.column(*DF), *times, strict=True
    ):
        with placed(f"line {line}"):
            if not tid:
                raise FileError("names no thread; give its tid")
            start, end = map(_time, TIMES, interval, (OPEN_START, OPEN_END))
            if start > end:
                raise FileError(f"starts at {start}, after its end at {end}; swap them")
        rows.append(LabelRow(line=line, tid=tid, df=df or None, start=start, end=end))
    return rows


def _time(name: str, text: str, open_time: int) -> int:
    """Return the time in a cell; where it is empty, the interval is open."""
    try:
        time = int(text or open_time)
    except ValueError:
        raise FileError(
            f"{name} is {text!r}; give an integer in the trace's unit of time, or nothing"
        ) from None
    if not OPEN_START <= time <= OPEN_END:
        raise FileError(f"{name} is {time}, too large; correct it")
    return time


def _in_list(text: str) -> Iterator[LabelRow]:
    """Yield the rows that ``ps`` printed."""
    for line, row in enumerate(text.splitlines(), start=1):
        if not row.strip():
            continue
        tid, *groups = row.split(maxsplit=1)
        if not (groups and tid.isdecimal()):
            raise FileError(
                f"is {row.strip()!r}; give a thread's number and its control group, as "
                "ps -eLo tid=,cgroup= prints them",
                place=f"line {line}",
            )
        group = groups[0].strip().removeprefix(UNIFIED)
        yield LabelRow(line=line, tid=tid, df=None if group == NO_CGROUP else group)


def _label_rows(trace: Trace, rows: Sequence[LabelRow], file: str) -> Trace:
    """Return a trace labelled by the rows of a table; ``file`` is its name in warnings."""
    tids = Tids(trace, (row.tid for row in rows))
    names = dict.fromkeys(row.df for row in rows if row.df is not None)
    numbers = {name: number for number, name in enumerate(names)}
    by_tid: defaultdict[str, list[LabelRow]] = defaultdict(list)
    for row in rows:
        by_tid[row.tid].append(row)
    found: list[tuple[int, int, int]] = []
    for tid, intervals in by_tid.items():
        intervals.sort(key=lambda row: (row.start, row.end))
        _check_apart(intervals, tid)
        for number in tids.tasks(tid):
            for row in intervals:
                # Where one interval begins as another ends, the later change counts.
                used = UNMANAGED if row.df is None else numbers[row.df]
                found += [(number, row.start, used), (number, row.end, UNMANAGED)]
    report_unknown(
        [(row.line, row.tid) for row in rows if not tids.tasks(row.tid)], len(rows), file
    )
    task, time, df = np.array(found, np.int64).reshape(-1, 3).T
    changes = Marks.of((time, task.astype(np.int32), df.astype(np.int32)), names=tuple(names))
    return label_changes(trace, changes)


def _check_apart(intervals: Sequence[LabelRow], tid: str) -> None:
    """Refuse two rows about one thread at the same time."""
    for row, following in pairwise(intervals):
        if following.start < row.end:
            raise FileError(
                f"speaks of thread {tid} at the same time as line "
                f"{min(row.line, following.line)}; let their times not overlap",
                place=f"line {max(row.line, following.line)}",
            )


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


def _stretches(trace: Trace) -> Iterable[Sequence[str]]:
    """Return a row for each stretch of time in which a task uses one fragment."""
    rows = trace.chosen(np.lexsort((trace.start, trace.task)))
    opens = np.diff(rows.task, prepend=-1) != 0
    first = np.flatnonzero(opens | (np.diff(rows.fragment, prepend=UNMANAGED) != 0))
    rows = rows.chosen(first)
    starts = [
        "" if is_open else str(start)
        for is_open, start in zip(opens[first].tolist(), rows.start.tolist(), strict=True)
    ]
    names = [*trace.fragments, ""]  # UNMANAGED, which is -1, means the last one
    return zip(
        [trace.tasks[task].name for task in rows.task.tolist()],
        starts,
        [*starts[1:], ""],
        [names[fragment] for fragment in rows.fragment.tolist()],
        strict=False,
    )


def _last_comms(trace: Trace) -> dict[int, str]:
    if trace.comm is None:
        return {}
    pairs = zip(trace.task.tolist(), trace.comm.tolist(), strict=True)
    return {task: trace.comms[comm] for task, comm in pairs if comm >= 0}
