"""Reads a log of requests, a CSV file with a request on each line, as a trace.

A request is a task, the model that it asks for is its fragment, and the machine or GPU that serves
it is a CPU. Times are numbers of a unit, times with units of their own, or points in time in
ISO 8601.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, DfoptWarning, FileError
from dfopt.files.csv_table import CsvTable, read_csv_table
from dfopt.files.storage import naming
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG
from dfopt.render import counted
from dfopt.structs import replace
from dfopt.time_units import NANOSECONDS, exact_time
from dfopt.trace.events import Stop, Wakeups
from dfopt.trace.quality import Quality
from dfopt.trace.trace import (
    REQUEST_LOG,
    Assumed,
    Dispatch,
    Lengths,
    Numbering,
    Trace,
    TraceHeader,
    trace_of_dispatches,
)

MOST_VALUES = 5
"""At most this many values of a column are named."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Powers of ten with an exponent, so that a product shows its last written digit by its own.
_NANOSECONDS = {unit: Decimal(length).normalize() for unit, length in NANOSECONDS.items()}
_NANOSECONDS |= {"m": Decimal("60E9"), "h": Decimal("3600E9")}
_PART = re.compile(rf"([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(_NANOSECONDS)})\s*")
_PARTS = re.compile(f"(?:{_PART.pattern})+")

_UNIT_WORDS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_UNIT_OF_NAME = re.compile(rf"(?:.*[\W_])?({'|'.join((*_UNIT_WORDS, *NANOSECONDS))})\W*")


def rows_where(table: CsvTable, name: str, values: Collection[str], *, is_wanted: bool) -> CsvTable:
    """Return the rows that have one of these values in a column, or those that have none.

    Raises
    ------
    FileError
        When there are none.
    """
    cells = table.column(name)
    found = [
        row for row, cell in zip(table.rows, cells, strict=True) if (cell in values) == is_wanted
    ]
    if not found:
        there = ", ".join(repr(cell) for cell, _ in Counter(cells).most_common(MOST_VALUES))
        raise FileError(
            f"has no request whose {name!r} {'is' if is_wanted else 'is not'} "
            f"{either(values)}; among its values are {there}"
        )
    return replace(table, rows=found)


def times_in(
    table: CsvTable, name: str, unit: str | None, *, is_point: bool
) -> tuple[list[int], int]:
    """Return the times of a column in nanoseconds, and how many its last digit stands for.

    Parameters
    ----------
    table
        The rows.
    name
        What the column is called.
    unit
        Of times that are numbers; None: the one in the column's name.
    is_point
        Whether they are points in time, which may be written in ISO 8601, or be negative.

    Raises
    ------
    FileError
        When a cell is no time, or has no unit.
    """
    unit = unit or unit_in_name(name)
    times = []
    for line, text in zip(table.lines, table.column(name), strict=True):
        time = parsed_time(text, unit)
        if time is None and is_point and not is_number(text):
            time = parsed_moment(text)
        if time is None or (time < 0 and not is_point):
            if not text:
                problem = "is empty; fill it in, or leave the line out with `where`"
            elif is_number(text) and unit is None:
                problem = f"is {text!r} without a unit; say it with `time_unit`: s, ms, us or ns"
            elif time is not None:
                problem = "is negative; mend the line, or leave it out"
            else:
                problem = f"is {text!r}; write a number such as 0.5, or a time such as 1m2.5s"
                problem += " or 2026-01-31T12:00:00.5" if is_point else ""
            raise FileError(f"{name!r} {problem}", place=f"line {line}")
        times.append(time)
    digit = min((int(time.as_tuple().exponent) for time in times), default=0)
    return [round(time) for time in times], 10 ** max(0, digit)


def either(values: Collection[str]) -> str:
    """Return values as in ``'ok' or 'late'``."""
    return " or ".join(map(repr, values))


def unit_in_name(column: str) -> str | None:
    """Return the unit with which a column's name ends, as in ``start_s`` and ``latency (ms)``."""
    found = _UNIT_OF_NAME.fullmatch(column.lower())
    return _UNIT_WORDS.get(found[1], found[1]) if found else None


