"""Reads a log of requests, a CSV file with a request on each line, as a trace.

A request is a task, the model that it asks for is its fragment, and the machine or GPU that serves
it is a CPU.
"""

from __future__ import annotations

import csv
import heapq
import io
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation, Overflow
from pathlib import Path

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.files.storage import read_text
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace.events import Stop
from dfopt.trace.quality import Quality
from dfopt.trace.time_units import NANOSECONDS
from dfopt.trace.trace import LEAVES, UNMANAGED, Numbering, TaskWakeups, Trace, TraceHeader

ROUNDING = 2
"""At most this many units may a request start before the one ahead of it on its CPU ends.

The start and the end of a request are rounded, and so is a length that is added to a start.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestColumns:
    """The names of a log's columns; None for what the log does not have.

    Parameters
    ----------
    df
        The fragment, such as the model.
    task
        The name of the request; None: the number of its line. A name that comes again gets a
        number, as in ``chat.2``.
    arrival, start, end
        Points in time: when the request came, when its work began, and when it ended.
    duration
        How long its work took; counts where ``end`` is None.
    cpu
        The CPU, such as the GPU, that served it.
    """

    df: str
    task: str | None = None
    arrival: str | None = None
    start: str | None = None
    end: str | None = None
    duration: str | None = None
    cpu: str | None = None

    def __post_init__(self) -> None:
        if self.start is None and (self.arrival is None or self.duration is None):
            raise FileError("name the columns `start` and `end`, or `arrival` and `duration`")
        if self.end is None and self.duration is None:
            raise FileError("name the column `end` or `duration`")
        if self.end is not None and (self.duration is not None or self.start is None):
            raise FileError("`end` goes with `start`, and without `duration`")
        if self.cpu is not None and self.start is None:
            raise FileError(
                "`cpu` needs `start`: without it nothing is known of the schedule; leave `cpu` "
                "out, or add a column of starts, such as arrival plus time in the queue"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoggedRequest:
    """A line of a log; times in the trace's unit, ``start`` None where it is not known."""

    line: int
    name: str
    df: str
    arrival: int | None
    start: int | None
    length: int
    cpu: str | None


def read_request_log(
    path: str | Path,
    columns: RequestColumns,
    *,
    time_unit: str = "s",
    cpus: int | None = None,
    load_times: float | str | Path | None = None,
) -> Trace:
    """Return the requests of a CSV file as a trace whose time begins at 0.

    Where the log has no starts, requests start in the order of their arrival, each when a CPU is
    free, and loading a model takes no time: such a trace is for simulations, which only take the
    arrivals and lengths from it. Where the log does not say which CPU served a request, it is the
    free one that has the lowest number.

    Parameters
    ----------
    path
        The log. Its first line names the columns.
    columns
        What the columns are called.
    time_unit
        The unit of times that are numbers: s, ms, us or ns. Times in ISO 8601 need none, and
        without a time zone they are in UTC. The trace is in ms, or in this unit if it is smaller;
        points in time are rounded to it.
    cpus
        Number of CPUs. None: as many as the log names, or as ran at once.
    load_times
        What every change of model costs, in ``time_unit``; or a CSV file with a line of names, and
        then a model and its load time in ``time_unit`` on each line.

    Raises
    ------
    FileError
        When the log cannot be read, or contradicts itself.
    """
    if time_unit not in NANOSECONDS:
        raise FileError(f"`time_unit` must be s, ms, us or ns, not {time_unit!r}")
    if cpus is not None and cpus < 1:
        raise FileError(f"must be at least 1, not {cpus}", place="cpus")
    unit = time_unit if NANOSECONDS[time_unit] < NANOSECONDS["ms"] else "ms"
    factor = Decimal(NANOSECONDS[time_unit]) / NANOSECONDS[unit]
    requests = _requests(_rows(path, "request"), columns, factor, NANOSECONDS[unit])
    earliest = min(start for r in requests for start in (r.arrival, r.start) if start is not None)
    requests = [
        replace(
            r,
            arrival=None if r.arrival is None else r.arrival - earliest,
            start=None if r.start is None else r.start - earliest,
        )
        for r in requests
    ]
    if columns.start is None:
        requests, placed, cpus = _first_come(requests, cpus)
    else:
        requests.sort(key=lambda r: (r.start or 0, (r.start or 0) + r.length, r.line))
        placed, cpus = _named(requests, cpus) if columns.cpu else _first_free(requests, cpus)
    for request in requests:
        if (request.start or 0) + request.length > LARGEST_TOTAL:
            raise FileError(
                "ends more than 2^62 units after the first request; mend its times, or leave it "
                "out",
                place=f"line {request.line}",
            )
    trace = _trace(requests, placed, cpus)
    header = TraceHeader(
        name=Path(path).stem,
        time_unit=unit,
        policy=None if columns.start else "first come, first served; loads take no time",
        objective=Objective.TOTAL_PENALTY,
        cold_start=True,
    )
    if isinstance(load_times, str | Path):
        return _with_load_times(replace(trace, header=header), requests, load_times, factor)
    if load_times is not None:
        penalty = PenaltyG(fill=_load_time(load_times, factor), write_back=0)
        header = replace(header, penalty=penalty)
    return replace(trace, header=header)


