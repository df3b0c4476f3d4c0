"""Traces of the format ``dfopt-trace/1``: JSON Lines, a header and then a dispatch a line.

Many lines are parsed together and checked column by column. If this check finds a mistake, the same
lines are read again one by one, to name the mistake and its line.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, FileError
from dfopt.files.storage import BYTE_ORDER_MARK
from dfopt.files.strict_json import Document
from dfopt.structs import replace
from dfopt.trace.events import Integers, Numbers
from dfopt.trace.readers.dfopt_trace_lines import (
    GAP_ENDS,
    KINDS,
    NULLABLE,
    checked_line,
    header_from_document,
    on_line,
    parsed_line,
)
from dfopt.trace.stretches import first_disorder, quality_of
from dfopt.trace.trace import (
    LEAVES,
    NOT_GIVEN,
    STOPS,
    UNMANAGED,
    Gaps,
    Numbering,
    TaskForks,
    TaskWakeups,
    Trace,
    TraceHeader,
)

AT_ONCE = 1 << 20
"""Bytes that are parsed together."""

Column = np.ndarray[Any, Any]

_LEAVES_NUMBERS = {str(word): number for number, word in enumerate(LEAVES)}


def read_dfopt_trace(stream: BinaryIO) -> Trace:
    """Return the trace in a file of the format ``dfopt-trace/1``.

    Parameters
    ----------
    stream
        The file, opened and gunzipped.

    Raises
    ------
    DfoptError
        With line and remedy, when the file is not a valid trace.
    """
    first = stream.readline()
    if first.startswith(BYTE_ORDER_MARK):
        raise FileError("begins with a byte order mark; save it as UTF-8 without one")
    if not first.strip():
        raise FileError("is empty; its first line should be the header of a trace")
    try:
        header, cpus = header_from_document(parsed_line(first, 1))
    except DfoptError as error:
        raise on_line(1, error) from None
    rows = _LinesRead(cpus)
    number = 2
    while lines := stream.readlines(AT_ONCE):
        rows.add(lines, number)
        number += len(lines)
    return rows.trace(header, number - 1)


class _OddError(Exception):
    """These lines must be read one by one."""


class _LinesRead:
    """Dispatches, gaps and events as they are read."""

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._tasks = Numbering()
        self._fragments = Numbering()
        self._reasons = Numbering()
        self._comms = Numbering()
        self._numbers: dict[str, dict[str, int]] = {
            **dict.fromkeys(("task", "waker", "parent"), self._tasks),
            "df": self._fragments,
            "reason": self._reasons,
            "comm": self._comms,
            "leaves": _LEAVES_NUMBERS,
            "stop": {word: int(stop) for word, stop in STOPS.items()},
        }
        none = np.empty(0, np.int64)
        self._chunks = {kind: [self._chunk(kind, (), none)] for kind in KINDS}

    def add(self, lines: list[bytes], first: int) -> None:
        """Add lines, of which the first has the number ``first``."""
        try:
            self._keep(_decoded(lines), np.arange(first, first + len(lines)))
        except (_OddError, ValueError, TypeError, KeyError, RecursionError):
            numbered = [(n, line) for n, line in enumerate(lines, first) if line.strip()]
            rows = [checked_line(line, number, self._cpus) for number, line in numbered]
            self._keep(rows, np.array([number for number, _ in numbered], np.int64))

    def _keep(self, rows: Sequence[Document], numbers: Integers) -> None:
        shapes = list(map(tuple, rows))
        kinds = {shape: _kind(shape) for shape in set(shapes)}
        if len(set(kinds.values())) == 1:
            kind = kinds[shapes[0]]
            self._chunks[kind].append(self._chunk(kind, rows, numbers))
            return
        places: dict[str, list[int]] = {kind: [] for kind in KINDS}
        for place, shape in enumerate(shapes):
            places[kinds[shape]].append(place)
        for kind, chosen in places.items():
            if chosen:
                own = [rows[place] for place in chosen]
                self._chunks[kind].append(self._chunk(kind, own, numbers[chosen]))

    def _chunk(self, kind: str, rows: Sequence[Document], numbers: Integers) -> list[Column]:
        """Return the columns of lines of a kind: of its keys in order, and the lines' numbers."""
        columns = []
        for key in chain(*KINDS[kind]):
            values = [row[key] for row in rows if key in row]
            if key == "gap":
                if any(not isinstance(ends, list) or len(ends) != GAP_ENDS for ends in values):
                    raise _OddError
                columns += [_integers([ends[end] for ends in values]) for end in range(GAP_ENDS)]
                continue
            column = self._column(key, values)
            if len(values) < len(rows):
                has = np.array([key in row for row in rows])
                given, column = column, np.full(len(rows), NOT_GIVEN, column.dtype)
                column[has] = given
            columns.append(column)
        if kind in ("dispatch", "gap") and (columns[2] < columns[1]).any():
            raise _OddError
        if kind == "weight" and not columns[1].all():
            raise _OddError
        return [*columns, numbers]

    def _column(self, key: str, values: Sequence[Any]) -> Column:
        """Return values as a column: integers as they are, words and names as their numbers."""
        numbers = self._numbers.get(key)
        if key == "cpu":
            return _integers(values, self._cpus - 1).astype(np.int32)
        if numbers is None:
            return _integers(values)
        words: dict[Any, None] = dict.fromkeys(values)
        if key in NULLABLE:
            words.pop(None, None)
        if not _are_texts(words):
            raise _OddError
        number = {word: numbers[word] for word in words} | {None: UNMANAGED}
        return np.array(list(map(number.__getitem__, values)), np.int32)

    def _joined(self, kind: str) -> list[Column]:
        """Return all columns of a kind."""
        return [np.concatenate(parts) for parts in zip(*self._chunks[kind], strict=True)]

    def _events(self, kind: str) -> list[Column]:
        """Return time, task and cause of events, ordered by time."""
        time, task, cause, _ = self._joined(kind)
        order = np.argsort(time, kind="stable")
        return [time[order], task[order], cause[order]]

    def trace(self, header: TraceHeader, lines: int) -> Trace:
        """Return the trace; ``lines`` is the number of lines in its file."""
        cpu, start, end, task, fragment, read, leaves, stop, comm, numbers = self._joined(
            "dispatch"
        )
        gap_cpu, gap_start, gap_end, reason, ran_last, gap_numbers = self._joined("gap")
        by_start = np.lexsort((gap_cpu, gap_start))
        gaps = Gaps(
            cpu=gap_cpu[by_start],
            start=gap_start[by_start],
            end=gap_end[by_start],
            reason=reason[by_start],
            reasons=self._reasons.names,
            task=ran_last[by_start] if (ran_last != NOT_GIVEN).any() else None,
        )
        falls = np.flatnonzero(start[1:] < start[:-1])
        if len(falls):
            row = int(falls[0]) + 1
            raise FileError(
                f"starts at {start[row]}, before the dispatch ahead ({start[row - 1]}); "
                "order the dispatches by start",
                place=f"line {numbers[row]}",
            )
        if disorder := first_disorder(cpu, start, end, gaps):
            line = (gap_numbers[by_start] if disorder.is_gap else numbers)[disorder.row]
            raise FileError(disorder.problem, place=f"line {line}")
        of_task, weights, _ = (column.tolist() for column in self._joined("weight"))
        weight = dict(zip(of_task, weights, strict=True))
        fork_time, child, parent = self._events("fork")
        return Trace(
            cpus=self._cpus,
            cpu=cpu,
            start=start,
            end=end,
            task=task,
            fragment=fragment,
            tasks=tuple(
                replace(task, weight=weight.get(number))
                for number, task in enumerate(self._tasks.tasks)
            ),
            fragments=self._fragments.names,
            lines=read if (read != NOT_GIVEN).any() else None,
            leaves=leaves.astype(np.int8) if (leaves != NOT_GIVEN).any() else None,
            stop=stop.astype(np.int8) if (stop != NOT_GIVEN).any() else None,
            comm=comm if (comm != NOT_GIVEN).any() else None,
            comms=self._comms.names,
            gaps=gaps,
            wakeups=_wakeups(*self._events("wakeup")),
            first_wakeups=_wakeups(*self._events("first_wakeup")),
            forks=TaskForks(time=fork_time, parent=parent, child=child),
            header=header,
            quality=quality_of(cpus=self._cpus, cpu=cpu, gaps=gaps, lines=lines),
        )


