"""How a scheduler served the tasks of a trace: latency, waits, responses, fairness, migrations.

These are the figures by which schedulers are compared, beside what their switches cost. They are
defined here, once for recorded traces and for simulated ones.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from dfopt.errors import DfoptError
from dfopt.structs import REQUIRED, DocumentPart, Natural, NonNegative, Positive, Share, written
from dfopt.table import Table, columns
from dfopt.trace.events import Flags, Integers, Numbers, Stop, changes
from dfopt.trace.nice import NICE_0
from dfopt.trace.readiness import Readiness, readiness_of, without_wakeups
from dfopt.trace.trace import UNMANAGED, Trace

SHOWN_DIGITS = 6
"""Decimal places of means and shares."""

MOST_THREADS = 10
"""At most this many threads are shown."""

LONGEST_WAITS = (
    "waited: all waits of the thread together; longest: one of them, which began when the thread "
    "was ready, counted from the first start of the trace; CPU: where it then ran",
    "in its place: the fragment that ran there for the longest part of that wait (or the thread, "
    "where it has none), and for how long; without one the CPU was idle",
)


class WaitFigures(DocumentPart):
    """How long a number of waits lasted, in the trace's unit of time.

    Parameters
    ----------
    count
        The number of waits, at least 1.
    mean
        Their mean.
    p50, p99
        The smallest time that at least 50, or 99, of 100 waits do not exceed (nearest rank).
    longest
        The longest of them.
    """

    count: Positive
    mean: NonNegative
    p50: Natural
    p99: Natural
    longest: Natural


class Service(DocumentPart):
    """How a scheduler served the tasks that count: those with a fragment, or all if none has one.

    Parameters
    ----------
    wakeup_latency
        From the wake-up of a task, or the end of its last dispatch if that came later, to the start
        of the dispatch that the wake-up caused. The fork of a new task counts as its wake-up if no
        other one is known. None where no wake-up is known.
    wait
        From ready to running, for each dispatch of which it is known when it was ready. So it has
        the wake-up latencies, and the times after a preemption. None where nothing is known.
    response
        From the wake-up of a task to the end of the burst that it caused: when the task slept again
        or ended. So it has the wait and the run time of each dispatch of the burst. Bursts count
        that begin and end within the trace. None where none does.
    unknown
        The number of dispatches of which it is not known when they were ready.
    still_waiting
        The number of tasks that were ready at the end of the trace, and had not run since then. How
        long they would have waited is not known, so only ``fairness`` counts their time.
    fairness
        Jain's index (Σ x)² / (n Σ x²) of what the n tasks got: x is the time for which a task ran,
        divided by the time for which it ran or waited, and by the share that was due to it. It is 1
        if all got what was due to them, and 1/n if a single task got everything. Due are shares in
        proportion to weights, none of them more than 1, by which the tasks together would have run
        for as long as they did. So without weights the same share is due to all. None where nothing
        is known.
    migrations
        Dispatches of a task whose dispatch before ran on another CPU.
    problem
        Why nothing is known of waits, or None.
    warnings
        What a user needs to know before trusting waits, a line each.
    """

    wakeup_latency: WaitFigures | None
    wait: WaitFigures | None
    unknown: Natural
    still_waiting: Natural
    fairness: Share | None
    migrations: Natural
    problem: Annotated[str | None, REQUIRED] = written(None)
    warnings: Annotated[tuple[str, ...], REQUIRED] = written(())
    response: WaitFigures | None = written(None)


def service_of(trace: Trace) -> Service:
    """Return how the tasks of a trace were served.

    Where a trace has no wake-ups, nothing is said about waits: only migrations are counted.

    References
    ----------
    R. Jain, D. Chiu, W. Hawe, *A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems*, 1984.
    """
    counts = counted_dispatches(trace)
    migrations = changes(trace.cpu, trace.task, counts)
    try:
        waits = KnownWaits(trace, counts)
    except DfoptError as error:
        return Service(
            wakeup_latency=None,
            wait=None,
            unknown=int(counts.sum()),
            still_waiting=0,
            fairness=None,
            migrations=migrations,
            problem=error.problem,
        )
    still_waiting, since = _still_waiting(trace, counts)
    return Service(
        wakeup_latency=_figures(waits.time[waits.is_woken]),
        wait=_figures(waits.time),
        unknown=int(counts.sum()) - len(waits.time),
        still_waiting=len(still_waiting),
        fairness=_fairness(
            np.array([task.weight or NICE_0 for task in trace.tasks], np.float64),
            np.concatenate([waits.task, still_waiting]),
            np.concatenate([waits.ran, np.zeros(len(still_waiting), np.int64)]),
            np.concatenate([waits.time, since]),
        ),
        migrations=migrations,
        warnings=waits.warnings,
        response=_figures(waits.responses),
    )


def counted_dispatches(trace: Trace) -> Flags:
    """Return which dispatches count: those with a fragment if there are any, otherwise all."""
    counts: Flags = trace.fragment != UNMANAGED
    if not counts.any():
        counts[:] = True
    return counts


def _figures(waits: Integers) -> WaitFigures | None:
    """Return the figures of waits; None if there are none."""
    if not len(waits):
        return None
    ordered = np.sort(waits)
    return WaitFigures(
        count=len(ordered),
        mean=round(float(ordered.mean()), SHOWN_DIGITS),
        p50=percentile(ordered, 50),
        p99=percentile(ordered, 99),
        longest=int(ordered[-1]),
    )


def percentile(ordered: Integers, percent: int) -> int:
    """Return the smallest value that at least this part of all values do not exceed."""
    return int(ordered[-(-len(ordered) * percent // 100) - 1])


class KnownWaits:
    """The waits that are known, of the dispatches that count.

    Attributes
    ----------
    row
        The dispatches.
    time
        How long each of them waited.
    ran
        How long it ran then.
    task
        Its task.
    is_woken
        Whether it waited after a wake-up, and not after a preemption.
    responses
        From ready to the end of the burst, for each burst that is known from end to end.
    warnings
        Of the ready times.

    Raises
    ------
    DfoptError
        When the trace has no wake-ups, or a task runs on two CPUs at once.
    """

    def __init__(self, trace: Trace, counts: Flags) -> None:
        remedy = without_wakeups(trace)
        if remedy is not None:
            raise DfoptError(f"the trace has no wake-ups; {remedy}")
        readiness = readiness_of(trace)
        known = counts & readiness.known
        self.row = np.flatnonzero(known)
        ready = np.maximum(readiness.ready_by, readiness.previous_end)[known]
        self.time = trace.start[known] - ready
        self.ran = (trace.end - trace.start)[known]
        self.task = trace.task[known]
        self.is_woken = ~readiness.continues[known]
        self.responses = _responses(trace, readiness, known)
        self.warnings = readiness.warnings


def _responses(trace: Trace, readiness: Readiness, known: Flags) -> Integers:
    """Return how long it took from each wake-up to the end of its burst.

    Parameters
    ----------
    known
        Whether a dispatch counts, and it is known when it was ready.
    """
    if not len(trace):
        return np.empty(0, np.int64)
    # The dispatches of each task one after the other; a burst begins where one does not go on.
    by_task = np.argsort(trace.task, kind="stable")
    begins = np.flatnonzero(~readiness.continues[by_task])
    first, last = by_task[begins], by_task[np.append(begins[1:], len(by_task)) - 1]
    ready = np.maximum(readiness.ready_by, readiness.previous_end)[first]
    whole = np.minimum.reduceat(known[by_task], begins)
    if trace.stop is not None:
        whole &= np.isin(trace.stop[last], (Stop.SLEEPS, Stop.ENDS))
    responses: Integers = trace.end[last] - ready
    return responses[whole]


def _still_waiting(trace: Trace, counts: Flags) -> tuple[Numbers, Integers]:
    """Return the tasks that are ready at the end, and for how long they have been.

    Of tasks that never ran, those count that were made in the trace. A task counts only if it has
    been ready since the last gap: in a gap it may have run.
    """
    tasks, never = len(trace.tasks), np.iinfo(np.int64).min
    if not len(trace):
        return np.empty(0, np.int32), np.empty(0, np.int64)
    last = np.full(tasks, -1, np.int64)
    last[trace.task] = np.arange(len(trace))  # rows are ordered by start, so the last one stays
    ran = last >= 0
    stopped = np.where(ran, trace.end[last], never)
    goes_on = np.zeros(tasks, bool)
    if trace.stop is not None:
        goes_on = ran & (trace.stop[last] == Stop.PREEMPTED)
    wakeups = trace.wakeups.joined(trace.first_wakeups)
    later = wakeups.chosen(wakeups.time >= stopped[wakeups.woken])
    since = np.full(tasks, np.iinfo(np.int64).max)
    np.minimum.at(since, later.woken, later.time)
    since[goes_on] = stopped[goes_on]
    can_count = np.zeros(tasks, bool)
    can_count[trace.first_wakeups.woken] = True
    can_count[trace.forks.child] = True
    can_count[ran] = counts[last[ran]]
    end = int(trace.end.max(initial=0))
    is_still_waiting = can_count & (since < end) & (since >= trace.gaps.end.max(initial=never))
    still_waiting = np.flatnonzero(is_still_waiting).astype(np.int32)
    return still_waiting, end - since[still_waiting]


def _fairness(
    weights: NDArray[np.float64], task: Numbers, ran: Integers, waited: Integers
) -> float | None:
    """Return Jain's index of the part that each task ran of what was due; None without a task."""
    # Not bincount with weights: its sums are floating-point.
    runs, waits = np.zeros(len(weights), np.int64), np.zeros(len(weights), np.int64)
    np.add.at(runs, task, ran)
    np.add.at(waits, task, waited)
    wanted = runs + waits
    counts = wanted > 0
    if not runs.any():
        return None
    got = runs[counts] / wanted[counts] / _due(weights[counts], runs[counts], wanted[counts])
    return round(float(got.sum() ** 2 / (len(got) * (got**2).sum())), SHOWN_DIGITS)


