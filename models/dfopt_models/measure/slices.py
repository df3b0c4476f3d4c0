"""What a measurement of penalties needs: work in slices, and what may happen between two slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dfopt_models.measure.machine import MOVED
from dfopt_models.measure.memory import Memory, TimedPass

STATIONARY = "nothing"
"""Between two slices nothing else runs, and the cache is left alone."""

AFTER = "after "
"""Begins the name of a preparation in which another job runs."""


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


class Processor(Memory, Protocol):
    """A CPU that runs kernels, each of which does the same work in every unit.

    Attributes
    ----------
    kernels
        Their names.
    """

    kernels: tuple[str, ...]

    def work(self, kernel: str, units: int) -> TimedSlice:
        """Go on with a kernel for some units."""

    def switch(self, times: int) -> TimedPass:
        """Let two processes on this CPU wake each other, until it changed hands this often."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A run of a whole program in slices.

    Parameters
    ----------
    processor_time
        Seconds that the program ran, without what ran between its slices.
    slices, rejected
        Slices, and those in which the program lost its CPU to others.
    """

    processor_time: float
    slices: int
    rejected: int


class ProgramHost(Protocol):
    """Runs a program on one CPU, and stops it after every interval."""

    def run(self, job: str, quantum: float, preparation: str) -> ProgramRun:
        """Run a job to its end.

        Parameters
        ----------
        job
            Its name.
        quantum
            Seconds of a slice.
        preparation
            What happens between slices: ``"nothing"``, ``"moved"``, the name of a level, or
            ``"after JOB"``.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Interventions:
    """What is measured between slices.

    Parameters
    ----------
    without_affinity
        Stands for a reallocation without affinity: ``"moved"``, or the level of a flush.
    others
        Jobs that run between slices; a reallocation with affinity comes after one of them.
    """

    without_affinity: str = MOVED
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, by the names of preparations."""
        return self.without_affinity, *(AFTER + other for other in self.others)