def is_number(text: str) -> bool:
    """Return whether a time has no unit."""
    try:
        return abs(Decimal(text)) <= LARGEST_TOTAL
    except InvalidOperation:
        return False


def parsed_time(text: str, unit: str | None) -> Decimal | None:
    """Return the nanoseconds of ``9.5`` in this unit, of ``9.5s`` or of ``1m2.25s``; or None.

    The exponent is that of the last digit that is written.
    """
    if unit is not None and is_number(text):
        return Decimal(text) * _NANOSECONDS[unit]
    if _PARTS.fullmatch(text) is None:
        return None
    first, *others = (Decimal(number) * _NANOSECONDS[of] for number, of in _PART.findall(text))
    return sum(others, first)


def parsed_moment(text: str) -> Decimal | None:
    """Return the nanoseconds since 1970 of a time in ISO 8601, in UTC without a zone; or None."""
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    digits = re.search(r"[.,]([0-9]+)", text)
    seconds = since // timedelta(seconds=1) + Decimal(f"0.{digits[1]}" if digits else 0)
    return seconds * _NANOSECONDS["s"]


MILLISECOND = NANOSECONDS["ms"]


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
        How long its work took. With ``end`` it gives the start.
    queued
        How long it waited before its work began. With ``arrival`` it gives the start, with a start
        the arrival.
    cpu
        The CPU, such as the GPU, that served it.
    """

    df: str
    task: str | None = None
    arrival: str | None = None
    start: str | None = None
    end: str | None = None
    duration: str | None = None
    queued: str | None = None
    cpu: str | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.gives_starts_by_ends:
            raise FileError("of `start`, `end` and `duration` two are enough; leave out one")
        knows_starts = self.start is not None or self.gives_starts_by_ends
        if self.queued is not None and (self.arrival is None) != knows_starts:
            raise FileError(
                "`queued` goes with `arrival`, with `start`, or with `end` and `duration`; name "
                "one of these"
            )
        if not self.has_starts and (self.arrival is None or self.duration is None):
            raise FileError(
                "name the columns `start` and `end` or `duration`, `end` and `duration`, or "
                "`arrival` and `duration`"
            )
        if self.end is None and self.duration is None:
            raise FileError("name the column `end` or `duration`")
        if self.cpu is not None and not self.has_starts:
            raise FileError(
                "`cpu` needs `start`: without it nothing is known of the schedule; leave `cpu` "
                "out, or name the time in the queue with `queued`"
            )

    @property
    def has_starts(self) -> bool:
        """Whether the log says when work began."""
        return self.start is not None or self.queued is not None or self.gives_starts_by_ends

    @property
    def gives_starts_by_ends(self) -> bool:
        """Whether a start is an end less a duration."""
        return self.end is not None and self.duration is not None


@dataclass(slots=True)
class LoggedRequest:
    """A row of a log; times in nanoseconds, the arrival None where it is not known."""

    line: int
    name: str
    df: str
    cpu: str
    arrival: int | None
    start: int
    end: int
    number: int = 0
    """Of the CPU."""


@dataclass(slots=True, kw_only=True)
class Rounding:
    """How far the times of a log may contradict each other, and how far they did.

    Times that are written with few digits do: work that follows other work may seem to begin before
    the other ends. What is no longer than the last digit of the column with the fewest digits, or
    than 2 ms, is taken for that.
    """

    limit: int = 2 * MILLISECOND
    excesses: list[int] = field(default_factory=list)

    def forgive(self, excesses: Iterable[int], lines: Iterable[int], problem: str) -> None:
        """Count contradictions, which are those above 0, or refuse the first beyond the limit."""
        for excess, line in zip(excesses, lines, strict=True):
            if excess > self.limit:
                raise FileError(problem, place=f"line {line}")
            if excess > 0:
                self.excesses.append(excess)

    def notice(self) -> str | None:
        """Return in one line what was forgiven; None if nothing was."""
        if not self.excesses:
            return None
        most, limit = (exact_time(time, "ns") for time in (max(self.excesses), self.limit))
        return (
            f"shortened requests or moved arrivals {counted(len(self.excesses), 'time')}, by at "
            f"most {most}, so that times agree: with so few digits, up to {limit} may be rounding"
        )


def parse_load_time(text: str, unit: str | None = None) -> int:
    """Return the nanoseconds of a load time such as ``25s``, or of ``2.5`` in this unit.

    Raises
    ------
    DfoptError
        When the text stands for no time, or has no unit and none is given.
    """
    # A wrong unit is refused when the log is read.
    time = parsed_time(text.strip(), unit if unit in (None, *NANOSECONDS) else "s")
    if time is None and is_number(text):
        raise DfoptError(f"{text!r} has no unit; write it, as in {text}s, or give `time_unit`")
    if time is None or time < 0:
        raise DfoptError(
            f"{text!r} is no load time; write a number from 0 on with its unit, such as 25s or "
            "2500ms"
        )
    return round(time)


def read_request_log(  # noqa: PLR0913 - what the log has, and what it does not say
    path: str | Path,
    columns: RequestColumns,
    *,
    time_unit: str | None = None,
    duration_unit: str | None = None,
    cpus: int | None = None,
    load_times: int | str | Path | None = None,
    load_included: bool = False,
    where: Mapping[str, Collection[str]] | None = None,
    where_not: Mapping[str, Collection[str]] | None = None,
) -> Trace:
    """Return the requests of a CSV file as a trace whose time begins at 0.

    Where the log has no starts, requests start in the order of their arrival, each when a CPU is
    free, and loading a model takes no time: such a trace is for simulations, which only take the
    arrivals and lengths from it. Where the log does not say which CPU served a request, it is the
    free one that has the lowest number.

    Times have a unit of their own, as in 9.5s or 1m2.25s; or they are numbers, and a parameter or
    the name of their column says the unit, as in ``start_s`` and ``latency_ms``; or they are points
    in time in ISO 8601, in UTC without a time zone. The trace is in ms, or in us or ns if some are
    not whole otherwise.

    A :class:`~dfopt.DfoptWarning` says which CPUs were assumed, and which requests were left out or
    shortened.

    Parameters
    ----------
    path
        The log. Its first line names the columns. Between values stand commas, semicolons or tabs.
    columns
        What the columns are called.
    time_unit
        The unit of points in time that are numbers: s, ms, us or ns. It also holds for durations
        and load times whose columns' names say none.
    duration_unit
        The unit of durations and times in the queue that are numbers.
    cpus
        Number of CPUs. None: as many as the log names, or as ran at once.
    load_times
        What every change of model costs, in nanoseconds (:func:`parse_load_time`); or a CSV file
        with a line of names, and then a model and its load time on each line.
    load_included
        Whether the durations of requests include loads. Then the load time is taken off the
        beginning of each that is the first on its CPU, or follows one of another model. Of
        several CPUs the log has to say which served a request.
    where
        By column the values that count; requests with another one are left out. None: all count.
    where_not
        By column the values that do not count; requests with one of them are left out.

    Raises
    ------
    FileError
        When the log cannot be read, does not say a unit, or contradicts itself by more than its
        times are rounded (:class:`Rounding`).
    """
    for name, unit in (("time_unit", time_unit), ("duration_unit", duration_unit)):
        if unit is not None and unit not in NANOSECONDS:
            raise FileError(f"`{name}` must be s, ms, us or ns, not {unit!r}")
    if cpus is not None and cpus < 1:
        raise FileError(f"must be at least 1, not {cpus}", place="cpus")
    if not columns.has_starts and cpus is None:
        raise FileError("does not say how many CPUs there are; give `cpus`")
    log = read_csv_table(path, "id,model,start_s,end_s")
    table, notices = _chosen(log, columns, where or {}, where_not or {})
    requests, rounding = _requests(table, columns, time_unit, duration_unit)
    used = _place(requests, columns, cpus, rounding)
    is_known = columns.has_starts and (columns.cpu is not None or used == 1)
    if load_included and (load_times is None or not is_known):
        raise FileError(
            "`load_included` needs load times, starts, and the column `cpu`; without it, `cpus=1`"
        )
    assumed = None
    if not is_known:
        assumed = Assumed.CPUS if columns.has_starts else Assumed.STARTS
    if assumed is Assumed.CPUS:
        notices.append(_assumption(used, is_given=cpus is not None))
    notices.append(rounding.notice())
    loads = _load_times(requests, load_times, time_unit)
    if load_included:
        notices.append(_take_loads_off(requests, loads))
    for notice in filter(None, notices):
        warnings.warn(notice, DfoptWarning, stacklevel=2)
    times = (time for r in requests for time in (r.arrival or 0, r.start, r.end))
    whole = math.gcd(*times, *loads.values())
    unit = next(unit for unit in ("ms", "us", "ns") if whole % NANOSECONDS[unit] == 0)
    size = NANOSECONDS[unit]
    penalty: Penalty | None = None
    has_lines = load_times is not None and not isinstance(load_times, int)
    if has_lines:
        penalty = PenaltyF(read_line=1, write_back=0)
    elif isinstance(load_times, int):
        penalty = PenaltyG(fill=load_times // size, write_back=0)
    numbers = Numbering()
    tasks = [numbers[request.name] for request in requests]
    came = zip((request.arrival for request in requests), tasks, strict=True)
    arrivals = sorted((time, task) for time, task in came if time is not None)
    return trace_of_dispatches(
        [
            Dispatch(
                cpu=r.number,
                start=r.start // size,
                end=r.end // size,
                task=r.name,
                fragment=r.df or None,
                lines=loads[r.df] // size if has_lines else None,
                leaves=Leaves.CLEAN if has_lines else None,
            )
            for r in requests
        ],
        cpus=used,
        stop=np.full(len(requests), Stop.ENDS, np.int8),
        wakeups=Wakeups(
            time=np.array([time // size for time, _ in arrivals], np.int64),
            waker=np.full(len(arrivals), -1, np.int32),
            woken=np.array([woken for _, woken in arrivals], np.int32),
        ),
        header=TraceHeader(
            name=Path(path).stem,
            source=REQUEST_LOG,
            time_unit=unit,
            policy=None if columns.has_starts else "first come, first served; loads take no time",
            penalty=penalty,
            objective=Objective.TOTAL_PENALTY,
            cold_start=True,
            lengths=Lengths.WITHOUT_SWITCHES,
            assumed=assumed,
        ),
        quality=Quality(events=len(requests)),
    )


def _chosen(
    table: CsvTable,
    columns: RequestColumns,
    where: Mapping[str, Collection[str]],
    where_not: Mapping[str, Collection[str]],
) -> tuple[CsvTable, list[str | None]]:
    """Return the rows that count, and in one line which were left out."""
    chosen, conditions = table, []
    for wanted, is_wanted in ((where, True), (where_not, False)):
        for name, values in wanted.items():
            chosen = rows_where(chosen, name, values, is_wanted=is_wanted)
            conditions.append(f"{name!r} {'is not' if is_wanted else 'is'} {either(values)}")
    kept = set(chosen.lines)
    left_out = replace(table, rows=[row for row in table.rows if row[0] not in kept])
    if not left_out.rows:
        return chosen, []
    said = f"left out {counted(len(left_out.rows), 'request')} where {' or '.join(conditions)}"
    names = (columns.cpu, columns.start, columns.end, columns.duration)
    cells = {name: left_out.column(name) for name in names if name is not None}
    lengths = cells.get(columns.duration or "", repeat("?"))
    ran = sum(
        all(row) and parsed_time(length, "s") != 0
        for *row, length in zip(*cells.values(), lengths, strict=False)
    )
    if ran and columns.has_starts:
        said += f"; {ran} of them had run, and may have loaded a model: then they should stay"
    return chosen, [said]


def _requests(
    table: CsvTable, columns: RequestColumns, time_unit: str | None, duration_unit: str | None
) -> tuple[list[LoggedRequest], Rounding]:
    """Return the requests of a log in a time that begins with the earliest of them.

    Each comes before it starts, and starts before it ends.
    """
    rounding = Rounding()

    def times(name: str | None, *, is_point: bool) -> Any:
        if name is None:
            return None
        unit = time_unit if is_point else duration_unit or unit_in_name(name) or time_unit
        found, digit = times_in(table, name, unit, is_point=is_point)
        rounding.limit = max(rounding.limit, digit)
        return np.array(found, object)

    arrival, start, end = (
        times(name, is_point=True) for name in (columns.arrival, columns.start, columns.end)
    )
    duration, queued = (times(name, is_point=False) for name in (columns.duration, columns.queued))
    lines = table.lines
    if columns.gives_starts_by_ends:
        start = end - duration
    if queued is not None and start is not None:
        arrival = start - queued
    if start is None:
        start = arrival if queued is None else arrival + queued
    if end is None:
        end = start + duration
    begins = repr(columns.start) if columns.start else "the start"
    if arrival is not None:
        late = f"{begins} is before {columns.arrival!r}; mend the line, or leave it out"
        rounding.forgive(arrival - start, lines, late)
        arrival = np.minimum(arrival, start)
    early = f"{columns.end!r} is before {begins}; mend the line, or leave it out"
    rounding.forgive(start - end, lines, early)
    earliest = min(start if arrival is None else arrival)
    requests, seen = [], Counter[str]()
    for line, task, df, cpu, came, began, ended in zip(
        lines,
        repeat("") if columns.task is None else table.column(columns.task),
        table.column(columns.df),
        repeat("") if columns.cpu is None else table.column(columns.cpu),
        repeat(None) if arrival is None else arrival - earliest,
        start - earliest,
        np.maximum(start, end) - earliest,
        strict=False,
    ):
        name = task or str(line)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}.{seen[name]}"
        if columns.cpu is not None and not cpu:
            raise FileError(
                "does not say which CPU served the request; fill it in, or leave the request out "
                "with `where`",
                place=f"line {line}",
            )
        requests.append(LoggedRequest(line, name, df, cpu, came, began, ended))
    return requests, rounding


def _place(
    requests: list[LoggedRequest], columns: RequestColumns, cpus: int | None, rounding: Rounding
) -> int:
    """Give each request its CPU, order them by start, and return the number of CPUs.

    Where the log names none, it is the lowest that is free; without starts the one that is free
    first. Of two that overlap by rounding, one is shortened, so that what the log has stays: the
    earlier one ends sooner, or, where starts come from ends, the later one starts later.
    """
    names = {request.cpu for request in requests}
    order: Callable[[str], int | str] = int if all(name.isdecimal() for name in names) else str
    numbers = {name: cpu for cpu, name in enumerate(sorted(names, key=order))}
    if columns.cpu is not None:
        if cpus is not None and cpus < len(numbers):
            raise FileError(f"has requests on {len(numbers)} CPUs; give at least that as `cpus`")
        cpus = cpus or len(numbers)
    # Ends stay in their order when they are rounded, ends less durations do not.
    by_ends = columns.gives_starts_by_ends and (columns.cpu is not None or cpus == 1)
    # Of requests that come at once, the line says which is served first.
    requests.sort(
        key=lambda r: (r.end, r.start) if by_ends else (r.start, r.end if columns.has_starts else 0)
    )
    last: dict[int, LoggedRequest] = {}
    for request in requests:
        if columns.cpu is not None:
            request.number = numbers[request.cpu]
        elif columns.has_starts:
            request.number = _first_free(last, cpus, request.start)
        else:
            ends = (last[cpu].end if cpu in last else 0 for cpu in range(cpus or 0))
            request.number = min((end, cpu) for cpu, end in enumerate(ends))[1]
        before = last.get(request.number, request)
        overlap = before.end - request.start
        if before is not request and overlap > 0:
            if not columns.has_starts:
                request.start += overlap
                request.end += overlap
            else:
                problem = (
                    f"starts {exact_time(overlap, 'ns')} before line {before.line} ends on the "
                    f"same CPU; {_remedies(columns)}"
                )
                rounding.forgive([overlap], [request.line], problem)
                if by_ends:
                    request.start = before.end
                else:
                    before.end = request.start
        last[request.number] = request
        if request.end > LARGEST_TOTAL:
            raise FileError(
                "ends more than 2^62 ns after the first request; mend its times, or leave it out",
                place=f"line {request.line}",
            )
    requests.sort(key=lambda request: request.start)
    return cpus or len(last)


def _first_free(last: Mapping[int, LoggedRequest], cpus: int | None, start: int) -> int:
    """Return the lowest CPU that is free; if all are busy, the one that is free first."""
    free = (cpu for cpu, before in last.items() if before.end <= start)
    is_full = len(last) == cpus
    return next(free, min(last, key=lambda cpu: last[cpu].end) if is_full else len(last))


def _remedies(columns: RequestColumns) -> str:
    """Return what to do about requests that overlap."""
    found = (
        "several requests at once on one CPU are not modelled yet; if there were none, mend the "
        "times or their units"
    )
    if columns.cpu is None:
        found += ", or give a larger `cpus` or the column `cpu`"
    if columns.end is None:
        # Many servers write a request when it has ended, with the time of the writing.
        option = "start" if columns.start is not None else "arrival"
        name = columns.start or columns.arrival
        found += f"; if {name!r} is when a request ended, name it with `end`, not with `{option}`"
    return found


def _assumption(cpus: int, *, is_given: bool) -> str:
    """Return which CPUs were assumed, and why."""
    placed = "each request is taken to have run on the first CPU that was free"
    if is_given:
        return f"without `cpu`, {placed}"
    return (
        f"without `cpu`, {cpus} CPUs are assumed, since up to {cpus} requests run at once (several "
        f"at once on one CPU are not modelled yet; if they only overlap by rounding, give `cpus`); "
        f"{placed}"
    )


def _load_times(
    requests: list[LoggedRequest], load_times: int | str | Path | None, time_unit: str | None
) -> dict[str, int]:
    """Return by model what a load costs, 0 for none: one time for all, or those of a CSV file."""
    if load_times is None:
        return {}
    models = {request.df: request.line for request in reversed(requests) if request.df}
    if isinstance(load_times, int):
        if not 0 <= load_times <= LARGEST_TOTAL:
            raise FileError(f"must be at least 0, not {load_times}", place="load_times")
        return {"": 0} | dict.fromkeys(models, load_times)
    with naming(load_times):
        table = read_csv_table(load_times, "model,seconds")
        if not table.names[1:]:
            raise FileError("has one column; write the model, a comma and its load time")
        load = table.names[1]
        times, _ = times_in(table, load, unit_in_name(load) or time_unit, is_point=False)
        found = {"": 0}
        for (line, (model, *_)), time in zip(table.rows, times, strict=True):
            if found.setdefault(model, time) != time:
                raise FileError(
                    f"has another load time of {model!r}; keep one", place=f"line {line}"
                )
        for model, line in models.items():
            if model not in found:
                raise FileError(
                    f"has no load time of {model!r}, which a request on line {line} of the log "
                    "asks for; add it"
                )
    return found


def _take_loads_off(requests: list[LoggedRequest], loads: Mapping[str, int]) -> str | None:
    """Let requests, ordered by start, start after their loads; return in one line what was done.

    Of a request that took no longer than its load 1 ms is left.
    """
    held: dict[int, str] = {}
    loaded = shorter = 0
    for request in requests:
        load = loads[request.df]
        if load and held.get(request.number) != request.df:
            loaded += 1
            length = request.end - request.start
            shorter += length <= load
            request.start += max(0, min(load, length - MILLISECOND))
        held[request.number] = request.df or held.get(request.number, "")
    requests.sort(key=lambda request: request.start)
    if not loaded:
        return None
    notice = (
        f"took load times off the beginning of {counted(loaded, 'request')}, which came first on "
        "their CPU or after another model"
    )
    return notice + (f"; {shorter} took no longer than the load, and keep 1ms" if shorter else "")
