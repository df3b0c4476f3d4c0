"""Local search for tours: two neighbouring segments change places.

That is the 3-opt move that turns no segment round (Kanellakis and Papadimitriou 1980), so it suits
costs that depend on the direction. It changes three arcs, whatever the lengths of the segments.
One of the new arcs is a cheap one (the candidate lists of Lin and Kernighan 1973). Simulated
annealing decides which moves are made (Kirkpatrick, Gelatt and Vecchi 1983).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from dfopt.solvers.compilation.compiled import compiled, load
from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.tour.problem import Flags, Integers, TourProblem

Table = npt.NDArray[np.int64] | npt.NDArray[np.float64]

SHORT, LONG = 20_000, 150_000
"""Number of moves that a short walk and a long one try for each task."""

MOST_MOVES = 10_000_000
"""A walk tries at most 10,000,000 moves."""

MOVES_PER_CHUNK = 400_000
"""Between two looks at the clock at most 400,000 moves are tried."""

NEAR = 5
"""The new arc is one of the 5 cheapest ones from its node."""

FEWEST_TASKS = 3
"""Shorter tours are left as they are."""

LONGEST_TOUR = 5_000
"""Tours with more tasks are left as they are."""

EVENLY = 0.5
"""In half of the moves the new arc leads into the second segment, else out of the first."""

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
        firsts = np.concatenate(([0], np.cumsum(problem.visits)))
        self._first_task = firsts[:-1]
        self._node = np.repeat(np.arange(problem.end + 1), problem.visits)

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
        load(first_call, self._check)
        near = self._near(worth)
        best = self._tasks(tour)
        value = np.array([problem.cost_of(tour)], dtype=np.int64)
        moves = min(MOST_MOVES, length * (len(tour) - 2))
        for _ in range(walks):
            current = best.copy()
            position = np.argsort(current)
            cost = value.copy()
            done = 0
            scale = max(1.0, value[0] / (len(tour) - 1))
            while done < moves:
                chunk = min(MOVES_PER_CHUNK, moves - done)
                heat = HOT * (COLD / HOT) ** (done / moves) * scale
                wait_for(
                    partial(
                        walk, current, position, cost, best, value, self._node, self._first_task,
                        problem.visits, near, problem.cost, problem.precedes, heat, chunk,
                        int(self._random.integers(1 << 31)),
                    ),
                    self._check,
                )  # fmt: skip
                done += chunk
        return [int(node) for node in self._node[best]]

    def _tasks(self, tour: Sequence[int]) -> Integers:
        """Return the tasks on a tour: those of one node have numbers that follow each other."""
        left = self._first_task.copy()
        tasks = np.zeros(len(tour), dtype=np.int64)
        for position, node in enumerate(tour):
            tasks[position] = left[node]
            left[node] += 1
        return tasks

    def _near(self, worth: Table) -> Integers:
        """Return for each node the nodes to which the cheapest arcs lead; -1 where are none."""
        problem = self.problem
        ranked = np.where(problem.most > 0, worth, np.inf)
        near = np.argsort(ranked, axis=1, kind="stable")[:, :NEAR]
        near[np.isinf(np.take_along_axis(ranked, near, axis=1))] = -1
        return near.astype(np.int64)


def first_call() -> None:
    """Load the compiled function, or compile it."""
    nodes, table = np.zeros(5, dtype=np.int64), np.zeros((5, 5), dtype=np.int64)
    flags = np.zeros((5, 5), dtype=np.bool_)
    value = np.zeros(1, dtype=np.int64)
    walk(nodes, nodes, value, nodes, value, nodes, nodes, nodes, table, table, flags, 1.0, 0, 0)


@compiled
def walk(  # noqa: PLR0912, PLR0913, PLR0917
    tour: Integers,
    position: Integers,
    cost: Integers,
    best: Integers,
    value: Integers,
    node: Integers,
    first_task: Integers,
    visits: Integers,
    near: Integers,
    costs: Integers,
    precedes: Flags,
    heat: float,
    moves: int,
    seed: int,
) -> None:
    """Try moves at one temperature; ``tour`` and ``best`` are changed, with their costs.

    Parameters
    ----------
    tour, position
        The tasks in their order, and where each of them stands.
    cost
        What the tour costs.
    best, value
        The best tour so far and its cost.
    node
        The node of each task.
    first_task, visits
        The first task of each node, and how many follow.
    near
        For each node those that follow it cheaply.
    costs, precedes
        The problem.
    heat
        The temperature.
    moves
        The number of moves.
    seed
        Of everything random.
    """
    np.random.seed(seed)
    size = len(tour)
    spare = np.zeros(size, dtype=np.int64)
    for _ in range(moves):
        # The new arc leads from the task at `here` to that at `there`.
        here = int(np.random.random() * (size - 1))
        head = near[node[tour[here]], int(np.random.random() * near.shape[1])]
        if head < 0:
            continue
        there = position[first_task[head] + int(np.random.random() * visits[head])]
        # Segments are [first, middle) and [middle, after). Short ones are tried more often.
        share = np.random.random()
        share = share * share * share
        if there < here:
            if there == 0:
                continue
            first, after = there, here + 1
            middle = first + 1 + int(np.random.random() * (after - first - 1))
        elif there <= here + 1:
            continue
        elif np.random.random() < EVENLY:
            first, middle = here + 1, there
            after = middle + 1 + int(share * (size - 1 - middle))
        else:
            middle, after = here + 1, there
            first = middle - 1 - int(share * (middle - 1))
        if first < 1 or first >= middle or middle >= after or after > size - 1:
            continue
        one, two = node[tour[first - 1]], node[tour[first]]
        three, four = node[tour[middle - 1]], node[tour[middle]]
        five, six = node[tour[after - 1]], node[tour[after]]
        change = (
            costs[one, four] + costs[five, two] + costs[three, six]
            - costs[one, two] - costs[three, four] - costs[five, six]
        )  # fmt: skip
        if change > 0 and np.random.random() >= np.exp(-change / heat):
            continue
        allowed = True
        for early in range(first, middle):
            for late in range(middle, after):
                if precedes[node[tour[early]], node[tour[late]]]:
                    allowed = False
                    break
            if not allowed:
                break
        if not allowed:
            continue
        length = middle - first
        spare[:length] = tour[first:middle]
        for at in range(middle, after):
            tour[at - length] = tour[at]
        tour[after - length : after] = spare[:length]
        for at in range(first, after):
            position[tour[at]] = at
        cost[0] += change
        if cost[0] < value[0]:
            value[0] = cost[0]
            best[:] = tour
