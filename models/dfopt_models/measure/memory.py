"""What measurements need of a machine: timed passes over lines, moves, and kernels in units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

LINE = 64
"""Bytes of a line."""

WORDS = LINE // 8
"""Words of a line."""


class AccessOrder(StrEnum):
    """In which order lines are read.

    RANDOM: each read waits for the one before, which says where to go; nothing can be fetched
    ahead. SEQUENTIAL: in the order of their addresses, which hardware fetches ahead.
    """

    RANDOM = "random"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True, slots=True)
class TimedPass:
    """How long something took, and whether the thread was interrupted meanwhile.

    Parameters
    ----------
    nanoseconds
        By a clock that never goes back.
    is_interrupted
        Whether the thread lost its CPU against its will.
    """

    nanoseconds: float
    is_interrupted: bool


@dataclass(frozen=True, slots=True)
class TimedSlice:
    """How long each unit of work of a slice took.

    Parameters
    ----------
    units
        Nanoseconds of each unit, in their order.
    is_interrupted
        Whether the thread lost its CPU against its will.
    """

    units: Sequence[float]
    is_interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushLevel:
    """Where lines are after a flush.

    Parameters
    ----------
    name
        Such as ``"L3"`` or ``"memory"``.
    sweep
        Lines that evict all others if they are read in the order of their addresses.
    set_size
        Lines of a set that fits there and in no level before it.
    has_random_flush
        Whether the flush reads such a set in random order, and not a sweep. Caches that resist
        streams do not resist this; but it takes long where the set is large.
    """

    name: str
    sweep: int
    set_size: int
    has_random_flush: bool = False


class Memory(Protocol):
    """A thread on a CPU with a cache, its victim's lines, and lines of others.

    Attributes
    ----------
    cache_lines
        Lines of the cache of one CPU.
    levels
        Where a flush can send lines.
    has_other_cpu
        Whether the thread can move.
    """

    cache_lines: int
    levels: tuple[FlushLevel, ...]
    has_other_cpu: bool

    def read(self, lines: int, order: AccessOrder) -> TimedPass:
        """Read the first lines of the victim once."""

    def write(self, lines: int) -> TimedPass:
        """Change the first lines of the victim."""

    def sweep(self, lines: int) -> TimedPass:
        """Read this number of other lines, in the order of their addresses."""

    def chase(self, set_size: int, lines: int) -> TimedPass:
        """Read lines of a set in random order, from where the last such pass ended.

        Parameters
        ----------
        set_size
            Lines of the set; after the last one comes the first one.
        lines
            How many to read.
        """

    def move(self) -> TimedPass:
        """Go on on the other CPU."""


class Processor(Memory, Protocol):
    """A CPU that runs kernels, each of which does the same work in every unit."""

    def work(self, kernel: str, units: int) -> TimedSlice:
        """Go on with a kernel for some units."""

    def switch(self, times: int) -> TimedPass:
        """Let two processes on this CPU wake each other, until it changed hands this often."""
