"""The threads of a recorded trace, under another policy."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from random import Random
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dfopt.errors import DfoptError
from dfopt.problem.cache import Leaves
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Spawn
from dfopt.simulate.workload import Burst, NewThread, Step, Workload
from dfopt.simulate.workloads.recorded_waits import Wait, Waits, recorded_waits
from dfopt.structs import Checked, Natural, replace
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
        from dfopt.trace.labels import default_source, labelled
        from dfopt.trace.reading import read_trace

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
