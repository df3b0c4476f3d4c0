"""The kernel's scheduling events in lines of text, as columns.

A pattern of :mod:`dfopt.trace.readers.event_lines` finds the fields of many lines at once.
:class:`EventColumns` collects them, piece by piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dfopt.trace.events import (
    STATE_BITS,
    Exits,
    Forks,
    Integers,
    KernelEvents,
    Marks,
    Numbers,
    Stop,
    Stops,
    Switches,
    ThreadGroups,
    Wakeups,
)
from dfopt.trace.trace import Numbering

Row = tuple[bytes, ...]
"""The groups of one line; those that took no part are empty."""

PREVIOUS = ("previous", "plugin_previous", "old_previous")
_COMM = ("comm", "plugin_comm", "old_comm")
_STATE = ("state", "plugin_state", "old_state")
_NEXT = ("next", "plugin_next", "old_next")
_PRIORITY = ("priority", "plugin_priority", "old_priority")

_HARD_INTERRUPTS = frozenset((b"h", b"H", b"z", b"Z"))
"""The third flag of tracefs while the CPU handles an interrupt that no thread asked for."""


_ARRAY, _ARRAY_END = b"ARRAY[", b"]"
"""Around the comms that ``trace-cmd report -R`` writes after the first comm that is not ASCII."""

LONGEST_COMM = 15

_ENDED_LETTERS = frozenset(b"XZx")
"""States of a thread that never runs again: dead, or a zombie (x: on kernels before 4.14)."""

_ENDED_BITS = 0x70
"""The same states as bits of a number: X and Z, which changed places once, and x.

In newer kernels 0x40 says that a thread of the kernel is parked. That is far rarer than the end of
a thread. Its only effect here is that the parked thread gets a second life.
"""


class Fields:
    """Takes columns out of rows by the names of a pattern's groups.

    Where several names are given, the group that took part in a row gives its value. If the pattern
    has no group of a name, that group takes part in no row.
    """

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._places = {name: number - 1 for name, number in pattern.groupindex.items()}

    def have(self, rows: Iterable[Row], name: str) -> bool:
        """Whether a group took part in any of the rows."""
        place = self._places.get(name)
        return place is not None and any(map(itemgetter(place), rows))

    def having(self, rows: Iterable[Row], name: str) -> list[Row]:
        """Return the rows in which a group took part."""
        place = self._places.get(name)
        if place is None:
            return []
        return [row for row in rows if row[place]]

    def words(self, rows: Sequence[Row], *names: str) -> list[bytes]:
        """Return a column as it stands in the text."""
        places = [self._places[name] for name in names if name in self._places]
        if not places:
            return [b""] * len(rows)
        column = list(map(itemgetter(places[0]), rows))
        for place in places[1:]:
            if any(map(itemgetter(place), rows)):
                other = map(itemgetter(place), rows)
                column = [word or instead for word, instead in zip(column, other, strict=True)]
        return column

    def numbers(self, rows: Sequence[Row], *names: str) -> Numbers:
        """Return a column of numbers."""
        return _parsed(b" ".join(self.words(rows, *names))).astype(np.int32)

    def times(self, rows: Sequence[Row]) -> Integers:
        """Return the times of the lines' events, in nanoseconds."""
        # All have six places, so that without the point they are microseconds.
        times = _parsed(b" ".join(self.words(rows, "time")).replace(b".", b"")) * 1000
        if self.have(rows, "nanoseconds"):
            rest = self.words(rows, "nanoseconds")
            times += _parsed(b" ".join([digits or b"0" for digits in rest]))
        return times


def _parsed(numbers: bytes) -> Integers:
    # NumPy warns if there is nothing to parse.
    return np.fromstring(numbers, np.int64, sep=" ") if numbers else np.empty(0, np.int64)


class GrowingColumns:
    """Columns that grow piece by piece.

    Parameters
    ----------
    types
        One for each column.
    """

    def __init__(self, *types: DTypeLike) -> None:
        self._types = types
        self._pieces: list[tuple[NDArray[Any], ...]] = []

    def __bool__(self) -> bool:
        """Whether there is any row."""
        return bool(self._pieces)

    def add(self, *columns: NDArray[Any]) -> None:
        """Add rows, a piece of each column."""
        if len(columns[0]):
            self._pieces.append(columns)

    def clear(self) -> None:
        """Drop all rows."""
        self._pieces.clear()

    def joined(self) -> list[NDArray[Any]]:
        """Return the whole columns."""
        if not self._pieces:
            return [np.empty(0, type_of_column) for type_of_column in self._types]
        return [np.concatenate(column) for column in zip(*self._pieces, strict=True)]


