"""The switches in the bundles of events of Perfetto's traces.

The events of a CPU come in bundles, in order of time. The bundles of all CPUs stand in the order in
which the recorder read their buffers. A bundle holds switches one by one, or as columns
(``compact_sched``). The columns say which thread runs next, but not which one has run: that is the
thread to which the CPU's switch before went.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.trace.dispatches import IDLE
from dfopt.trace.events import STATE_BITS, Integers, Stop, Switches
from dfopt.trace.trace import Numbering

UNKNOWN = -1
"""A thread that a column leaves out."""

IDLE_COMM = "swapper"

ENDED = 0x10 | 0x20
"""The bits of a thread's state that say that it has ended (EXIT_DEAD, EXIT_ZOMBIE)."""

IN_INTERRUPT = 0x08 | 0x40
"""The bits of an event's flags that say that a hardware interrupt caused it.

The bit 0x10, a soft interrupt, is not among them: threads raise those themselves, for instance when
they send.
"""

SWITCH_COLUMNS = 8


class Bundles:
    """The switches of all bundles, and the wakeups in columns, in the order of the file."""

    def __init__(self, comms: Numbering) -> None:
        self._comms = comms
        self._idle_comm = comms[IDLE_COMM]
        self.switch_count = 0
        # Rows of cpu, time, previous, its comm, its state, next, its comm, its priority.
        self._switches: list[Integers] = []
        # Rows of time, waker, woken; the CPU of the waker where that is unknown.
        self._wakings: list[tuple[int, Integers]] = []

    def add(
        self,
        cpu: int,
        *,
        events: list[tuple[int, ...]],
        columns: Any,
        follows_loss: bool,
    ) -> None:
        """Add the switches of a bundle, and the wakeups of its columns.

        Parameters
        ----------
        cpu
            Its CPU.
        events
            Switches one by one: rows of time, previous, its comm, its state, next, its comm, its
            priority.
        columns
            Switches and wakeups in columns, a ``CompactSched``.
        follows_loss
            Whether it is unknown which thread ran before the bundle's first switch.
        """
        rows = table(events, SWITCH_COLUMNS - 1)
        if columns.switch_timestamp:
            rows = np.concatenate([rows, self._switch_rows(columns)])
            if events:
                rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if columns.waking_timestamp:
            self._wakings.append((cpu, _waking_rows(columns)))
        if follows_loss and len(rows) and rows[0, 1] == UNKNOWN:
            rows[0, 1:4] = (IDLE, self._idle_comm, 0)
        self._switches.append(np.insert(rows, 0, cpu, axis=1))
        self.switch_count += len(rows)

    def _switch_rows(self, columns: Any) -> Integers:
        time = _times(columns.switch_timestamp)
        state = np.array(columns.switch_prev_state, np.int64)
        following = _whole(columns.switch_next_pid)
        comm = _whole(columns.switch_next_comm_index)
        priority = np.array(columns.switch_next_prio, np.int64)
        names = [self._comms[words(name)] for name in columns.intern_table]
        if not len(time) == len(state) == len(following) == len(comm) == len(priority):
            raise FileError("holds columns of unequal length; the file is damaged, copy it again")
        if comm.max() >= len(names):
            raise FileError(
                "names a comm that it does not hold; the file is damaged, copy it again"
            )
        unknown = np.full(len(time), UNKNOWN)
        named = np.array(names, np.int64)[comm]
        return np.column_stack([time, unknown, unknown, state, following, named, priority])

    def switches(self) -> Switches:
        """Return all switches; where the thread that ran was left out, it is filled in."""
        rows = np.concatenate([np.empty((0, SWITCH_COLUMNS), np.int64), *self._switches])
        order = np.argsort(rows[:, 0], kind="stable")
        sorted_rows = rows[order]
        unknown = np.flatnonzero(sorted_rows[:, 2] == UNKNOWN)
        before = sorted_rows[unknown - 1]
        has_before = (before[:, 0] == sorted_rows[unknown, 0]) & (unknown > 0)
        sorted_rows[unknown, 2] = np.where(has_before, before[:, 5], IDLE)
        sorted_rows[unknown, 3] = np.where(has_before, before[:, 6], self._idle_comm)
        sorted_rows[unknown, 4] *= has_before
        rows[order] = sorted_rows
        state = rows[:, 4]
        asleep = np.where(state & STATE_BITS, Stop.SLEEPS, Stop.PREEMPTED)
        return Switches(
            cpu=rows[:, 0].astype(np.int32),
            time=rows[:, 1].copy(),
            previous=rows[:, 2].astype(np.int32),
            previous_comm=rows[:, 3].astype(np.int32),
            previous_stop=np.where(state & ENDED, Stop.ENDS, asleep).astype(np.int8),
            next=rows[:, 5].astype(np.int32),
            next_priority=rows[:, 7].astype(np.int32),
        )

    def wakings(self, switches: Switches) -> Integers:
        """Return the wakeups that are given as columns: rows of time, waker, woken."""
        found = [np.empty((0, 3), np.int64)]
        for cpu in sorted({cpu for cpu, _ in self._wakings}):
            rows = np.concatenate([part for number, part in self._wakings if number == cpu])
            mine = switches.cpu == cpu
            times, following = np.maximum.accumulate(switches.time[mine]), switches.next[mine]
            before = np.searchsorted(times, rows[:, 0], side="right") - 1
            ran = np.where(before >= 0, following[before], IDLE) if len(times) else IDLE
            rows[:, 1] = np.where(rows[:, 1] == UNKNOWN, ran, rows[:, 1])
            found.append(rows)
        return np.concatenate(found)


def words(text: str | bytes) -> str:
    """Return a text of a packet, which the classes give as bytes where it is not UTF-8."""
    return text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")


def table(rows: list[tuple[int, ...]], width: int = 3) -> Integers:
    """Return rows of numbers as an array, also where there are none."""
    return np.array(rows, np.int64).reshape(-1, width)


def _whole(values: Any) -> Integers:
    column = np.array(values, np.int64)
    if len(column) and column.min() < 0:
        raise FileError(f"holds the number {column.min()}; the file is damaged, copy it again")
    return column


def _times(differences: Any) -> Integers:
    """Return times; all but the first are given as differences from the one before."""
    if sum(differences) > LARGEST_TOTAL:
        raise FileError("holds a time beyond 2^62; the file is damaged, copy it again")
    return np.cumsum(np.array(differences, np.int64))


def _waking_rows(columns: Any) -> Integers:
    time, woken = _times(columns.waking_timestamp), _whole(columns.waking_pid)
    flags = np.array(columns.waking_common_flags, np.int64)
    if len(time) != len(woken):
        raise FileError("holds columns of unequal length; the file is damaged, copy it again")
    if len(flags) != len(time):  # older versions did not record them
        flags = np.zeros(len(time), np.int64)
    waker = np.where(flags & IN_INTERRUPT, IDLE, UNKNOWN)
    return np.column_stack([time, waker, woken])
