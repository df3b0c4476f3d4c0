"""A trace: which task ran where and when, as columns.

Dispatches are rows of parallel NumPy columns, ordered by start; what they name (tasks, comms,
fragments) stands once in a tuple and is referred to by number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import Penalty
from dfopt.trace.events import Integers, Numbers, no_numbers, no_times
from dfopt.trace.quality import Quality

UNMANAGED = -1
"""The fragment of a dispatch that is not managed, or not labelled."""

NOT_GIVEN = -1
"""Of ``lines`` or ``leaves``: the trace does not say."""

LEAVES = (Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED)
"""What the numbers in the column ``leaves`` mean."""

LOST_EVENTS = "lost events"
BROKEN_CHAIN = "broken chain"
CLOCK_WENT_BACK = "clock went back"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTask:
    """A task of a trace, one life of a thread.

    Parameters
    ----------
    name
        Unique; the thread's number, with ``.2``, ``.3`` … where the number was used again.
    tid
        The thread's number; None where the trace has names only.
    tgid
        The number of its process; None if the trace does not say.
    """

    name: str
    tid: int | None = None
    tgid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaps:
    """Stretches of a CPU about which nothing is known, ordered by start.

    Parameters
    ----------
    cpu, start, end
        Where and when.
    reason
        Why, an index into ``reasons``.
    reasons
        Such as :data:`LOST_EVENTS` and :data:`BROKEN_CHAIN`.
    """

    cpu: Numbers = field(default_factory=no_numbers)
    start: Integers = field(default_factory=no_times)
    end: Integers = field(default_factory=no_times)
    reason: Numbers = field(default_factory=no_numbers)
    reasons: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return how many gaps there are."""
        return len(self.cpu)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskWakeups:
    """Who wakes whom, ordered by time; both are numbers of tasks, -1 for an interrupt."""

    time: Integers = field(default_factory=no_times)
    waker: Numbers = field(default_factory=no_numbers)
    woken: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskForks:
    """Which task made which, ordered by time; both are numbers of tasks."""

    time: Integers = field(default_factory=no_times)
    parent: Numbers = field(default_factory=no_numbers)
    child: Numbers = field(default_factory=no_numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskMarks:
    """Fragments that tasks say they use from now on, ordered by time.

    ``df`` is an index into ``names``.
    """

    time: Integers = field(default_factory=no_times)
    task: Numbers = field(default_factory=no_numbers)
    df: Numbers = field(default_factory=no_numbers)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceHeader:
    """What a trace says about itself; None where it does not.

    The model's keys (penalty, objective, flags, capacity) mean what they mean in an
    :class:`~dfopt.Instance`.
    """

    name: str | None = None
    source: str | None = None
    policy: str | None = None
    time_unit: str | None = None
    penalty: Penalty | None = None
    objective: Objective | None = None
    cold_start: bool | None = None
    final_write_back: bool | None = None
    capacity: int | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """Dispatches on the CPUs of one machine.

    Parameters
    ----------
    cpus
        Number of CPUs; they are numbered from 0.
    cpu, start, end
        Where and when each dispatch ran, in ``header.time_unit``. Rows are ordered by start;
        those of one CPU do not overlap and are in the order in which they ran. Idle time has no
        row.
    task
        Index into ``tasks``.
    comm
        Index into ``comms``; None where a trace has no comms.
    fragment
        Index into ``fragments``, or :data:`UNMANAGED`.
    lines
        Cache lines that the dispatch reads when it finds another fragment, or
        :data:`NOT_GIVEN`; None where a trace never says.
    leaves
        Index into :data:`LEAVES`, or :data:`NOT_GIVEN`; None where a trace never says.
    tasks, comms, fragments
        What the columns refer to.
    gaps
        Stretches about which nothing is known.
    wakeups, forks, marks
        What labels can be taken from.
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
    gaps: Gaps = field(default_factory=Gaps)
    wakeups: TaskWakeups = field(default_factory=TaskWakeups)
    forks: TaskForks = field(default_factory=TaskForks)
    marks: TaskMarks = field(default_factory=TaskMarks)
    header: TraceHeader = field(default_factory=TraceHeader)
    quality: Quality = field(default_factory=Quality)

    def __len__(self) -> int:
        """Return the number of dispatches."""
        return len(self.cpu)

    @property
    def run_time(self) -> int:
        """Time that the dispatches ran, all together."""
        return int((self.end - self.start).sum())

    @property
    def unlabelled_share(self) -> float:
        """Share of the run time whose fragment is not known; 0 where nothing ran."""
        total = self.run_time
        unlabelled = self.fragment == UNMANAGED
        return int((self.end - self.start)[unlabelled].sum()) / total if total else 0.0


class Numbering(dict[str, int]):
    """A number for each name; the first question about a name gives it the next number."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of their numbers."""
        return tuple(self)

    @property
    def tasks(self) -> tuple[TraceTask, ...]:
        """The names as those of tasks."""
        return tuple(TraceTask(name=name) for name in self)