def _load_time(load_time: float, factor: Decimal) -> int:
    """Return the time of every load in the trace's unit, rounded."""
    found = Decimal(str(load_time)) * factor
    if not found.is_finite() or not 0 <= found <= LARGEST_TOTAL:
        raise FileError(f"must be at least 0, not {load_time}", place="load_times")
    return int(found.to_integral_value())


def _with_load_times(
    trace: Trace, requests: list[_LoggedRequest], load_times: str | Path, factor: Decimal
) -> Trace:
    """Return the trace with each model's load time as the lines that it reads."""
    of_model = _load_times(load_times, factor)
    for request in requests:
        if request.df and request.df not in of_model:
            raise FileError(
                f"has no load time of {request.df!r}, which a request on line {request.line} of "
                "the log asks for; add it",
                file=str(load_times),
            )
    lines = np.array([of_model.get(r.df, 0) if r.df else 0 for r in requests], np.int64)
    leaves = np.full(len(requests), LEAVES.index(Leaves.CLEAN), np.int8)
    header = replace(trace.header, penalty=PenaltyF(read_line=1, write_back=0))
    return replace(trace, header=header, lines=lines, leaves=leaves)


def _rows(path: str | Path, what: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of a CSV file's columns, and its lines with their numbers."""
    text = read_text(path).removeprefix("\ufeff")
    if text.lstrip()[:1] in ("[", "{"):
        raise FileError("is JSON; give a CSV file, whose first line names the columns")
    reader = csv.reader(io.StringIO(text, newline=""))
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            if row:
                rows.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        raise FileError(f"is no CSV: {error}", place=f"line {reader.line_num}") from None
    if not rows[1:]:
        raise FileError(f"holds no {what}; its first line names the columns")
    (_, names), *rows = rows
    for line, row in rows:
        if len(row) != len(names):
            raise FileError(
                f"has {len(row)} values, but there are {len(names)} columns; mend the line",
                place=f"line {line}",
            )
    return names, rows


def _requests(
    table: tuple[list[str], list[tuple[int, list[str]]]],
    columns: RequestColumns,
    factor: Decimal,
    nanoseconds: int,
) -> list[_LoggedRequest]:
    names, rows = table
    values = _columns(names, columns)

    def point(line: int, row: list[str], column: str | None) -> int | None:
        if column is None:
            return None
        return _time(row[values[column]], line, column, factor, nanoseconds)

    requests, seen = [], Counter[str]()
    for line, row in rows:
        name = row[values[columns.task]] if columns.task else str(line)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}.{seen[name]}"
        arrival, start = point(line, row, columns.arrival), point(line, row, columns.start)
        if columns.end is not None:
            length = (point(line, row, columns.end) or 0) - (start or 0)
            problem = f"{columns.end!r} is before {columns.start!r}; mend the line, or leave it out"
        else:
            assert columns.duration is not None
            length = _number(row[values[columns.duration]], line, columns.duration, factor)
            problem = f"{columns.duration!r} is negative; mend the line, or leave it out"
        if length < 0:
            raise FileError(problem, place=f"line {line}")
        if arrival is not None and start is not None and start < arrival:
            raise FileError(
                f"{columns.start!r} is before {columns.arrival!r}; mend the line, or leave it out",
                place=f"line {line}",
            )
        requests.append(
            _LoggedRequest(
                line=line, name=name, df=row[values[columns.df]], arrival=arrival, start=start,
                length=length, cpu=row[values[columns.cpu]] if columns.cpu else None,
            )
        )  # fmt: skip
    return requests


def _columns(names: list[str], columns: RequestColumns) -> dict[str, int]:
    """Return where each wanted column stands."""
    wanted = (
        columns.df, columns.task, columns.arrival, columns.start, columns.end, columns.duration,
        columns.cpu,
    )  # fmt: skip
    for name in wanted:
        if name is not None and name not in names:
            raise FileError(f"has no column {name!r}; there are {', '.join(names)}", place="line 1")
    return {name: names.index(name) for name in wanted if name is not None}


