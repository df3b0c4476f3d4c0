"""The parts of a contention model: its lock, its free buffers, its scans, and a third band.

A parameter of a part is either given or fitted to a measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dfopt_models.contention.locks import Holds, bisect
from dfopt_models.contention.scans import look_time, third_band

Sources = Mapping[str, str]

LOADS = (1e-6, 1 - 1e-9)
"""Between these a load is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The lock of the ready queue, or of each ready queue.

    Parameters
    ----------
    hold
        Mean time for which it is held.
    think
        Mean time that a CPU computes between two uses; None if it is fitted.
    misses, misses_of
        To which share of misses of how many CPUs it is fitted.
    holds
        How hold times vary.
    sources
        Where each value is from.
    """

    hold: float = 1.0
    think: float | None = None
    misses: float | None = None
    misses_of: int | None = None
    holds: Holds = Holds.EXPONENTIAL
    sources: Sources = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffers:
    """Free buffers, behind one lock or a lock for each CPU.

    Parameters
    ----------
    hold
        For which the lock is held in each round; None if it is fitted.
    slope
        To which mean slope with one list it is fitted.
    each, used
        Buffers of each CPU, and how many it would use on average; None: nothing is said about
        borrowing.
    cpus
        Larger machines, which the table shows.
    """

    hold: float | None = None
    slope: float | None = None
    each: int | None = None
    used: float | None = None
    cpus: tuple[int, ...] = ()
    sources: Sources = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scans:
    """Scans of all queues, each with a wider range.

    Parameters
    ----------
    chances
        By scan: how likely a queue has a thread of its range.
    look
        Time to look at one queue, in switches; None if it is fitted.
    slowdown, slowdown_of
        To which time of a switch with a scan in vain, on how many CPUs, it is fitted.
    """

    chances: tuple[float, ...]
    look: float | None = None
    slowdown: float | None = None
    slowdown_of: int | None = None
    sources: Sources = field(default_factory=dict)

    @property
    def look_time(self) -> float:
        """What one look takes, in switches."""
        if self.look is not None:
            return self.look
        assert self.slowdown is not None
        assert self.slowdown_of is not None
        return look_time(self.slowdown, self.slowdown_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThirdBand:
    """A band of its own for threads that a disk woke up.

    Parameters
    ----------
    cpus
        How many CPUs there are.
    first
        Which share of the load it is.
    rest
        The rest of a thread's cycle beside its wait for a CPU, in services.
    load
        Which share of the time CPUs are busy; None if it is fitted.
    ratio
        To which relative time of a cycle it is fitted.
    """

    cpus: int
    first: float
    rest: float
    load: float | None = None
    ratio: float | None = None
    sources: Sources = field(default_factory=dict)

    @property
    def busy(self) -> float:
        """The load, given or fitted."""
        if self.load is not None:
            return self.load
        assert self.ratio is not None
        return bisect(
            lambda load: third_band(self.cpus, load, self.first, self.rest),
            self.ratio,
            LOADS,
            "third_band.fitted",
        )

    @property
    def relative(self) -> float:
        """The time of a cycle with the band, relative to that without."""
        return third_band(self.cpus, self.busy, self.first, self.rest)
