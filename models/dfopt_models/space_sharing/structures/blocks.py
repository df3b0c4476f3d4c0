"""Independent threads: the blocks of a matrix product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt_models.space_sharing.structures.phases import Draws, PhaseProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Threads that wait for nothing and for nobody: massive and constant parallelism.

    Parameters
    ----------
    work
        Of all threads together, in processor-seconds, on average.
    threads
        How many there are.
    variation
        Coefficient of variation of their work.
    """

    work: float
    threads: int
    variation: float

    @property
    def most_parallel(self) -> int:
        """Most threads that can run at any time."""
        return self.threads

    def program(self, seed: int) -> PhaseProgram:
        """Return the threads of one run."""
        return PhaseProgram(self._phases(Draws(seed)))

    def _phases(self, draws: Draws) -> Iterator[list[float]]:
        yield draws.seconds(self.threads, self.work / self.threads, self.variation)
