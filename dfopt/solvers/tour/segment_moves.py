"""Local search for tours: two neighbouring segments change places.

That is the 3-opt move that turns no segment round (Kanellakis and Papadimitriou 1980), so it suits
costs that depend on the direction. It changes three arcs, whatever the lengths of the segments.
One of the new arcs is a cheap one (the candidate lists of Lin and Kernighan 1973). Simulated
annealing decides which moves are made (Kirkpatrick, Gelatt and Vecchi 1983).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dfopt.native.orders import TourWalk
from dfopt.solvers.tour.problem import Integers, TourProblem

Table = npt.NDArray[np.int64] | npt.NDArray[np.float64]

SHORT, LONG = 20_000, 150_000
"""Number of moves that a short walk and a long one try for each task."""

MOST_MOVES = 10_000_000
"""A walk tries at most 10,000,000 moves."""

MOVES_PER_CHUNK = 200_000
"""Between two looks at the clock at most 200,000 moves are tried."""

NEAR = 5
"""The new arc is one of the 5 cheapest ones from its node."""

FEWEST_TASKS = 3
"""Shorter tours are left as they are."""

LONGEST_TOUR = 5_000
"""Tours with more tasks are left as they are."""

HOT, COLD = 1.0, 0.01
"""The first and the last temperature, as shares of the average arc of the tour."""


class SegmentMoves:
    """Walks that start from the best tour so far.

    Parameters
    ----------
    problem
        The tour.
    seed
        Seed of everything random.
    check
        Called often; what it raises ends the search.
    """

    def __init__(self, problem: TourProblem, seed: int, check: Callable[[], None]) -> None:
        self.problem = problem
        self._check = check
        self._random = np.random.default_rng(seed)

    def improved(
        self, tour: Sequence[int], worth: Table, walks: int, length: int = SHORT
    ) -> list[int]:
        """Return the best tour after some walks, each from the best tour before.

        Parameters
        ----------
        tour
            A tour.
        worth
            Arcs of small values are tried first: reduced costs of the arcs.
        walks, length
            The number of walks, and of moves that each of them tries for each task.
        """
        problem = self.problem
        if not FEWEST_TASKS <= len(tour) - 2 <= LONGEST_TOUR:
            return list(tour)
        walk = TourWalk(
            problem.visits,
            self._near(worth),
            problem.cost,
            problem.precedes,
            np.array(tour, dtype=np.int64),
            int(self._random.integers(1, 1 << 64, dtype=np.uint64)),
        )
        moves = min(MOST_MOVES, length * (len(tour) - 2))
        for _ in range(walks):
            scale = max(1.0, walk.restart() / (len(tour) - 1))
            for done in range(0, moves, MOVES_PER_CHUNK):
                heat = HOT * (COLD / HOT) ** (done / moves) * scale
                walk.walk(min(MOVES_PER_CHUNK, moves - done), heat)
                self._check()
        best: list[int] = walk.best().tolist()
        return best

    def _near(self, worth: Table) -> Integers:
        """Return for each node the nodes to which the cheapest arcs lead; -1 where are none."""
        problem = self.problem
        ranked = np.where(problem.most > 0, worth, np.inf)
        near = np.argsort(ranked, axis=1, kind="stable")[:, :NEAR]
        near[np.isinf(np.take_along_axis(ranked, near, axis=1))] = -1
        return near.astype(np.int64)
