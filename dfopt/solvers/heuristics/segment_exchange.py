"""Local search where no task waits: CPUs exchange segments of their orders.

The cost of an order is a sum over neighbours. So an exchange of two segments changes only the
switches at their ends, whatever their lengths, and millions of exchanges a second can be priced.
Simulated annealing decides which ones are made (Kirkpatrick, Gelatt and Vecchi 1983).
"""

from __future__ import annotations

import numpy as np

from dfopt.native.library import by_cpu
from dfopt.native.orders import RUN, SegmentWalk
from dfopt.problem.instance import Objective
from dfopt.solvers.search import Search

MOVES_PER_TASK = 50_000
"""Number of exchanges that a long walk tries for each task."""

MOST_MOVES = 20_000_000
"""A walk tries at most 20,000,000 exchanges."""

SHORTER, GROWTH = 625, 5
"""The first walk is 625 times shorter than a long one, each later one five times longer."""

MOVES_PER_CHUNK = 100_000
"""At one temperature at most 100,000 exchanges are tried."""

STEPS_PER_CALL = 30_000_000
"""Between two looks at the clock: an exchange may pass all tasks of its CPU. It is some 50 ms."""

FAILURES = 3
"""The search gives up after 3 long walks in a row without a better schedule."""

HOT, MILD, COLD = 0.3, 0.05, 0.01
"""The first and the last temperature, as shares of the average switch between types.

The first walk begins mild, since it has no time to cool down from more.
"""


class SegmentExchange:
    """Simulated annealing that starts from the best schedule of a search.

    Parameters
    ----------
    search
        Of an instance without releases and precedence, which has a schedule.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self._random = np.random.default_rng(search.seed)
        self._between = search.costs.between()
        self._capacity = min(search.instance.tasks_per_cpu, search.instance.task_count)
        self._sizes = np.array([task_type.size for task_type in search.types], dtype=np.int64)
        self._by_worst = search.instance.objective is not Objective.TOTAL_PENALTY
        count = len(search.types)
        switches = self._between[:count, :count]
        mean = (switches.sum() - np.trace(switches)) / max(1, count * (count - 1))
        self._scale = max(1.0, float(mean))

    def run(self, effort: float = 1.0) -> None:
        """Walk until long walks find nothing better; the first walks are short.

        Parameters
        ----------
        effort
            Scales the length of the walks.
        """
        search = self.search
        search.enter("exchanges of segments")
        longest = int(effort * min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count))
        moves, hot, failures = max(1, longest // SHORTER), MILD, 0
        while failures < FAILURES:
            before = search.objective
            self.walk(moves, hot)
            if moves == longest:
                failures = 0 if search.objective != before else failures + 1
            moves, hot = min(longest, moves * GROWTH), HOT

    def walk(self, moves: int, hot: float = HOT) -> None:
        """Walk from the best schedule of the search, and report what is better.

        Parameters
        ----------
        moves
            The walk cools down while this number of exchanges are tried, or sooner where less time
            is left.
        hot
            The first temperature.
        """
        search = self.search
        walk, known = self.begin(), search.objective
        assert known is not None
        tasks_per_cpu = search.instance.task_count // search.instance.cpus
        at_once = min(MOVES_PER_CHUNK, STEPS_PER_CALL // (1 + tasks_per_cpu))
        time_left = search.time_left
        for done in range(0, moves, MOVES_PER_CHUNK):
            cooled = max(done / moves, search.over_of(time_left))
            temperature = hot * (COLD / hot) ** cooled * self._scale
            chunk = min(MOVES_PER_CHUNK, moves - done)
            for tried in range(0, chunk, at_once):
                value = walk.walk(min(at_once, chunk - tried), temperature)
                if value < known:
                    known = value
                    search.found(by_cpu(walk.best(), search.instance.cpus))
                search.check()

    def begin(self) -> SegmentWalk:
        """Return a walk that begins with the best schedule of the search."""
        search = self.search
        assert search.schedule is not None
        assert search.objective is not None
        orders = enumerate(search.orders_of(search.schedule))
        runs = [(cpu, task_type) for cpu, order in orders for task_type in order]
        return SegmentWalk(
            self._between,
            self._sizes,
            np.array(runs, RUN),
            cpus=search.instance.cpus,
            room=search.instance.room,
            capacity=self._capacity,
            by_worst=self._by_worst,
            known=search.objective,
            seed=int(self._random.integers(1, 1 << 64, dtype=np.uint64)),
        )
