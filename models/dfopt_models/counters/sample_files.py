"""Readers of counter samples: CSV tables, and what ``perf script`` prints of a group of events."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text
from dfopt.files.streams import shown_name
from dfopt_models.counters.samples import MISSES, CounterSamples

T = TypeVar("T")

REQUIRED = ("time", "cpu", "thread", "type", "instructions", "cycles")
COLUMNS = (*REQUIRED, *MISSES, "run_queue")
"""The columns of a table of samples; those that are not required may be missing."""

Row = dict[str, str]

SWITCH = "sched:sched_switch"

LINE = re.compile(
    r"^\s*(?P<comm>.+?)\s+(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<seconds>\d+)\.(?P<digits>\d+):"
    r"\s+(?P<period>\d+)\s+(?P<event>[\w:./=-]+?):?(?:\s|$)"
)
"""A line of ``perf script -F comm,tid,cpu,time,period,event``, perhaps with more behind it."""

EVENTS = {
    "instructions": "instructions",
    "cycles": "cycles",
    "cpu-cycles": "cycles",
    "l2_instruction_misses": MISSES[0],
    "l2_data_misses": MISSES[1],
    "l2_data_accesses": MISSES[2],
}
"""For each name of an event the column that it fills; perf lets users name events themselves."""

NANOSECOND_DIGITS = 9


def read_samples(path: str | Path) -> CounterSamples:
    """Return the counter samples in a file.

    Parameters
    ----------
    path
        A CSV table whose first line names the columns of :data:`COLUMNS`, in any order; or what
        ``perf script -F comm,tid,cpu,time,period,event`` prints of a recording in which
        ``sched:sched_switch`` leads a group of counters. ``-`` is standard input, and a name that
        ends in ``.gz`` is gunzipped. Times are nanoseconds.

    Raises
    ------
    FileError, ModelError
        With file, line and remedy, when the file holds no such samples.
    """
    text = read_text(path)
    read = perf_rows if LINE.match(text.lstrip("\ufeff\n").partition("\n")[0]) else csv_rows
    try:
        return samples_of(list(read(text)))
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def csv_rows(text: str) -> Iterator[tuple[int, Row]]:
    """Return the lines of a table, with their numbers."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise FileError(
                    f"has {len(cells)} values under {len(header)} columns; correct it",
                    place=f"line {reader.line_num}",
                )
            yield reader.line_num, dict(zip(header, map(str.strip, cells), strict=True))
    except csv.Error as error:
        raise FileError(
            f"is no CSV ({error}); correct it", place=f"line {reader.line_num}"
        ) from None


def _check_header(header: Sequence[str]) -> None:
    for name in header:
        if name not in COLUMNS and not name.startswith("x-"):
            raise FileError(
                f"unknown column {name!r}; known are {', '.join(COLUMNS)}, and your own may begin "
                "with 'x-'",
                place="line 1",
            )
        if header.count(name) > 1:
            raise FileError(f"has two columns {name}; leave one", place="line 1")
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise FileError(
            f"has no column {missing[0]}; begin it with a line such as {','.join(REQUIRED)}",
            place="line 1",
        )


def perf_rows(text: str) -> Iterator[tuple[int, Row]]:
    """Return the samples that perf printed: a switch, then the counters of its group.

    The thread that leaves is the one that perf names; its type is its command.
    """
    row: Row = {}
    begin = 0
    for line_number, line in enumerate(text.splitlines(), start=1):
        match = LINE.match(line)
        if match is None:
            if line.strip() and not line.lstrip().startswith("#"):
                raise FileError(
                    "is not what perf prints of a group of counters; use perf script -F "
                    "comm,tid,cpu,time,period,event",
                    place=f"line {line_number}",
                )
            continue
        event = match["event"].partition(":")[0] if ":" not in SWITCH else match["event"]
        if event.startswith(SWITCH):
            if row:
                yield begin, row
            begin = line_number
            digits = match["digits"].ljust(NANOSECOND_DIGITS, "0")[:NANOSECOND_DIGITS]
            idle = match["tid"] == "0"
            row = {
                "time": match["seconds"] + digits,
                "cpu": match["cpu"],
                "thread": match["tid"],
                "type": "idle" if idle else match["comm"],
            }
            continue
        column = EVENTS.get(event.partition(":")[0])
        if column is not None and row:
            row[column] = match["period"]
    if row:
        yield begin, row


def samples_of(rows: Sequence[tuple[int, Row]]) -> CounterSamples:
    """Return the samples that rows of text describe.

    Raises
    ------
    FileError
        With the line, when a value is missing or no number.
    """
    if not rows:
        raise FileError("holds no samples; give one line for each switch")

    def column(name: str, read: Callable[[str], T]) -> list[T]:
        values = []
        for line, row in rows:
            if row.get(name, "") == "":
                raise FileError(f"has no {name}; every switch needs it", place=f"line {line}")
            try:
                values.append(read(row[name]))
            except ValueError:
                raise FileError(
                    f"{name} must be a number that is not negative, not {row[name]!r}",
                    place=f"line {line}",
                ) from None
        return values

    time, cpu = (np.array(column(name, _count), dtype=np.int64) for name in ("time", "cpu"))
    order = np.lexsort((time, cpu))
    given = [name for name in (*MISSES, "run_queue") if any(name in row for _, row in rows)]
    counters = {
        name: np.array(column(name, _count), dtype=np.float64)[order]
        for name in ("instructions", "cycles", *given)
    }
    run_queue = counters.pop("run_queue", None)
    threads, thread = np.unique(np.array(column("thread", str)), return_inverse=True)
    types, type_codes = np.unique(np.array(column("type", str)), return_inverse=True)
    return CounterSamples(
        time=time[order],
        cpu=cpu[order],
        threads=tuple(map(str, threads)),
        thread=thread[order],
        types=tuple(map(str, types)),
        type=type_codes[order],
        instructions=counters.pop("instructions"),
        cycles=counters.pop("cycles"),
        misses=counters,
        run_queue=None if run_queue is None else run_queue.astype(np.int64),
    )


LARGEST = 1 << 62


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value <= LARGEST:
        raise ValueError
    return value
