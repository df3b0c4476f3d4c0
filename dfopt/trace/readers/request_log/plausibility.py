"""Whether durations can be in the unit that they were taken to be in."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.trace.quality import counted
from dfopt.trace.readers.request_log.logged_request import LoggedRequest
from dfopt.trace.readers.request_log.request_columns import RequestColumns
from dfopt.trace.readers.request_log.time_column import LogUnits
from dfopt.trace.time_units import exact_time

OVERLOAD = 10
"""Work beyond this many times what the CPUs can do in a log's time is doubted.

Less is usual where a log begins with a queue. A wrong unit makes a factor of 1000.
"""


def doubt(
    requests: Sequence[LoggedRequest], columns: RequestColumns, cpus: int | None, units: LogUnits
) -> str | None:
    """Return in one line why the unit of the durations may be wrong; None if it may be right.

    Parameters
    ----------
    requests
        With their times as the log has them.
    columns
        Which of these the log has.
    cpus
        How many CPUs there are, None where that is not known.
    units
        Of the log.
    """
    if columns.gives_starts_by_ends:
        # A wrong unit moves starts, and arrivals before them, but no ends.
        points, happen = [(r.start or 0) + r.length for r in requests], "end"
    else:
        points = [time for r in requests for time in (r.arrival, r.start) if time is not None]
        happen = "come"
    span = max(points) - min(points)
    lengths = sorted(request.length for request in requests)
    if not span:
        return None
    said = f"is the unit of durations, {units.duration}, right? Else give `duration_unit`"
    if cpus is not None and sum(lengths) > OVERLOAD * cpus * span:
        times = round(sum(lengths) / (cpus * span))
        return (
            f"requests {happen} within {_rounded(span, units)} with {times:,} times the work that "
            f"{counted(cpus, 'CPU')} can do in this time: {said}"
        )
    median = lengths[len(lengths) // 2]
    if cpus is None and median > span:
        return (
            f"half of the requests take {_rounded(median, units)} or more, but all {happen} within "
            f"{_rounded(span, units)}: {said}"
        )
    return None


def _rounded(time: int, units: LogUnits) -> str:
    """Return a time with three digits."""
    return exact_time(int(float(f"{time:.3g}")), units.trace)
