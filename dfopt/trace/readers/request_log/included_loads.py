"""Loads of models that a log counts as work of the requests behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dfopt.trace.quality import counted
from dfopt.trace.readers.request_log.load_times import LoadTimes
from dfopt.trace.readers.request_log.logged_request import LoggedRequest
from dfopt.trace.time_units import exact_time

HALF = 2
"""Less than this part of a load time is too short for a load; load times vary by less."""

QUARTER = 4
"""More than this part of such gaps is doubted. Where GPUs are often idle, many gaps are long."""


def without_loads(
    requests: Sequence[LoggedRequest], placed: Sequence[int], loads: LoadTimes, unit: str
) -> tuple[list[LoggedRequest], str | None]:
    """Return the requests with starts after their loads, and in one line what was done.

    Parameters
    ----------
    requests
        Ordered by start.
    placed
        The CPU of each. The first request of a CPU loads its model, too.
    loads
        What loads take. Of a request that took no longer one unit is left.
    unit
        Of the times.
    """
    found = list(requests)
    loaded = shorter = 0
    for position, _ in _changes(requests, placed):
        request = requests[position]
        load = loads.of(request.df)
        if load:
            loaded += 1
            shorter += request.length <= load
            taken = max(0, min(load, request.length - 1))
            found[position] = replace(
                request, start=(request.start or 0) + taken, length=request.length - taken
            )
    if not loaded:
        return found, None
    notice = (
        f"took load times off the beginning of {counted(loaded, 'request')}, which came first on "
        "their CPU or after another model"
    )
    if shorter:
        notice += f"; {shorter} took no longer than the load, and keep {exact_time(1, unit)}"
    return found, notice


def doubt_of_gaps(
    requests: Sequence[LoggedRequest], placed: Sequence[int], loads: LoadTimes
) -> str | None:
    """Return in one line why durations may include loads; None if loads fit before the starts.

    Parameters
    ----------
    requests
        Ordered by start.
    placed
        The CPU of each.
    loads
        What loads take.
    """
    gaps = [
        ((requests[position].start or 0) - ended, loads.of(requests[position].df))
        for position, ended in _changes(requests, placed)
        if ended is not None
    ]
    short = sum(HALF * gap < load for gap, load in gaps)
    if QUARTER * short <= len(gaps):
        return None
    return (
        f"at {short} of {counted(len(gaps), 'change')} of model, less than half of the load time "
        "is between the two requests: if durations include loads, give `load_included`"
    )


def _changes(
    requests: Sequence[LoggedRequest], placed: Sequence[int]
) -> Iterator[tuple[int, int | None]]:
    """Yield the requests that need another model than their CPU has.

    With each comes the time at which the request before it on this CPU ended, None for the first.
    A request without a model changes none.
    """
    held: dict[int, str] = {}
    ended: dict[int, int] = {}
    for position, (request, cpu) in enumerate(zip(requests, placed, strict=True)):
        if request.df:
            if held.get(cpu) != request.df:
                yield position, ended.get(cpu)
            held[cpu] = request.df
        ended[cpu] = (request.start or 0) + request.length
