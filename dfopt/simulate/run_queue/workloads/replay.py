"""The threads of a recorded trace, under another policy."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import ClassVar, Literal

import numpy as np

from dfopt.errors import DfoptError
from dfopt.problem.cache_state import Leaves
from dfopt.simulate.run_queue.steps import Channel, Receive, Send, Sleep, Spawn
from dfopt.simulate.run_queue.workload import Burst, NewThread, Step, Workload
from dfopt.simulate.run_queue.workloads.recorded_waits import Wait, Waits, recorded_waits
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
            threads=tuple(_Programs(trace, waits, is_closed=self.timing == "wakeups").threads()),
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


class _Programs:
    """The programs of a trace's threads, which exchange messages."""

    def __init__(self, trace: Trace, waits: Waits, *, is_closed: bool) -> None:
        self._trace = trace
        self._kind, self._by = waits.kind.tolist(), waits.by.tolist()
        self._time, self._at = waits.time.tolist(), waits.at.tolist()
        self._order = waits.order.tolist()
        self._task = trace.task[waits.rows].tolist()
        self._first = np.flatnonzero(waits.first).tolist()
        if not is_closed:
            self._kind = [Wait.TIMED if kind == Wait.WOKEN else kind for kind in self._kind]
        rows = waits.rows
        assert trace.lines is not None
        assert trace.leaves is not None
        self._start, self._end = trace.start[rows].tolist(), trace.end[rows].tolist()
        self._fragment = trace.fragment[rows].tolist()
        self._lines, self._leaves = trace.lines[rows].tolist(), trace.leaves[rows].tolist()
        self._comm = None if trace.comm is None else trace.comm[rows].tolist()
        self._bursts: dict[tuple[int, int, int, int], Burst] = {}
        self._receives: dict[int, Receive] = {}
        # What the thread of a dispatch does while it runs: when, in which order, and what.
        self._deeds: dict[int, list[tuple[int, int, Send | Spawn]]] = {}
        self._steps: dict[int, list[Burst | Step]] = {self._task[row]: [] for row in self._first}

    def threads(self) -> Iterator[NewThread]:
        """Yield the threads that no other thread makes."""
        roots = []
        for row in self._first:
            thread = self._thread(row)
            if self._kind[row] == Wait.FORKED:
                self._do_there(row, Spawn(thread))
            else:
                roots.append(thread)
        sends: dict[int, Send] = {}
        for row, kind in enumerate(self._kind):
            if kind == Wait.WOKEN:
                task = self._task[row]
                if task not in sends:
                    channel = Channel(f"a wake-up of {self._trace.tasks[task].name}")
                    sends[task], self._receives[task] = Send(channel), Receive(channel)
                self._do_there(row, sends[task])
        first = set(self._first)
        for row in range(len(self._task)):
            self._wait(row, is_first=row in first)
            self._run(row)
        yield from roots

    def _thread(self, row: int) -> NewThread:
        """Return the thread that begins with this dispatch; its program is still to be filled."""
        trace, task = self._trace, self._task[row]
        weight = trace.tasks[task].weight
        return NewThread(
            name=trace.tasks[task].name,
            steps=iter(self._steps[task]),
            kind="" if self._comm is None else trace.comms[self._comm[row]],
            application=trace.tasks[task].tgid or 0,
            nice=0 if weight is None else nice_of_weight(weight),
            weight=weight,
            arrival=self._time[row] if self._kind[row] == Wait.TIMED else 0,
        )

    def _do_there(self, row: int, step: Send | Spawn) -> None:
        """Let another thread do the step that ends the wait before a dispatch."""
        deed = (self._at[row], self._order[row], step)
        self._deeds.setdefault(self._by[row], []).append(deed)

    def _wait(self, row: int, *, is_first: bool) -> None:
        steps = self._steps[self._task[row]]
        if self._kind[row] == Wait.WOKEN:
            steps.append(self._receives[self._task[row]])
        elif self._kind[row] == Wait.TIMED and not is_first:
            steps.append(Sleep(self._time[row]))

    def _run(self, row: int) -> None:
        """Let a thread run, and act on others where it did."""
        done = self._start[row]
        for time, _, step in sorted(self._deeds.get(row, ()), key=lambda deed: deed[:2]):
            if time > done:
                self._burst(row, time - done)
            done = time
            self._steps[self._task[row]].append(step)
        # What took no time needs its fragment all the same.
        if self._end[row] > done or self._end[row] == self._start[row]:
            self._burst(row, self._end[row] - done)

    def _burst(self, row: int, time: int) -> None:
        key = (time, self._fragment[row], self._lines[row], self._leaves[row])
        burst = self._bursts.get(key)
        if burst is None:
            burst = self._bursts[key] = Burst(*key)
        self._steps[self._task[row]].append(burst)
