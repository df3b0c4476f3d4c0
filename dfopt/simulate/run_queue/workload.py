"""The parts of a workload: threads, the bursts they execute, and the steps between their bursts.

This file holds data only. The program of a thread is an iterator of bursts and steps;
:mod:`dfopt.simulate.run_queue.steps` has the steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any, ClassVar, Protocol

from dfopt.checks import check_integer, described
from dfopt.errors import InstanceError

MOST_URGENT, LEAST_URGENT = -20, 19
"""The least and the greatest nice value."""

UNMANAGED = -1
"""The fragment of a burst that uses no fragment; such a burst leaves the cache as it is."""

CLEAN, DIRTY, INVALIDATED = range(3)
"""The state in which a burst leaves its fragment; indices into :data:`dfopt.trace.trace.LEAVES`."""

MOST = 1_000_000
"""A workload has at most 1,000,000 threads, or objects that they share: all are in memory."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Execution, in user mode unless it says otherwise.

    Parameters
    ----------
    time
        How long it executes, at least 1, in the simulation's unit. What the switch to it costs
        comes on top.
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
        check_integer(self.time, "time", least=1)
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
    """

    name: str
    steps: Steps
    kind: str = ""
    application: int = 0
    nice: int = 0
    arrival: int = 0

    def __post_init__(self) -> None:
        check_integer(self.nice, "nice", least=MOST_URGENT)
        if self.nice > LEAST_URGENT:
            raise InstanceError(f"must be at most {LEAST_URGENT}, not {self.nice}", place="nice")
        check_integer(self.arrival, "arrival")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The threads of one simulation, which uses their programs up, and their fragments.

    Parameters
    ----------
    threads
        Those that are there from the beginning, or arrive by themselves.
    fragments
        Names of the data fragments; bursts refer to them by number.
    sizes
        The number of lines of each fragment. Together they are the memory that caches of lines see.
    """

    threads: tuple[NewThread, ...]
    fragments: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


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
