"""What changes of model cost, one time for all or a table of times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, FileError
from dfopt.problem.cache_state import Leaves
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace.readers.request_log.csv_table import read_table
from dfopt.trace.readers.request_log.logged_request import LoggedRequest
from dfopt.trace.readers.request_log.time_column import LogUnits, TimeColumn, written_time
from dfopt.trace.time_units import NANOSECONDS
from dfopt.trace.trace import LEAVES, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTimes:
    """What loading each model costs, in the trace's unit.

    Parameters
    ----------
    every
        What every model costs; None where they differ.
    of_model
        What each model costs where they differ.
    """

    every: int | None = None
    of_model: Mapping[str, int] = field(default_factory=dict)

    def of(self, model: str) -> int:
        """Return what loading a model costs, 0 for none."""
        if not model:
            return 0
        return self.of_model[model] if self.every is None else self.every


def load_times_of(
    requests: list[LoggedRequest], load_times: float | str | Path, units: LogUnits
) -> LoadTimes:
    """Return what loads cost, one time for all or those of a CSV file."""
    if not isinstance(load_times, str | Path):
        fill = Decimal(str(load_times)) * units.in_trace(units.point)
        if not fill.is_finite() or not 0 <= fill <= LARGEST_TOTAL:
            raise FileError(f"must be at least 0, not {load_times}", place="load_times")
        return LoadTimes(every=int(fill.to_integral_value()))
    of_model = _times_of_models(load_times, units)
    for request in requests:
        if request.df and request.df not in of_model:
            raise FileError(
                f"has no load time of {request.df!r}, which a request on line {request.line} of "
                "the log asks for; add it",
                file=str(load_times),
            )
    return LoadTimes(of_model=of_model)


def with_load_times(trace: Trace, requests: list[LoggedRequest], loads: LoadTimes) -> Trace:
    """Return the trace with what loads cost; each request is the dispatch in its place."""
    if loads.every is not None:
        penalty = PenaltyG(fill=loads.every, write_back=0)
        return replace(trace, header=replace(trace.header, penalty=penalty))
    lines = np.array([loads.of(request.df) for request in requests], np.int64)
    leaves = np.full(len(requests), LEAVES.index(Leaves.CLEAN), np.int8)
    header = replace(trace.header, penalty=PenaltyF(read_line=1, write_back=0))
    return replace(trace, header=header, lines=lines, leaves=leaves)


def parse_load_time(text: str, unit: str) -> float:
    """Return the load time that a text such as ``25s`` or ``2.5`` stands for, in this unit.

    Raises
    ------
    DfoptError
        When the text stands for no time.
    """
    # A wrong unit is refused when the log is read.
    unit = unit if unit in NANOSECONDS else "s"
    written, one = written_time(text.strip(), unit), written_time("1", unit)
    if written is None or one is None or written[0] < 0:
        raise DfoptError(
            f"{text!r} is no load time; write a number from 0 on, or one with a unit, such as 25s "
            "or 2500ms"
        )
    return float(written[0] / one[0])


def _times_of_models(path: str | Path, units: LogUnits) -> dict[str, int]:
    try:
        table = read_table(path, "load time")
        if not table.names[1:]:
            raise FileError("has one column; write the model, a comma and its load time")
        column = TimeColumn(table.names[1], 1, replace(units, duration=units.point), is_point=False)
        found: dict[str, int] = {}
        for line, (model, text, *_) in table.rows:
            time = column.time(line, [model, text])
            if time < 0:
                raise FileError("is a negative load time; write at least 0", place=f"line {line}")
            if found.setdefault(model, time) != time:
                raise FileError(
                    f"has another load time of {model!r}; keep one", place=f"line {line}"
                )
    except FileError as error:
        raise error if error.file else error.in_file(str(path)) from None
    return found
