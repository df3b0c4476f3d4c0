"""Labels from a table that says which thread uses which fragment, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from dfopt.errors import FileError
from dfopt.files.streams import shown_name
from dfopt.trace.labels.relabelling import Changes, label_changes
from dfopt.trace.labels.table import Row, read_table
from dfopt.trace.labels.tids import Tids, report_unknown
from dfopt.trace.trace import UNMANAGED, Trace


def label_by_file(trace: Trace, path: str | Path) -> Trace:
    """Return a trace labelled by a CSV file.

    Parameters
    ----------
    trace
        What to label.
    path
        Its first line names the columns: ``tid`` (or ``pid``) and ``df`` (or ``group``), with
        ``start`` and ``end`` if labels hold for a time only; other columns do not matter. Times
        are integers in ``trace.header.time_unit``, the end is the first moment that is outside,
        and an empty one is open. A tid is the number of a thread and means all of its lives, or
        the name of one life, such as ``123.2``. What no row tells of, or one with an empty
        fragment, is not managed. Rows about threads that the trace does not have are counted in
        a warning.

    Raises
    ------
    FileError
        When the file is no such table, two rows are about one thread at the same time, or no
        thread of the file is in the trace.
    """
    rows = read_table(path)
    file = shown_name(path)
    return label_rows(trace, rows, file)


def label_rows(trace: Trace, rows: Sequence[Row], file: str) -> Trace:
    """Return a trace labelled by the rows of a table; ``file`` is what errors call it."""
    tids = Tids(trace, (row.tid for row in rows))
    names = tuple(dict.fromkeys(row.df for row in rows if row.df is not None))
    numbers = {name: number for number, name in enumerate(names)}
    by_tid: defaultdict[str, list[Row]] = defaultdict(list)
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


def _check_apart(intervals: Sequence[Row], tid: str, file: str) -> None:
    """Refuse two rows about one thread at the same time."""
    for row, following in pairwise(intervals):
        if following.start < row.end:
            raise FileError(
                f"speaks of thread {tid} at the same time as line "
                f"{min(row.line, following.line)}; let their times not overlap",
                place=f"line {max(row.line, following.line)}",
                file=file,
            )
