"""What no schedule can undercut that runs the same dispatches in the same windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.compare.best import BestPlacements
from dfopt.compare.demand import Demand, WindowedRuns, demands
from dfopt.compare.problem import FREE, WindowProblem
from dfopt.compare.rules import WindowRules, first_states


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBounds:
    """What all windows pay at least, added up, and in how many a schedule pays no more."""

    total: int
    closed: int

    def __add__(self, other: WindowBounds) -> WindowBounds:
        """Return the bounds of the windows of both."""
        return WindowBounds(total=self.total + other.total, closed=self.closed + other.closed)


def bounds_of(windows: WindowedRuns, rules: WindowRules, best: BestPlacements) -> WindowBounds:
    """Return the lower bounds of windows.

    Notes
    -----
    Every CPU may begin every window with whichever fragment it likes. So windows know nothing of
    each other, and what they pay adds up to a bound for the trace.
    """
    problems = Counter(problems_of(windows, rules))
    placements = {problem: best.of(problem) for problem in problems}
    return WindowBounds(
        total=sum(times * placements[problem].lower_bound for problem, times in problems.items()),
        closed=sum(times for problem, times in problems.items() if placements[problem].is_closed),
    )


def problems_of(windows: WindowedRuns, rules: WindowRules) -> Iterator[WindowProblem]:
    """Yield each window as a problem of its own."""
    last = len(windows) - 1
    for number, demand in enumerate(demands(windows)):
        states = (FREE,) * windows.cpus if number else tuple(first_states(windows, rules))
        final = rules.ends_written and number == last
        yield _problem(demand, windows, rules, states, final=final)


def _problem(
    demand: Demand,
    windows: WindowedRuns,
    rules: WindowRules,
    states: tuple[int, ...],
    *,
    final: bool,
) -> WindowProblem:
    # In the order of falling size equal windows look alike.
    order = sorted(
        range(len(demand.sizes)), key=lambda one: (-demand.sizes[one], demand.entries[one])
    )
    return WindowProblem(
        capacity=demand.capacity(rules.capacity, windows.cpus),
        sizes=tuple(demand.sizes[one] for one in order),
        entries=tuple(demand.entries[one] for one in order),
        exit=windows.exit,
        states=states,
        fixed=demand.fixed,
        final=final,
        by_worst=rules.by_worst,
    )
