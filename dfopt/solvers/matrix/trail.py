"""What one CPU runs under a matrix: a trail through the types, which may use an arc several times.

Its cost and its last type depend only on its ends and on how often it uses each arc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dfopt.solvers.matrix.problem import MatrixProblem

Arc = tuple[int, int]

NO_TYPE = -1
"""The type that a CPU without tasks begins and ends with."""


@dataclass(slots=True, kw_only=True)
class Trail:
    """The tasks that one CPU runs, as a trail through the types.

    Parameters
    ----------
    start
        The start of the CPU.
    first, last
        The types that it runs first and last; :data:`NO_TYPE` if it runs nothing.
    load
        Number of its tasks.
    arcs
        Number of times that the second type follows the first; all arcs hang together.
    types
        The types that it runs.
    cost
        Its cost.
    """

    start: int
    first: int = NO_TYPE
    last: int = NO_TYPE
    load: int = 0
    arcs: Counter[Arc] = field(default_factory=Counter)
    types: set[int] = field(default_factory=set)
    cost: int = 0

    def order(self) -> tuple[int, ...]:
        """Return the types in an order in which the CPU may run them."""
        left: dict[int, list[int]] = {}
        for (before, after), count in self.arcs.items():
            left.setdefault(before, []).extend([after] * count)
        # Hierholzer: go on until no arc is left, and insert the detours on the way back.
        stack, order = [self.first] if self.load else [], []
        while stack:
            following = left.get(stack[-1])
            if following:
                stack.append(following.pop())
            else:
                order.append(stack.pop())
        return tuple(order[::-1])


def trail_of(problem: MatrixProblem, start: int, order: Sequence[int]) -> Trail:
    """Return the trail of a CPU that runs types in this order."""
    trail = Trail(start=start)
    if order:
        trail = Trail(
            start=start,
            first=order[0],
            last=order[-1],
            load=len(order),
            arcs=Counter(pairwise(order)),
            types=set(order),
        )
    trail.cost = cost_of(problem, trail)
    return trail


def cost_of(problem: MatrixProblem, trail: Trail) -> int:
    """Return the cost of a CPU's trail."""
    if not trail.load:
        return problem.idle[trail.start]
    return (
        problem.start[trail.start][trail.first]
        + sum(
            problem.switch[before][after] * count for (before, after), count in trail.arcs.items()
        )
        + problem.finish[trail.last]
    )
