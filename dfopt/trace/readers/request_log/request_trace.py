"""Makes a trace of the requests of a log."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptWarning, FileError
from dfopt.problem.instance import Objective
from dfopt.trace.assumed import Assumed
from dfopt.trace.events import Stop
from dfopt.trace.lengths import Lengths
from dfopt.trace.quality import Quality
from dfopt.trace.readers.request_log.chosen_rows import RowConditions
from dfopt.trace.readers.request_log.csv_table import read_table
from dfopt.trace.readers.request_log.included_loads import doubt_of_gaps, without_loads
from dfopt.trace.readers.request_log.load_times import load_times_of, with_load_times
from dfopt.trace.readers.request_log.logged_request import (
    LoggedRequest,
    RowTimes,
    logged_requests,
    settled,
)
from dfopt.trace.readers.request_log.placement import (
    Placed,
    fewest_cpus,
    first_come,
    first_free,
    named,
)
from dfopt.trace.readers.request_log.plausibility import doubt
from dfopt.trace.readers.request_log.request_columns import RequestColumns
from dfopt.trace.readers.request_log.rounding import Rounding
from dfopt.trace.readers.request_log.time_column import LogUnits, unit_of_cells
from dfopt.trace.time_units import NANOSECONDS
from dfopt.trace.trace import (
    REQUEST_LOG,
    UNMANAGED,
    Numbering,
    TaskWakeups,
    Trace,
    TraceHeader,
)


def read_request_log(  # noqa: PLR0913 - what the log has, and what it does not say
    path: str | Path,
    columns: RequestColumns,
    *,
    time_unit: str = "s",
    duration_unit: str | None = None,
    cpus: int | None = None,
    load_times: float | str | Path | None = None,
    load_included: bool = False,
    where: Mapping[str, Collection[str]] | None = None,
    where_not: Mapping[str, Collection[str]] | None = None,
) -> Trace:
    """Return the requests of a CSV file as a trace whose time begins at 0.

    Where the log has no starts, requests start in the order of their arrival, each when a CPU is
    free, and loading a model takes no time: such a trace is for simulations, which only take the
    arrivals and lengths from it. Where the log does not say which CPU served a request, it is the
    free one that has the lowest number.

    A :class:`~dfopt.DfoptWarning` says which CPUs were assumed, which requests were left out or
    shortened, and when durations seem to be in another unit, or to include loads.

    Parameters
    ----------
    path
        The log. Its first line names the columns. Between values stand commas, semicolons or tabs.
    columns
        What the columns are called.
    time_unit
        The unit of times that are numbers: s, ms, us or ns. Times in ISO 8601 need none, and
        without a time zone they are in UTC. The trace is in ms, or in the smallest unit of the log
        if that is smaller; times are rounded to it.
    duration_unit
        The unit of durations and times in the queue; None: ``time_unit``. Those with units of
        their own, as in 9.5s or 1m2.25s, need none.
    cpus
        Number of CPUs. None: as many as the log names, or as ran at once.
    load_times
        What every change of model costs, in ``time_unit``; or a CSV file with a line of names, and
        then a model and its load time in ``time_unit`` on each line, or with a unit, as in 25s.
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
        When the log cannot be read, or contradicts itself by more than its times are rounded.
    """
    duration_unit = time_unit if duration_unit is None else duration_unit
    for name, unit in (("time_unit", time_unit), ("duration_unit", duration_unit)):
        if unit not in NANOSECONDS:
            raise FileError(f"`{name}` must be s, ms, us or ns, not {unit!r}")
    if cpus is not None and cpus < 1:
        raise FileError(f"must be at least 1, not {cpus}", place="cpus")
    if load_included and (load_times is None or not columns.has_starts):
        raise FileError("`load_included` needs load times and starts")
    is_given = cpus is not None
    every = read_table(path, "request")
    conditions = RowConditions(where=where or {}, where_not=where_not or {})
    table = conditions.chosen(every)
    lengths = [table.position(name) for name in (columns.duration, columns.queued) if name]
    of_cells = unit_of_cells(row[position] for _, row in table.rows for position in lengths)
    units = LogUnits(point=time_unit, duration=duration_unit, of_cells=of_cells or "ms")
    times = RowTimes(table, columns, units)
    requests, roundings = settled(logged_requests(table, columns, times), columns, times)
    requests = _from_0(requests)
    notices = [conditions.notice(every, table, columns)]
    if columns.duration is not None and of_cells is None:
        known = cpus if columns.cpu is None else len({request.cpu for request in requests})
        notices.append(doubt(requests, columns, known, units))
    overlaps = times.overlaps()
    requests, placed, cpus = _placed(requests, columns, cpus, overlaps)
    assumed = None
    if columns.cpu is None and not (columns.has_starts and cpus == 1):
        assumed = Assumed.CPUS if columns.has_starts else Assumed.STARTS
    if assumed is Assumed.CPUS:
        fewest = cpus if is_given else fewest_cpus(requests, overlaps)
        notices.append(_assumption(cpus, fewest, is_given=is_given))
    notices += [rounding.notice() for rounding in (*roundings, overlaps)]
    loads = None if load_times is None else load_times_of(requests, load_times, units)
    if load_included and assumed is not None:
        raise FileError("`load_included` needs the column `cpu`; without it, `cpus=1`")
    if loads is not None and load_included:
        requests, notice = without_loads(requests, placed, loads, units.trace)
        requests, placed = _ordered(requests, placed)
        notices.append(notice)
    elif loads is not None and assumed is None:
        notices.append(doubt_of_gaps(requests, placed, loads))
    for notice in filter(None, notices):
        warnings.warn(notice, DfoptWarning, stacklevel=2)
    trace = _trace(requests, placed, cpus)
    header = TraceHeader(
        name=Path(path).stem,
        source=REQUEST_LOG,
        time_unit=units.trace,
        policy=None if columns.has_starts else "first come, first served; loads take no time",
        objective=Objective.TOTAL_PENALTY,
        cold_start=True,
        lengths=Lengths.WITHOUT_SWITCHES,
        assumed=assumed,
    )
    trace = replace(trace, header=header)
    return trace if loads is None else with_load_times(trace, requests, loads)


def _from_0(requests: list[LoggedRequest]) -> list[LoggedRequest]:
    """Return the requests in a time that begins with the earliest of them."""
    earliest = min(time for r in requests for time in (r.arrival, r.start) if time is not None)
    return [
        replace(
            r,
            arrival=None if r.arrival is None else r.arrival - earliest,
            start=None if r.start is None else r.start - earliest,
        )
        for r in requests
    ]


def _placed(
    requests: list[LoggedRequest], columns: RequestColumns, cpus: int | None, overlaps: Rounding
) -> Placed:
    """Return the requests with their starts and CPUs, ordered by start."""
    if not columns.has_starts:
        requests, placed, cpus = first_come(requests, cpus)
    elif columns.cpu is not None:
        requests, placed, cpus = named(requests, columns, cpus, overlaps)
    else:
        requests, placed, cpus = first_free(requests, columns, cpus, overlaps)
    for request in requests:
        if (request.start or 0) + request.length > LARGEST_TOTAL:
            raise FileError(
                "ends more than 2^62 units after the first request; mend its times, or leave it "
                "out",
                place=f"line {request.line}",
            )
    return *_ordered(requests, placed), cpus


def _ordered(
    requests: list[LoggedRequest], placed: list[int]
) -> tuple[list[LoggedRequest], list[int]]:
    """Return requests and their CPUs, ordered by start."""
    order = sorted(range(len(requests)), key=lambda row: requests[row].start or 0)
    return [requests[row] for row in order], [placed[row] for row in order]


def _assumption(cpus: int, fewest: int, *, is_given: bool) -> str:
    """Return which CPUs were assumed, and why."""
    placed = "each request is taken to have run on the first CPU that was free"
    if is_given:
        return f"without `cpu`, {placed}"
    fewer = f", but {fewest} if short overlaps are rounding: then give `cpus={fewest}`"
    return (
        f"without `cpu`, {cpus} CPUs are assumed, since up to {cpus} requests run at once"
        f"{fewer if fewest < cpus else ''} (several at once on one CPU are not modelled yet); "
        f"{placed}"
    )


def _trace(requests: list[LoggedRequest], placed: list[int], cpus: int) -> Trace:
    """Return the trace of requests that have starts and CPUs, ordered by start."""
    tasks, fragments = Numbering(), Numbering()
    start = np.array([r.start for r in requests], np.int64)
    task = np.array([tasks[r.name] for r in requests], np.int32)
    arrivals = sorted((r.arrival, tasks[r.name]) for r in requests if r.arrival is not None)
    return Trace(
        cpus=cpus,
        cpu=np.array(placed, np.int32),
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
