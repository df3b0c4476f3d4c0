"""A trace: the dispatches of tasks on CPUs, as columns.

Dispatches are rows of parallel NumPy columns, ordered by start. Names (of tasks, comms and
fragments) stand in a tuple once, and columns hold their indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec.structs import asdict

from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import Penalty
from dfopt.render import MOST_ROWS, html
from dfopt.structs import DERIVED_DIGITS, Checked, Positive, Record
from dfopt.table import Table, TableColumn
from dfopt.trace.events import (
    Columns,
    Forks,
    Integers,
    Marks,
    Numbers,
    Stop,
    Stops,
    Wakeups,
    no_numbers,
    no_times,
)
from dfopt.trace.quality import LabelledQuality, Quality

REQUEST_LOG = "log of requests"
"""The source of traces that were made of such a log."""

UNMANAGED = -1
"""The fragment of a dispatch that is not managed, or not labelled."""

NOT_GIVEN = -1
"""In the columns ``lines`` and ``leaves``: the trace does not say."""

LEAVES = (Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED)
"""The meaning of the numbers in the column ``leaves``."""

STOPS = {"sleeps": Stop.SLEEPS, "preempted": Stop.PREEMPTED, "ends": Stop.ENDS}
"""The words for why a task ran no longer, as traces and users write them."""

LOST_EVENTS = "lost events"
BROKEN_CHAIN = "broken chain"
CLOCK_WENT_BACK = "clock went back"


class TraceTask(Record):
    """A task of a trace: one life of a thread.

    Parameters
    ----------
    name
        Unique: the thread's number, with ``.2``, ``.3`` … where the kernel used it again.
    tid
        The thread's number; None where the trace has names only.
    tgid
        The number of its process; None if the trace does not say.
    weight
        Its share of a CPU, relative to others, where it is not 1024, that of nice 0. Of a kernel's
        trace: that of the nice value with which the thread ran last.
    """

    name: str
    tid: int | None = None
    tgid: int | None = None
    weight: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaps(Columns):
    """Times of a CPU about which nothing is known, ordered by start.

    Parameters
    ----------
    cpu
        ``int32``: the CPU.
    start, end
        ``int64``: from ``start`` to just before ``end``, in the trace's unit of time.
    reason
        ``int32``: index into ``reasons``.
    reasons
        The reasons, such as ``"lost events"`` and ``"broken chain"``.
    task
        ``int32``: the task that ran last in each gap, an index into the trace's ``tasks``; -1 where
        the trace does not say, None where it never says.
    """

    cpu: Numbers = field(default_factory=no_numbers)
    start: Integers = field(default_factory=no_times)
    end: Integers = field(default_factory=no_times)
    reason: Numbers = field(default_factory=no_numbers)
    reasons: tuple[str, ...] = ()
    task: Numbers | None = None

    def __len__(self) -> int:
        """Return the number of gaps."""
        return len(self.cpu)


class Lengths(StrEnum):
    """Whether the lengths of dispatches include what the switches to them take."""

    WITHOUT_SWITCHES = "without-switches"
    """A dispatch starts when the switch to it is over."""

    WITH_SWITCHES = "with-switches"
    """A dispatch starts with the switch to it."""


class Assumed(StrEnum):
    """What of a trace's schedule was assumed and not recorded."""

    CPUS = "cpus"
    """On which CPU each dispatch ran."""

    STARTS = "starts"
    """When and on which CPU each dispatch ran: only arrivals and lengths are recorded."""


