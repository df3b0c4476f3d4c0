"""Labels from files: tables of threads and fragments, and lists of control groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.files.streams import shown_name
from dfopt.trace.labels.relabelling import Changes, label_changes
from dfopt.trace.labels.table import OPEN_END, OPEN_START, LabelRow, read_table
from dfopt.trace.labels.threads import Tids, report_unknown
from dfopt.trace.trace import UNMANAGED, Trace

NO_CGROUP = "-"
"""``ps`` prints this for a thread in no control group, such as a thread of the kernel."""

UNIFIED = "0::"
"""Stands before the path in the single hierarchy of version 2."""


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
    return _label_rows(trace, read_table(path), shown_name(path))


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
    file = shown_name(path)
    lines = read_text(path).splitlines()
    is_table = bool(lines) and "," in lines[0] and not lines[0].split()[0].isdecimal()
    rows = read_table(path) if is_table else tuple(_listed(lines, file))
    if not rows:
        raise FileError("is empty; fill it with ps -eLo tid=,cgroup=", file=file)
    return _label_rows(trace, rows, file)


def _listed(lines: list[str], file: str) -> Iterator[LabelRow]:
    for line, text in enumerate(lines, start=1):
        words = text.split(maxsplit=1)
        if not words:
            continue
        if len(words) == 1 or not words[0].isdecimal():
            raise FileError(
                f"is {text.strip()!r}; give a thread's number and its control group, as "
                "ps -eLo tid=,cgroup= prints them",
                place=f"line {line}",
                file=file,
            )
        group = words[1].strip().removeprefix(UNIFIED)
        yield LabelRow(
            line=line,
            tid=words[0],
            df=None if group == NO_CGROUP else group,
            start=OPEN_START,
            end=OPEN_END,
        )


def _label_rows(trace: Trace, rows: Sequence[LabelRow], file: str) -> Trace:
    """Return a trace labelled by the rows of a table; ``file`` is its name in errors."""
    tids = Tids(trace, (row.tid for row in rows))
    names = tuple(dict.fromkeys(row.df for row in rows if row.df is not None))
    numbers = {name: number for number, name in enumerate(names)}
    by_tid: defaultdict[str, list[LabelRow]] = defaultdict(list)
    for row in rows:
        by_tid[row.tid].append(row)
    task: list[int] = []
    time: list[int] = []
    fragment: list[int] = []
    for tid, intervals in by_tid.items():
        intervals.sort(key=lambda row: (row.start, row.end))
        _check_apart(intervals, tid, file)
        for number in tids.tasks(tid):
            for row in intervals:
                # Where one interval begins as another ends, the later change counts.
                task += (number, number)
                time += (row.start, row.end)
                fragment += (UNMANAGED if row.df is None else numbers[row.df], UNMANAGED)
    report_unknown(
        [(row.line, row.tid) for row in rows if not tids.tasks(row.tid)], len(rows), file
    )
    changes = Changes(
        task=np.array(task, np.int32),
        time=np.array(time, np.int64),
        fragment=np.array(fragment, np.int32),
    )
    return label_changes(trace, changes, names)


def _check_apart(intervals: Sequence[LabelRow], tid: str, file: str) -> None:
    """Refuse two rows about one thread at the same time."""
    for row, following in pairwise(intervals):
        if following.start < row.end:
            raise FileError(
                f"speaks of thread {tid} at the same time as line "
                f"{min(row.line, following.line)}; let their times not overlap",
                place=f"line {max(row.line, following.line)}",
                file=file,
            )
