"""Windows under a matrix: the cost of a dispatch depends on the type of the one before.

The bound and the schedule are those of :mod:`dfopt.solvers.matrix`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dfopt.compare.cost_model import TypeCosts
from dfopt.compare.windows.as_instance import matrix_instance_of
from dfopt.compare.windows.window import (
    EMPTY,
    UNKNOWN,
    Cache,
    WindowProblem,
    WindowSchedule,
)
from dfopt.problem.instance import Instance
from dfopt.solvers.matrix.flow import least_flow
from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.solvers.matrix.trail import Trail, trail_of
from dfopt.solvers.matrix.trails import best_trails


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSchedule(WindowSchedule):
    """A schedule of a window under a matrix.

    Parameters
    ----------
    types
        The types of the window.
    trails
        The types that each CPU runs, in order.
    """

    types: tuple[int, ...]
    trails: tuple[Trail, ...]

    def state_after(self, cpu: int, latest: Sequence[int]) -> Cache | None:
        """Return the type that a CPU ran last; None if it ran nothing."""
        del latest
        trail = self.trails[cpu]
        return Cache(self.types[trail.last]) if trail.load else None

    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Return for each CPU the types of its dispatches in order, as indices into the window."""
        return tuple(trail.order() for trail in self.trails)


class MatrixWindows:
    """Finds schedules of windows from the flow that bounds them.

    Parameters
    ----------
    costs
        The matrix.
    """

    def __init__(self, costs: TypeCosts) -> None:
        self._costs = costs

    def solve(self, window: WindowProblem) -> MatrixSchedule:
        """Return a good schedule; mostly it costs what the flow costs."""
        problem = matrix_problem_of(window, self._costs)
        flow = least_flow(problem)
        return _schedule(window, problem, best_trails(problem, flow), problem.bound(flow.cost))

    def instance(self, window: WindowProblem) -> Instance:
        """Return the instance whose schedules are those of a window."""
        return matrix_instance_of(window, self._costs)

    def of_orders(
        self, window: WindowProblem, orders: Sequence[Sequence[int]], costs: Sequence[int]
    ) -> MatrixSchedule:
        """Return the schedule in which CPUs run types in these orders (indices into the window)."""
        del costs
        problem = matrix_problem_of(window, self._costs)
        trails = [
            trail_of(problem, start, order)
            for start, order in zip(problem.starts, orders, strict=True)
        ]
        return _schedule(window, problem, trails, 0)


def _schedule(
    window: WindowProblem, problem: MatrixProblem, trails: Sequence[Trail], bound: int
) -> MatrixSchedule:
    # Among CPUs that begin alike, the first ones pay least.
    ordered = sorted(trails, key=lambda trail: (trail.start, trail.cost))
    costs = [trail.cost for trail in ordered]
    return MatrixSchedule(
        types=window.types,
        trails=tuple(ordered),
        costs=tuple(costs),
        cost=problem.value(costs),
        lower_bound=bound,
    )


def matrix_problem_of(window: WindowProblem, costs: TypeCosts) -> MatrixProblem:
    """Return a window with ascending states as the problem that flows bound."""
    types = window.types
    states = {state: number for number, state in enumerate(dict.fromkeys(window.states))}

    def start(state: Cache) -> tuple[int, ...]:
        if state == UNKNOWN:
            return (0,) * len(types)
        row = costs.start if state == EMPTY else costs.switch[state.fragment]
        return tuple([row[task_type] for task_type in types])

    def finish(task_type: int) -> int:
        return costs.finish[task_type] if window.final and task_type >= 0 else 0

    return MatrixProblem(
        capacity=window.capacity,
        sizes=window.sizes,
        starts=tuple([states[state] for state in window.states]),
        switch=tuple([tuple([costs.switch[a][b] for b in types]) for a in types]),
        start=tuple([start(state) for state in states]),
        finish=tuple([finish(task_type) for task_type in types]),
        idle=tuple([finish(state.fragment) for state in states]),
        by_worst=window.by_worst,
    )
