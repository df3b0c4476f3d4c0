"""On which CPUs the requests of a log run, and what overlaps on one of them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

from dfopt.errors import FileError
from dfopt.trace.quality import counted
from dfopt.trace.readers.request_log.logged_request import LoggedRequest
from dfopt.trace.readers.request_log.request_columns import RequestColumns
from dfopt.trace.readers.request_log.rounding import Rounding
from dfopt.trace.time_units import exact_time

Placed = tuple[list[LoggedRequest], list[int], int]
"""The requests with their starts, the CPU of each, and the number of CPUs."""


def first_come(requests: list[LoggedRequest], cpus: int | None) -> Placed:
    """Serve requests in the order of their arrival, each when a CPU is free."""
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


def first_free(
    requests: list[LoggedRequest], columns: RequestColumns, cpus: int | None, overlaps: Rounding
) -> Placed:
    """Put each request on the lowest CPU that is free when it starts.

    Where there are fewer CPUs than requests at once, the one that ends first is shortened, or the
    one that starts, if that may be rounding. Without ``cpus`` there are as many as requests at
    once, and none is shortened.
    """
    requests = by_start(requests)
    free, running, placed = list[int](), list[tuple[int, int, int]](), list[int]()
    used = 0
    for position, request in enumerate(requests):
        start = request.start or 0
        ends = start + request.length
        while running and running[0][0] <= start:
            heapq.heappush(free, heapq.heappop(running)[1])
        if not free and used == cpus:
            end, cpu, before = heapq.heappop(running)
            if not shorten(requests, columns, (before, position), overlaps):
                raise FileError(
                    f"starts {exact_time(end - start, overlaps.unit)} before a CPU is free "
                    f"({counted(used, 'CPU')}); give a larger `cpus` or the column `cpu`; "
                    f"{_remedies(columns)}",
                    place=f"line {request.line}",
                )
            heapq.heappush(free, cpu)
        elif not free:
            heapq.heappush(free, used)
            used += 1
        cpu = heapq.heappop(free)
        heapq.heappush(running, (ends, cpu, position))
        placed.append(cpu)
    return requests, placed, cpus or used


def fewest_cpus(requests: list[LoggedRequest], overlaps: Rounding) -> int:
    """Return how few CPUs would do, if small overlaps are rounding."""
    running = list[tuple[int, int]]()
    for request in by_start(requests):
        start = request.start or 0
        run = (start + request.length, request.length)
        if running and running[0][0] - start <= min(overlaps.limit, running[0][1]):
            heapq.heapreplace(running, run)
        else:
            heapq.heappush(running, run)
    return len(running)


def named(
    requests: list[LoggedRequest], columns: RequestColumns, cpus: int | None, overlaps: Rounding
) -> Placed:
    """Put each request on the CPU that the log says, and shorten what overlaps by rounding."""
    for request in requests:
        if not request.cpu:
            raise FileError(
                "does not say which CPU served the request; fill it in, or leave the request out "
                "with `where`",
                place=f"line {request.line}",
            )
    if columns.gives_starts_by_ends:
        # Ends stay in their order when they are rounded, ends less durations do not.
        requests = sorted(requests, key=lambda r: ((r.start or 0) + r.length, r.start, r.line))
    else:
        requests = by_start(requests)
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
            if overlap > 0 and not shorten(requests, columns, (previous, position), overlaps):
                raise FileError(
                    f"starts on {request.cpu!r} while line {before.line} runs there, for "
                    f"{exact_time(overlap, overlaps.unit)} more; {_remedies(columns)}",
                    place=f"line {request.line}",
                )
        last[request.cpu or ""] = position
    return requests, [number[r.cpu or ""] for r in requests], cpus or len(number)


def _remedies(columns: RequestColumns) -> str:
    """Return what to do about requests that overlap."""
    found = (
        "several requests at once on one CPU are not modelled yet; if there were none, mend the "
        "times"
    )
    if columns.duration is not None:
        found += " or the `duration_unit`"
    if columns.end is None:
        # Many servers write a request when it has ended, with the time of the writing.
        option = "start" if columns.start is not None else "arrival"
        name = columns.start or columns.arrival
        found += f"; if {name!r} is when a request ended, name it with `end`, not with `{option}`"
    return found


def by_start(requests: list[LoggedRequest]) -> list[LoggedRequest]:
    """Return the requests ordered by start."""
    return sorted(requests, key=lambda r: (r.start or 0, (r.start or 0) + r.length, r.line))


def shorten(
    requests: list[LoggedRequest],
    columns: RequestColumns,
    pair: tuple[int, int],
    overlaps: Rounding,
) -> bool:
    """Shorten one of two requests by what they overlap, if that may be rounding; return whether.

    What the log has stays: the earlier request ends sooner, or, where starts come from ends, the
    later one starts later.
    """
    before, after = (requests[position] for position in pair)
    overlap = (before.start or 0) + before.length - (after.start or 0)
    by_ends = columns.gives_starts_by_ends
    shortened = after if by_ends else before
    if overlap > shortened.length or not overlaps.takes(overlap):
        return False
    length = shortened.length - overlap
    if by_ends:
        requests[pair[1]] = replace(after, start=(after.start or 0) + overlap, length=length)
    else:
        requests[pair[0]] = replace(before, length=length)
    return True
