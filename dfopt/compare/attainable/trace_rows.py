"""A schedule of a trace as the core reads it."""

from __future__ import annotations

import numpy as np

from dfopt.compare.dispatches import Dispatches
from dfopt.native.library import Rows, rows_of
from dfopt.native.trace import CUT_TIME, DISPATCH, NEVER, TraceRows


def trace_rows(schedule: Dispatches, wait: int | None) -> TraceRows:
    """Return a schedule, and what limits others if ``wait`` is permitted."""
    cuts = rows_of(CUT_TIME, cpu=schedule.cuts.cpu, time=schedule.cuts.time)
    return TraceRows(
        dispatches=rows_of_dispatches(schedule),
        fixed=rows_of_dispatches(schedule.fixed),
        cuts=cuts[np.lexsort((cuts["time"], cuts["cpu"]))],
        latest=np.minimum(schedule.latest_starts(wait), NEVER),
        matrix=np.ascontiguousarray(schedule.matrix, np.int64),
        fragments=len(schedule.matrix),
        cpus=schedule.cpus,
    )


def rows_of_dispatches(dispatches: Dispatches) -> Rows:
    """Return rows ``DISPATCH``."""
    return rows_of(DISPATCH, **{name: getattr(dispatches, name) for name in DISPATCH.names or ()})
