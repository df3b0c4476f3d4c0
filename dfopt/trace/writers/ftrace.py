"""Traces as the kernel's own text, for older viewers.

Dispatches become ``sched_switch`` events, with the idle thread between them. Where a task changes
its fragment, it writes a mark ``dfopt:df=…``. A gap that is a broken chain becomes one again: the
CPU switches to the idle thread, and then from another thread. Any other gap becomes a line about
lost events.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from itertools import count, islice
from operator import itemgetter
from typing import BinaryIO

import numpy as np

from dfopt.errors import FileError
from dfopt.trace.dispatches import IDLE
from dfopt.trace.events import Stop
from dfopt.trace.nice import PRIORITY_OF_NICE_0, nice_of_weight
from dfopt.trace.stretches import stretches_in_order
from dfopt.trace.time_units import nanoseconds_per_unit
from dfopt.trace.trace import BROKEN_CHAIN, UNMANAGED, Trace, TraceTask

SECOND = 1_000_000_000

LONGEST_COMM = 15
"""Bytes of a comm."""

MOST_CPUS = 100_000

AT_ONCE = 10_000

LARGEST_THREAD = 999_999_999
"""The largest number that readers accept as a thread's."""

NUMBERED = re.compile(r"([1-9][0-9]{0,8})(?:\.[1-9][0-9]*)?")
"""The number of a thread, perhaps with that of its life."""

Step = tuple[int, str]
"""A time in nanoseconds and the line about it."""

Thread = tuple[str, int, int, str]
"""A comm, the thread's number, its priority, and the state in which it leaves the CPU."""


def write_ftrace(trace: Trace, stream: BinaryIO) -> None:
    """Write a trace as text with the kernel's ``sched_switch`` events.

    Parameters
    ----------
    trace
        Its tasks become threads. A task that has a number as its name keeps that number.
    stream
        The file, as :func:`dfopt.files.storage.replacing` opens it.

    Raises
    ------
    FileError
        When times or the number of CPUs are too large.
    """
    if trace.cpus > MOST_CPUS:
        raise FileError(f"the text has room for {MOST_CPUS} CPUs; write the trace as .jsonl")
    text = _Text(trace)
    of_cpus = text.stretches()
    count = sum(1 for cpu in of_cpus for _ in text.steps(cpu, of_cpus[cpu]))
    stream.write(
        f"# tracer: nop\n#\n# entries-in-buffer/entries-written: {count}/{count}   "
        f"#P:{trace.cpus}\n#\n".encode()
    )
    # The lines of a CPU are in order already, also those of the same time.
    lines = heapq.merge(*(text.steps(cpu, of_cpus[cpu]) for cpu in of_cpus), key=itemgetter(0))
    while piece := "".join(line for _, line in islice(lines, AT_ONCE)):
        stream.write(piece.encode())


