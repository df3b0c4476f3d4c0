"""Traces of the format ``dfopt-trace/1``: JSON Lines, a header and then a dispatch a line.

Many lines are parsed together and checked column by column. If this check finds a mistake, the same
lines are read again one by one, to name the mistake and its line.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, BinaryIO

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, FileError
from dfopt.files.storage import BYTE_ORDER_MARK
from dfopt.files.strict_json import Document
from dfopt.trace.events import Integers, Numbers
from dfopt.trace.readers.dfopt_trace_lines import (
    DISPATCH_KEYS,
    EVENTS,
    GAP_ENDS,
    GAP_KEYS,
    GAP_REQUIRED,
    REQUIRED,
    TASK_KEYS,
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

NO_TASK = -1
"""Stands for the waker where an interrupt woke a task, and for a task that is unknown."""

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
        self._weights: dict[int, int] = {}
        # Chunks of cpu, start, end, task, fragment, lines, leaves, stop, comm and the
        # numbers of the lines.
        self._dispatches: list[tuple[np.ndarray[Any, Any], ...]] = []
        # Chunks of cpu, start, end, reason, task and the numbers of the lines.
        self._gaps: list[tuple[np.ndarray[Any, Any], ...]] = []
        # For each kind of event chunks of time, the task that causes it, and that it concerns.
        self._events: dict[str, list[tuple[np.ndarray[Any, Any], ...]]] = {
            event: [] for event in EVENTS
        }

    def add(self, lines: list[bytes], first: int) -> None:
        """Add lines, of which the first has the number ``first``."""
        try:
            self._keep(_decoded(lines), np.arange(first, first + len(lines)))
        except (_OddError, ValueError, TypeError, RecursionError):
            numbered = [(n, line) for n, line in enumerate(lines, first) if line.strip()]
            rows = [checked_line(line, number, self._cpus) for number, line in numbered]
            self._keep(rows, np.array([number for number, _ in numbered], np.int64))

    def _keep(self, rows: Sequence[Document], numbers: Integers) -> None:
        shapes = set(map(tuple, rows))
        meanings = set(map(_meaning, shapes))
        if "odd" in meanings:
            raise _OddError
        if meanings <= {"dispatch"}:
            self._keep_dispatches(rows, shapes, numbers)
            return
        by_meaning: dict[str, list[int]] = {meaning: [] for meaning in meanings}
        for place, row in enumerate(rows):
            by_meaning[_meaning(tuple(row))].append(place)
        shapes = {shape for shape in shapes if _meaning(shape) == "dispatch"}
        places = by_meaning.pop("dispatch", [])
        self._keep_dispatches([rows[place] for place in places], shapes, numbers[places])
        for meaning, places in sorted(by_meaning.items()):
            chosen = [rows[place] for place in places]
            if meaning == "gap":
                self._keep_gaps(chosen, numbers[places])
            elif meaning == "task":
                self._keep_tasks(chosen)
            else:
                self._keep_events(chosen, meaning)

    def _keep_dispatches(
        self, rows: Sequence[Document], shapes: set[tuple[str, ...]], numbers: Integers
    ) -> None:
        if not rows:
            return
        cpus, starts, ends, tasks, dfs = zip(*map(itemgetter(*REQUIRED), rows), strict=True)
        cpu, start, end = _integers(cpus, self._cpus - 1), _integers(starts), _integers(ends)
        names = set(tasks)
        fragments = set(dfs) - {None}
        if (end < start).any() or not _are_texts(names | fragments):
            raise _OddError
        lines = _column(rows, shapes, "lines", _integers)
        leaves = _column(rows, shapes, "leaves", _numbered(_LEAVES_NUMBERS))
        stop = _column(rows, shapes, "stop", _numbered(STOPS))
        comm = _column(rows, shapes, "comm", self._named_comms)
        # All values are checked now, so names may get their numbers.
        task = [self._tasks[name] for name in tasks]
        number = {None: UNMANAGED} | {
            df: self._fragments[df] for df in dict.fromkeys(dfs) if df is not None
        }
        self._dispatches.append(
            (
                cpu.astype(np.int32),
                start,
                end,
                np.array(task, np.int32),
                np.array([number[df] for df in dfs], np.int32),
                lines,
                leaves.astype(np.int8),
                stop.astype(np.int8),
                comm.astype(np.int32),
                numbers,
            )
        )

    def _named_comms(self, names: Iterable[object]) -> Integers:
        comms = list(names)
        if not _are_texts(comms):
            raise _OddError
        return np.array([self._comms[name] for name in comms], np.int64)  # type: ignore[index]

    def _keep_tasks(self, rows: Sequence[Document]) -> None:
        weights = [row["weight"] for row in rows]
        names = [row["task"] for row in rows]
        if not _are_texts(names) or not _integers(weights).all():
            raise _OddError
        self._weights |= {
            self._tasks[name]: weight for name, weight in zip(names, weights, strict=True)
        }

    def _keep_gaps(self, rows: Sequence[Document], numbers: Integers) -> None:
        stretches = [row["gap"] for row in rows]
        if any(not isinstance(ends, list) or len(ends) != GAP_ENDS for ends in stretches):
            raise _OddError
        starts, ends = zip(*stretches, strict=True)
        cpu = _integers([row["cpu"] for row in rows], self._cpus - 1)
        start, end = _integers(starts), _integers(ends)
        reasons = [row["reason"] for row in rows]
        names = [row.get("task") for row in rows]
        if (end < start).any() or not _are_texts([*reasons, *(name for name in names if name)]):
            raise _OddError
        reason = np.array([self._reasons[text] for text in reasons], np.int32)
        ran_last = [NO_TASK if name is None else self._tasks[name] for name in names]
        task = np.array(ran_last, np.int32)
        self._gaps.append((cpu.astype(np.int32), start, end, reason, task, numbers))

    def _keep_events(self, rows: Sequence[Document], event: str) -> None:
        times = _integers([row[event] for row in rows])
        tasks = [row["task"] for row in rows]
        key = EVENTS[event]
        if not _are_texts({*tasks, *(row[key] for row in rows if key in row)}):
            raise _OddError
        causes = [row.get(key) for row in rows]
        task = np.array([self._tasks[name] for name in tasks], np.int32)
        cause = [NO_TASK if name is None else self._tasks[name] for name in causes]
        self._events[event].append((times, np.array(cause, np.int32), task))

    def _event_columns(self, event: str) -> list[np.ndarray[Any, Any]]:
        """Return time, causing task and concerned task of events, ordered by time."""
        columns = _joined(self._events[event], "i8 i4 i4")
        order = np.argsort(columns[0], kind="stable")
        return [column[order] for column in columns]

    def trace(self, header: TraceHeader, lines: int) -> Trace:
        """Return the trace; ``lines`` is the number of lines in its file."""
        cpu, start, end, task, fragment, read, leaves, stop, comm, numbers = _joined(
            self._dispatches, "i4 i8 i8 i4 i4 i8 i1 i1 i4 i8"
        )
        gap_cpu, gap_start, gap_end, reason, ran_last, gap_numbers = _joined(
            self._gaps, "i4 i8 i8 i4 i4 i8"
        )
        by_start = np.lexsort((gap_cpu, gap_start))
        gaps = Gaps(
            cpu=gap_cpu[by_start],
            start=gap_start[by_start],
            end=gap_end[by_start],
            reason=reason[by_start],
            reasons=self._reasons.names,
            task=ran_last[by_start] if (ran_last != NO_TASK).any() else None,
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
        fork_time, parent, child = self._event_columns("fork")
        return Trace(
            cpus=self._cpus,
            cpu=cpu,
            start=start,
            end=end,
            task=task,
            fragment=fragment,
            tasks=tuple(
                replace(task, weight=self._weights[number]) if number in self._weights else task
                for number, task in enumerate(self._tasks.tasks)
            ),
            fragments=self._fragments.names,
            lines=read if (read != NOT_GIVEN).any() else None,
            leaves=leaves if (leaves != NOT_GIVEN).any() else None,
            stop=stop if (stop != NOT_GIVEN).any() else None,
            comm=comm if (comm != NOT_GIVEN).any() else None,
            comms=self._comms.names,
            gaps=gaps,
            wakeups=_wakeups(*self._event_columns("wakeup")),
            first_wakeups=_wakeups(*self._event_columns("first_wakeup")),
            forks=TaskForks(time=fork_time, parent=parent, child=child),
            header=header,
            quality=quality_of(cpus=self._cpus, cpu=cpu, gaps=gaps, lines=lines),
        )


def _wakeups(time: Integers, waker: Numbers, woken: Numbers) -> TaskWakeups:
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
def _meaning(keys: tuple[str, ...]) -> str:
    if set(REQUIRED) <= set(keys) <= set(DISPATCH_KEYS):
        return "dispatch"
    if set(GAP_REQUIRED) <= set(keys) <= set(GAP_KEYS):
        return "gap"
    if set(keys) == set(TASK_KEYS):
        return "task"
    for event, cause in EVENTS.items():
        if set(keys) == {event, "task", cause} or set(keys) == {event, "task"} != {"fork", "task"}:
            return event
    return "odd"


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


def _numbered(numbers: Mapping[str, int]) -> Callable[[Iterable[object]], Integers]:
    """Return a reader of columns of words that stand for numbers."""

    def read(values: Iterable[object]) -> Integers:
        words = list(values)
        if not _are_texts(words) or not set(words) <= numbers.keys():
            raise _OddError
        return np.array([numbers[word] for word in words], np.int64)  # type: ignore[index]

    return read


def _column(
    rows: Sequence[Document],
    shapes: set[tuple[str, ...]],
    key: str,
    read: Any,
) -> Integers:
    """Return the column of an optional key."""
    given = {key in shape for shape in shapes}
    if given == {True}:
        return read([row[key] for row in rows])  # type: ignore[no-any-return]
    column = np.full(len(rows), NOT_GIVEN, np.int64)
    if True in given:
        has = np.array([key in row for row in rows])
        column[has] = read([row[key] for row in rows if key in row])
    return column


def _are_texts(names: Iterable[object]) -> bool:
    """Whether all names are strings that can be written as UTF-8."""
    try:
        "".join(names).encode("utf-8")  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _joined(
    chunks: list[tuple[np.ndarray[Any, Any], ...]], types: str
) -> tuple[np.ndarray[Any, Any], ...]:
    if not chunks:
        return tuple(np.empty(0, type_name) for type_name in types.split())
    return tuple(np.concatenate(parts) for parts in zip(*chunks, strict=True))
