"""The parts of a workload: threads, the bursts they execute, and the steps between their bursts.

This file holds data only. The program of a thread is an iterator of bursts and steps;
:mod:`dfopt.simulate.steps` has the steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from random import Random
from typing import Any, ClassVar, Protocol

from dfopt.checks import check_integer, described
from dfopt.errors import InstanceError
from dfopt.problem.cache import CLEAN, DIRTY, INVALIDATED, UNMANAGED
from dfopt.structs import Checked, Record, replace
from dfopt.trace.nice import LARGEST_WEIGHT, LEAST_URGENT, MOST_URGENT, weight_of_nice

MOST = 1_000_000
"""A workload has at most 1,000,000 threads, or objects that they share: all are in memory."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Execution, in user mode unless it says otherwise.

    Parameters
    ----------
    time
        How long it executes, in the simulation's unit. What the switch to it costs comes on top.
    fragment
        Number of the data fragment that it uses, or :data:`UNMANAGED`.
    lines
        The number of lines of the fragment that it reads when the cache holds another fragment.
    leaves
        :data:`CLEAN`, :data:`DIRTY` or :data:`INVALIDATED`.
    is_kernel
        Whether it executes in kernel mode.
    extents
        For caches of lines: the lines that it touches, as (first line, number of lines) in the
        lines of the whole memory. Without it: the first ``lines`` lines of its fragment.
    """

    time: int
    fragment: int = UNMANAGED
    lines: int = 0
    leaves: int = CLEAN
    is_kernel: bool = False
    extents: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        check_integer(self.time, "time")
        check_integer(self.fragment, "fragment", least=UNMANAGED)
        check_integer(self.lines, "lines")
        if self.leaves not in (CLEAN, DIRTY, INVALIDATED):
            raise InstanceError(f"must be 0, 1 or 2, not {described(self.leaves)}", place="leaves")


class Pause(Enum):
    """Why a thread leaves its CPU after a step."""

    BLOCKED = "blocked"
    YIELDED = "yielded"


class Step(Protocol):
    """Something that a thread does between two bursts, and that takes no time by itself."""

    # Any: the program does not know what carries it out.
    def perform(self, kernel: Any, thread: Any) -> Pause | None:
        """Do it for a thread; return why the thread leaves its CPU, or None if it goes on."""


Steps = Iterator[Burst | Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThread:
    """A thread that is still to appear.

    Parameters
    ----------
    name
        Unique in the workload.
    steps
        What it does; one simulation uses it up.
    kind
        Its class, such as ``"HTTP"``, for policies that treat classes differently.
    application
        Number of the application that it belongs to.
    nice
        -20 (urgent) to 19.
    arrival
        When it appears, if no other thread makes it.
    weight
        Its share of a CPU under fair policies, relative to the weights of the others there, 1 to
        2^20. None: that of its nice value, which is 1024 for nice 0 and a fifth less for each
        step.
    cpus_allowed
        The CPUs where it may run; None: all. CPUs that the machine does not have do not count.
    """

    name: str
    steps: Steps
    kind: str = ""
    application: int = 0
    nice: int = 0
    arrival: int = 0
    weight: int | None = None
    cpus_allowed: Collection[int] | None = None

    def __post_init__(self) -> None:
        check_integer(self.arrival, "arrival")
        check_rights(self.nice, self.weight, self.cpus_allowed)

    @property
    def real_weight(self) -> int:
        """Its weight, or that of its nice value."""
        return self.weight or weight_of_nice(self.nice)


def check_rights(
    nice: int | None, weight: int | None, cpus_allowed: Collection[int] | None
) -> None:
    """Refuse a wrong nice value, weight or set of CPUs; None is always right.

    Raises
    ------
    InstanceError
        With the name of what is wrong.
    """
    if nice is not None:
        _check_between(nice, MOST_URGENT, LEAST_URGENT, "nice")
    if weight is not None:
        _check_between(weight, 1, LARGEST_WEIGHT, "weight")
    if cpus_allowed is not None:
        if not cpus_allowed:
            raise InstanceError("is empty; name at least one CPU", place="cpus_allowed")
        for cpu in cpus_allowed:
            check_integer(cpu, "cpus_allowed")


def _check_between(value: int, least: int, most: int, place: str) -> None:
    check_integer(value, place, least=least)
    if value > most:
        raise InstanceError(f"must be at most {most}, not {value}", place=place)


class ThreadSetting(Checked):
    """What a scenario says about threads of its workload.

    Parameters
    ----------
    match
        Their name or their kind, where ``*`` stands for any characters and ``?`` for one.
    nice, weight, cpus_allowed
        See :class:`NewThread`; None: as the workload says.
    """

    match: str
    nice: int | None = None
    weight: int | None = None
    cpus_allowed: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check nice values, weights and CPUs as those of threads."""
        super().__post_init__()
        check_rights(self.nice, self.weight, self.cpus_allowed)

    def applied(self, thread: NewThread) -> NewThread:
        """Return a thread with these values, if it is one of those that are meant."""
        if not (fnmatchcase(thread.name, self.match) or fnmatchcase(thread.kind, self.match)):
            return thread
        values = {key: getattr(self, key) for key in ("nice", "weight", "cpus_allowed")}
        return replace(thread, **{key: value for key, value in values.items() if value is not None})


class Workload(Record):
    """The threads of one simulation, which uses their programs up, and their fragments.

    Parameters
    ----------
    threads
        Those that are there from the beginning, or arrive by themselves.
    fragments
        Names of the data fragments; bursts refer to them by number.
    sizes
        The number of lines of each fragment. Together they are the memory that caches of lines see.
    settings
        What replaces the values of threads when they appear, one setting after the other.
    """

    threads: tuple[NewThread, ...]
    fragments: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    settings: tuple[ThreadSetting, ...] = ()

    @property
    def restricts_cpus(self) -> bool:
        """Whether some thread may not run everywhere; threads made later count by settings."""
        rights: tuple[NewThread | ThreadSetting, ...] = (*self.threads, *self.settings)
        return any(part.cpus_allowed is not None for part in rights)


class WorkloadKind(Protocol):
    """A kind of workload with its parameters, which are the fields of a frozen dataclass."""

    name: ClassVar[str]
    """Its name on the command line and in files."""

    def build(self, random: Random) -> Workload:
        """Return a fresh workload."""


def check_number(number: int, what: str, place: str) -> None:
    """Refuse a parameter that makes more objects than fit into memory.

    Parameters
    ----------
    number
        The number of objects that it would make.
    what
        The noun for these objects, in the plural.
    place
        The parameter.

    Raises
    ------
    InstanceError
        When there are more than :data:`MOST`.
    """
    if number > MOST:
        raise InstanceError(f"makes {number:,} {what}; at most {MOST:,} are supported", place=place)
