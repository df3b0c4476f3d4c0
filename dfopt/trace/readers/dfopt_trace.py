"""Traces of the format ``dfopt-trace/1``: JSON Lines, a header and then a dispatch a line.

Many lines are parsed together. Where that fails, or a check of their columns finds a mistake, the
same lines are read again one by one, to name the mistake and its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, BinaryIO

import msgspec
import numpy as np
from msgspec import UNSET

from dfopt.errors import DfoptError, FileError
from dfopt.files.formats import Format, check_format
from dfopt.files.storage import BYTE_ORDER_MARK
from dfopt.structs import DocumentPart, replace
from dfopt.trace.events import Integers, Numbers
from dfopt.trace.readers.dfopt_trace_lines import (
    KINDS,
    HeaderLine,
    checked_line,
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
from dfopt.type_reader import reader

AT_ONCE = 1 << 20
"""Bytes that are parsed together."""

Column = np.ndarray[Any, Any]

_KEYS = {field.name: field for kind in KINDS.values() for field in msgspec.structs.fields(kind)}

Line = msgspec.defstruct(
    "Line",
    [(name, field.type | msgspec.UnsetType, UNSET) for name, field in _KEYS.items()],
    forbid_unknown_fields=True,
    gc=False,
)
"""A line of any kind, with the keys of all of them."""

_LINES = msgspec.json.Decoder(Line)

_KEY = re.compile(rb'"\s*:')
"""What follows a key. It stands in no text, since quotes are escaped there."""


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
        header, cpus = _header(first)
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
            "leaves": {word: number for number, word in enumerate(LEAVES)},
            "stop": {word: int(stop) for word, stop in STOPS.items()},
        }
        none = np.empty(0, np.int64)
        self._chunks = {kind: [self._chunk(kind, (), none)[0]] for kind in KINDS}

    def add(self, lines: list[bytes], first: int) -> None:
        """Add lines, of which the first has the number ``first``."""
        try:
            self._keep(*_decoded(lines), np.arange(first, first + len(lines)))
        except (_OddError, msgspec.MsgspecError, UnicodeError, RecursionError):
            numbered = [(n, line) for n, line in enumerate(lines, first) if line.strip()]
            rows = [checked_line(line, number, self._cpus) for number, line in numbered]
            self._keep(rows, None, np.array([number for number, _ in numbered], np.int64))

    def _keep(self, rows: Sequence[Any], keys: int | None, numbers: Integers) -> None:
        """Keep lines, with their numbers; ``keys`` is how many keys they have, if that is open."""
        places: dict[str, list[int]] = {kind: [] for kind in KINDS}
        for place, row in enumerate(rows):
            places[_kind(row)].append(place)
        chunks = {
            kind: self._chunk(kind, [rows[place] for place in chosen], numbers[chosen])
            for kind, chosen in places.items()
            if chosen
        }
        # A key of another kind, or one that is there twice, is in no column.
        if keys is not None and keys != sum(held for _, held in chunks.values()):
            raise _OddError
        for kind, (columns, _) in chunks.items():
            self._chunks[kind].append(columns)

    def _chunk(self, kind: str, rows: Sequence[Any], numbers: Integers) -> tuple[list[Column], int]:
        """Return the columns of lines of a kind, with their numbers, and how many keys they have.

        Raises
        ------
        _OddError
            When a key is missing, or a value does not fit.
        """
        columns, keys = [], 0
        for field in msgspec.structs.fields(KINDS[kind]):
            values = [getattr(row, field.name) for row in rows]
            unset = values.count(UNSET)
            if unset and field.required:
                raise _OddError
            keys += len(values) - unset
            columns += self._columns(field.name, values)
        if kind in ("start", "gap"):
            cpu, start, end = columns[:3]
            if (cpu >= self._cpus).any() or (end < start).any():
                raise _OddError
            columns[0] = cpu.astype(np.int32)
        return [*columns, numbers], keys

    def _columns(self, key: str, values: Sequence[Any]) -> list[Column]:
        """Return values as columns: integers as they are, words and names as their numbers."""
        if key == "gap":
            return list(np.array(values, np.int64).reshape(-1, 2).T)
        numbers = self._numbers.get(key)
        if numbers is None:
            given = [NOT_GIVEN if value is UNSET else value for value in values]
            return [np.array(given, np.int64)]
        words = dict.fromkeys(value for value in values if value not in (None, UNSET))
        number: dict[Any, int] = {word: numbers[word] for word in words}
        number |= {None: UNMANAGED, UNSET: NOT_GIVEN}
        return [np.array([number[value] for value in values], np.int32)]

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
        cpu, start, end, task, fragment, read, leaves, stop, comm, numbers = self._joined("start")
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


def _header(line: bytes) -> tuple[TraceHeader, int]:
    """Return the header that a line describes, and the number of CPUs."""
    document = parsed_line(line, 1)
    check_format(document, Format.TRACE)
    read = reader(HeaderLine)({key: document[key] for key in document if key != "format"})
    fields = msgspec.structs.asdict(read)
    cpus: int = fields.pop("cpus")
    return TraceHeader(**fields), cpus


def _decoded(lines: list[bytes]) -> tuple[list[Any], int]:
    """Return what stands on lines, and the number of their keys."""
    text = b"".join(lines)
    # Every line begins with a brace and has no objects inside. So it can neither hold two objects
    # nor share one with the next line: the counts would differ. No string spans two lines.
    if not text.startswith(b"{") or text.count(b"\n{") != len(lines) - 1:
        raise _OddError
    rows = _LINES.decode_lines(text)
    if len(rows) != len(lines):
        raise _OddError
    return rows, len(_KEY.findall(text))


def _kind(row: Any) -> str:
    """Return the kind of a line, by the key that tells; dispatches are most of them."""
    if isinstance(row, DocumentPart):
        return next(kind for kind, cls in KINDS.items() if type(row) is cls)
    if row.start is not UNSET:
        return "start"
    for kind in KINDS:
        if getattr(row, kind) is not UNSET:
            return kind
    raise _OddError
