"""Programs of phases: all threads of one must end before those of the next begin."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from dfopt_models.space_sharing.threads import DONE, Thread


class PhaseProgram:
    """Phases one after another, made when they are due: a long program takes little memory.

    Parameters
    ----------
    phases
        The seconds of the threads of each phase.
    """

    __slots__ = ("_left", "_phases", "_released", "work")

    def __init__(self, phases: Iterator[list[float]]) -> None:
        self._phases = phases
        self._left = 0
        self._released = 0
        self.work = 0.0

    def begin(self) -> list[Thread]:
        """Return the threads of the first phase."""
        return self._next()

    def finish(self, number: int) -> list[Thread] | None:
        """Return the threads of the next phase once those of this one have ended."""
        self._left -= 1
        return None if self._left else self._next()

    def _next(self) -> list[Thread]:
        seconds = next(self._phases, None)
        if seconds is None:
            return DONE
        first = self._released
        self._left = len(seconds)
        self._released += len(seconds)
        self.work += sum(seconds)
        return list(zip(seconds, range(first, self._released), strict=True))


class Draws:
    """Draws the seconds of threads, gamma distributed: never negative, any variation."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def seconds(self, count: int, mean: float, variation: float) -> list[float]:
        """Return the work of so many threads.

        Parameters
        ----------
        count
            Number of threads.
        mean
            Of their work, in seconds.
        variation
            Coefficient of variation: standard deviation over mean. At 0 all are equal, as they
            are, to rounding, below the smallest difference of floats.
        """
        if variation < sys.float_info.epsilon:
            return [mean] * count
        shape = variation**-2
        drawn: list[float] = self._random.gamma(shape, mean / shape, count).tolist()
        return drawn
