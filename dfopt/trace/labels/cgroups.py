"""Labels from the control group a thread is in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.files.streams import shown_name
from dfopt.trace.labels.intervals import label_rows
from dfopt.trace.labels.table import OPEN_END, OPEN_START, Row, read_table
from dfopt.trace.trace import Trace

NO_CGROUP = "-"
"""What ``ps`` prints for a thread in none, such as one of the kernel."""

UNIFIED = "0::"
"""What stands before the path in the one hierarchy of version 2."""


def label_by_cgroup(trace: Trace, path: str | Path) -> Trace:
    """Return a trace in which the fragment of a thread is its control group.

    Parameters
    ----------
    trace
        What to label.
    path
        Lines of a thread's number and its control group, as ``ps -eLo tid=,cgroup=`` prints them
        (with ``-``, which is none), or a CSV file with the columns ``tid`` and ``cgroup``.

    Raises
    ------
    FileError
        When the file has neither shape, names a thread twice, or none of the trace.
    """
    file = shown_name(path)
    lines = read_text(path).splitlines()
    is_table = bool(lines) and "," in lines[0] and not lines[0].split()[0].isdecimal()
    rows = read_table(path) if is_table else tuple(_rows(lines, file))
    if not rows:
        raise FileError("is empty; fill it with ps -eLo tid=,cgroup=", file=file)
    return label_rows(trace, rows, file)


def _rows(lines: list[str], file: str) -> Iterator[Row]:
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
        yield Row(
            line=line,
            tid=words[0],
            df=None if group == NO_CGROUP else group,
            start=OPEN_START,
            end=OPEN_END,
        )