def _due(weights: NDArray[np.float64], runs: Integers, wanted: Integers) -> NDArray[np.float64]:
    """Return the share of its time that is due to each task: ``min(1, level · weight)``."""
    if (weights == weights[0]).all():
        return np.ones(len(weights))
    # The level rises until the tasks together run for as long as they did. The heaviest tasks get
    # all that they want first.
    order = np.argsort(-weights, kind="stable")
    weight, want = weights[order], wanted[order].astype(np.float64)
    satisfied = np.concatenate([[0.0], np.cumsum(want)[:-1]])
    rest = np.cumsum((weight * want)[::-1])[::-1]
    # Level if all tasks before this one are satisfied, and neither it nor those after it are.
    levels = (runs.sum() - satisfied) / rest
    fits = np.flatnonzero(levels * weight <= 1)
    return np.minimum(1.0, weights * levels[fits[0]]) if len(fits) else np.ones(len(weights))


def far_migrations(trace: Trace, domain_of: Integers) -> int:
    """Return how many migrations come from a CPU of another domain; ``domain_of`` is by CPU."""
    return changes(domain_of[trace.cpu], trace.task, counted_dispatches(trace))


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
    return Table(f"Threads that waited longest in {name}", headings, rows, LONGEST_WAITS)


def _thread(trace: Trace, row: int) -> str:
    """Return the thread of a dispatch, with its comm where that is known."""
    name, comm = trace.tasks[trace.task[row]].name, trace.comm_of(row)
    return name if comm is None else f"{name} {comm}"


def _user(trace: Trace, row: int) -> str:
    """Return the fragment of a dispatch, or its thread if it has none."""
    return trace.fragment_of(row) or _thread(trace, row)
