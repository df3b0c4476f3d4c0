"""The kernel's scheduling events in lines of text, as columns.

A pattern of :mod:`dfopt.trace.kernel_text` finds the fields of many lines at once.
:class:`EventColumns` collects them, piece by piece.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfopt.trace.events import (
    STATE_BITS,
    Exits,
    Forks,
    Integers,
    KernelEvents,
    Marks,
    Numbers,
    Stop,
    Switches,
    ThreadGroups,
    Wakeups,
)
from dfopt.trace.trace import Numbering

Row = tuple[bytes, ...]
"""The groups of one line; those that took no part are empty."""

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

    A group of the name itself gives a row's value, or one of an older form of the event, with
    ``plugin_`` or ``old_`` before the name, whichever took part. If the pattern has no group of a
    name, that group takes part in no row.
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

    def words(self, rows: Sequence[Row], name: str) -> list[bytes]:
        """Return a column as it stands in the text."""
        forms = (name, f"plugin_{name}", f"old_{name}")
        places = [self._places[form] for form in forms if form in self._places]
        if not places:
            return [b""] * len(rows)
        column = list(map(itemgetter(places[0]), rows))
        for place in places[1:]:
            if any(map(itemgetter(place), rows)):
                other = map(itemgetter(place), rows)
                column = [word or instead for word, instead in zip(column, other, strict=True)]
        return column

    def numbers(self, rows: Sequence[Row], name: str) -> Numbers:
        """Return a column of numbers."""
        return _parsed(b" ".join(self.words(rows, name))).astype(np.int32)

    def times(self, rows: Sequence[Row]) -> Integers:
        """Return the times of the lines' events, in nanoseconds."""
        # All have six places, so that without the point they are microseconds.
        times = _parsed(b" ".join(self.words(rows, "time")).replace(b".", b"")) * 1000
        if self.have(rows, "nanoseconds"):
            rest = self.words(rows, "nanoseconds")
            times += _parsed(b" ".join([digits or b"0" for digits in rest]))
        return times

    def running(self, rows: Sequence[Row]) -> Numbers:
        """Return the threads that ran; 0 for those that no longer exist."""
        # perf writes -1 for them.
        return np.maximum(self.numbers(rows, "pid"), 0)


def _parsed(numbers: bytes) -> Integers:
    # NumPy warns if there is nothing to parse.
    return np.fromstring(numbers, np.int64, sep=" ") if numbers else np.empty(0, np.int64)


