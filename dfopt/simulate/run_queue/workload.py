"""What is simulated: threads, and the fragments they share."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from dfopt.errors import InstanceError
from dfopt.simulate.run_queue.steps import NewThread

MOST = 1_000_000
"""So many threads, or things that they share, a workload may have: all of them are in memory."""


def check_number(number: int, what: str, place: str) -> None:
    """Refuse a parameter that makes more of something than fits into memory.

    Parameters
    ----------
    number
        How many there would be.
    what
        What they are, in the plural.
    place
        The parameter.

    Raises
    ------
    InstanceError
        When they are too many.
    """
    if number > MOST:
        raise InstanceError(f"makes {number:,} {what}; at most {MOST:,} are supported", place=place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The threads of one simulation; their programs are used up by it.

    Parameters
    ----------
    threads
        Those that are there from the beginning, or arrive by themselves.
    fragments
        Names of the data fragments; bursts refer to them by number.
    sizes
        How many lines each has; together they are the memory that a cache of lines sees.
    """

    threads: tuple[NewThread, ...]
    fragments: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


class WorkloadKind(Protocol):
    """A kind of workload with its parameters, which are the fields of a frozen dataclass."""

    name: ClassVar[str]
    """What it is called on the command line and in files."""

    def build(self, random: Random) -> Workload:
        """Return a fresh workload."""
