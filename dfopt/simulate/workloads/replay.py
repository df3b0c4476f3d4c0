"""The threads of a recorded trace, under another policy.

A trace does not say when threads are blocked, but which thread woke which. So a thread that was
woken between two dispatches had been blocked, and a thread that was not woken was still runnable:
another one had taken its CPU. Where events are missing, by a gap or because the trace has no
wake-ups at all, neither is known.

Only wake-ups by threads that ran at that time are followed. So there are no deadlocks: in recorded
time a message is sent no later than it is received, and threads can always go on in the order of
the recording. Where a clock is too coarse to tell, the order of the file decides, and a wake-up
that contradicts it is not followed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from random import Random
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dfopt.errors import DfoptError
from dfopt.problem.cache import Leaves
from dfopt.simulate.contract import NOBODY
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Spawn
from dfopt.simulate.workload import Burst, NewThread, Step, Workload
from dfopt.structs import Checked, Natural, replace
from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.moments import Moments
from dfopt.trace.nice import nice_of_weight
from dfopt.trace.trace import LEAVES, NOT_GIVEN, Trace


class Replay(Checked):
    """Every dispatch of a trace becomes a burst of the same length, on the same fragment.

    A thread that was still runnable when it left its CPU goes on at once. One that was blocked
    waits. With ``timing = "wakeups"``, the default, the loop is closed: where the trace says
    which thread woke it, it waits for a message that this one sends at the same point of its own
    run. So a policy that lets the waker run earlier is rewarded, as on the real machine. With
    ``"waits"`` the loop is open: every thread stays away for as long as it did in the recording,
    whatever the others do. With both, a thread that an interrupt woke sleeps from its own stop for
    the recorded time. Where nothing is known about a wait, such as in a trace without wake-ups,
    it lasts until the thread ran again, and so includes its time in a queue.

    A thread that another thread of the trace made begins when that one forks. The others come
    when they were first seen, or woken. Threads keep their weights, and have the nice values that
    belong to them; a real-time thread counts as one of nice 0. What the caches cost in the
    recording is part of its run times, and so is paid here as well.

    Parameters
    ----------
    trace
        The file, of any kind that dfopt reads; or a trace.
    timing
        ``"wakeups"`` or ``"waits"``.
    labels
        Where the fragments come from, as for ``dfopt compare --df``; by default the trace's own,
        if it has some. Of a trace that is given as such: its own.
    lines
        How many lines a dispatch reads where the trace does not say. None: none, for penalties
        that count no lines.
    leaves
        How a dispatch leaves its fragment where the trace does not say.

    Raises
    ------
    DfoptError
        When a parameter is wrong; and by :meth:`build`, when the trace cannot be read.
    """

    name: ClassVar[str] = "replay"

    trace: str | Trace
    timing: Literal["wakeups", "waits"] = "wakeups"
    labels: str | None = None
    lines: Natural | None = None
    leaves: Literal["clean", "dirty", "invalidated"] = "dirty"

    def build(self, random: Random) -> Workload:
        """Return the threads of the trace; nothing about them is random."""
        trace = self._with_states(self._read())
        waits = recorded_waits(trace)
        return Workload(
            threads=_threads(trace, waits, is_closed=self.timing == "wakeups"),
            fragments=trace.fragments,
            sizes=_sizes(trace),
        )

    def _read(self) -> Trace:
        if isinstance(self.trace, Trace):
            return self.trace
        # Loading all readers of traces takes long, and only this needs them.
        from dfopt.trace.formats import read_trace
        from dfopt.trace.labels import default_source, labelled

        trace = read_trace(self.trace)
        try:
            if self.labels is None and default_source(trace) is None:
                return trace
            return labelled(trace, self.labels).trace
        except DfoptError as error:
            raise error if error.file else error.in_file(self.trace) from None

    def _with_states(self, trace: Trace) -> Trace:
        """Return the trace with lines and states for all dispatches."""
        missing = np.full(len(trace), NOT_GIVEN, np.int64)
        lines = missing if trace.lines is None else trace.lines
        leaves = missing if trace.leaves is None else trace.leaves
        default = LEAVES.index(Leaves(self.leaves))
        return replace(
            trace,
            lines=np.where(lines == NOT_GIVEN, self.lines or 0, lines),
            leaves=np.where(leaves == NOT_GIVEN, default, leaves).astype(np.int8),
        )


def _sizes(trace: Trace) -> tuple[int, ...]:
    sizes = np.zeros(len(trace.fragments), np.int64)
    managed = trace.fragment >= 0
    assert trace.lines is not None
    np.maximum.at(sizes, trace.fragment[managed], trace.lines[managed])
    return tuple(sizes.tolist())


class Wait(IntEnum):
    """Why a thread was away before a dispatch."""

    PREEMPTED = 0
    """It was runnable."""

    WOKEN = 1
    """A thread of the trace woke it."""

    TIMED = 2
    """It was blocked for a time of which no more is known."""

    FORKED = 3
    """It did not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waits:
    """The waits of a trace, one before each dispatch, task by task.

    Parameters
    ----------
    rows
        Numbers of the trace's dispatches in that order.
    first
        Whether each of them is the first of its task.
    kind
        Of the wait before each, a :class:`Wait`.
    time
        How long the thread was blocked: until it was woken, or until it ran where that is not
        known. Before a first dispatch: from the beginning of the trace.
    by
        For those that were woken, or made, the dispatch of the other thread in which that
        happened, as a place in ``rows``; else ``NOBODY``.
    at
        The time when that happened.
    order
        The order in which messages that are sent at one time are sent.
    """

    rows: Integers
    first: Flags
    kind: Integers
    time: Integers
    by: Integers
    at: Integers
    order: Integers


