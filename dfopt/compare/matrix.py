"""Windows under a matrix: what a dispatch pays depends on the type of the one before.

:mod:`dfopt.compare.packing` is for costs that depend on whether the fragment changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from dfopt.compare.bound import WindowBounds
from dfopt.compare.demand import Demand, WindowedRuns, demands
from dfopt.compare.problem import FREE
from dfopt.compare.rolling import RollingCosts
from dfopt.compare.rules import WindowRules, bounding_states, first_states
from dfopt.compare.search_time import SearchTime
from dfopt.compare.type_costs import TypeCosts
from dfopt.compare.type_flow import TypeFlow, TypeWindow, least_flow
from dfopt.compare.walks import NOBODY, Walk, inserted_walks, walks_of

MOST_REMEMBERED = 20_000
"""So many windows are remembered at once."""

ATTEMPTS: tuple[Callable[[TypeWindow, TypeCosts, TypeFlow], list[Walk]], ...] = (
    partial(walks_of, scarce_first=True),
    lambda window, costs, _: inserted_walks(window, costs),
)
"""What is tried where the first schedule costs more than the flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSchedule:
    """A schedule of a window, and what no schedule undercuts.

    Parameters
    ----------
    walks
        What each CPU runs, in the order of the window's states.
    cost
        The cost that counts: of all CPUs, or of the dearest.
    lower_bound
        No schedule costs less.
    """

    walks: tuple[Walk, ...]
    cost: int
    lower_bound: int

    @property
    def is_closed(self) -> bool:
        """Whether no schedule costs less than this one."""
        return self.cost == self.lower_bound


class MatrixWindows:
    """Solves windows one after the other, equal ones once.

    Parameters
    ----------
    windows
        Their dispatches, with the matrix.
    rules
        How they are scheduled.
    seconds
        How long solvers may search for what flows leave open, all together.
    thorough
        Whether solvers are asked at all, which is worth their time for few windows.
    """

    def __init__(
        self, windows: WindowedRuns, rules: WindowRules, seconds: float, *, thorough: bool
    ) -> None:
        assert windows.types is not None, "this is for costs between types"
        self._windows = windows
        self._costs = windows.types
        self._rules = rules
        self._time = SearchTime(seconds if thorough else 0)
        self._remembered = lru_cache(MOST_REMEMBERED)(self._found)

    def bounds(self) -> WindowBounds:
        """Return what no schedule undercuts; see :func:`dfopt.compare.bound.bounds_of`."""
        windows = self._windows
        total, closed = 0, 0
        for number, demand in enumerate(demands(windows)):
            states = bounding_states(windows, self._rules, number)
            found = self.best(self._window(number, demand, states))
            total += found.lower_bound
            closed += found.is_closed
        return WindowBounds(total=total, closed=closed)

    def rolling(self) -> RollingCosts:
        """Return what a schedule pays that looks one window ahead."""
        windows = self._windows
        states = first_states(windows, self._rules)
        totals, closed = [0] * windows.cpus, 0
        for number, demand in enumerate(demands(windows)):
            for cpu in windows.freed.get(number, ()):
                states[cpu] = FREE
            found = self.best(self._window(number, demand, states))
            closed += found.is_closed
            for cpu, walk in dealt(found.walks, states, totals):
                totals[cpu] += walk.cost
                if walk.last != NOBODY:
                    states[cpu] = walk.last
        return RollingCosts(costs=tuple(totals), closed=closed)

    def best(self, window: TypeWindow) -> TypeSchedule:
        """Return the best schedule that could be found, and the bound that could be proven."""
        return self._remembered(window)

    def _found(self, window: TypeWindow) -> TypeSchedule:
        flow = least_flow(window, self._costs)
        bound = -(-flow.cost // len(window.states)) if window.by_worst else flow.cost
        best = scheduled(window, walks_of(window, self._costs, flow), bound)
        for attempt in ATTEMPTS:
            if best.is_closed:
                break
            other = scheduled(window, attempt(window, self._costs, flow), bound)
            best = min(best, other, key=lambda one: one.cost)
        if best.is_closed or self._time.is_over:
            return best
        # Imported for the few windows that need it: solvers take a while to load.
        from dfopt.compare.exact import load_solvers
        from dfopt.compare.type_instance import improved, is_solvable

        if not is_solvable(window):
            return best
        load_solvers()
        return self._time.spent(lambda seconds: improved(window, self._costs, best, seconds))

    def _window(self, number: int, demand: Demand, states: Sequence[int]) -> TypeWindow:
        windows, rules = self._windows, self._rules
        return TypeWindow(
            capacity=demand.capacity(rules.capacity, windows.cpus),
            types=tuple(demand.fragments),
            sizes=tuple(demand.sizes),
            states=tuple(sorted(states)),
            final=rules.ends_written and number == len(windows) - 1,
            by_worst=rules.by_worst,
        )


def scheduled(window: TypeWindow, walks: Sequence[Walk], bound: int) -> TypeSchedule:
    """Return walks with what they cost."""
    costs = [walk.cost for walk in walks]
    return TypeSchedule(
        walks=tuple(walks),
        cost=max(costs) if window.by_worst else sum(costs),
        lower_bound=bound,
    )


def dealt(
    walks: Sequence[Walk], states: Sequence[int], paid: Sequence[int]
) -> list[tuple[int, Walk]]:
    """Return which CPU takes which walk: of those in one state, who paid most the cheapest."""
    cpus = sorted(range(len(states)), key=lambda cpu: (states[cpu], -paid[cpu]))
    ordered = sorted(walks, key=lambda walk: (walk.state, walk.cost))
    return list(zip(cpus, ordered, strict=True))
