"""Traces of the format ``dfopt-trace/1``: JSON Lines, a header and then a dispatch a line.

Many lines are parsed together. Where that fails, or a check of their columns finds a mistake, the
same lines are read again one by one, to name the mistake and its line.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Annotated, Any, BinaryIO, Literal

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType
from numpy.typing import NDArray

from dfopt.errors import FileError
from dfopt.files.formats import Format, check_format
from dfopt.files.storage import BYTE_ORDER_MARK, decoded, placed
from dfopt.files.strict import parse_document
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import CpuCount
from dfopt.structs import DocumentPart, Natural, Positive, document_of, replace
from dfopt.trace.events import Forks, Integers, Wakeups
from dfopt.trace.stretches import first_disorder, quality_of
from dfopt.trace.trace import (
    LEAVES,
    NOT_GIVEN,
    STOPS,
    UNMANAGED,
    Gaps,
    Numbering,
    Trace,
    TraceHeader,
    given,
)
from dfopt.type_reader import reader

BYTES_AT_ONCE = 1 << 20
"""Bytes that are parsed together."""

LINES_AT_ONCE = 20_000
"""Lines that are written together."""

Ends = Annotated[tuple[Natural, Natural], Meta(extra={"is": "an array [start, end]"})]


class HeaderLine(TraceHeader):
    """What ran where and when, as JSON Lines: the first line says what holds for all others.

    Every line after it is as one of the other parts of this schema says.

    Parameters
    ----------
    cpus
        Number of CPUs; they are numbered from 0.
    """

    cpus: CpuCount


class DispatchLine(DocumentPart):
    """A task that ran on a CPU from start to end.

    Parameters
    ----------
    cpu
        The CPU.
    start, end
        When it began to run, and when it ran no longer, in the unit of the header.
    task
        Its name.
    df
        The fragment it used; null if it is not managed, or not known.
    lines
        Lines it reads when it finds another fragment in the cache (penalty f).
    leaves
        The state in which it leaves its fragment (penalty f).
    stop
        Why it ran no longer: it sleeps, others come first, or it ends.
    comm
        What its program is called.
    """

    cpu: Natural
    start: Natural
    end: Natural
    task: str
    df: str | None
    lines: Natural | UnsetType = UNSET
    leaves: Leaves | UnsetType = UNSET
    stop: Literal["sleeps", "preempted", "ends"] | UnsetType = UNSET
    comm: str | UnsetType = UNSET


class FirstWakeupLine(DocumentPart):
    """A new task is ready for the first time.

    Parameters
    ----------
    first_wakeup
        When.
    task, waker
        The task, and the one that woke it; without it, it was an interrupt.
    """

    first_wakeup: Natural
    task: str
    waker: str | UnsetType = UNSET


class ForkLine(DocumentPart):
    """A task is made by another one.

    Parameters
    ----------
    fork
        When.
    task, parent
        The new task, and the one that made it.
    """

    fork: Natural
    task: str
    parent: str


class GapLine(DocumentPart):
    """A time of a CPU about which nothing is known.

    Parameters
    ----------
    cpu
        The CPU.
    gap
        Its start and its end.
    reason
        Such as ``"lost events"``.
    task
        The task that ran last in it.
    """

    cpu: Natural
    gap: Ends
    reason: str
    task: str | UnsetType = UNSET


class WeightLine(DocumentPart):
    """A task whose share of a CPU is not the usual one.

    Parameters
    ----------
    task
        The task.
    weight
        Its share, where 1024 is the usual one.
    """

    task: str
    weight: Positive


class WakeupLine(DocumentPart):
    """A task is woken by another one.

    Parameters
    ----------
    wakeup
        When.
    task, waker
        The task, and the one that woke it; without it, it was an interrupt.
    """

    wakeup: Natural
    task: str
    waker: str | UnsetType = UNSET


KINDS: dict[str, type[DocumentPart]] = {
    "start": DispatchLine,
    "first_wakeup": FirstWakeupLine,
    "fork": ForkLine,
    "gap": GapLine,
    "weight": WeightLine,
    "wakeup": WakeupLine,
}
"""What stands on a line, by the key that tells; dispatches have all lines without such a key."""

_KEYS = {field.name: field for kind in KINDS.values() for field in msgspec.structs.fields(kind)}

Line = msgspec.defstruct(
    "Line",
    [(name, field.type | UnsetType, UNSET) for name, field in _KEYS.items()],
    forbid_unknown_fields=True,
    gc=False,
)
"""A line of any kind, with the keys of all of them."""

_LINES = msgspec.json.Decoder(Line)

_KEY = re.compile(rb'"\s*:')
"""What follows a key. It stands in no text, since quotes are escaped there."""

_TYPES = {"cpu": np.int32, "leaves": np.int8, "stop": np.int8}
"""Types of columns; other words and names have 32 bits, other numbers 64."""

ColumnsByKey = dict[str, Any]
"""Columns by the keys of lines; ``start`` and ``end`` of gaps, and ``line``, their numbers."""


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
    with placed("line 1"):
        document = _parsed(first)
        check_format(document, Format.TRACE)
        del document["format"]
        header = msgspec.structs.asdict(reader(HeaderLine)(document))
    rows = _LinesRead(header.pop("cpus"))
    number = 2
    while lines := stream.readlines(BYTES_AT_ONCE):
        rows.add(lines, number)
        number += len(lines)
    return rows.trace(TraceHeader(**header), number - 1)


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
        self._pieces: dict[str, list[ColumnsByKey]] = {kind: [] for kind in KINDS}

    def add(self, lines: list[bytes], first: int) -> None:
        """Add lines, of which the first has the number ``first``."""
        try:
            self._keep(*_decoded(lines), np.arange(first, first + len(lines)))
        except (_OddError, msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError):
            numbered = [(n, line) for n, line in enumerate(lines, first) if line.strip()]
            rows = [_checked(line, number, self._cpus) for number, line in numbered]
            self._keep(rows, None, np.array([number for number, _ in numbered], np.int64))

    def _keep(self, rows: Sequence[Any], keys: int | None, numbers: Integers) -> None:
        """Keep lines, with their numbers; ``keys`` is how many keys they have, if that is open."""
        places: dict[str, list[int]] = {kind: [] for kind in KINDS}
        for place, row in enumerate(rows):
            places[_kind(row)].append(place)
        found = {
            kind: self._columns(kind, [rows[place] for place in chosen], numbers[chosen])
            for kind, chosen in places.items()
            if chosen
        }
        # A key of another kind, or one that is there twice, is in no column.
        if keys is not None and keys != sum(held for _, held in found.values()):
            raise _OddError
        for kind, (columns, _) in found.items():
            self._pieces[kind].append(columns)

    def _columns(
        self, kind: str, rows: Sequence[Any], numbers: Integers
    ) -> tuple[ColumnsByKey, int]:
        """Return the columns of lines of a kind, and how many keys they have.

        Raises
        ------
        _OddError
            When a key is missing, or a value does not fit.
        """
        columns: ColumnsByKey = {"line": numbers}
        keys = 0
        for field in msgspec.structs.fields(KINDS[kind]):
            values = [getattr(row, field.name) for row in rows]
            unset = values.count(UNSET)
            if unset and field.required:
                raise _OddError
            keys += len(values) - unset
            columns[field.name] = self._column(field.name, values)
        if kind == "gap":
            columns["start"], columns["end"] = columns.pop("gap").reshape(-1, 2).T
        if "cpu" in columns and (
            (columns["cpu"] >= self._cpus).any() or (columns["end"] < columns["start"]).any()
        ):
            raise _OddError
        return columns, keys

    def _column(self, key: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
        """Return values as a column: integers as they are, words and names as their numbers."""
        numbers = self._numbers.get(key)
        if numbers is None:
            values = [NOT_GIVEN if value is UNSET else value for value in values]
            return np.array(values, _TYPES.get(key, np.int64))
        words = dict.fromkeys(value for value in values if value not in (None, UNSET))
        number: dict[Any, int] = {word: numbers[word] for word in words}
        number |= {None: UNMANAGED, UNSET: NOT_GIVEN}
        return np.array([number[value] for value in values], _TYPES.get(key, np.int32))

    def _joined(self, kind: str, *order: str) -> ColumnsByKey:
        """Return all columns of a kind, ordered by some of them."""
        nothing, _ = self._columns(kind, (), np.empty(0, np.int64))
        columns = {
            key: np.concatenate([nothing[key], *(piece[key] for piece in self._pieces[kind])])
            for key in nothing
        }
        if not order:
            return columns
        rows = np.lexsort([columns[key] for key in reversed(order)])
        return {key: column[rows] for key, column in columns.items()}

    def _wakeups(self, kind: str) -> Wakeups:
        found = self._joined(kind, kind)
        return Wakeups(time=found[kind], waker=found["waker"], woken=found["task"])

    def trace(self, header: TraceHeader, lines: int) -> Trace:
        """Return the trace; ``lines`` is the number of lines in its file."""
        rows, gaps = self._joined("start"), self._joined("gap", "start", "cpu")
        weights, forks = self._joined("weight"), self._joined("fork", "fork")
        weight = dict(zip(weights["task"].tolist(), weights["weight"].tolist(), strict=True))
        numbers, gap_numbers = rows.pop("line"), gaps.pop("line")
        rows |= {key: given(rows[key]) for key in ("lines", "leaves", "stop", "comm")}
        trace = Trace(
            cpus=self._cpus,
            fragment=rows.pop("df"),
            **rows,
            tasks=tuple(
                replace(task, weight=weight.get(number))
                for number, task in enumerate(self._tasks.tasks)
            ),
            fragments=self._fragments.names,
            comms=self._comms.names,
            gaps=Gaps(task=given(gaps.pop("task")), **gaps, reasons=self._reasons.names),
            wakeups=self._wakeups("wakeup"),
            first_wakeups=self._wakeups("first_wakeup"),
            forks=Forks(time=forks["fork"], parent=forks["parent"], child=forks["task"]),
            header=header,
        )
        start = trace.start
        falls = np.flatnonzero(start[1:] < start[:-1])
        if len(falls):
            row = int(falls[0]) + 1
            raise FileError(
                f"starts at {start[row]}, before the dispatch ahead ({start[row - 1]}); "
                "order the dispatches by start",
                place=f"line {numbers[row]}",
            )
        if disorder := first_disorder(trace):
            line = (gap_numbers if disorder.is_gap else numbers)[disorder.row]
            raise FileError(disorder.problem, place=f"line {line}")
        return replace(trace, quality=quality_of(trace, lines))


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
    for kind in KINDS:
        if getattr(row, kind) is not UNSET:
            return kind
    raise _OddError


def _parsed(line: bytes) -> dict[str, object]:
    """Return the object on a line."""
    try:
        return parse_document(decoded(line, "a trace").rstrip())
    except FileError as error:
        place = error.place.removeprefix("line 1").removeprefix(", ")
        raise FileError(error.problem, place=place) from None


def _checked(line: bytes, number: int, cpus: int) -> Any:
    """Return what stands on a line, checked by itself.

    Parameters
    ----------
    line, number
        The line and its number, counted from 1.
    cpus
        The number of CPUs that the header declares.

    Raises
    ------
    FileError
        With line and remedy, when nothing that may stand on a line looks so.
    """
    with placed(f"line {number}"):
        document = _parsed(line)
        telling = ("gap",) if "cpu" in document else KINDS
        kind = next((key for key in telling if key in document), "start")
        row = Line(**msgspec.structs.asdict(reader(KINDS[kind])(document)))
        _check_row(row, cpus)
    return row


def _check_row(row: Any, cpus: int) -> None:
    """Refuse an end before its start, and a CPU that the header does not declare."""
    (start, end), place = (row.gap, "gap[1]") if row.gap else ((row.start, row.end), "end")
    if end is not UNSET and end < start:
        raise FileError(f"is {end}, before the start at {start}; swap them", place=place)
    if row.cpu is not UNSET and row.cpu >= cpus:
        raise FileError(
            f"is {row.cpu}, but the header declares {cpus} CPUs, numbered from 0; correct one of "
            "them",
            place="cpu",
        )


def write_dfopt_trace(trace: Trace, stream: BinaryIO) -> None:
    """Write a trace; data that the format cannot express, such as marks, is left out.

    Parameters
    ----------
    trace
        Its tasks are written by name.
    stream
        The file, as :func:`dfopt.files.storage.replacing` opens it.
    """
    header = {"format": Format.TRACE, "cpus": trace.cpus, **document_of(trace.header)}
    tasks = [_json(task.name) for task in trace.tasks]
    weights = [
        f'{{"task": {name}, "weight": {task.weight}}}\n'
        for name, task in zip(tasks, trace.tasks, strict=True)
        if task.weight is not None
    ]
    dispatches = _lines(
        ("cpu", trace.cpu, None),
        ("start", trace.start, None),
        ("end", trace.end, None),
        ("task", trace.task, tasks),
        # UNMANAGED, which is -1, means the last one.
        ("df", trace.fragment % (len(trace.fragments) + 1), [*map(_json, trace.fragments), "null"]),
        ("lines", trace.lines, None),
        ("comm", trace.comm, [*map(_json, trace.comms)]),
        ("leaves", trace.leaves, [*map(_json, LEAVES)]),
        ("stop", trace.stop, [*map(_json, STOPS)]),
    )
    # Other lines stand before the dispatches that start with them or after them.
    started = zip(trace.start.tolist(), dispatches, strict=True)
    lines = heapq.merge(_other_lines(trace, tasks), started, key=itemgetter(0))
    stream.write("".join([f"{_json(header)}\n", *weights]).encode())
    while piece := "".join(line for _, line in islice(lines, LINES_AT_ONCE)):
        stream.write(piece.encode())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


Written = tuple[str, NDArray[Any] | None, Sequence[str] | None]
"""A key, the column of its values or of their numbers, and the values by their numbers as JSON."""


def _lines(*columns: Written) -> Iterator[str]:
    """Yield a line for each row, with the values that are given."""
    texts = (_texts(key, column, words) for key, column, words in columns if column is not None)
    return (f"{{{''.join(row)[2:]}}}\n" for row in zip(*texts, strict=True))


def _texts(key: str, column: NDArray[Any], words: Sequence[str] | None) -> Iterator[str]:
    """Yield the key and its value for each row, nothing where it is not given."""
    texts = [*(f', "{key}": {word}' for word in words or ()), ""]  # NOT_GIVEN means the last one
    for first in range(0, len(column), LINES_AT_ONCE):
        values = column[first : first + LINES_AT_ONCE].tolist()
        if words is None:
            yield from (f', "{key}": {value}' if value != NOT_GIVEN else "" for value in values)
        else:
            yield from (texts[value] for value in values)


def _other_lines(trace: Trace, tasks: list[str]) -> list[tuple[int, str]]:
    """Return the lines of gaps and events with their times, in order of time."""
    gaps, forks = trace.gaps, trace.forks
    spans = [f"[{start}, {end}]" for start, end in zip(gaps.start, gaps.end, strict=True)]
    lines = _lines(
        ("cpu", gaps.cpu, None),
        ("gap", np.arange(len(gaps)), spans),
        ("reason", gaps.reason, [*map(_json, gaps.reasons)]),
        ("task", gaps.task, tasks),
    )
    found = list(zip(gaps.start.tolist(), lines, strict=True))
    first, usual = trace.first_wakeups, trace.wakeups
    for event, cause, time, by, task in (
        ("fork", "parent", forks.time, forks.parent, forks.child),
        ("first_wakeup", "waker", first.time, first.waker, first.woken),
        ("wakeup", "waker", usual.time, usual.waker, usual.woken),
    ):
        # Idle threads are no tasks.
        known = (task >= 0) & ((by >= 0) | (event != "fork"))
        lines = _lines(
            (event, time[known], None), ("task", task[known], tasks), (cause, by[known], tasks)
        )
        found += zip(time[known].tolist(), lines, strict=True)
    return sorted(found, key=itemgetter(0))
