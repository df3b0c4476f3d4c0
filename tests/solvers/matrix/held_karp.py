"""The least that a CPU pays for running exactly the types of a set, its *support*.

Every task of type a is granted its price u_a, so that an order costs Σ u_a plus a *rest*. Where no
ring of switches has a negative rest, the least rest of all orders with a support S depends on S
alone, and one dynamic program over (support, last type) finds it for all of them. It is Held and
Karp's, except that a type may be visited again on the way to another one: without the triangle
inequality such a detour may be the cheapest way. Detours stay within the support, because a type
that is visited belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.support_list import UNREACHED, Integers


class SupportCosts:
    """The least rest of every support, for each start of a CPU.

    Parameters
    ----------
    problem
        The tasks to schedule, of at most some dozen types.
    prices
        What a task of each type costs at least, u_a; subtracted from all costs.
    check
        Called often; what it raises ends the work.

    Attributes
    ----------
    rest : list of array, int64, shape (2^types,)
        For each start, the least rest of an order with each support, a bit for each type. Entry 0
        is what a CPU without tasks pays.

    Notes
    -----
    Time O(2^t t²) for t types, times the number of visits that detours need.
    """

    def __init__(
        self,
        problem: MatrixProblem,
        prices: Sequence[int],
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self.types = len(problem.sizes)
        self.prices = np.array(prices, dtype=np.int64)
        self._check = check
        self._switch = np.array(problem.switch, dtype=np.int64) - self.prices
        self._finish = np.array(problem.finish, dtype=np.int64)
        masks = np.arange(1 << self.types)
        self._inside = (masks[:, None] >> np.arange(self.types) & 1).astype(bool)
        members = self._inside.sum(axis=1)
        self._layers = [np.flatnonzero(members == size) for size in range(self.types + 1)]
        self._least = [self._least_rests(row) for row in problem.start]
        self.rest = [(least + self._finish).min(axis=1) for least in self._least]
        for rest, idle in zip(self.rest, problem.idle, strict=True):
            rest[0] = idle

    def _least_rests(self, start: Sequence[int]) -> Integers:
        """Return the least rest of all orders by support and last type."""
        least = np.full(self._inside.shape, UNREACHED, dtype=np.int64)
        for first, cost in enumerate(start):
            least[1 << first, first] = cost - self.prices[first]
        for layer in self._layers[2:]:
            for last in range(self.types):
                masks = layer[self._inside[layer, last]]
                shorter = least[masks ^ 1 << last]
                least[masks, last] = (shorter + self._switch[:, last]).min(axis=1)
            self._add_detours(least, layer)
            self._check()
        return least

    def _add_detours(self, least: Integers, layer: Integers) -> None:
        """Let orders of these supports go on to types that they have visited already."""
        rows = least[layer]
        inside = self._inside[layer]
        for _ in range(self.types + 1):
            better = np.stack(
                [(rows + self._switch[:, last]).min(axis=1) for last in range(self.types)], axis=1
            )
            better = np.where(inside, np.minimum(rows, better), UNREACHED)
            if (better == rows).all():
                least[layer] = rows
                return
            rows = better
        raise AssertionError("no ring of switches costs less than the prices of its tasks")