class _Names(dict[bytes, int]):
    """The numbers of names; a name may be any bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = Numbering()

    def __missing__(self, name: bytes) -> int:
        number = self[name] = self._texts[self.plain(name).decode("utf-8", "backslashreplace")]
        return number

    @staticmethod
    def plain(name: bytes) -> bytes:
        """Return the name that a word in the text stands for."""
        return name

    def numbers(self, names: Sequence[bytes]) -> Numbers:
        return np.fromiter(map(self.__getitem__, names), np.int32, len(names))

    @property
    def texts(self) -> tuple[str, ...]:
        return self._texts.names


class _Comms(_Names):
    """Numbers of comms."""

    @staticmethod
    def plain(name: bytes) -> bytes:
        if len(name) > LONGEST_COMM and name.startswith(_ARRAY) and name.endswith(_ARRAY_END):
            hexadecimal = name[len(_ARRAY) : -len(_ARRAY_END)].replace(b",", b"").decode("latin-1")
            try:
                return bytes.fromhex(hexadecimal).partition(b"\0")[0]
            except ValueError:
                return name
        return name


class _StopOfState(dict[bytes, Stop]):
    """What each state says about a thread that leaves its CPU."""

    def __missing__(self, state: bytes) -> Stop:
        stop = self[state] = stop_of(state)
        return stop

    def column(self, states: Sequence[bytes]) -> Stops:
        return np.fromiter(map(self.__getitem__, states), np.int8, len(states))


class EventColumns:
    """The events that were found so far."""

    def __init__(self) -> None:
        self._comms = _Comms()
        self._fragments = _Names()
        self._stops = _StopOfState()
        self._switches = GrowingColumns(
            np.int32, np.int64, np.int32, np.int32, np.int8, np.int32, np.int32
        )
        self._waking = GrowingColumns(np.int64, np.int32, np.int32)
        self._wakeups = GrowingColumns(np.int64, np.int32, np.int32)
        self._forks = GrowingColumns(np.int64, np.int32, np.int32)
        self._births = GrowingColumns(np.int64, np.int32, np.int32)
        self._exits = GrowingColumns(np.int64, np.int32)
        self._groups = GrowingColumns(np.int64, np.int32, np.int32)
        self._marks = GrowingColumns(np.int64, np.int32, np.int32)
        self.switch_count = 0

    def add(self, rows: Sequence[Row], fields: Fields) -> None:
        """Add the events in the next lines of the file."""
        having = fields.having
        switches = having(rows, "switch")
        wakeups = having(rows, "wakeup")
        forks = having(rows, "fork")
        exits = having(rows, "exit")
        marks = having(rows, "mark")
        ends = bool(switches) and self._add_switches(switches, fields)
        births = bool(wakeups) and self._add_wakeups(wakeups, fields)
        if forks:
            self._add_forks(forks, fields)
        if exits:
            self._add_exits(exits, fields)
        if marks:
            self._add_marks(marks, fields)
        known = fields.having([*switches, *wakeups, *forks, *exits, *marks], "tgid")
        if known:
            # If no life begins or ends in these lines, one row for each thread is enough.
            self._add_groups(known, fields, once=not (ends or births or forks or exits))

    def _add_switches(self, rows: Sequence[Row], fields: Fields) -> bool:
        """Add switches, and return whether a thread ends in one of them."""
        stop = self._stops.column(fields.words(rows, *_STATE))
        self._switches.add(
            fields.numbers(rows, "cpu"),
            fields.times(rows),
            fields.numbers(rows, *PREVIOUS),
            self._comms.numbers(fields.words(rows, *_COMM)),
            stop,
            fields.numbers(rows, *_NEXT),
            fields.numbers(rows, *_PRIORITY),
        )
        self.switch_count += len(rows)
        return bool((stop == Stop.ENDS).any())

    def _add_wakeups(self, rows: Sequence[Row], fields: Fields) -> bool:
        """Add wake-ups, and return whether one of them is a thread's first."""
        time, waker = fields.times(rows), self._wakers(rows, fields)
        woken = fields.numbers(rows, "woken", "plugin_woken")
        event = np.array(fields.words(rows, "wakeup"))
        for columns, chosen in (
            (self._waking, event == b"waking"),
            (self._wakeups, event == b"wakeup"),
            (self._births, event == b"wakeup_new"),
        ):
            columns.add(time[chosen], waker[chosen], woken[chosen])
        if self._waking:
            self._wakeups.clear()
        return bool((event == b"wakeup_new").any())

    def _wakers(self, rows: Sequence[Row], fields: Fields) -> Numbers:
        waker = self._running(rows, fields)
        if fields.have(rows, "flags"):
            flags = fields.words(rows, "flags")
            waker[[word[2:3] in _HARD_INTERRUPTS for word in flags]] = 0
        return waker

    def _running(self, rows: Sequence[Row], fields: Fields) -> Numbers:
        # perf writes -1 for a thread that no longer exists.
        return np.maximum(fields.numbers(rows, "pid"), 0)

    def _add_forks(self, rows: Sequence[Row], fields: Fields) -> None:
        parent = fields.numbers(rows, "parent", "old_parent")
        self._forks.add(fields.times(rows), parent, fields.numbers(rows, "child", "old_child"))

    def _add_exits(self, rows: Sequence[Row], fields: Fields) -> None:
        self._exits.add(fields.times(rows), fields.numbers(rows, "ended", "old_ended"))

    def _add_marks(self, rows: Sequence[Row], fields: Fields) -> None:
        fragment = self._fragments.numbers(fields.words(rows, "mark"))
        self._marks.add(fields.times(rows), self._running(rows, fields), fragment)

    def _add_groups(self, rows: Sequence[Row], fields: Fields, *, once: bool) -> None:
        time, pid = fields.times(rows), self._running(rows, fields)
        tgid = fields.numbers(rows, "tgid")
        chosen = np.flatnonzero((pid > 0) & (tgid > 0))
        if once:
            pairs = pid[chosen].astype(np.int64) << 32 | tgid[chosen]
            chosen = chosen[np.unique(pairs, return_index=True)[1]]
        self._groups.add(time[chosen], pid[chosen], tgid[chosen])

    def events(self) -> KernelEvents:
        """Return all events; a reader adds what it knows about the file."""
        cpu, time, previous, comm, stop, following, priority = self._switches.joined()
        switches = Switches(
            cpu=cpu,
            time=time,
            previous=previous,
            previous_comm=comm,
            previous_stop=stop,
            next=following,
            next_priority=priority,
        )
        # sched_wakeup counts only where there is no sched_waking: it comes later, when the woken
        # thread gets a CPU. Where there are no forks, first wake-ups tell who made a thread.
        wakeup_time, waker, woken = (self._waking or self._wakeups).joined()
        birth_time, maker, born = self._births.joined()
        fork_time, parent, child = (self._forks or self._births).joined()
        exit_time, ended_pid = self._exits.joined()
        group_time, group_pid, tgid = self._groups.joined()
        mark_time, mark_pid, fragment = self._marks.joined()
        return KernelEvents(
            switches=switches,
            wakeups=Wakeups(time=wakeup_time, waker=waker, woken=woken),
            first_wakeups=Wakeups(time=birth_time, waker=maker, woken=born),
            forks=Forks(time=fork_time, parent=parent, child=child),
            exits=Exits(time=exit_time, pid=ended_pid),
            groups=ThreadGroups(time=group_time, pid=group_pid, tgid=tgid),
            marks=Marks(time=mark_time, pid=mark_pid, df=fragment, names=self._fragments.texts),
            comms=self._comms.texts,
        )


def stop_of(state: bytes) -> Stop:
    """Return why a thread leaves its CPU in this state."""
    try:
        number = int(state, 0)
    except ValueError:
        if not _ENDED_LETTERS.isdisjoint(state):
            return Stop.ENDS
        return Stop.PREEMPTED if state.startswith(b"R") or b"+" in state else Stop.SLEEPS
    if number & _ENDED_BITS:
        return Stop.ENDS
    return Stop.SLEEPS if number & STATE_BITS else Stop.PREEMPTED