def recorded_waits(trace: Trace) -> Waits:
    """Return the waits of the threads of a trace."""
    rows = np.lexsort((trace.start, trace.task))
    task, start, end = trace.task[rows], trace.start[rows], trace.end[rows]
    first = np.diff(task, prepend=-1) != 0
    began = int(start.min()) if len(rows) else 0
    since = np.where(first, began, np.roll(end, 1))
    # The first wake-up of each wait.
    wakeups = Moments(trace.wakeups.woken, trace.wakeups.time)
    place = wakeups.since(task, since)
    is_woken = place < wakeups.after(task, start)
    wake = np.where(is_woken, np.append(wakeups.order, NOBODY)[place], NOBODY)
    at = np.where(is_woken, np.append(trace.wakeups.time, 0)[wake], 0)
    waker = np.append(trace.wakeups.waker, NOBODY)[wake]
    ends = Moments(task, end)
    by = _running(ends, start, waker, at, not_of=task)
    unknown = ~is_woken & (start > since) & (first | _may_have_missed(trace, since, start))
    kind = np.where(is_woken | unknown, Wait.TIMED, Wait.PREEMPTED)
    kind[by != NOBODY] = Wait.WOKEN
    time = np.where(is_woken, at, np.where(unknown, start, since)) - since
    forks = trace.forks
    first_row = np.full(len(trace.tasks), NOBODY)
    first_row[task[first]] = np.flatnonzero(first)
    child = first_row[forks.child]
    parent = _running(ends, start, forks.parent, forks.time, not_of=forks.child)
    made = (child != NOBODY) & (parent != NOBODY) & (forks.time <= np.append(start, 0)[child])
    child = child[made]
    kind[child], by[child], at[child] = Wait.FORKED, parent[made], forks.time[made]
    waits = Waits(rows=rows, first=first, kind=kind, time=time, by=by, at=at, order=wake)
    _follow_the_file(waits)
    return waits


def _running(
    ends: Moments, start: Integers, tasks: Numbers, times: Integers, *, not_of: Numbers
) -> Integers:
    """Return the first dispatch of each task that a time lies in; ``NOBODY`` for none.

    Parameters
    ----------
    ends, start
        Of the dispatches, task by task.
    tasks, times
        What is looked for.
    not_of
        The task that is woken or made in it, which does not count as its own waker.
    """
    if not len(start):
        return np.full(len(tasks), NOBODY)
    place = np.minimum(ends.since(tasks, times), len(start) - 1)
    runs = (tasks != not_of) & (ends.task[place] == tasks)
    runs &= (start[place] <= times) & (times <= ends.time[place])
    return np.where(runs, place, NOBODY)


def _may_have_missed(trace: Trace, since: Integers, until: Integers) -> Flags:
    """Return for each stretch whether the trace may have missed a wake-up."""
    if not len(trace.wakeups.time):
        return np.ones(len(since), bool)
    gaps = trace.gaps
    if not len(gaps):
        return np.zeros(len(since), bool)
    latest = np.maximum.accumulate(gaps.end)
    before = np.searchsorted(gaps.start, until)
    return (before > 0) & (latest[np.maximum(before - 1, 0)] > since)


