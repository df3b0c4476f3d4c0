"""From the kernel's events to dispatches, gaps and tasks.

A dispatch lies between two consecutive switches of a CPU. The first switch says which thread runs
next, the second which thread has run. Where both name the same thread, it ran in between. Where
they do not, a switch is missing, and the time between them is a gap.

The kernel uses the numbers of threads again, so a task is one life of a thread.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from dfopt.errors import FileError
from dfopt.structs import replace
from dfopt.trace.events import (
    ANY_CPU,
    Flags,
    Forks,
    Integers,
    KernelEvents,
    Marks,
    Numbers,
    Stop,
    Switches,
    Wakeups,
)
from dfopt.trace.moments import Moments
from dfopt.trace.nice import (
    LEAST_URGENT,
    MOST_URGENT,
    NICE_0,
    PRIORITY_OF_NICE_0,
    weight_of_nice,
)
from dfopt.trace.quality import Quality
from dfopt.trace.trace import (
    BROKEN_CHAIN,
    CLOCK_WENT_BACK,
    LOST_EVENTS,
    UNMANAGED,
    Gaps,
    Trace,
    TraceHeader,
    TraceTask,
    given,
)

TaskEvents = TypeVar("TaskEvents", Wakeups, Forks, Marks)

NEVER = np.iinfo(np.int64).max
"""A time after all events."""

IDLE = 0
"""The number of every idle thread."""

REASONS = (LOST_EVENTS, BROKEN_CHAIN, CLOCK_WENT_BACK)

MOST_CLOCK_STEPS = 0.01
"""A trace is refused if its clock goes back at more than this share of the switches ..."""

FEW_CLOCK_STEPS = 10
"""... and at more than this number of them."""


def trace_of(events: KernelEvents, *, name: str | None = None) -> Trace:
    """Return the trace that the kernel's events describe.

    Parameters
    ----------
    events
        The events that a reader found.
    name
        The name of the trace.

    Raises
    ------
    FileError
        When there is no switch, or the clock of a CPU goes back too often.
    """
    if not len(events.switches.cpu):
        raise FileError("holds no sched_switch event; record sched:sched_switch")
    # The switches CPU by CPU, in the order of the file, and their positions in the file.
    position = np.argsort(events.switches.cpu, kind="stable")
    switches = events.switches.chosen(position)
    time, steps_back = _rising(switches)
    same_cpu = switches.cpu[1:] == switches.cpu[:-1]
    lost = _lost(events, switches.cpu, position) & same_cpu
    broken = (switches.next[:-1] != switches.previous[1:]) & same_cpu & ~lost & ~steps_back
    # Pair i consists of the switches i and i + 1.
    known = np.flatnonzero(same_cpu & ~lost & ~broken & ~steps_back)
    ran = known[switches.previous[known + 1] != IDLE]
    ran = ran[np.argsort(time[ran], kind="stable")]
    pid, start = switches.previous[ran + 1], time[ran]
    tasks = _Tasks(events, pid, start, switches.next_priority[ran])
    first_wakeups = tasks.of_threads(events.first_wakeups, "waker", "woken")
    cpus, silent = _cpus(events)
    return Trace(
        cpus=cpus,
        cpu=switches.cpu[ran],
        start=start,
        end=time[ran + 1],
        task=tasks.running,
        comm=switches.previous_comm[ran + 1],
        stop=switches.previous_stop[ran + 1],
        fragment=np.full(len(ran), UNMANAGED, np.int32),
        tasks=tasks.tasks,
        comms=events.comms,
        gaps=_gaps(switches, time, (lost, broken, steps_back), tasks),
        wakeups=tasks.of_threads(events.wakeups, "waker", "woken"),
        # Only of tasks that other events name.
        first_wakeups=first_wakeups.chosen(first_wakeups.woken >= 0),
        forks=tasks.of_threads(events.forks, "parent", "child"),
        marks=tasks.of_threads(events.marks, "task"),
        header=TraceHeader(name=name, time_unit="ns"),
        quality=Quality(
            lines=events.lines,
            unparsed=events.unparsed,
            first_unparsed=events.first_unparsed,
            events=len(switches.cpu),
            breaks=int(broken.sum()),
            losses=len(events.losses),
            lost_events=sum(loss.events for loss in events.losses),
            overwritten=events.overwritten,
            clock_steps=int(steps_back.sum()),
            silent_cpus=silent,
        ),
    )


def _rising(switches: Switches) -> tuple[Integers, Flags]:
    """Return times that never go back on a CPU, and the pairs of switches where they did."""
    time = switches.time.copy()
    firsts = np.flatnonzero(np.diff(switches.cpu, prepend=-1))
    for first, last in zip(firsts, [*firsts[1:], len(time)], strict=True):
        np.maximum.accumulate(time[first:last], out=time[first:last])
    steps_back = (switches.time < time)[1:]
    steps = int(steps_back.sum())
    if steps > max(FEW_CLOCK_STEPS, MOST_CLOCK_STEPS * len(time)):
        raise FileError(
            f"the time goes back on a CPU at {steps} of {len(time)} switches; record with one "
            "clock, and sort what was put together from several files"
        )
    return time, steps_back


def _lost(events: KernelEvents, cpu: Numbers, position: Integers) -> Flags:
    """Return the pairs of switches between which the file says that events were lost."""
    between = np.zeros(max(0, len(cpu) - 1), bool)
    for loss in events.losses:
        numbers = np.unique(cpu) if loss.cpu == ANY_CPU else [loss.cpu]
        for number in numbers:
            first, last = np.searchsorted(cpu, [number, number + 1])
            after = first + int(np.searchsorted(position[first:last], loss.switches_before))
            if first < after < last:
                between[after - 1] = True
    return between


def _gaps(switches: Switches, time: Integers, by_reason: tuple[Flags, ...], tasks: _Tasks) -> Gaps:
    """Return the gaps; for each of the ``REASONS`` the pairs of switches around its gaps."""
    found = [np.flatnonzero(is_gap) for is_gap in by_reason]
    pairs = np.concatenate(found)
    reason = np.repeat(np.arange(len(found), dtype=np.int32), [len(gaps) for gaps in found])
    order = np.lexsort((switches.cpu[pairs], time[pairs]))
    pairs = pairs[order]
    ran_last = tasks.numbers(switches.previous[pairs + 1], time[pairs + 1])
    return Gaps(
        cpu=switches.cpu[pairs],
        start=time[pairs],
        end=time[pairs + 1],
        reason=reason[order],
        reasons=REASONS,
        task=given(ran_last),
    )


def _cpus(events: KernelEvents) -> tuple[int, tuple[int, ...]]:
    """Return the number of CPUs, and those without any switch."""
    seen = np.unique(events.switches.cpu)
    highest = int(seen[-1])
    if events.cpus is not None and highest >= events.cpus:
        raise FileError(
            f"has events on CPU {highest} but declares {events.cpus} CPUs; correct the header"
        )
    cpus = events.cpus or highest + 1
    return cpus, tuple(np.setdiff1d(np.arange(cpus), seen).tolist())


class _Tasks:
    """The tasks of a trace: one for each life of each thread that any event names."""

    def __init__(
        self, events: KernelEvents, pid: Numbers, time: Integers, priority: Numbers
    ) -> None:
        self._lives = lives_of(events)
        forks, wakeups, marks = events.forks, events.wakeups, events.marks
        running = self._keys(pid, time)
        others = [
            self._keys(threads, times)
            for threads, times in (
                (forks.parent, forks.time),
                (forks.child, forks.time),
                (wakeups.waker, wakeups.time),
                (wakeups.woken, wakeups.time),
                (marks.task, marks.time),
            )
        ]
        keys = np.unique(np.concatenate([running, *others]))
        # Ordered by the threads' numbers, and then by their lives.
        self._known = keys[keys >> 32 != IDLE]
        groups = events.groups
        group_keys = self._keys(groups.pid, groups.time)
        tgids = dict(zip(group_keys.tolist(), groups.tgid.tolist(), strict=True))
        self.tasks = self._named(tgids, _weights(running, priority))
        self.running = np.searchsorted(self._known, running).astype(np.int32)

    def _keys(self, pid: Numbers, time: Integers) -> Integers:
        return pid.astype(np.int64) << 32 | self._lives.count(pid, time)

    def _named(self, tgids: dict[int, int], weights: dict[int, int]) -> tuple[TraceTask, ...]:
        tasks = []
        previous, life = -1, 0
        for key in self._known.tolist():
            pid = key >> 32
            life = life + 1 if pid == previous else 1
            previous = pid
            name = str(pid) if life == 1 else f"{pid}.{life}"
            weight = weights.get(key, NICE_0)
            tasks.append(
                TraceTask(
                    name=name,
                    tid=pid,
                    tgid=tgids.get(key),
                    weight=None if weight == NICE_0 else weight,
                )
            )
        return tuple(tasks)

    def numbers(self, pid: Numbers, time: Integers) -> Numbers:
        """Return the task of each thread at a time; -1 for idle threads and unknown ones."""
        keys = self._keys(pid, time)
        number = np.searchsorted(self._known, keys).astype(np.int32)
        number[np.append(self._known, -1)[number] != keys] = -1
        return number

    def of_threads(self, events: TaskEvents, *columns: str) -> TaskEvents:
        """Return events by time, with tasks in the place of the threads in these columns."""
        ordered = events.chosen(np.argsort(events.time, kind="stable"))
        numbers = {name: self.numbers(getattr(ordered, name), ordered.time) for name in columns}
        return replace(ordered, **numbers)


def _weights(thread: Integers, priority: Numbers) -> dict[int, int]:
    """Return the weights of threads that had another nice value than 0 in some dispatch.

    The last nice value of a thread counts. A real-time priority may be lent to a thread that holds
    a lock, and says nothing about shares, so it does not count.
    """
    nice = priority - PRIORITY_OF_NICE_0
    is_nice = (nice >= MOST_URGENT) & (nice <= LEAST_URGENT)
    rows = np.flatnonzero(is_nice & np.isin(thread, thread[is_nice & (nice != 0)]))
    last = dict(zip(thread[rows].tolist(), nice[rows].tolist(), strict=True))
    return {thread: weight_of_nice(value) for thread, value in last.items()}


def lives_of(events: KernelEvents) -> Moments:
    """Return when new lives begin: at forks, and after the end of a thread.

    An event in the nanosecond in which a life begins comes after its beginning.
    """
    pid, time = _last_moments(events)
    # A thread that exits still runs until its last switch; a new life begins after that.
    return Moments(
        np.concatenate([events.forks.child, pid]), np.concatenate([events.forks.time, time + 1])
    )


def _last_moments(events: KernelEvents) -> tuple[Numbers, Integers]:
    """Return the threads that end, and the time of the last switch from each of them.

    A thread may sleep and be preempted after its exit event; the state in its last switch says
    that it has ended. Where that switch is missing, the first one after the exit is taken.
    """
    switches, forks, exits = events.switches, events.forks, events.exits
    rows = np.flatnonzero(np.isin(switches.previous, exits.pid))
    switched = Moments(switches.previous[rows], switches.time[rows])
    reused = Moments(forks.child, forks.time).following(exits.pid, exits.time)
    until = np.append(forks.time, NEVER)[reused]  # the last one stands for no fork
    ended = switches.previous_stop == Stop.ENDS
    first, last = switched.since(exits.pid, exits.time), switched.since(exits.pid, until)
    for life in map(slice, first.tolist(), last.tolist()):
        leaving = rows[switched.order[life]]
        if len(leaving) and not ended[leaving].any():
            ended[leaving[0]] = True
    return switches.previous[ended], switches.time[ended]
