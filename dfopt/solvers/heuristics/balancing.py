"""Local search that evens out the CPUs under makespan, where an even share is nearly attainable.

At a target z for the costs of all m CPUs, no more than m·z is left for all of them together. So a
schedule within the target needs a small total penalty, and CPUs that are even to within the few
units which that leaves. A walk aims at both: the *badness* of contents is what CPUs cost above
the target, and what all cost together above m·z. Many moves exchange tasks of one fragment, of
which two CPUs hold some, since these hardly change any penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from dfopt.solvers.heuristics.local_search import LocalSearch
from dfopt.solvers.search import Search

HOT, COLD = 0.25, 0.04
"""The first and the last temperature, as shares of what tasks differ by, or of a visit."""

NEAR = 3
"""A walk aims at most 3 units below the best schedule."""

CHUNK = 100_000
"""Moves between two looks at the clock."""


class Balancing(LocalSearch):
    """Walks that even out the CPUs; each goes on from where the one before ended.

    Parameters
    ----------
    search
        Of an instance with penalty f or g under makespan, in which no task waits or has a size.
    seed
        Seed of the random moves.
    """

    def __init__(self, search: Search, seed: int = 0) -> None:
        super().__init__(search, seed)
        self._random = Random(seed)

    def run(
        self,
        target: int | None,
        moves: int,
        over: Callable[[], bool] | None = None,
        hot: float = HOT,
    ) -> bool:
        """Walk once, from hot to cold; return whether anything better was found.

        Parameters
        ----------
        target
            The largest cost to be reached. With None one between the bound and the best schedule
            is drawn.
        moves
            Number of moves to try.
        over
            Asked every few milliseconds whether to end the walk.
        hot
            The first temperature.
        """
        best = self.search.objective
        assert best is not None
        if target is None:
            least = max(self.search.lower_bound, best - NEAR)
            target = self._random.randrange(least, max(best, least + 1))
        temperature = hot * self._visit
        cooling = (COLD / hot) ** (1 / max(1, moves))
        left, total = moves, target * self.search.instance.cpus
        try:
            while left > 0:
                self._report()
                self.search.check()
                if over is not None and over():
                    break
                chunk = min(left, CHUNK)
                if self._walk(chunk, temperature, cooling, target, total) <= target:
                    break
                temperature *= cooling**chunk
                left -= chunk
        finally:
            self._report()
        return self.search.objective != best
