"""A trace: the dispatches of tasks on CPUs, as columns.

Dispatches are rows of parallel NumPy columns, ordered by start. Names (of tasks, comms and
fragments) stand in a tuple once, and columns hold their indices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from msgspec.structs import asdict

from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import Penalty
from dfopt.render import MOST_ROWS, html
from dfopt.structs import DERIVED_DIGITS, Checked, Positive
from dfopt.table import Table, TableColumn
from dfopt.trace.assumed import Assumed
from dfopt.trace.events import Integers, Numbers, Stop, Stops, no_numbers, no_times
from dfopt.trace.lengths import Lengths
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTask:
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
class Gaps:
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskWakeups:
    """Wake-ups of tasks by others, ordered by time.

    Parameters
    ----------
    time
        ``int64``: in the trace's unit of time.
    waker, woken
        ``int32``: indices into the trace's ``tasks``; -1 as the waker is an interrupt.
    """

    time: Integers = field(default_factory=no_times)
    waker: Numbers = field(default_factory=no_numbers)
    woken: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskForks:
    """The tasks that other tasks made, ordered by time.

    Parameters
    ----------
    time
        ``int64``: in the trace's unit of time.
    parent, child
        ``int32``: indices into the trace's ``tasks``.
    """

    time: Integers = field(default_factory=no_times)
    parent: Numbers = field(default_factory=no_numbers)
    child: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskMarks:
    """Fragments that tasks say they use from then on, ordered by time.

    Parameters
    ----------
    time
        ``int64``: in the trace's unit of time.
    task
        ``int32``: index into the trace's ``tasks``.
    df
        ``int32``: index into ``names``.
    names
        The fragments.
    """

    time: Integers = field(default_factory=no_times)
    task: Numbers = field(default_factory=no_numbers)
    df: Numbers = field(default_factory=no_numbers)
    names: tuple[str, ...] = ()


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
class Trace:
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
    wakeups: TaskWakeups = field(default_factory=TaskWakeups)
    first_wakeups: TaskWakeups = field(default_factory=TaskWakeups)
    forks: TaskForks = field(default_factory=TaskForks)
    marks: TaskMarks = field(default_factory=TaskMarks)
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
        first = slice(MOST_ROWS)
        unit = self.header.time_unit
        origin = int(self.start[0]) if len(self) else 0
        rows = [
            (
                cpu,
                start - origin,
                end - start,
                self.tasks[task].name,
                None if self.comm is None or comm < 0 else self.comms[comm],
                None if fragment == UNMANAGED else self.fragments[fragment],
            )
            for cpu, start, end, task, comm, fragment in zip(
                *(
                    column[first].tolist()
                    for column in (
                        self.cpu,
                        self.start,
                        self.end,
                        self.task,
                        self.task if self.comm is None else self.comm,
                        self.fragment,
                    )
                ),
                strict=True,
            )
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
