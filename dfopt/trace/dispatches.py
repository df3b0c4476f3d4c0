"""From the kernel's events to dispatches, gaps and tasks.

A dispatch lies between two consecutive switches of a CPU. The first switch says which thread runs
next, the second which thread has run. Where both name the same thread, it ran in between. Where
they do not, a switch is missing, and the time between them is a gap.

The kernel uses the numbers of threads again, so a task is one life of a thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.errors import FileError
from dfopt.structs import replace
from dfopt.trace.events import ANY_CPU, Flags, Integers, KernelEvents, Numbers, Stop, Switches
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
    TaskForks,
    TaskMarks,
    TaskWakeups,
    Trace,
    TraceHeader,
    TraceTask,
)

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
    switches, position = _by_cpu(events.switches)
    time, steps_back = _rising(switches)
    same_cpu = switches.cpu[1:] == switches.cpu[:-1]
    lost = _lost(events, switches.cpu, position) & same_cpu
    broken = (switches.next[:-1] != switches.previous[1:]) & same_cpu & ~lost & ~steps_back
    # Pair i consists of the switches i and i + 1.
    known = np.flatnonzero(same_cpu & ~lost & ~broken & ~steps_back)
    ran = known[switches.previous[known + 1] != IDLE]
    ran = ran[np.argsort(time[ran], kind="stable")]
    pid, start = switches.previous[ran + 1], time[ran]
    lives = lives_of(events)
    tasks = _Tasks(events, lives, pid, start, switches.next_priority[ran])
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
        wakeups=tasks.wakeups(),
        first_wakeups=tasks.first_wakeups(),
        forks=tasks.forks(),
        marks=tasks.marks(),
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


def _by_cpu(switches: Switches) -> tuple[Switches, Integers]:
    """Return the switches CPU by CPU, in the order of the file, and their positions in the file."""
    position = np.argsort(switches.cpu, kind="stable")
    columns = {name: getattr(switches, name)[position] for name in switches.__slots__}
    return replace(switches, **columns), position


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
        task=ran_last if (ran_last >= 0).any() else None,
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
        self,
        events: KernelEvents,
        lives: Lives,
        pid: Numbers,
        time: Integers,
        priority: Numbers,
    ) -> None:
        self._events = events
        self._lives = lives
        forks, wakeups, marks = events.forks, events.wakeups, events.marks
        running = self._keys(pid, time)
        others = [
            self._keys(threads, times)
            for threads, times in (
                (forks.parent, forks.time),
                (forks.child, forks.time),
                (wakeups.waker, wakeups.time),
                (wakeups.woken, wakeups.time),
                (marks.pid, marks.time),
            )
        ]
        keys = np.unique(np.concatenate([running, *others]))
        # Ordered by the threads' numbers, and then by their lives.
        self._known = keys[keys >> 32 != IDLE]
        self.tasks = self._named(_weights(running, priority))
        self.running = np.searchsorted(self._known, running).astype(np.int32)

    def _keys(self, pid: Numbers, time: Integers) -> Integers:
        return pid.astype(np.int64) << 32 | self._lives.of(pid, time)

    def _named(self, weights: dict[int, int]) -> tuple[TraceTask, ...]:
        groups = self._events.groups
        group_keys = self._keys(groups.pid, groups.time)
        tgids = dict(zip(group_keys.tolist(), groups.tgid.tolist(), strict=True))
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

    def wakeups(self) -> TaskWakeups:
        """Return the wake-ups between tasks, by time."""
        wakeups = self._events.wakeups
        order = np.argsort(wakeups.time, kind="stable")
        time = wakeups.time[order]
        return TaskWakeups(
            time=time,
            waker=self.numbers(wakeups.waker[order], time),
            woken=self.numbers(wakeups.woken[order], time),
        )

    def first_wakeups(self) -> TaskWakeups:
        """Return the first wake-ups of the tasks that other events name, by time."""
        wakeups = self._events.first_wakeups
        order = np.argsort(wakeups.time, kind="stable")
        time = wakeups.time[order]
        woken = self.numbers(wakeups.woken[order], time)
        known = woken >= 0
        return TaskWakeups(
            time=time[known],
            waker=self.numbers(wakeups.waker[order], time)[known],
            woken=woken[known],
        )

    def forks(self) -> TaskForks:
        """Return the forks of tasks, by time."""
        forks = self._events.forks
        order = np.argsort(forks.time, kind="stable")
        time = forks.time[order]
        return TaskForks(
            time=time,
            parent=self.numbers(forks.parent[order], time),
            child=self.numbers(forks.child[order], time),
        )

    def marks(self) -> TaskMarks:
        """Return the marks in which tasks name their fragments, by time."""
        marks = self._events.marks
        order = np.argsort(marks.time, kind="stable")
        time = marks.time[order]
        return TaskMarks(
            time=time,
            task=self.numbers(marks.pid[order], time),
            df=marks.df[order],
            names=marks.names,
        )


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lives:
    """The moments from which on a number means another thread than before.

    Parameters
    ----------
    pid, time
        Ordered by both: from ``time`` on, ``pid`` is a new thread.
    """

    pid: Numbers
    time: Integers

    def of(self, pid: Numbers, time: Integers) -> Integers:
        """Return for each event the number of lives that its thread's number has begun by then."""
        if not len(self.pid):
            return np.zeros(len(pid), np.int64)
        # Thread and time together are one number. Of a time, only the lives that have begun by then
        # matter. An event in the nanosecond in which a life begins comes after its beginning.
        moments = np.unique(self.time)
        width = len(moments) + 1
        begins = self.pid * np.int64(width) + np.searchsorted(moments, self.time, "right")
        thread = pid * np.int64(width)
        until = np.searchsorted(begins, thread + np.searchsorted(moments, time, "right"), "right")
        return until - np.searchsorted(begins, thread, "left")


