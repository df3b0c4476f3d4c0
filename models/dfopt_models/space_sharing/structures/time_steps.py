"""Time steps of serial and parallel phases with barriers: the simulation of a galaxy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.errors import InstanceError
from dfopt_models.space_sharing.structures.phases import Draws, PhaseProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSteps:
    """Steps of one serial phase and several parallel ones.

    Between two parallel phases stands a barrier, at which the parallelism is one for a moment:
    a thread of its own, run by the processor that comes last.

    Parameters
    ----------
    work
        Of all threads together, serial ones included, in processor-seconds, on average.
    steps
        How many there are.
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
        """Most threads that can run at any time."""
        return self.threads

    @property
    def _serial_work(self) -> float:
        return self.steps * (self.serial + (self.phases - 1) * self.barrier)

    @property
    def _parallel_work(self) -> float:
        return self.work - self._serial_work

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        return PhaseProgram(self._phases(Draws(seed)))

    def _phases(self, draws: Draws) -> Iterator[list[float]]:
        mean = self._parallel_work / (self.steps * self.phases * self.threads)
        for _ in range(self.steps):
            yield [self.serial]
            for phase in range(self.phases):
                if phase:
                    yield [self.barrier]
                yield draws.seconds(self.threads, mean, self.variation)