class TraceHeader(Checked):
    """The header of a trace; a field is None where the trace does not give it.

    Penalty, objective, flags and capacity mean the same as in an :class:`~dfopt.Instance`, but a
    trace without an objective is compared under ``total-penalty``.

    Parameters
    ----------
    name, source, policy
        What to call the trace, where it comes from, and what decided which task runs where.
    time_unit
        The unit of all times; a label, nothing is converted.
    penalty
        What a CPU pays to go from one task to the next.
    objective
        What is minimised.
    cold_start, final_write_back
        Whether the first task on an empty cache pays for its data, and the last one for writing
        back what it did not leave clean.
    capacity
        The most tasks that a CPU may hold.
    lengths
        Whether the lengths of dispatches include what the switches to them take.
    assumed
        What of the schedule was assumed, because it was not recorded.
    """

    name: str | None = None
    source: str | None = None
    policy: str | None = None
    time_unit: str | None = None
    penalty: Penalty | None = None
    objective: Objective | None = None
    cold_start: bool | None = None
    final_write_back: bool | None = None
    capacity: Positive | Literal["balanced", "unlimited"] | None = None
    lengths: Lengths | None = None
    assumed: Assumed | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace(Columns):
    """Dispatches on the CPUs of one machine, as columns of equal length.

    Rows are ordered by start. Those of one CPU do not overlap and stand in the order in which
    they ran. Idle time has no row.

    Parameters
    ----------
    cpus
        Number of CPUs; they are numbered from 0.
    cpu
        Column of ``int32``: the CPU of each dispatch.
    start, end
        Columns of ``int64``: it ran from ``start`` to just before ``end``, in
        ``header.time_unit``.
    task
        Column of ``int32``: index into ``tasks``.
    fragment
        Column of ``int32``: index into ``fragments``; -1 if the dispatch is not managed, or not
        labelled.
    comm
        Column of ``int32``: index into ``comms``; None where a trace has no comms.
    lines
        Column of ``int64``: cache lines that the dispatch reads if it finds another fragment in
        the cache; -1 where the trace does not say, None where it never says.
    leaves
        Column of ``int8``: how it leaves its fragment, 0 clean, 1 dirty, 2 invalidated; -1 where
        the trace does not say, None where it never says.
    stop
        Column of ``int8``: why the task ran no longer, a :class:`~dfopt.trace.events.Stop`; None
        where a trace never says.
    tasks, comms, fragments
        The names behind the indices.
    gaps
        Times about which nothing is known.
    wakeups, forks, marks
        Events from which labels can be taken.
    first_wakeups
        The first wake-ups of new tasks, where the trace has them apart from ``wakeups``.
    header
        What the trace says about itself.
    quality
        How far it can be trusted.
    """

    cpus: int
    cpu: Numbers
    start: Integers
    end: Integers
    task: Numbers
    fragment: Numbers
    tasks: tuple[TraceTask, ...]
    fragments: tuple[str, ...] = ()
    comm: Numbers | None = None
    comms: tuple[str, ...] = ()
    lines: Integers | None = None
    leaves: np.ndarray[tuple[int], np.dtype[np.int8]] | None = None
    stop: Stops | None = None
    gaps: Gaps = field(default_factory=Gaps)
    wakeups: Wakeups = field(default_factory=Wakeups)
    first_wakeups: Wakeups = field(default_factory=Wakeups)
    forks: Forks = field(default_factory=Forks)
    marks: Marks = field(default_factory=Marks)
    header: TraceHeader = field(default_factory=TraceHeader)
    quality: Quality = field(default_factory=Quality)

    def __len__(self) -> int:
        """Return the number of dispatches."""
        return len(self.cpu)

    @property
    def run_time(self) -> int:
        """Sum of the times that the dispatches ran."""
        return int((self.end - self.start).sum())

    @property
    def unlabelled_share(self) -> float:
        """Share of the run time without a fragment; 0 where nothing ran."""
        total = self.run_time
        unlabelled = self.fragment == UNMANAGED
        return int((self.end - self.start)[unlabelled].sum()) / total if total else 0.0

    @property
    def labelled_quality(self) -> LabelledQuality:
        """How far it can be trusted, and the share without a fragment with six decimal places."""
        share = round(self.unlabelled_share, DERIVED_DIGITS)
        return LabelledQuality(**asdict(self.quality), unlabelled_share=share)

    def comm_of(self, row: int) -> str | None:
        """Return the comm of a dispatch; None where it is not known."""
        return None if self.comm is None or self.comm[row] < 0 else self.comms[self.comm[row]]

    def fragment_of(self, row: int) -> str | None:
        """Return the fragment of a dispatch; None if it is not managed, or not labelled."""
        fragment = self.fragment[row]
        return None if fragment == UNMANAGED else self.fragments[fragment]

    def notes_of(self, row: int) -> dict[str, int | str]:
        """Return what the trace says of the lines that a dispatch reads, and how it leaves them."""
        notes: dict[str, int | str] = {}
        if self.lines is not None and self.lines[row] != NOT_GIVEN:
            notes["lines"] = int(self.lines[row])
        if self.leaves is not None and self.leaves[row] != NOT_GIVEN:
            notes["leaves"] = str(LEAVES[self.leaves[row]])
        return notes

    def __repr__(self) -> str:
        """Return a line with how much it holds."""
        return f"<Trace {self._caption()}>"

    def _caption(self) -> str:
        return (
            f"{self.header.name or 'trace'}: {len(self):,} dispatches of {len(self.tasks):,} tasks "
            f"on {self.cpus:,} CPUs, {len(self.fragments):,} fragments"
        )

    def _repr_html_(self) -> str:
        """Return the first dispatches as a table, as notebooks show it."""
        unit = self.header.time_unit
        origin = int(self.start[0]) if len(self) else 0
        rows = [
            (
                int(self.cpu[row]),
                int(self.start[row]) - origin,
                int(self.end[row] - self.start[row]),
                self.tasks[self.task[row]].name,
                self.comm_of(row),
                self.fragment_of(row),
            )
            for row in range(min(MOST_ROWS, len(self)))
        ]
        times = (TableColumn("start", unit), TableColumn("run time", unit))
        names = map(TableColumn, ("task", "name", "fragment"))
        columns = (TableColumn("CPU"), *times, *names)
        return html(Table(self._caption(), columns, rows), count=len(self))


