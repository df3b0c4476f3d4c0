"""Structures: how the threads of an application depend on each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dfopt.errors import InstanceError
from dfopt_models.space_sharing.programs import GraphProgram, PhaseProgram, thread_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Independent threads, such as the blocks of a matrix product.

    The parallelism is massive and constant.

    Parameters
    ----------
    work
        Mean work of all threads together, in processor-seconds.
    threads
        Number of threads.
    variation
        Coefficient of variation of their work.
    """

    work: float
    threads: int
    variation: float

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time."""
        return self.threads

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        return PhaseProgram(self._phases(np.random.default_rng(seed)))

    def _phases(self, random: np.random.Generator) -> Iterator[list[float]]:
        yield thread_seconds(random, self.threads, self.work / self.threads, self.variation)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSteps:
    """Steps of one serial phase and several parallel ones, such as the simulation of a galaxy.

    A barrier stands between two parallel phases. There the parallelism is 1 for a moment: the
    barrier is a thread of its own, run by the processor that comes last.

    Parameters
    ----------
    work
        Mean work of all threads together, serial ones included, in processor-seconds.
    steps
        Number of steps.
    serial
        Work of the serial phase that begins each step, in seconds.
    phases
        Parallel phases of each step.
    threads
        Threads of each parallel phase.
    variation
        Coefficient of variation of their work.
    barrier
        Work of each barrier between parallel phases, in seconds.

    Raises
    ------
    InstanceError
        When the serial phases and barriers alone are more than the work.
    """

    work: float
    steps: int
    serial: float
    phases: int
    threads: int
    variation: float
    barrier: float

    def __post_init__(self) -> None:
        if self._parallel_work <= 0:
            raise InstanceError(
                f"must be more than the {self._serial_work:g} s of the serial phases and barriers",
                place="work",
            )

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time."""
        return self.threads

    @property
    def _serial_work(self) -> float:
        return self.steps * (self.serial + (self.phases - 1) * self.barrier)

    @property
    def _parallel_work(self) -> float:
        return self.work - self._serial_work

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        return PhaseProgram(self._phases(np.random.default_rng(seed)))

    def _phases(self, random: np.random.Generator) -> Iterator[list[float]]:
        mean = self._parallel_work / (self.steps * self.phases * self.threads)
        for _ in range(self.steps):
            yield [self.serial]
            for phase in range(self.phases):
                if phase:
                    yield [self.barrier]
                yield thread_seconds(random, self.threads, mean, self.variation)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveFront:
    """A thread for each cell of a table, such as in dynamic programming.

    It waits for the cells above and to the left. The parallelism slowly grows, then slowly falls.

    Parameters
    ----------
    work
        Mean work of all threads together, in processor-seconds.
    rows, columns
        Size of the table.
    variation
        Coefficient of variation of the threads' work.
    """

    work: float
    rows: int
    columns: int
    variation: float

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time: those of a diagonal."""
        return min(self.rows, self.columns)

    def program(self, seed: int) -> GraphProgram:
        """Return the threads of one run."""
        cells = self.rows * self.columns
        successors = []
        predecessors = []
        for row in range(self.rows):
            for column in range(self.columns):
                cell = row * self.columns + column
                right = (cell + 1,) if column + 1 < self.columns else ()
                below = (cell + self.columns,) if row + 1 < self.rows else ()
                successors.append(right + below)
                predecessors.append((row > 0) + (column > 0))
        random = np.random.default_rng(seed)
        seconds = thread_seconds(random, cells, self.work / cells, self.variation)
        return GraphProgram(seconds, successors, predecessors)
