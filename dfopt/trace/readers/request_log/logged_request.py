"""What the rows of a log say: a request each, with its times."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from dfopt.errors import FileError
from dfopt.trace.readers.request_log.csv_table import CsvTable
from dfopt.trace.readers.request_log.request_columns import RequestColumns
from dfopt.trace.readers.request_log.rounding import Rounding
from dfopt.trace.readers.request_log.time_column import LogUnits, TimeColumn

LEAST_ROUNDING = 2
"""Requests may overlap by this many units of the trace in any case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """A row of a log; times in the trace's unit, ``start`` None where it is not known."""

    line: int
    name: str
    df: str
    arrival: int | None
    start: int | None
    length: int
    cpu: str | None


class RowTimes:
    """The columns of times of a log."""

    def __init__(self, table: CsvTable, columns: RequestColumns, units: LogUnits) -> None:
        def column(name: str | None, *, is_point: bool = False) -> TimeColumn | None:
            if name is None:
                return None
            return TimeColumn(name, table.position(name), units, is_point=is_point)

        self._unit = units.trace
        self._by_ends = columns.gives_starts_by_ends
        self.arrival = column(columns.arrival, is_point=True)
        self.start = column(columns.start, is_point=True)
        self.end = column(columns.end, is_point=True)
        self.duration = column(columns.duration)
        self.queued = column(columns.queued)

    def of(self, line: int, row: list[str]) -> tuple[int | None, int | None, int]:
        """Return arrival, start and length in a row; the length is negative if the end is early."""
        arrival, start = (
            None if column is None else column.time(line, row)
            for column in (self.arrival, self.start)
        )
        length = None if self.duration is None else _not_negative(self.duration, line, row)
        end = None if self.end is None else self.end.time(line, row)
        if end is not None and length is not None:
            start = end - length
        if self.queued is not None:
            queued = _not_negative(self.queued, line, row)
            if start is None:
                start = (arrival or 0) + queued
            else:
                arrival = start - queued
        if length is None:
            length = (end or 0) - (start or 0)
        return arrival, start, length

    def overlaps(self) -> Rounding:
        """Return how requests may overlap on a CPU; all rows have been read.

        Each of the times that give an end and the next start may be wrong by nearly the resolution
        of its column. Beside these times a log may have been computed from others, which were
        rounded as well: so a few units are always possible.
        """
        if self._by_ends:
            aim = "to start where the one before on the CPU ends"
        else:
            aim = "to end where the next one on the CPU starts"
        return Rounding(
            "shortened",
            aim,
            limit=max(LEAST_ROUNDING, _together(self._of_starts_and_ends())),
            unit=self._unit,
        )

    def late_arrivals(self) -> Rounding:
        """Return how requests may come after they start; all rows have been read."""
        done = "moved the arrival of"
        columns = [column for column in (self.arrival, self.start) if column is not None]
        if self.start is None:
            limit = _together([*columns, *self._of_starts_and_ends()])
            return Rounding(done, "to the start", limit=limit, unit=self._unit)
        return self._disorder(done, columns)

    def early_ends(self) -> Rounding:
        """Return how requests may end before they start; all rows have been read."""
        return self._disorder("moved the end of", self._of_starts_and_ends())

    def _disorder(self, done: str, columns: list[TimeColumn]) -> Rounding:
        """Return how points in time may be in disorder.

        Those that are rounded alike stay in their order, so only another resolution may do that.
        """
        steps = [column.resolution for column in columns]
        limit = max(steps) - math.gcd(*steps)
        return Rounding(done, "to the start", limit=limit, unit=self._unit)

    def _of_starts_and_ends(self) -> list[TimeColumn]:
        knows_starts = self.start is not None or self._by_ends
        starts = (self.start,) if knows_starts else (self.arrival, self.queued)
        return [column for column in (*starts, self.end, self.duration) if column is not None]


def _together(columns: list[TimeColumn]) -> int:
    """Return by how much a sum of times of these columns may be wrong at most."""
    steps = [column.resolution for column in columns]
    step = math.gcd(*steps)
    return (sum(steps) - 1) // step * step


def _not_negative(column: TimeColumn, line: int, row: list[str]) -> int:
    time = column.time(line, row)
    if time < 0:
        raise FileError(
            f"{column.name!r} is negative; mend the line, or leave it out", place=f"line {line}"
        )
    return time


def logged_requests(
    table: CsvTable, columns: RequestColumns, times: RowTimes
) -> list[LoggedRequest]:
    """Return the requests of a log, as its rows have them."""
    df = table.position(columns.df)
    task = None if columns.task is None else table.position(columns.task)
    cpu = None if columns.cpu is None else table.position(columns.cpu)
    requests, seen = [], Counter[str]()
    for line, row in table.rows:
        name = (row[task] if task is not None else "") or str(line)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}.{seen[name]}"
        arrival, start, length = times.of(line, row)
        requests.append(
            LoggedRequest(
                line=line, name=name, df=row[df], arrival=arrival, start=start, length=length,
                cpu=row[cpu] if cpu is not None else None,
            )
        )  # fmt: skip
    return requests


def settled(
    requests: list[LoggedRequest], columns: RequestColumns, times: RowTimes
) -> tuple[list[LoggedRequest], list[Rounding]]:
    """Return requests that come before they start and start before they end.

    Raises
    ------
    FileError
        When one does not, by more than its times are rounded.
    """
    late, early = times.late_arrivals(), times.early_ends()
    found = []
    for request in requests:
        arrival, start, length = request.arrival, request.start, request.length
        if arrival is not None and start is not None and arrival > start:
            if not late.takes(arrival - start):
                raise FileError(
                    f"{_start_of(columns)} is before {columns.arrival!r}; mend the line, or leave "
                    "it out",
                    place=f"line {request.line}",
                )
            arrival = start
        if length < 0:
            if not early.takes(-length):
                raise FileError(
                    f"{columns.end!r} is before {columns.start or 'the start'!r}; mend the line, "
                    "or leave it out",
                    place=f"line {request.line}",
                )
            length = 0
        found.append(replace(request, arrival=arrival, length=length))
    return found, [late, early]


def _start_of(columns: RequestColumns) -> str:
    if columns.gives_starts_by_ends:
        return f"the start, {columns.end!r} less {columns.duration!r},"
    return repr(columns.start)
