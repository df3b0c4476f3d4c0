"""Which life of a thread an event belongs to: the kernel uses the numbers of threads again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.trace.events import Integers, KernelEvents, Numbers

NEVER = np.iinfo(np.int64).max
"""Later than any event."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lives:
    """The moments at which a thread's number begins to mean another thread.

    Parameters
    ----------
    pid, time
        Ordered by both: from ``time`` on, ``pid`` is a new thread.
    """

    pid: Numbers
    time: Integers

    def of(self, pid: Numbers, time: Integers) -> Integers:
        """Return for each event how many lives its thread's number had begun by then."""
        if not len(self.pid):
            return np.zeros(len(pid), np.int64)
        # Pairs of thread and time as one number each: of the time, only which beginnings are
        # over by then matters. What happens in the nanosecond of a beginning comes after it.
        moments = np.unique(self.time)
        width = len(moments) + 1
        begins = self.pid * np.int64(width) + np.searchsorted(moments, self.time, "right")
        thread = pid * np.int64(width)
        until = np.searchsorted(begins, thread + np.searchsorted(moments, time, "right"), "right")
        return until - np.searchsorted(begins, thread, "left")


def lives_of(events: KernelEvents) -> Lives:
    """Return when threads' numbers begin new lives: at forks, and after a thread has ended."""
    pid, time = _last_moments(events)
    pid = np.concatenate([events.forks.child, pid])
    # A thread that has ended still runs until its last switch, so a new life begins after it.
    time = np.concatenate([events.forks.time, time + 1])
    order = np.lexsort((time, pid))
    return Lives(pid=pid[order], time=time[order])


def _last_moments(events: KernelEvents) -> tuple[Numbers, Integers]:
    """Return the threads that end, and when the last switch leaves them.

    A thread may still sleep and be preempted after it has said that it exits: its last switch
    tells by its state. Only where that one is missing, the next switch has to do.
    """
    switches, forks, exits = events.switches, events.forks, events.exits
    births = np.lexsort((forks.time, forks.child))
    born, birth = forks.child[births], forks.time[births]
    places = np.flatnonzero(np.isin(switches.previous, exits.pid))
    places = places[np.lexsort((switches.time[places], switches.previous[places]))]
    ended = switches.previous_ended.copy()
    thread, moment = switches.previous[places], switches.time[places]
    for pid, time in zip(exits.pid, exits.time, strict=True):
        reused = _of_thread(born, birth, pid, time)
        until = birth[reused.start] if reused.start < reused.stop else NEVER
        leaving = _of_thread(thread, moment, pid, time, until)
        if leaving.start < leaving.stop and not ended[places[leaving]].any():
            ended[places[leaving.start]] = True
    return switches.previous[ended], switches.time[ended]


def _of_thread(pids: Numbers, times: Integers, pid: int, since: int, until: int = NEVER) -> slice:
    """Return where a thread's events from ``since`` to ``until`` stand among ordered ones."""
    first, last = np.searchsorted(pids, [pid, pid + 1])
    start, stop = first + np.searchsorted(times[first:last], [since, until])
    return slice(int(start), int(stop))
