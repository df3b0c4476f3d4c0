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

import numpy as np
import numpy.typing as npt

from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.transportation import go_on

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

UNREACHED = 1 << 61
"""More than the rest of any order."""

State = tuple[int, int]
"""A support, a bit for each type, and the last type."""

Reached = tuple[dict[int, tuple[int, int]], dict[State, State | None]]
"""The least rest of each support and its last type, and from where each state is reached."""

_Within = tuple[dict[int, tuple[int, int]], dict[State, State | None], bool]

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
    reach
        All supports of at most this rest are there.
    """

    def __init__(
        self,
        problem: MatrixProblem,
        prices: Sequence[int],
        *,
        most: int,
        check: Callable[[], object] = go_on,
    ) -> None:
        self.problem = problem
        self.types = len(problem.sizes)
        self.prices = list(prices)
        self._check = check
        self._potentials = _potentials(problem, prices)
        self.reach = UNREACHED
        self._before: list[dict[State, State | None]] = []
        found = []
        for start in problem.start:
            rests, before = self._listed(start, most)
            found.append(rests)
            self._before.append(before)
        numbers = {0: 0}
        for rests in found:
            for support in rests:
                numbers.setdefault(support, len(numbers))
        self.numbers = numbers
        self.supports = np.array(list(numbers), dtype=np.int64)
        self.rest: list[Integers] = []
        self._last: list[dict[int, int]] = []
        for rests, idle in zip(found, problem.idle, strict=True):
            row = np.full(len(numbers), UNREACHED, dtype=np.int64)
            row[0] = idle
            for support, (rest, _) in rests.items():
                row[numbers[support]] = rest
            self.rest.append(row)
            self._last.append({support: last for support, (_, last) in rests.items()})
        self.inside = (self.supports[:, None] >> np.arange(self.types) & 1).astype(bool)

    def _listed(self, start: Sequence[int], most: int) -> Reached:
        """Return the least rest and its last type for the cheapest supports of a start."""
        problem = self.problem
        ends = [
            potential + finish
            for potential, finish, size in zip(
                self._potentials, problem.finish, problem.sizes, strict=True
            )
            if size
        ]
        firsts = [
            cost - price - potential
            for cost, price, potential, size in zip(
                start, self.prices, self._potentials, problem.sizes, strict=True
            )
            if size
        ]
        present = [task_type for task_type, size in enumerate(problem.sizes) if size]
        # From limit to limit, until there are enough of them.
        step, farthest = 1, min(firsts) - 1
        found: _Within = {}, {}, True
        while True:
            wider = self._within(start, farthest + step, most, present)
            if wider is None and step == 1:
                self.reach = min(self.reach, farthest + min(ends))
                return found[:2]
            if wider is None:
                step = max(1, step // 4)
                continue
            found, farthest = wider, farthest + step
            if not found[2]:
                return found[:2]
            step *= 2

    def _within(
        self, start: Sequence[int], farthest: int, most: int, members: Sequence[int]
    ) -> _Within | None:
        """Return the supports of orders of ``members`` of at most ``farthest`` before their end.

        Also from where each state is reached, and whether anything was left out. None if there
        are too many.
        """
        problem, potentials, capacity = self.problem, self._potentials, self.problem.capacity
        # With potentials no arc is negative (Johnson 1977).
        arcs = [
            sorted(
                (problem.switch[a][b] - self.prices[b] + potentials[a] - potentials[b], b)
                for b in members
                if b != a
            )
            for a in range(self.types)
        ]
        least: dict[State, int] = {}
        before: dict[State, State | None] = {}
        left_out = False
        queue: list[tuple[int, int, int]] = []
        for first in members:
            cost = start[first] - self.prices[first] - potentials[first]
            if cost > farthest:
                left_out = True
                continue
            least[1 << first, first] = cost
            before[1 << first, first] = None
            queue.append((cost, 1 << first, first))
        heapq.heapify(queue)
        rests: dict[int, tuple[int, int]] = {}
        done = 0
        while queue:
            cost, support, last = heapq.heappop(queue)
            if cost > least[support, last]:
                continue
            done += 1
            if done % STATES_PER_CHECK == 0:
                self._check()
            rest = cost + potentials[last] + problem.finish[last]
            if support not in rests or rest < rests[support][0]:
                rests[support] = rest, last
                if len(rests) > most:
                    return None
            for more, after in arcs[last]:
                reached = cost + more
                if reached > farthest:
                    left_out = True
                    break
                wider = support | 1 << after
                if wider != support and wider.bit_count() > capacity:
                    continue
                state = wider, after
                known = least.get(state)
                if known is None or reached < known:
                    least[state] = reached
                    before[state] = support, last
                    heapq.heappush(queue, (reached, wider, after))
        return rests, before, left_out

    def add(self, support: int) -> None:
        """Add a support of few types."""
        members = [task_type for task_type in range(self.types) if support >> task_type & 1]
        if support not in self.numbers:
            self.numbers[support] = len(self.numbers)
            self.supports = np.append(self.supports, support)
            self.rest = [np.append(rest, UNREACHED) for rest in self.rest]
            inside = np.array([[support >> task_type & 1 for task_type in range(self.types)]], bool)
            self.inside = np.concatenate([self.inside, inside])
        for start, row in enumerate(self.problem.start):
            # The way to a state leads through parts of its support only, whatever else is listed.
            found = self._within(row, UNREACHED, UNREACHED, members)
            assert found is not None
            rest, last = found[0][support]
            self.rest[start][self.numbers[support]] = rest
            self._last[start][support] = last
            self._before[start] = found[1] | self._before[start]

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


def _potentials(problem: MatrixProblem, prices: Sequence[int]) -> list[int]:
    """Return potentials with which no switch less its price is negative (Bellman and Ford)."""
    types = range(len(prices))
    potentials = [0 for _ in types]
    for _ in range(len(prices) + 1):
        changed = False
        for a in types:
            for b in types:
                reached = potentials[a] + problem.switch[a][b] - prices[b]
                if reached < potentials[b]:
                    potentials[b] = reached
                    changed = True
        if not changed:
            return potentials
    raise AssertionError("no ring of switches costs less than the prices of its tasks")
