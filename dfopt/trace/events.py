"""The events of a kernel trace, as columns.

Readers of kernel traces fill these columns in the order of the file and draw no conclusions;
:mod:`dfopt.trace.dispatches` turns them into a :class:`~dfopt.trace.trace.Trace`. There, events are
about tasks in the place of threads, and ordered by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dfopt.structs import Record, replace

Integers = NDArray[np.int64]
Numbers = NDArray[np.int32]
Flags = NDArray[np.bool_]
Stops = NDArray[np.int8]

ANY_CPU = -1
"""The CPU of a loss where the trace does not name the CPU."""

STATE_BITS = 0xFF
"""The bits of a state as a number in which every thread has a 0 that could have gone on.

The bits above say that it was preempted, or tell more about a thread that sleeps.
"""


class Stop(IntEnum):
    """Why a thread ran no longer on its CPU."""

    NOT_GIVEN = -1
    """The trace does not say."""

    SLEEPS = 0
    """It waits for something, and runs again once it is woken."""

    PREEMPTED = 1
    """It could have gone on (state R, with or without a plus)."""

    ENDS = 2
    """It never runs again (states X and Z)."""


def no_times() -> Integers:
    """Return an empty column of 64-bit integers."""
    return np.empty(0, np.int64)


def no_stops() -> Stops:
    """Return an empty column of :class:`Stop`."""
    return np.empty(0, np.int8)


def no_numbers() -> Numbers:
    """Return an empty column of 32-bit integers."""
    return np.empty(0, np.int32)


class Columns:
    """Columns of equal length, the fields of a data class that are arrays of one dimension."""

    __slots__ = ()

    @classmethod
    def of(cls, columns: Iterable[NDArray[Any]], **others: object) -> Self:
        """Return columns under the names of the first fields; those that are missing are empty."""
        names = (each.name for each in fields(cls))  # type: ignore[arg-type]
        return cls(**dict(zip(names, columns, strict=False)), **others)

    def columns(self) -> dict[str, Any]:
        """Return the columns by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        return {
            name: value
            for name, value in values.items()
            if isinstance(value, np.ndarray) and value.ndim == 1
        }

    def chosen(self, rows: NDArray[Any] | Sequence[int] | slice) -> Self:
        """Return the rows with a flag, or those with these numbers in this order."""
        return replace(self, **{name: column[rows] for name, column in self.columns().items()})  # type: ignore[type-var]

    def joined(self, other: Self) -> Self:
        """Return these rows and then those of the other; what is no column is as here."""
        others = other.columns()
        return replace(  # type: ignore[type-var]
            self, **{name: np.append(own, others[name]) for name, own in self.columns().items()}
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs(Columns):
    """Different pairs, in order.

    Parameters
    ----------
    first, second
        ``int32``: the two numbers, from 0 on.
    count
        ``int64``: the number of rows with this pair.
    """

    first: Numbers
    second: Numbers
    count: Integers


def pairs_of(first: NDArray[Any], second: NDArray[Any]) -> tuple[Pairs, NDArray[np.intp]]:
    """Return the pairs that two columns have, and the place among them of each row's pair."""
    key, place, count = np.unique(
        first.astype(np.int64) << 32 | second, return_inverse=True, return_counts=True
    )
    pairs = Pairs(
        first=(key >> 32).astype(np.int32),
        second=(key & 0xFFFFFFFF).astype(np.int32),
        count=count.astype(np.int64),
    )
    return pairs, place


def latest_of_same(key: Integers | Numbers) -> NDArray[np.intp]:
    """Return for each entry the index of the latest earlier entry that equals it, or -1."""
    # Numbers of a few bits are sorted in linear time.
    few_bits = np.result_type(*map(np.min_scalar_type, (key.min(initial=0), key.max(initial=0))))
    order = np.argsort(key.astype(few_bits), kind="stable")
    same = key[order][1:] == key[order][:-1]
    latest = np.full(len(key), -1, np.intp)
    latest[order[1:][same]] = order[:-1][same]
    return latest


def changes(value: Integers | Numbers, key: Integers | Numbers, counts: Flags) -> int:
    """Return how many entries that count have another value than the latest one of their key."""
    before = latest_of_same(key)
    return int((counts & (before >= 0) & (value[before] != value)).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Switches(Columns):
    """Every ``sched_switch``, in the order of the file.

    Parameters
    ----------
    cpu
        Number of the CPU.
    time
        Nanoseconds.
    previous, previous_comm
        The thread that ran until now and its comm, an index into :attr:`KernelEvents.comms`.
    previous_stop
        A :class:`Stop`: why that thread runs no longer.
    next
        The thread that runs from now on, as this event says. If the ``previous`` of the CPU's next
        switch is another thread, a switch is missing.
    next_priority
        The priority with which that thread runs, as the kernel numbers it: 100 to 139 for the nice
        values from -20 to 19, less for real-time threads.
    """

    cpu: Numbers = field(default_factory=no_numbers)
    time: Integers = field(default_factory=no_times)
    previous: Numbers = field(default_factory=no_numbers)
    previous_comm: Numbers = field(default_factory=no_numbers)
    previous_stop: Stops = field(default_factory=no_stops)
    next: Numbers = field(default_factory=no_numbers)
    next_priority: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wakeups(Columns):
    """Wake-ups: ``sched_waking``, or ``sched_wakeup`` where there is no such event.

    Parameters
    ----------
    time
        ``int64``: nanoseconds, or the trace's unit of time.
    waker, woken
        ``int32``: the thread that ran on the CPU, 0 where an interrupt did it, and the thread that
        is woken. In a trace indices into its ``tasks``, -1 for an interrupt.
    """

    time: Integers = field(default_factory=no_times)
    waker: Numbers = field(default_factory=no_numbers)
    woken: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forks(Columns):
    """The threads that other threads made (``sched_process_fork``).

    Parameters
    ----------
    time
        ``int64``: nanoseconds, or the trace's unit of time.
    parent, child
        ``int32``: threads; in a trace indices into its ``tasks``.
    """

    time: Integers = field(default_factory=no_times)
    parent: Numbers = field(default_factory=no_numbers)
    child: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exits(Columns):
    """``sched_process_exit``: the time in nanoseconds and the thread that ends."""

    time: Integers = field(default_factory=no_times)
    pid: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThreadGroups(Columns):
    """The processes of threads: the time when it was first seen, the thread's pid and its tgid."""

    time: Integers = field(default_factory=no_times)
    pid: Numbers = field(default_factory=no_numbers)
    tgid: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Marks(Columns):
    """Fragments that threads say they use from then on, by a mark ``dfopt:df=ID``.

    Parameters
    ----------
    time
        ``int64``: nanoseconds, or the trace's unit of time.
    task
        ``int32``: the thread that wrote it; in a trace an index into its ``tasks``.
    df
        ``int32``: index into ``names``.
    names
        The fragments.
    """

    time: Integers = field(default_factory=no_times)
    task: Numbers = field(default_factory=no_numbers)
    df: Numbers = field(default_factory=no_numbers)
    names: tuple[str, ...] = ()


class Loss(Record):
    """A record that events were lost.

    Parameters
    ----------
    cpu
        The CPU, or :data:`ANY_CPU`.
    switches_before
        The number of switches, of all CPUs, that the file has before the record.
    events
        The number of lost events; 0 if the record does not say.
    """

    cpu: int
    switches_before: int
    events: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelEvents:
    """The events and figures that a reader takes from a kernel trace.

    Parameters
    ----------
    switches, wakeups, forks, exits, groups, marks
        The events.
    first_wakeups
        ``sched_wakeup_new``: new threads could run for the first time.
    losses
        Records of lost events, in the order of the file.
    comms
        The comms that occur.
    cpus
        Number of CPUs that the file declares; None if it does not.
    overwritten
        Events that the file says were overwritten by later ones before it was read.
    lines
        Number of lines, or of packets, in the file.
    unparsed
        The number of lines that could not be understood.
    first_unparsed
        The number of the first of these lines, counted from 1.
    """

    switches: Switches = field(default_factory=Switches)
    wakeups: Wakeups = field(default_factory=Wakeups)
    first_wakeups: Wakeups = field(default_factory=Wakeups)
    forks: Forks = field(default_factory=Forks)
    exits: Exits = field(default_factory=Exits)
    groups: ThreadGroups = field(default_factory=ThreadGroups)
    marks: Marks = field(default_factory=Marks)
    losses: tuple[Loss, ...] = ()
    comms: tuple[str, ...] = ()
    cpus: int | None = None
    overwritten: int = 0
    lines: int = 0
    unparsed: int = 0
    first_unparsed: int | None = None