def lives_of(events: KernelEvents) -> Lives:
    """Return when new lives begin: at forks, and after the end of a thread."""
    pid, time = _last_moments(events)
    pid = np.concatenate([events.forks.child, pid])
    # A thread that exits still runs until its last switch; a new life begins after that.
    time = np.concatenate([events.forks.time, time + 1])
    order = np.lexsort((time, pid))
    return Lives(pid=pid[order], time=time[order])


def _last_moments(events: KernelEvents) -> tuple[Numbers, Integers]:
    """Return the threads that end, and the time of the last switch from each of them.

    A thread may sleep and be preempted after its exit event; the state in its last switch says
    that it has ended. Where that switch is missing, the first one after the exit is taken.
    """
    switches, forks, exits = events.switches, events.forks, events.exits
    births = np.lexsort((forks.time, forks.child))
    born, birth = forks.child[births], forks.time[births]
    rows = np.flatnonzero(np.isin(switches.previous, exits.pid))
    rows = rows[np.lexsort((switches.time[rows], switches.previous[rows]))]
    ended = switches.previous_stop == Stop.ENDS
    thread, moment = switches.previous[rows], switches.time[rows]
    for pid, time in zip(exits.pid, exits.time, strict=True):
        reused = _of_thread(born, birth, pid, time)
        until = birth[reused.start] if reused.start < reused.stop else NEVER
        leaving = _of_thread(thread, moment, pid, time, until)
        if leaving.start < leaving.stop and not ended[rows[leaving]].any():
            ended[rows[leaving.start]] = True
    return switches.previous[ended], switches.time[ended]


def _of_thread(pids: Numbers, times: Integers, pid: int, since: int, until: int = NEVER) -> slice:
    """Return a thread's rows from ``since`` to ``until``; rows are ordered by thread and time."""
    first, last = np.searchsorted(pids, [pid, pid + 1])
    start, stop = first + np.searchsorted(times[first:last], [since, until])
    return slice(int(start), int(stop))
