"""Structures: how the threads of an application depend on each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dfopt.errors import InstanceError
from dfopt_models.space_sharing.mix import (
    MOST_THREADS,
    ApplicationTable,
    Count,
    PositiveSeconds,
    Seconds,
)
from dfopt_models.space_sharing.programs import GraphProgram, PhaseProgram, thread_seconds


class Blocks(ApplicationTable, tag="blocks"):
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

    work: PositiveSeconds
    threads: Count
    variation: Seconds

    @property
    def most_parallel(self) -> int:
        """The most threads that can run at the same time."""
        return self.threads

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        return PhaseProgram(self._phases(np.random.default_rng(seed)))

    def _phases(self, random: np.random.Generator) -> Iterator[list[float]]:
        yield thread_seconds(random, self.threads, self.work / self.threads, self.variation)


class TimeSteps(ApplicationTable, tag="time-steps"):
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

    work: PositiveSeconds
    steps: Count
    serial: PositiveSeconds
    phases: Count
    threads: Count
    variation: Seconds
    barrier: PositiveSeconds

    def __post_init__(self) -> None:
        """Check that work is left for the parallel phases."""
        super().__post_init__()
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


class WaveFront(ApplicationTable, tag="wave-front"):
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

    work: PositiveSeconds
    rows: Count
    columns: Count
    variation: Seconds

    def __post_init__(self) -> None:
        """Refuse a table with too many cells."""
        super().__post_init__()
        threads = self.rows * self.columns
        if threads > MOST_THREADS:
            raise InstanceError(
                f"has {threads:,} threads, and {MOST_THREADS:,} is the most; take fewer rows or "
                "columns"
            )

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
