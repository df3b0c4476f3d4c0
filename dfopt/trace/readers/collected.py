"""The events of a kernel trace in text, collected piece by piece."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.trace.events import (
    Exits,
    Flags,
    Forks,
    Marks,
    Numbers,
    Switches,
    ThreadGroups,
    Wakeups,
)
from dfopt.trace.numbering import Numbering
from dfopt.trace.readers.rows import Columns, Fields, Row
from dfopt.trace.readers.states import has_ended

PREVIOUS = ("previous", "plugin_previous", "old_previous")
_COMM = ("comm", "plugin_comm", "old_comm")
_STATE = ("state", "plugin_state", "old_state")
_NEXT = ("next", "plugin_next", "old_next")

_HARD_INTERRUPTS = frozenset((b"h", b"H", b"z", b"Z"))
"""The third flag of tracefs while an interrupt is handled that no thread asked for."""


_ARRAY, _ARRAY_END = b"ARRAY[", b"]"
"""Around a comm as ``trace-cmd report -R`` writes it from the first one on that is not ASCII."""

LONGEST_COMM = 15


class _Names(dict[bytes, int]):
    """Numbers of names that may be any bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = Numbering()

    def __missing__(self, name: bytes) -> int:
        number = self[name] = self._texts[self.plain(name).decode("utf-8", "backslashreplace")]
        return number

    @staticmethod
    def plain(name: bytes) -> bytes:
        """Return the name that stands for itself or is written otherwise."""
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


class _Ended(dict[bytes, bool]):
    """Which states mean that a thread has ended."""

    def __missing__(self, state: bytes) -> bool:
        ended = self[state] = has_ended(state)
        return ended

    def flags(self, states: Sequence[bytes]) -> Flags:
        return np.fromiter(map(self.__getitem__, states), np.bool_, len(states))


class Collected:
    """The events found so far."""

    def __init__(self) -> None:
        self._comms = _Comms()
        self._fragments = _Names()
        self._ended = _Ended()
        self._switches = Columns(np.int32, np.int64, np.int32, np.int32, np.bool_, np.int32)
        self._waking = Columns(np.int64, np.int32, np.int32)
        self._wakeups = Columns(np.int64, np.int32, np.int32)
        self._forks = Columns(np.int64, np.int32, np.int32)
        self._births = Columns(np.int64, np.int32, np.int32)
        self._exits = Columns(np.int64, np.int32)
        self._groups = Columns(np.int64, np.int32, np.int32)
        self._marks = Columns(np.int64, np.int32, np.int32)
        self.switch_count = 0

    def add(self, rows: Sequence[Row], fields: Fields) -> None:
        """Add what was found in lines that follow those before."""
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
            # Where no life begins or ends, it is enough to be told once.
            self._add_groups(known, fields, once=not (ends or births or forks or exits))

    def _add_switches(self, rows: Sequence[Row], fields: Fields) -> bool:
        """Add switches, and return whether a thread ends in one of them."""
        ended = self._ended.flags(fields.words(rows, *_STATE))
        self._switches.add(
            fields.numbers(rows, "cpu"),
            fields.times(rows),
            fields.numbers(rows, *PREVIOUS),
            self._comms.numbers(fields.words(rows, *_COMM)),
            ended,
            fields.numbers(rows, *_NEXT),
        )
        self.switch_count += len(rows)
        return bool(ended.any())

    def _add_wakeups(self, rows: Sequence[Row], fields: Fields) -> bool:
        """Add wake-ups, and return whether one of them is a thread's first."""
        time, waker = fields.times(rows), self._wakers(rows, fields)
        woken = fields.numbers(rows, "woken", "plugin_woken")
        kind = np.array(fields.words(rows, "wakeup"))
        for columns, chosen in (
            (self._waking, kind == b"waking"),
            (self._wakeups, kind == b"wakeup"),
            (self._births, kind == b"wakeup_new"),
        ):
            columns.add(time[chosen], waker[chosen], woken[chosen])
        if self._waking:
            self._wakeups.clear()
        return bool((kind == b"wakeup_new").any())

    def _wakers(self, rows: Sequence[Row], fields: Fields) -> Numbers:
        waker = self._running(rows, fields)
        if fields.have(rows, "flags"):
            flags = fields.words(rows, "flags")
            waker[[word[2:3] in _HARD_INTERRUPTS for word in flags]] = 0
        return waker

    def _running(self, rows: Sequence[Row], fields: Fields) -> Numbers:
        # perf calls a thread that is no more -1.
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

    def switches(self) -> Switches:
        """Return the switches."""
        cpu, time, previous, comm, ended, following = self._switches.joined()
        return Switches(
            cpu=cpu,
            time=time,
            previous=previous,
            previous_comm=comm,
            previous_ended=ended,
            next=following,
        )

    def wakeups(self) -> Wakeups:
        """Return the wake-ups; those when the woken thread gets a CPU only for want of others."""
        time, waker, woken = (self._waking or self._wakeups).joined()
        return Wakeups(time=time, waker=waker, woken=woken)

    def forks(self) -> Forks:
        """Return the forks; where there are none, new threads' first wake-ups tell as much."""
        time, parent, child = (self._forks or self._births).joined()
        return Forks(time=time, parent=parent, child=child)

    def exits(self) -> Exits:
        """Return the ends of threads."""
        time, pid = self._exits.joined()
        return Exits(time=time, pid=pid)

    def groups(self) -> ThreadGroups:
        """Return which process each thread belongs to."""
        time, pid, tgid = self._groups.joined()
        return ThreadGroups(time=time, pid=pid, tgid=tgid)

    def marks(self) -> Marks:
        """Return the marks that threads wrote."""
        time, pid, fragment = self._marks.joined()
        return Marks(time=time, pid=pid, df=fragment, names=self._fragments.texts)

    @property
    def comms(self) -> tuple[str, ...]:
        """The comms that the switches refer to."""
        return self._comms.texts