def _follow_the_file(waits: Waits) -> None:
    """Drop a message if, in the file, it comes before the message that its sender waited for.

    Only messages of the same time are looked at: otherwise the times tell the order.
    """
    kind, order, by = waits.kind, waits.order, waits.by
    entered = np.where(kind == Wait.WOKEN, order, NOBODY)
    made = np.flatnonzero(kind == Wait.FORKED)
    for place in made[np.argsort(waits.at[made], kind="stable")].tolist():
        entered[place] = entered[by[place]]
    woken = np.flatnonzero(kind == Wait.WOKEN)
    early = woken[order[woken] <= entered[by[woken]]]
    kind[early] = Wait.TIMED
    by[early] = NOBODY


class _Dispatch(NamedTuple):
    """A dispatch of the trace, and the wait before it; see :class:`Waits`."""

    row: int
    task: int
    start: int
    end: int
    fragment: int
    lines: int
    leaves: int
    is_first: bool
    kind: int
    time: int
    by: int
    at: int
    order: int


def _runs(trace: Trace, waits: Waits, *, is_closed: bool) -> list[_Dispatch]:
    """Return the dispatches of all threads, task by task."""
    assert trace.lines is not None
    assert trace.leaves is not None
    kind = waits.kind
    if not is_closed:
        kind = np.where(kind == Wait.WOKEN, Wait.TIMED, kind)
    recorded = (trace.task, trace.start, trace.end, trace.fragment, trace.lines, trace.leaves)
    columns = (
        waits.rows, *(column[waits.rows] for column in recorded), waits.first, kind, waits.time,
        waits.by, waits.at, waits.order,
    )  # fmt: skip
    return [*map(_Dispatch._make, zip(*(column.tolist() for column in columns), strict=True))]


def _threads(trace: Trace, waits: Waits, *, is_closed: bool) -> tuple[NewThread, ...]:
    """Return the threads that no other thread makes; their programs exchange messages."""
    runs = _runs(trace, waits, is_closed=is_closed)
    steps: defaultdict[int, list[Burst | Step]] = defaultdict(list)
    # What the thread of a dispatch does while it runs: when, in which order, and what.
    deeds: defaultdict[int, list[tuple[int, int, Send | Spawn]]] = defaultdict(list)
    roots: list[NewThread] = []
    sends: dict[int, Send] = {}
    for run in runs:
        if run.is_first:
            thread = _thread(trace, run, steps[run.task])
            if run.kind == Wait.FORKED:
                deeds[run.by].append((run.at, run.order, Spawn(thread)))
            else:
                roots.append(thread)
        if run.kind == Wait.WOKEN:
            if run.task not in sends:
                sends[run.task] = Send(Channel(f"a wake-up of {trace.tasks[run.task].name}"))
            deeds[run.by].append((run.at, run.order, sends[run.task]))
    receives = {task: Receive(send.channel) for task, send in sends.items()}
    burst = cache(Burst)
    for place, run in enumerate(runs):
        own, states = steps[run.task], (run.fragment, run.lines, run.leaves)
        if run.kind == Wait.WOKEN:
            own.append(receives[run.task])
        elif run.kind == Wait.TIMED and not run.is_first:
            own.append(Sleep(run.time))
        done = run.start
        for time, _, step in sorted(deeds[place], key=lambda deed: deed[:2]):
            if time > done:
                own.append(burst(time - done, *states))
            done = time
            own.append(step)
        # What took no time needs its fragment all the same.
        if run.end > done or run.end == run.start:
            own.append(burst(run.end - done, *states))
    return tuple(roots)


def _thread(trace: Trace, run: _Dispatch, steps: list[Burst | Step]) -> NewThread:
    """Return the thread that begins with this dispatch; its program is still to be filled."""
    task = trace.tasks[run.task]
    return NewThread(
        name=task.name,
        steps=iter(steps),
        kind="" if trace.comm is None else trace.comms[trace.comm[run.row]],
        application=task.tgid or 0,
        nice=0 if task.weight is None else nice_of_weight(task.weight),
        weight=task.weight,
        arrival=run.time if run.kind == Wait.TIMED else 0,
    )
