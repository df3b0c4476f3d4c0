"""The labels of a trace as a table that people can edit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dfopt.files.storage import write_text
from dfopt.trace.labels.inference import Inferred
from dfopt.trace.labels.writing import write_labels
from dfopt.trace.trace import UNMANAGED, Trace

COLUMNS = ("tid", "start", "end", "df")


def save_labels(path: str | Path, trace: Trace, inferred: Sequence[Inferred] | None = None) -> None:
    """Write the labels of a trace, with a confidence where they were inferred.

    What is not managed has no label, whatever was inferred about it.

    Parameters
    ----------
    path
        The file.
    trace
        With labels.
    inferred
        What was inferred about its tasks, if that is where they came from.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    if inferred is None:
        list_labels(path, trace)
        return
    # Who never ran was not left out by anyone.
    left_out = set(trace.task.tolist()) - set(trace.task[trace.fragment != UNMANAGED].tolist())
    kept = [
        replace(found, fragment=None) if number in left_out else found
        for number, found in enumerate(inferred)
    ]
    write_labels(path, trace, kept)


def list_labels(path: str | Path, trace: Trace) -> None:
    """Write which fragment each task of a trace uses as a CSV file.

    Its columns are ``tid``, ``start``, ``end`` and ``df``; ``start`` and ``end`` are empty where
    a task uses one fragment all the time, and ``df`` where it is not managed.
    :func:`~dfopt.trace.labels.label` reads it.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_rows(trace))
    write_text(path, text.getvalue())


def _rows(trace: Trace) -> Iterator[tuple[str, str | int, str | int, str]]:
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
