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
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.transportation import go_on

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

UNREACHED = 1 << 61
"""More than the rest of any order."""

LARGEST_COST = 1 << 26
"""Sums of such costs, times the scale of a proof, still fit into 53 bits."""


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
        check: Callable[[], object] = go_on,
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

    def walk(self, start: int, support: int) -> tuple[int, ...]:
        """Return an order with this support and the least rest; with few visits among those."""
        if not support:
            return ()
        least = self._least[start]
        last = int((least[support] + self._finish).argmin())
        walk = [last]
        while True:
            # Within the support: back to the type at which it became complete.
            path = self._detour(least, support, walk[-1])
            walk += path
            support ^= 1 << walk[-1]
            if not support:
                return tuple(walk[::-1])
            entered = walk[-1]
            wanted = least[support | 1 << entered, entered]
            before = least[support] + self._switch[:, entered]
            walk.append(int(np.flatnonzero(before == wanted)[0]))

    def _detour(self, least: Integers, support: int, last: int) -> list[int]:
        """Return the types visited before ``last`` since the support became complete, backwards."""
        rows = least[support]
        previous: dict[int, int] = {last: last}
        queue = [last]
        for entered in queue:
            outside = least[support ^ 1 << entered] + self._switch[:, entered]
            is_first = support == 1 << entered
            if is_first or int(outside.min()) == rows[entered]:
                path, current = [], entered
                while current != last:
                    path.append(current)
                    current = previous[current]
                return path[::-1]
            for before in range(self.types):
                if (
                    support >> before & 1
                    and before not in previous
                    and rows[before] + self._switch[before, entered] == rows[entered]
                ):
                    previous[before] = entered
                    queue.append(before)
        raise AssertionError("every support became complete at some type")


def rest_of(problem: MatrixProblem, prices: Sequence[int], start: int, walk: Sequence[int]) -> int:
    """Return what a CPU pays for an order beyond the prices of its tasks."""
    if not walk:
        return problem.idle[start]
    cost = problem.start[start][walk[0]] + problem.finish[walk[-1]]
    cost += sum(problem.switch[before][after] for before, after in pairwise(walk))
    return cost - sum(prices[task_type] for task_type in walk)
