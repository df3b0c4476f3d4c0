"""The threads that waited longest, and what ran in their place."""

from __future__ import annotations

import numpy as np

from dfopt.errors import DfoptError
from dfopt.table import Table, columns
from dfopt.trace.service import KnownWaits, counted_dispatches
from dfopt.trace.trace import UNMANAGED, Trace

MOST_THREADS = 10
"""At most this many threads are shown."""

NOTES = (
    "waited: all waits of the thread together; longest: one of them, which began when the thread "
    "was ready, counted from the first start of the trace; CPU: where it then ran",
    "in its place: the fragment that ran there for the longest part of that wait (or the thread, "
    "where it has none), and for how long; without one the CPU was idle",
)


def longest_waits(trace: Trace) -> Table:
    """Return a row for each thread that waited longest: when, where, and what ran in its place.

    Dispatches with a fragment count, or all if none has one. What is not known of waits is a note.
    """
    name = trace.header.name or "trace"
    try:
        waits = KnownWaits(trace, counted_dispatches(trace))
    except DfoptError as error:
        return Table("", notes=[f"{name}: waits are not known: {error.problem}"])
    total = np.zeros(len(trace.tasks), np.int64)
    np.add.at(total, waits.task, waits.time)
    longest_first = np.argsort(-waits.time, kind="stable")
    _, first = np.unique(waits.task[longest_first], return_index=True)
    # What has no fragment stands for its thread.
    unmanaged = trace.fragment == UNMANAGED
    users = np.where(unmanaged, len(trace.fragments) + trace.task, trace.fragment)
    rows = []
    for place in longest_first[np.sort(first)[:MOST_THREADS]]:
        row, time = int(waits.row[place]), int(waits.time[place])
        if not time:
            break
        start, cpu = int(trace.start[row]), int(trace.cpu[row])
        ready = start - time
        there = np.flatnonzero((trace.cpu == cpu) & (trace.start < start) & (trace.end > ready))
        beside = np.minimum(trace.end[there], start) - np.maximum(trace.start[there], ready)
        ran = np.zeros(len(trace.fragments) + len(trace.tasks), np.int64)
        np.add.at(ran, users[there], beside)
        most = int(ran.argmax())
        instead = there[users[there] == most]
        rows.append(
            (
                _thread(trace, row),
                *(int(total[trace.task[row]]), time, ready - int(trace.start.min()), cpu),
                _user(trace, int(instead[0])) if len(instead) else None,
                int(ran[most]) if len(instead) else None,
            )
        )
    unit = f"[{trace.header.time_unit or ''}] :time"
    times = (f"{name} {unit}" for name in ("waited", "longest", "ready at"))
    headings = columns("thread", *times, "CPU", "in its place", f"for {unit}")
    return Table(f"Threads that waited longest in {name}", headings, rows, NOTES)


def _thread(trace: Trace, row: int) -> str:
    """Return the thread of a dispatch, with its comm where that is known."""
    name, comm = trace.tasks[trace.task[row]].name, trace.comm_of(row)
    return name if comm is None else f"{name} {comm}"


def _user(trace: Trace, row: int) -> str:
    """Return the fragment of a dispatch, or its thread if it has none."""
    return trace.fragment_of(row) or _thread(trace, row)
