"""All windows of a trace: a lower bound of their cost, and a real schedule of them in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.compare.windows.cutting import Demand, WindowConditions, WindowedDispatches, demands
from dfopt.compare.windows.window import UNKNOWN, Cache, WindowProblem
from dfopt.compare.windows.window_solver import SolvedWindow, WindowSolver


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBounds:
    """The sum of the windows' lower bounds, and the number of windows that attain theirs."""

    total: int
    closed: int

    def __add__(self, other: WindowBounds) -> WindowBounds:
        """Return the bounds of the windows of both."""
        return WindowBounds(total=self.total + other.total, closed=self.closed + other.closed)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingCosts:
    """The cost of the rolling schedule on each CPU, and the number of windows proven best."""

    costs: tuple[int, ...]
    closed: int


def bounds_of(
    windows: WindowedDispatches, conditions: WindowConditions, solver: WindowSolver
) -> WindowBounds:
    """Return the lower bounds of windows.

    Notes
    -----
    Every CPU may begin every window with any fragment in its cache. So the windows do not depend on
    each other, and the sum of their bounds is a bound for the trace.
    """
    total = closed = 0
    nothing = (0,) * windows.cpus
    for problem in free_windows(windows, conditions):
        schedule = solver.solve(problem, nothing).schedule
        total += schedule.lower_bound
        closed += schedule.is_closed
    return WindowBounds(total=total, closed=closed)


def free_windows(
    windows: WindowedDispatches, conditions: WindowConditions
) -> Iterator[WindowProblem]:
    """Yield each window for itself: nothing is known about what the one before left."""
    states = conditions.first_states(windows)
    for demand in demands(windows):
        yield demand.window(windows, conditions, states)
        states = [UNKNOWN] * windows.cpus


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingStep:
    """One window of the rolling schedule.

    Parameters
    ----------
    demand
        The dispatches to schedule.
    window
        The same dispatches, and the caches as the window before left them.
    solved
        Its schedule.
    """

    demand: Demand
    window: WindowProblem
    solved: SolvedWindow


def rolling_costs(
    windows: WindowedDispatches, conditions: WindowConditions, solver: WindowSolver
) -> RollingCosts:
    """Return the costs of the schedule that looks one window ahead; see :func:`rolling_steps`."""
    costs = [0] * windows.cpus
    closed = 0
    for step in rolling_steps(windows, conditions, solver, costs):
        closed += step.solved.schedule.is_closed
    return RollingCosts(costs=tuple(costs), closed=closed)


def rolling_steps(
    windows: WindowedDispatches,
    conditions: WindowConditions,
    solver: WindowSolver,
    costs: list[int],
) -> Iterator[RollingStep]:
    """Yield each window with its best schedule, given what the window before left in the caches.

    Parameters
    ----------
    windows, conditions
        The windows, and the conditions under which they are scheduled.
    solver
        Solves one window after the other.
    costs
        The cost of each CPU so far; it grows with every window.

    Notes
    -----
    Often several fragments may come last on a CPU. Then the one comes last that the trace used
    last, as it is the most likely to be used next. After a gap nothing is known about the cache.
    """
    states = conditions.first_states(windows)
    for index, demand in enumerate(demands(windows)):
        for cpu in windows.unknown.get(index, ()):
            states[cpu] = UNKNOWN
        window = demand.window(windows, conditions, states)
        solved = solver.solve(window, costs)
        yield RollingStep(demand=demand, window=window, solved=solved)
        latest = [demand.latest[fragment] for fragment in solved.fragments]
        for number_there, cpu in enumerate(solved.cpus):
            costs[cpu] += solved.schedule.costs[number_there]
            left = solved.schedule.state_after(number_there, latest)
            if left is not None:
                states[cpu] = _in_trace(left, demand, solved, windows)


def _in_trace(
    left: Cache, demand: Demand, solved: SolvedWindow, windows: WindowedDispatches
) -> Cache:
    """Return what a cache holds, with the number that the fragment has in the trace."""
    if left.fragment < 0 or windows.types is not None:
        return left
    return Cache(demand.fragments[solved.fragments[left.fragment]], left.leaves)