def _wakeups(time: Integers, woken: Numbers, waker: Numbers) -> TaskWakeups:
    return TaskWakeups(time=time, waker=waker, woken=woken)


def _row(pairs: list[tuple[str, Any]]) -> Document:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise _OddError
    return row


def _no_constant(_: str) -> None:
    raise _OddError


_DECODER = json.JSONDecoder(object_pairs_hook=_row, parse_constant=_no_constant)


def _decoded(lines: list[bytes]) -> list[Document]:
    """Return the objects on these lines if no object has another one inside."""
    text = b",".join(lines)
    # Every line begins with a brace and has no objects inside. So it can neither hold two objects
    # nor share one with the next line: the counts would differ. No string spans two lines.
    if not text.startswith(b"{") or text.count(b"\n,{") != len(lines) - 1:
        raise _OddError
    rows = _DECODER.decode(f"[{text.decode('utf-8')}]")
    if len(rows) != len(lines):
        raise _OddError
    return rows  # type: ignore[no-any-return]


@functools.cache
def _kind(keys: tuple[str, ...]) -> str:
    for kind, (required, more) in KINDS.items():
        if set(required) <= set(keys) <= {*required, *more}:
            return kind
    raise _OddError


def _integers(values: Iterable[object], largest: int = LARGEST_TOTAL) -> Integers:
    """Return a column of integers from 0 to ``largest``."""
    values = list(values)
    if set(map(type, values)) - {int}:
        raise _OddError
    try:
        column = np.array(values, np.int64)
    except OverflowError:
        raise _OddError from None
    if len(column) and (column.min() < 0 or column.max() > largest):
        raise _OddError
    return column


def _are_texts(names: Iterable[object]) -> bool:
    """Whether all names are strings that can be written as UTF-8."""
    try:
        "".join(names).encode("utf-8")  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return False
    return True