def _time(text: str, line: int, column: str, factor: Decimal, nanoseconds: int) -> int:
    """Return a point in time, a number or ISO 8601, in the trace's unit."""
    try:
        return _number(text, line, column, factor)
    except FileError as error:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise FileError(
                f"{column!r} is {text!r}; write a number, or ISO 8601 such as "
                "2026-01-31T12:00:00.5",
                place=error.place,
            ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return int((Decimal(microseconds) * 1000 / nanoseconds).to_integral_value())


def _number(text: str, line: int, column: str, factor: Decimal) -> int:
    """Return a number of the log in the trace's unit, rounded."""
    if not text:
        raise FileError(
            f"{column!r} is empty; fill it in, or leave the line out", place=f"line {line}"
        )
    try:
        value = Decimal(text) * factor
    except (InvalidOperation, Overflow):
        value = Decimal("NaN")
    if not value.is_finite() or abs(value) > LARGEST_TOTAL:
        raise FileError(f"{column!r} is {text!r}; write a number up to 2^62", place=f"line {line}")
    return int(value.to_integral_value())


def _load_times(path: str | Path, factor: Decimal) -> dict[str, int]:
    try:
        names, rows = _rows(path, "load time")
        if not names[1:]:
            raise FileError("has one column; write the model, a comma and its load time")
        found: dict[str, int] = {}
        for line, row in rows:
            time = _number(row[1], line, names[1], factor)
            if time < 0:
                raise FileError("is a negative load time; write at least 0", place=f"line {line}")
            if found.setdefault(row[0], time) != time:
                raise FileError(
                    f"has another load time of {row[0]!r}; keep one", place=f"line {line}"
                )
    except FileError as error:
        raise error if error.file else error.in_file(str(path)) from None
    return found


def _first_come(
    requests: list[_LoggedRequest], cpus: int | None
) -> tuple[list[_LoggedRequest], list[int], int]:
    """Return the requests with starts, and their CPUs: each when one is free."""
    if cpus is None:
        raise FileError("does not say how many CPUs there are; give `cpus`")
    free = [(0, cpu) for cpu in range(cpus)]
    started, placed = [], []
    for request in sorted(requests, key=lambda r: (r.arrival or 0, r.line)):
        time, cpu = heapq.heappop(free)
        start = max(time, request.arrival or 0)
        heapq.heappush(free, (start + request.length, cpu))
        started.append(replace(request, start=start))
        placed.append(cpu)
    return started, placed, cpus


def _first_free(requests: list[_LoggedRequest], cpus: int | None) -> tuple[list[int], int]:
    """Return the CPU of each request: the lowest that is free when it starts."""
    free, running, placed = list[int](), list[tuple[int, int]](), list[int]()
    used = 0
    for request in requests:
        assert request.start is not None
        while running and running[0][0] <= request.start:
            heapq.heappush(free, heapq.heappop(running)[1])
        if not free:
            if used == cpus:
                raise FileError(
                    f"starts while {used} others run, on {used} CPUs; give a larger `cpus`, or the "
                    "column `cpu`",
                    place=f"line {request.line}",
                )
            heapq.heappush(free, used)
            used += 1
        cpu = heapq.heappop(free)
        heapq.heappush(running, (request.start + request.length, cpu))
        placed.append(cpu)
    return placed, cpus or used


def _named(requests: list[_LoggedRequest], cpus: int | None) -> tuple[list[int], int]:
    """Return the CPU of each request, as the log says.

    A request that overlaps with the next one on its CPU by no more than ``ROUNDING`` is shortened.
    """
    for request in requests:
        if not request.cpu:
            raise FileError(
                "does not say which CPU served the request; fill it in, leave the request out, or "
                "leave out the column `cpu`",
                place=f"line {request.line}",
            )
    names = {r.cpu or "" for r in requests}
    order: Callable[[str], int | str] = int if all(n.isdecimal() for n in names) else str
    number = {name: cpu for cpu, name in enumerate(sorted(names, key=order))}
    if cpus is not None and cpus < len(number):
        raise FileError(f"has requests on {len(number)} CPUs; give at least that as `cpus`")
    last: dict[str, int] = {}
    for position, request in enumerate(requests):
        if (previous := last.get(request.cpu or "")) is not None:
            before = requests[previous]
            overlap = (before.start or 0) + before.length - (request.start or 0)
            if overlap > min(ROUNDING, before.length):
                raise FileError(
                    f"starts on {request.cpu!r} while line {before.line} runs there; mend the "
                    "times, or leave out the column `cpu`",
                    place=f"line {request.line}",
                )
            if overlap > 0:
                requests[previous] = replace(before, length=before.length - overlap)
        last[request.cpu or ""] = position
    return [number[r.cpu or ""] for r in requests], cpus or len(number)


def _trace(requests: list[_LoggedRequest], placed: Iterable[int], cpus: int) -> Trace:
    """Return the trace of requests that have starts and CPUs; it is ordered by start."""
    rows = sorted(zip(requests, placed, strict=True), key=lambda row: row[0].start or 0)
    requests[:] = [request for request, _ in rows]
    tasks, fragments = Numbering(), Numbering()
    start = np.array([r.start for r in requests], np.int64)
    task = np.array([tasks[r.name] for r in requests], np.int32)
    arrivals = sorted((r.arrival, tasks[r.name]) for r in requests if r.arrival is not None)
    return Trace(
        cpus=cpus,
        cpu=np.array([cpu for _, cpu in rows], np.int32),
        start=start,
        end=start + np.array([r.length for r in requests], np.int64),
        task=task,
        fragment=np.array([fragments[r.df] if r.df else UNMANAGED for r in requests], np.int32),
        tasks=tasks.tasks,
        fragments=fragments.names,
        stop=np.full(len(requests), Stop.ENDS, np.int8),
        wakeups=TaskWakeups(
            time=np.array([time for time, _ in arrivals], np.int64),
            waker=np.full(len(arrivals), -1, np.int32),
            woken=np.array([woken for _, woken in arrivals], np.int32),
        ),
        quality=Quality(events=len(requests)),
    )
