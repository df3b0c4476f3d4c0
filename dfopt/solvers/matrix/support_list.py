"""The cheapest supports of CPUs where there are too many types to list all.

Every task of type a is granted its price u_a, so that an order costs Σ u_a plus a *rest*. No ring
of switches has a negative rest, so that the least rest of all orders with a support S depends on S
alone. A search for shortest paths (Dijkstra 1959) over (support, last type) finds the supports of
small rest. A type may be visited again on the way to another one: without the triangle inequality
such a detour may be the cheapest way. Under a random matrix cheap switches are few, and so are the
sets of types that a CPU can run cheaply.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from dfopt.solvers.matrix.problem import MatrixProblem

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

UNREACHED = 1 << 61
"""More than the rest of any order."""

State = tuple[int, int]
"""A support, a bit for each type, and the last type."""

STATES_PER_CHECK = 1_000
"""The clock is looked at after this number of states."""


class SupportList:
    """The least rest of each support that is cheap enough.

    Parameters
    ----------
    problem
        The tasks to schedule, of at most 62 types.
    prices
        What a task of each type costs at least; subtracted from all costs. No ring of switches
        costs less than the prices of its tasks.
    most
        At most this number of supports are listed for each start.
    check
        Called often; what it raises ends the work.

    Attributes
    ----------
    supports : array of int64, shape (n,)
        The supports; the first is that of a CPU without tasks.
    rest : list of array, int64, shape (n,)
        For each start, the least rest of an order with each support, or ``UNREACHED``.
    inside : array of bool, shape (n, types)
        Which types each support has.
    reach
        All supports of at most this rest are there.
    """

    def __init__(
        self,
        problem: MatrixProblem,
        prices: Sequence[int],
        *,
        most: int,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self.problem = problem
        self.types = len(problem.sizes)
        self.prices = list(prices)
        self._check = check
        # With potentials no switch less its price is negative (Johnson 1977).
        rests = np.array(problem.switch, dtype=np.int64) - np.array(prices, dtype=np.int64)
        self._potentials = _potentials(rests)
        arcs = rests + self._potentials[:, None] - self._potentials
        self._arcs = [
            sorted((cost, after) for after, cost in enumerate(row) if after != before)
            for before, row in enumerate(arcs.tolist())
        ]
        self.reach = UNREACHED
        self.numbers = {0: 0}
        self.supports = np.zeros(1, dtype=np.int64)
        self.inside = np.zeros((1, self.types), dtype=bool)
        self.rest = [np.array([idle], dtype=np.int64) for idle in problem.idle]
        self._last: list[dict[int, int]] = [{} for _ in problem.start]
        self._before: list[dict[State, State | None]] = [{} for _ in problem.start]
        present = [task_type for task_type, size in enumerate(problem.sizes) if size]
        for start in range(len(problem.start)):
            self._enter(start, self._found(start, most, present))

    def add(self, support: int) -> None:
        """Add a support of few types."""
        members = [task_type for task_type in range(self.types) if support >> task_type & 1]
        for start in range(len(self.rest)):
            rests = self._found(start, UNREACHED, members)
            self._enter(start, {support: rests[support]})

    def walk(self, start: int, support: int) -> tuple[int, ...]:
        """Return an order with this support and the least rest."""
        if not support:
            return ()
        state: State | None = (support, self._last[start][support])
        walk = []
        while state is not None:
            walk.append(state[1])
            state = self._before[start][state]
        return tuple(walk[::-1])

    def _enter(self, start: int, rests: dict[int, tuple[int, int]]) -> None:
        """Enter the rests of some supports and their last types."""
        new = [support for support in rests if support not in self.numbers]
        for support in new:
            self.numbers[support] = len(self.numbers)
        self.supports = np.append(self.supports, np.array(new, dtype=np.int64))
        self.inside = (self.supports[:, None] >> np.arange(self.types) & 1).astype(bool)
        self.rest = [np.append(rest, np.full(len(new), UNREACHED)) for rest in self.rest]
        for support, (rest, last) in rests.items():
            self.rest[start][self.numbers[support]] = rest
            self._last[start][support] = last

    def _found(self, start: int, most: int, members: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return the least rest and its last type for the cheapest supports of some types.

        States are reached in the order of their costs. From each of them the next arc is entered
        once the one before it has been gone, so that few wait at a time.
        """
        problem, potentials = self.problem, self._potentials.tolist()
        arcs = [[arc for arc in row if arc[1] in members] for row in self._arcs]
        before: dict[State, State | None] = {}
        rests: dict[int, tuple[int, int]] = {}
        # What it costs to reach a state; by which arc, from where, and at what cost.
        queue: list[tuple[int, int, int, int, int, State | None]] = []
        for first in members:
            cost = problem.start[start][first] - self.prices[first] - potentials[first]
            queue.append((cost, 1 << first, first, 0, 0, None))
        heapq.heapify(queue)

        def enter_arc(state: State, cost: int, first_arc: int) -> None:
            support, last = state
            for number in range(first_arc, len(arcs[last])):
                more, after = arcs[last][number]
                wider = support | 1 << after
                if (wider, after) not in before and wider.bit_count() <= problem.capacity:
                    heapq.heappush(queue, (cost + more, wider, after, number, cost, state))
                    return

        level, cheaper = -UNREACHED, 0
        while queue:
            cost, support, last, number, cost_before, previous = heapq.heappop(queue)
            if previous is not None:
                enter_arc(previous, cost_before, number + 1)
            if (support, last) in before:
                continue
            if support not in rests and cost > level:
                level, cheaper = cost, len(rests)
            if support not in rests and len(rests) == most:
                # Of those that are reached at this cost all are listed or none.
                ends = (potentials[one] + problem.finish[one] for one in members)
                self.reach = min(self.reach, cost - 1 + min(ends))
                rests = dict(islice(rests.items(), cheaper))
                break
            if len(before) % STATES_PER_CHECK == 0:
                self._check()
            before[support, last] = previous
            rest = cost + potentials[last] + problem.finish[last]
            rests[support] = min((rest, last), rests.get(support, (UNREACHED, last)))
            enter_arc((support, last), cost, 0)
        # The way to a state leads through parts of its support only, whatever else is listed.
        self._before[start] = before | self._before[start]
        return rests


def _potentials(rests: Integers) -> Integers:
    """Return potentials with which no rest of a switch is negative (Bellman and Ford)."""
    potentials = np.zeros(len(rests), dtype=np.int64)
    for _ in range(len(rests) + 1):
        lower = np.minimum(potentials, (potentials[:, None] + rests).min(axis=0))
        if (lower == potentials).all():
            return potentials
        potentials = lower
    raise AssertionError("no ring of switches costs less than the prices of its tasks")
