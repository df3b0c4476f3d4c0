"""Random draws that come out the same on every platform and in every version of Python.

Python promises that ``random.Random(seed).random()`` keeps its sequence, and promises nothing
about its other methods. So every draw here takes the 53 random bits of one ``random()`` and goes
on in exact integers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from random import Random

from dfopt.checks import check_integer

BITS = 53
"""``random()`` is a multiple of 2⁻⁵³, so multiplying by 2⁵³ loses nothing."""


class Draws:
    """A sequence of random draws.

    Parameters
    ----------
    seed
        Integer ≥ 0; the same seed gives the same draws.
    """

    def __init__(self, seed: int) -> None:
        check_integer(seed, "seed")
        self._random = Random(seed).random

    def below(self, count: int) -> int:
        """Return one of 0 … count − 1, all equally likely (to within 2⁻⁵³)."""
        return int(self._random() * 2**BITS) * count >> BITS

    def between(self, least: int, most: int) -> int:
        """Return one of least … most, all equally likely."""
        return least + self.below(most - least + 1)

    def index(self, bounds: Sequence[int]) -> int:
        """Return an index i, with probability (bounds[i] − bounds[i − 1]) / bounds[−1].

        ``bounds`` are the running sums of the weights.
        """
        return bisect_right(bounds, self.below(bounds[-1]))

    def distinct(self, count: int, below: int) -> list[int]:
        """Return ``count`` distinct numbers of 0 … below − 1, ascending (Floyd's algorithm)."""
        chosen: set[int] = set()
        for last in range(below - count, below):
            candidate = self.below(last + 1)
            chosen.add(last if candidate in chosen else candidate)
        return sorted(chosen)
