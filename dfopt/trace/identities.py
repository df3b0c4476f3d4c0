"""Which life of a thread an event belongs to: the kernel uses the numbers of threads again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.trace.events import Integers, KernelEvents, Numbers


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
        # Beginnings come before what happens in the same nanosecond.
        pids = np.concatenate([self.pid, pid])
        times = np.concatenate([self.time, time])
        begins = np.zeros(len(pids), bool)
        begins[: len(self.pid)] = True
        order = np.lexsort((~begins, times, pids))
        counts = np.cumsum(begins[order])
        first = np.flatnonzero(np.diff(pids[order], prepend=-2))
        lengths = np.diff(first, append=len(order))
        before = counts[first] - begins[order][first]
        lives = np.empty(len(order), np.int64)
        lives[order] = counts - np.repeat(before, lengths)
        return lives[len(self.pid) :]


def lives_of(events: KernelEvents) -> Lives:
    """Return when threads' numbers begin new lives: at forks, and after a thread has ended."""
    pid, time = _last_moments(events)
    pid = np.concatenate([events.forks.child, pid])
    # A thread that has ended still runs until its last switch, so a new life begins after it.
    time = np.concatenate([events.forks.time, time + 1])
    order = np.lexsort((time, pid))
    return Lives(pid=pid[order], time=time[order])


def _last_moments(events: KernelEvents) -> tuple[Numbers, Integers]:
    """Return the threads that end, and when the last switch leaves them."""
    switches, exits = events.switches, events.exits
    by_thread = np.lexsort((switches.time, switches.previous))
    pids, times = switches.previous[by_thread], switches.time[by_thread]
    ended = switches.previous_ended[by_thread]
    for pid, time in zip(exits.pid, exits.time, strict=True):
        first, last = np.searchsorted(pids, [pid, pid + 1])
        after = first + int(np.searchsorted(times[first:last], time))
        if after < last:
            ended[after] = True
    return pids[ended], times[ended]