class Numbering(dict[str, int]):
    """A number for each name; a new name gets the next number when it is first looked up."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of their numbers."""
        return tuple(self)

    @property
    def tasks(self) -> tuple[TraceTask, ...]:
        """The names as tasks."""
        return tuple(TraceTask(name=name) for name in self)


def given(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return a column of an optional field, or None where it is given in no row."""
    return column if (column != NOT_GIVEN).any() else None


class Dispatch(NamedTuple):
    """A dispatch by the names of its task and its fragment, of which there may be none.

    Lines and leaves are None where nobody says.
    """

    cpu: int
    start: int
    end: int
    task: str
    fragment: str | None = None
    lines: int | None = None
    leaves: Leaves | None = None


def trace_of_dispatches(dispatches: Sequence[Dispatch], **others: Any) -> Trace:
    """Return a trace of dispatches that are ordered by start; ``others`` are its further fields."""
    tasks, fragments = Numbering(), Numbering()
    columns = zip(*dispatches, strict=True) if dispatches else ((),) * len(Dispatch._fields)
    cpu, start, end, task, fragment, lines, leaves = columns
    marks = [NOT_GIVEN if word is None else LEAVES.index(word) for word in leaves]
    return Trace(
        cpu=np.array(cpu, np.int32),
        start=np.array(start, np.int64),
        end=np.array(end, np.int64),
        task=np.array([tasks[name] for name in task], np.int32),
        fragment=np.array(
            [UNMANAGED if df is None else fragments[df] for df in fragment], np.int32
        ),
        tasks=tasks.tasks,
        fragments=fragments.names,
        lines=given(np.array([NOT_GIVEN if n is None else n for n in lines], np.int64)),
        leaves=given(np.array(marks, np.int8)),
        **others,
    )
