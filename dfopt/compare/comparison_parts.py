"""The parts of a comparison: what was paid by whom, and what windows could have paid."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, field

from dfopt.compare.written_times import parse_window
from dfopt.errors import DfoptError, FileError
from dfopt.structs import DocumentPart, Natural, NonNegative, Record, each_of
from dfopt.trace.fragment_titles import CommCount
from dfopt.type_reader import reader


class Cause(StrEnum):
    """Why a charge was made; every charge has exactly one cause.

    The cause of reading a fragment depends on the latest earlier dispatch of the same fragment, on
    any CPU. Writing back is a cause of its own; under a matrix it is the cost after the last
    dispatch of a CPU. Under a matrix, following the same type is a cause of its own too; following
    another type, or nothing, has the cause that reading would have.

    Attributes
    ----------
    short
        Its name in narrow columns.
    meaning
        What happened before the charge.
    """

    short: str
    meaning: str

    def __new__(cls, name: str, short: str, meaning: str) -> Cause:
        """Return a member that is its name and knows the rest."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.short, member.meaning = short, meaning
        return member

    FIRST_LOAD = "first load", "first load", "nothing has used the fragment before"
    REVISITED = (
        "fragment revisited",
        "revisited",
        "it was last used on this CPU, but another fragment came between",
    )
    SPLIT = (
        "fragment split over CPUs",
        "split",
        "it was last used on another CPU, while this task stayed on its own",
    )
    MIGRATION = (
        "migration",
        "migration",
        "it was last used on another CPU, and this task comes from another CPU, too",
    )
    UNMANAGED = (
        "unmanaged task",
        "unmanaged",
        "a task without a fragment ran, and evicted what it found",
    )
    WRITE_BACK = (
        "write-back forced",
        "write-back",
        "what was changed had to be written to memory",
    )
    SAME_TYPE = "same type again", "same type", "one of the same type ran before on this CPU"


def _label(value: object) -> str:
    """Return the length of a window as it is written."""
    text: str = reader(str)(value)
    try:
        return parse_window(text).label
    except DfoptError as error:
        raise FileError(error.problem) from None


Causes = Annotated[dict[Cause, Natural], each_of(Cause, newer=[Cause.SAME_TYPE])]
"""What was paid by cause."""

WindowLabel = Annotated[str, Meta(extra={"reader": _label})]


class Realised(DocumentPart):
    """The costs of the switches of a trace.

    Parameters
    ----------
    total, worst
        The cost of all CPUs together, and of the one that pays most, in the model's unit.
    switches
        How many times a CPU went from one fragment to another.
    """

    total: Natural
    worst: Natural = field(name="max")
    switches: Natural


def cost_ratio(realised: int, possible: int) -> float | None:
    """Return realised / possible: 1 if both are 0, None if only the latter is 0."""
    if possible:
        return realised / possible
    return None if realised else 1.0


class WindowResult(DocumentPart):
    """A trace compared with the best possible schedules for one length of window.

    Parameters
    ----------
    window
        The length: a number of dispatches, a time such as ``10ms``, or ``whole``.
    count
        How many windows there are.
    realised
        What the trace paid, on the chosen objective.
    bound
        No schedule that runs the same dispatches in the same windows pays less, if no CPU runs more
        of them in a window than the model's capacity.
    rolling
        The cost of a real schedule: it takes the windows in turn, and schedules each as well as
        possible, given what the window before left in the caches.
    balanced
        Like ``bound``, if no CPU may run more than an even share of a window's dispatches. The
        trace need not keep to that, so it may have paid less.
    closed
        The number of windows in which a schedule attains ``bound`` if every CPU may begin with any
        fragment in its cache.
    balanced_closed
        The same for ``balanced``. If it is less than ``count``, the balanced optimum may be higher.
    rolling_closed
        The number of windows in which the rolling schedule is proven to be the best, given the
        caches with which the window begins.
    """

    DERIVED = ("ratio", "rolling_ratio", "difference")

    window: WindowLabel
    count: Natural
    realised: Natural
    bound: Natural
    rolling: Natural
    balanced: Natural
    closed: Natural
    balanced_closed: Natural
    rolling_closed: Natural

    @property
    def ratio(self) -> NonNegative | None:
        """Return realised / bound: 1 if both are 0, None if only the bound is 0."""
        return cost_ratio(self.realised, self.bound)

    @property
    def rolling_ratio(self) -> NonNegative | None:
        """Return realised / rolling: 1 if both are 0, None if only the latter is 0."""
        return cost_ratio(self.realised, self.rolling)

    @property
    def difference(self) -> int:
        """Return realised − bound."""
        return self.realised - self.bound


class OrderKept(DocumentPart):
    """What a trace costs if its dispatches start in the recorded order, each on any CPU.

    Dispatches wait for a busy CPU, so their times are not kept; costs are those of all CPUs. A CPU
    may run any number of dispatches, so bounds of windows, which limit that, do not hold here.

    Parameters
    ----------
    online
        The cost of a rule without look-ahead: the CPU that holds the fragment, else the one that
        was least recently used.
    best
        The cost of the best placement that was found; None if none was looked for, since there
        are too many dispatches.
    bound
        No placement costs less. None as above.
    """

    DERIVED = ("is_optimal",)

    online: Natural
    best: Natural | None
    bound: Natural | None

    @property
    def is_optimal(self) -> bool:
        """Return whether the best placement is proven to be the best."""
        return self.best is not None and self.best == self.bound


class FragmentResult(DocumentPart):
    """The use and the costs of one fragment: its reads, and its own write-backs.

    Parameters
    ----------
    df
        The fragment.
    dispatches, tasks, cpus
        How many dispatches and tasks used it, and on how many CPUs.
    run_time
        Of its dispatches, in the trace's unit.
    switches
        How many times a CPU went to it from another one.
    cost
        What was paid for it.
    causes
        The same by cause.
    name
        The name of the process, if the fragment is one and the trace knows its comm.
    comms
        How many of its tasks have each comm, the commonest first, if the label of the fragment is
        inferred (g0, g1, …) and the trace knows comms; else empty.
    """

    df: str
    dispatches: Natural
    tasks: Natural
    cpus: Natural
    run_time: Natural
    switches: Natural
    cost: Natural
    causes: Causes
    name: str | None = None
    comms: tuple[CommCount, ...] = ()


class CpuResult(DocumentPart):
    """The work and the costs of one CPU.

    Parameters
    ----------
    cpu
        Its number.
    dispatches, managed
        How many dispatches ran on it, and how many of them have a fragment.
    fragments
        How many fragments they used.
    run_time
        Of all its dispatches, in the trace's unit.
    switches
        How many times it went from one fragment to another.
    cost
        What it paid.
    causes
        The same by cause.
    """

    cpu: Natural
    dispatches: Natural
    managed: Natural
    fragments: Natural
    run_time: Natural
    switches: Natural
    cost: Natural
    causes: Causes


class CompareProgress(Record):
    """The progress of a comparison, which first makes a frontier, then solves windows.

    Parameters
    ----------
    parts
        What is counted: ``"schedules and bounds"`` of the frontier, or ``"windows"``.
    done, total
        Those that are done, and all of them.
    at_work
        The first that is not done, or the length of the windows that were; None if there is no
        other that can be worked on now.
    """

    parts: str
    done: int
    total: int
    at_work: str | None