class _Text:
    """The lines of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._factor = nanoseconds_per_unit(trace)
        self._pids = thread_numbers(trace)
        self._priorities = [_priority(task.weight) for task in trace.tasks]
        self._names = [_comm(task.name) for task in trace.tasks]
        self._comms = [_comm(name) for name in trace.comms]
        self._fragments = [_printable(name) for name in trace.fragments]
        self._marked = _changes(trace)
        self._ends = _ends(trace, self._pids)
        never = np.zeros(len(trace), bool)
        self._goes_on = never if trace.stop is None else trace.stop == Stop.PREEMPTED
        # No switch leads to this thread, so its switch breaks the chain.
        self._unannounced: Thread = "<...>", free_number(self._pids), PRIORITY_OF_NICE_0, "S"

    def stretches(self) -> dict[int, list[int]]:
        """Return the dispatches and gaps of each CPU in order."""
        order = stretches_in_order(self._trace)
        cpus = np.concatenate([self._trace.cpu, self._trace.gaps.cpu])[order]
        return {int(cpu): order[cpus == cpu].tolist() for cpu in np.unique(cpus)}

    def steps(self, cpu: int, stretches: list[int]) -> Iterator[Step]:
        """Yield the lines about a CPU."""
        idle = f"swapper/{cpu}", IDLE, PRIORITY_OF_NICE_0, "R"
        running = idle
        # The end of the last stretch; if the next one begins later, the CPU is idle in between.
        told: int | None = None
        for number in stretches:
            start, end = self._times(number)
            if running is not idle and (told != start or number >= len(self._trace)):
                yield _switch(cpu, told or 0, running, idle)
                running = idle
            if number < len(self._trace):
                thread = self._thread(number)
                yield _switch(cpu, start, running, thread)
                # A name that consists of blanks cannot be written in such text.
                if number in self._marked and (fragment := self._fragment(number)):
                    head = _head(thread, cpu, start)
                    yield start, f"{head} tracing_mark_write: dfopt:df={fragment}\n"
                running = thread
            else:
                if told != start:
                    yield _switch(cpu, start, idle, idle)
                if self._is_broken_chain(number):
                    yield _switch(cpu, end, self._unannounced, idle)
                else:
                    yield start, f"CPU:{cpu} [LOST EVENTS]\n"
                    yield _switch(cpu, end, idle, idle)
            told = end
        if running is not idle:
            yield _switch(cpu, told or 0, running, idle)

    def _is_broken_chain(self, number: int) -> bool:
        gaps = self._trace.gaps
        return bool(gaps.reasons[gaps.reason[number - len(self._trace)]] == BROKEN_CHAIN)

    def _fragment(self, row: int) -> str:
        name: str = self._fragments[self._trace.fragment[row]]
        return name.strip()

    def _times(self, number: int) -> tuple[int, int]:
        of_gap = number - len(self._trace)
        source, row = (self._trace, number) if of_gap < 0 else (self._trace.gaps, of_gap)
        return self._factor * int(source.start[row]), self._factor * int(source.end[row])

    def _thread(self, row: int) -> Thread:
        trace = self._trace
        task = trace.task[row]
        comm = self._names[task] if trace.comm is None else self._comms[trace.comm[row]]
        state = "X" if row in self._ends else "R" if self._goes_on[row] else "S"
        return comm, self._pids[task], self._priorities[task], state


def _priority(weight: int | None) -> int:
    return PRIORITY_OF_NICE_0 + (0 if weight is None else nice_of_weight(weight))


def _switch(cpu: int, time: int, previous: Thread, following: Thread) -> Step:
    comm, pid, priority, state = previous
    next_comm, next_pid, next_priority, _ = following
    return time, (
        f"{_head(previous, cpu, time)} sched_switch: prev_comm={comm} prev_pid={pid} "
        f"prev_prio={priority} prev_state={state} ==> next_comm={next_comm} next_pid={next_pid} "
        f"next_prio={next_priority}\n"
    )


def _head(thread: Thread, cpu: int, time: int) -> str:
    comm, pid, _, _ = thread
    seconds, rest = divmod(time, SECOND)
    return f"{comm if pid else '<idle>':>16}-{pid:<7} [{cpu:03}] d..2. {seconds}.{rest:09}:"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _comm(name: str) -> str:
    return _printable(name).encode()[:LONGEST_COMM].decode("utf-8", "ignore")


def _changes(trace: Trace) -> set[int]:
    """Return the dispatches with another fragment than their task's dispatch before."""
    managed = np.flatnonzero(trace.fragment != UNMANAGED)
    rows = managed[np.argsort(trace.task[managed], kind="stable")]
    task, fragment = trace.task[rows], trace.fragment[rows]
    changes = np.ones(len(rows), bool)
    changes[1:] = (task[1:] != task[:-1]) | (fragment[1:] != fragment[:-1])
    return set(rows[changes].tolist())


def _ends(trace: Trace, pids: list[int]) -> set[int]:
    """Return the last dispatches of tasks after which their thread's number is used again."""
    pid = np.array(pids, np.int64)[trace.task]
    rows = np.lexsort((trace.end, trace.start, pid))
    last = (pid[rows][1:] == pid[rows][:-1]) & (trace.task[rows][1:] != trace.task[rows][:-1])
    return set(rows[:-1][last].tolist())


def thread_numbers(trace: Trace) -> list[int]:
    """Return a thread's number for each task.

    Tasks that are lives of one thread share its number if each life ends before the next begins.
    Any other task gets a free number.
    """
    first, last = _lifetimes(trace)
    wanted = [_wanted(task) for task in trace.tasks]
    taken = {number for number in wanted if number}
    above = max(taken, default=0)
    # Numbers above all others have as many digits, but there may not be enough of them.
    free = count(above + 1) if above + len(wanted) <= LARGEST_THREAD else count(1)
    numbers = [0] * len(wanted)
    over: dict[int, int] = {}
    for task in np.argsort(first, kind="stable").tolist():
        number = wanted[task]
        if number is None or over.get(number, -1) >= first[task]:
            number = next(candidate for candidate in free if candidate not in taken)
        numbers[task] = number
        over[number] = last[task]
    return numbers


def free_number(numbers: Sequence[int]) -> int:
    """Return a number for a thread that none of these threads has."""
    above = max(numbers, default=0) + 1
    return above if above <= LARGEST_THREAD else min(set(range(1, len(numbers) + 2)) - set(numbers))


def _wanted(task: TraceTask) -> int | None:
    if task.tid is not None and 0 < task.tid <= LARGEST_THREAD:
        return task.tid
    match = NUMBERED.fullmatch(task.name)
    return int(match[1]) if match else None


def _lifetimes(trace: Trace) -> tuple[list[int], list[int]]:
    """Return for each task its first start and its last end; -1 if it never runs."""
    first = np.full(len(trace.tasks), np.iinfo(np.int64).max)
    last = np.full(len(trace.tasks), -1)
    np.minimum.at(first, trace.task, trace.start)
    np.maximum.at(last, trace.task, trace.end)
    return np.where(last < 0, -1, first).tolist(), last.tolist()
