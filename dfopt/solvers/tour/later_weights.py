"""Weights that bound the beginnings of orders better the longer they are.

The dual values of the linear program bound all orders as well as they can, and so what follows some
beginning not so well. Let the program ask for what a sample of beginnings leaves on average: its
dual values then raise the average bound of the sample as far as they can.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dfopt.solvers.tour.cut_program import CutProgram
from dfopt.solvers.tour.problem import START, Flags, Integers
from dfopt.solvers.tour.proof import TourWeights
from dfopt.solvers.tour.separation import Cut

SAMPLE = 2_000
"""At most 2,000 beginnings are a sample."""

CUT_FOR = 2
"""Cuts are separated for 2 beginnings of each sample."""

CUT_ROUNDS = 2
"""At most 2 rounds of cuts are added for each of them."""

MOST_ROWS = 600
"""No more cuts are added to a program that has 600 of them."""


class SampledWeights:
    """Finds weights for samples of beginnings.

    Parameters
    ----------
    program
        The linear program of all orders.
    scale
        Dual values are multiplied by this and rounded.
    budget
        Orders that cost more than this need no cuts.
    seed
        Of the samples.
    """

    def __init__(self, program: CutProgram, scale: int, budget: int, seed: int = 0) -> None:
        self._program = program
        self._scale = scale
        self._budget = budget
        self._random = np.random.default_rng(seed)
        self._ranks = program.problem.precedes.sum(axis=0)

    def weights(self, masks: Integers, lasts: Integers) -> TourWeights:
        """Return weights that bound what follows these beginnings.

        Parameters
        ----------
        masks
            The nodes of each beginning, bit i − 1 for node i.
        lasts
            The last node of each.
        """
        drawn = self._random.choice(len(masks), min(SAMPLE, len(masks)), replace=False)
        problem = self._program.problem
        visited = np.zeros((len(drawn), problem.end + 1), dtype=np.bool_)
        visited[:, START] = True
        visited[:, 1:-1] = masks[drawn, None] >> np.arange(problem.end - 1) & 1
        lasts = lasts[drawn]
        for nodes, last in list(zip(visited, lasts, strict=True))[:CUT_FOR]:
            if len(self._program.used_cuts) < MOST_ROWS:
                self._add_cuts(nodes, int(last))
        entering = (~visited).mean(axis=0)
        leaving = entering + np.bincount(lasts, minlength=problem.end + 1) / len(lasts)

        def crossing(cut: Cut) -> float:
            # The end is in Y, the start in X; else a cut is open as in the checker.
            ahead = ~visited[:, cut.first_of].any(axis=1)
            behind = visited[:, cut.last_of].all(axis=1)
            return float((ahead & (~behind | cut.tails[lasts])).mean())

        prices = self._program.after_beginnings(leaving, entering, crossing).prices
        return TourWeights(
            np.rint(prices.leaving * self._scale).astype(np.int64),
            np.rint(prices.entering * self._scale).astype(np.int64),
            {
                number: weight
                for number, price in prices.cuts.items()
                if (weight := round(price * self._scale)) > 0
            },
            self._scale,
            0,
        )

    def _add_cuts(self, nodes: Flags, last: int) -> None:
        """Add cuts that the program violates after a beginning.

        How the beginning came to its last node does not matter for that: any order will do.
        """
        others = [node for node in np.flatnonzero(nodes).tolist() if node != last]
        others.sort(key=lambda node: int(self._ranks[node]))
        self._program.solve(
            dict.fromkeys(pairwise([*others, last]), (1, 1)), np.inf, rounds=CUT_ROUNDS
        )