class EventColumns:
    """The events that were found so far."""

    def __init__(self) -> None:
        self._comms, self._fragments = Numbering(), Numbering()
        self._comm = cache(lambda word: self._comms[_text(_plain_comm(word))])
        self._fragment = cache(lambda word: self._fragments[_text(word)])
        self._stop = cache(stop_of)
        self._pieces: defaultdict[str, list[tuple[NDArray[Any], ...]]] = defaultdict(list)
        self.switch_count = 0

    def add(self, rows: Sequence[Row], fields: Fields) -> None:
        """Add the events in the next lines of the file."""
        kinds = ("switch", "wakeup", "fork", "exit", "mark")
        switches, wakeups, forks, exits, marks = (fields.having(rows, kind) for kind in kinds)
        ends = self._add_switches(switches, fields)
        births = self._add_wakeups(wakeups, fields)
        parent, child = fields.numbers(forks, "parent"), fields.numbers(forks, "child")
        self._keep("forks", fields.times(forks), parent, child)
        self._keep("exits", fields.times(exits), fields.numbers(exits, "ended"))
        fragment = _column(self._fragment, fields.words(marks, "mark"), np.int32)
        self._keep("marks", fields.times(marks), fields.running(marks), fragment)
        known = fields.having([*switches, *wakeups, *forks, *exits, *marks], "tgid")
        # If no life begins or ends in these lines, one row for each thread is enough.
        self._add_groups(known, fields, once=not (ends or births or forks or exits))

    def _add_switches(self, rows: Sequence[Row], fields: Fields) -> bool:
        """Add switches, and return whether a thread ends in one of them."""
        stop = _column(self._stop, fields.words(rows, "state"), np.int8)
        self._keep(
            "switches",
            fields.numbers(rows, "cpu"),
            fields.times(rows),
            fields.numbers(rows, "previous"),
            _column(self._comm, fields.words(rows, "comm"), np.int32),
            stop,
            fields.numbers(rows, "next"),
            fields.numbers(rows, "priority"),
        )
        self.switch_count += len(rows)
        return bool((stop == Stop.ENDS).any())

    def _add_wakeups(self, rows: Sequence[Row], fields: Fields) -> bool:
        """Add wake-ups, and return whether one of them is a thread's first."""
        time, waker = fields.times(rows), fields.running(rows)
        if fields.have(rows, "flags"):
            flags = fields.words(rows, "flags")
            waker[[word[2:3] in _HARD_INTERRUPTS for word in flags]] = 0
        woken = fields.numbers(rows, "woken")
        event = np.array(fields.words(rows, "wakeup"), bytes)
        for kind in ("waking", "wakeup", "wakeup_new"):
            chosen = event == kind.encode()
            self._keep(kind, time[chosen], waker[chosen], woken[chosen])
        if "waking" in self._pieces:
            self._pieces.pop("wakeup", None)
        return bool((event == b"wakeup_new").any())

    def _add_groups(self, rows: Sequence[Row], fields: Fields, *, once: bool) -> None:
        time, pid, tgid = fields.times(rows), fields.running(rows), fields.numbers(rows, "tgid")
        chosen = np.flatnonzero((pid > 0) & (tgid > 0))
        if once:
            pairs = pid[chosen].astype(np.int64) << 32 | tgid[chosen]
            chosen = chosen[np.unique(pairs, return_index=True)[1]]
        self._keep("groups", time[chosen], pid[chosen], tgid[chosen])

    def _keep(self, kind: str, *columns: NDArray[Any]) -> None:
        if len(columns[0]):
            self._pieces[kind].append(columns)

    def _joined(self, *kinds: str) -> list[NDArray[Any]]:
        """Return the columns of the first of these kinds that has rows; none if none has."""
        pieces = next((self._pieces[kind] for kind in kinds if kind in self._pieces), ())
        return [np.concatenate(column) for column in zip(*pieces, strict=True)]

    def events(self) -> KernelEvents:
        """Return all events; a reader adds what it knows about the file."""
        # sched_wakeup counts only where there is no sched_waking: it comes later, when the woken
        # thread gets a CPU. Where there are no forks, first wake-ups tell who made a thread.
        return KernelEvents(
            switches=Switches.of(self._joined("switches")),
            wakeups=Wakeups.of(self._joined("waking", "wakeup")),
            first_wakeups=Wakeups.of(self._joined("wakeup_new")),
            forks=Forks.of(self._joined("forks", "wakeup_new")),
            exits=Exits.of(self._joined("exits")),
            groups=ThreadGroups.of(self._joined("groups")),
            marks=Marks.of(self._joined("marks"), names=self._fragments.names),
            comms=self._comms.names,
        )


def _column(
    number_of: Callable[[bytes], int], words: Sequence[bytes], kind: type[np.signedinteger[Any]]
) -> NDArray[Any]:
    """Return the numbers of words."""
    return np.fromiter(map(number_of, words), kind, len(words))


def _text(word: bytes) -> str:
    """Return a name, which may be any bytes."""
    return word.decode("utf-8", "backslashreplace")


def _plain_comm(word: bytes) -> bytes:
    """Return the comm that a word in the text stands for."""
    if len(word) <= LONGEST_COMM or not (word.startswith(_ARRAY) and word.endswith(_ARRAY_END)):
        return word
    hexadecimal = word[len(_ARRAY) : -len(_ARRAY_END)].replace(b",", b"").decode("latin-1")
    try:
        return bytes.fromhex(hexadecimal).partition(b"\0")[0]
    except ValueError:
        return word


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
