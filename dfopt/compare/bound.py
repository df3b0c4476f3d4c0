"""What no schedule can undercut that runs the same dispatches in the same windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.compare.best import BestPlacements
from dfopt.compare.demand import WindowedRuns, demands
from dfopt.compare.problem import WindowProblem
from dfopt.compare.rules import WindowRules, bounding_states


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
    total = closed = 0
    for problem in problems_of(windows, rules):
        placement = best.of(problem)
        total += placement.lower_bound
        closed += placement.is_closed
    return WindowBounds(total=total, closed=closed)


def problems_of(windows: WindowedRuns, rules: WindowRules) -> Iterator[WindowProblem]:
    """Yield each window as a problem of its own."""
    last = len(windows) - 1
    for number, demand in enumerate(demands(windows)):
        yield WindowProblem(
            capacity=demand.capacity(rules.capacity, windows.cpus),
            sizes=tuple(demand.sizes),
            entries=tuple(demand.entries),
            exit=windows.exit,
            states=tuple(bounding_states(windows, rules, number)),
            fixed=demand.fixed,
            final=rules.ends_written and number == last,
            by_worst=rules.by_worst,
        )
