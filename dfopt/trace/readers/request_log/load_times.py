"""What changes of model cost, one time for all or a table of times."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.problem.cache_state import Leaves
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace.readers.request_log.csv_table import read_table
from dfopt.trace.readers.request_log.logged_request import LoggedRequest
from dfopt.trace.readers.request_log.time_column import LogUnits, TimeColumn
from dfopt.trace.trace import LEAVES, Trace


def with_load_times(
    trace: Trace,
    requests: list[LoggedRequest],
    load_times: float | str | Path,
    units: LogUnits,
) -> Trace:
    """Return the trace with what loads cost; each request is the dispatch in its place."""
    if isinstance(load_times, str | Path):
        return _with_times_of_models(trace, requests, load_times, units)
    fill = Decimal(str(load_times)) * units.in_trace(units.point)
    if not fill.is_finite() or not 0 <= fill <= LARGEST_TOTAL:
        raise FileError(f"must be at least 0, not {load_times}", place="load_times")
    penalty = PenaltyG(fill=int(fill.to_integral_value()), write_back=0)
    return replace(trace, header=replace(trace.header, penalty=penalty))


def _with_times_of_models(
    trace: Trace, requests: list[LoggedRequest], path: str | Path, units: LogUnits
) -> Trace:
    """Return the trace with each model's load time as the lines that it reads."""
    of_model = _times_of_models(path, units)
    for request in requests:
        if request.df and request.df not in of_model:
            raise FileError(
                f"has no load time of {request.df!r}, which a request on line {request.line} of "
                "the log asks for; add it",
                file=str(path),
            )
    lines = np.array([of_model.get(r.df, 0) if r.df else 0 for r in requests], np.int64)
    leaves = np.full(len(requests), LEAVES.index(Leaves.CLEAN), np.int8)
    header = replace(trace.header, penalty=PenaltyF(read_line=1, write_back=0))
    return replace(trace, header=header, lines=lines, leaves=leaves)


def _times_of_models(path: str | Path, units: LogUnits) -> dict[str, int]:
    try:
        table = read_table(path, "load time")
        if not table.names[1:]:
            raise FileError("has one column; write the model, a comma and its load time")
        column = TimeColumn(table.names[1], 1, replace(units, duration=units.point), is_point=False)
        found: dict[str, int] = {}
        for line, row in table.rows:
            time = column.time(line, row)
            if time < 0:
                raise FileError("is a negative load time; write at least 0", place=f"line {line}")
            if found.setdefault(row[0], time) != time:
                raise FileError(
                    f"has another load time of {row[0]!r}; keep one", place=f"line {line}"
                )
    except FileError as error:
        raise error if error.file else error.in_file(str(path)) from None
    return found
