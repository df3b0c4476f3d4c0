"""Windows whose dispatches leave their fragments in different states, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from dfopt.bounds import cheap_bound
from dfopt.compare.bound import WindowBounds
from dfopt.compare.demand import Demand, WindowedRuns, demands
from dfopt.compare.exact import load_solvers, solved
from dfopt.compare.mixed_exact import best_held
from dfopt.compare.mixed_packing import MixedPacking, WindowCosts
from dfopt.compare.mixed_window import (
    Held,
    Kind,
    MixedWindow,
    State,
    canonical_order,
    form_of,
    instance_of,
    lower_bound,
    renamed,
)
from dfopt.compare.problem import FOREIGN, FREE
from dfopt.compare.rolling import RollingCosts
from dfopt.compare.rules import WindowRules, bounding_states, first_states
from dfopt.compare.search_time import SearchTime
from dfopt.problem.instance import Instance
from dfopt.solvers import first_schedule
from dfopt.solvers.contents import Contents
from dfopt.solvers.search import Search, SearchOver
from dfopt.trace.trace import LEAVES

EFFORT = 0.01
"""Of a whole local search; a window has few dispatches."""

STEPS, STEPS_OF_MANY = 30_000, 10_000
"""After so many the exact program gives up: where windows are few, and where they are many."""

MOST_REMEMBERED = 20_000
"""So many windows are remembered at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedSchedule:
    """A schedule of a window, and what no schedule undercuts.

    Parameters
    ----------
    window, costs
        What was scheduled, with its fragments in a canonical order, and what CPUs pay.
    held
        How many dispatches of which kinds each CPU runs.
    cost
        The cost that counts: of all CPUs, or of the dearest.
    lower_bound
        No schedule costs less.
    """

    window: MixedWindow
    costs: WindowCosts
    held: Held
    cost: int
    lower_bound: int

    @property
    def is_closed(self) -> bool:
        """Whether no schedule costs less than this one."""
        return self.cost <= self.lower_bound

    def improved(self, held: Sequence[dict[int, int]] | None, bound: int) -> MixedSchedule:
        """Return what is known with another schedule too, and another bound."""
        known = replace(self, lower_bound=max(self.lower_bound, bound))
        if held is None:
            return known
        cost = self.window.value(Contents(self.costs, held).costs)
        return replace(known, held=tuple(held), cost=cost) if cost < self.cost else known


class MixedWindows:
    """Solves windows one after the other, equal ones once.

    Parameters
    ----------
    windows
        Their dispatches; none may evict.
    rules
        How they are scheduled.
    seconds
        How long the slower solvers may take, all together.
    thorough
        Whether they are asked at all, which is worth their time for few windows.
    """

    def __init__(
        self, windows: WindowedRuns, rules: WindowRules, seconds: float, *, thorough: bool
    ) -> None:
        self._windows = windows
        self._rules = rules
        self._steps = STEPS if thorough else STEPS_OF_MANY
        self._time = SearchTime(seconds if thorough else 0)
        self._best = lru_cache(MOST_REMEMBERED)(self._found)

    def bounds(self) -> WindowBounds:
        """Return what no schedule undercuts; see :func:`dfopt.compare.bound.bounds_of`."""
        windows = self._windows
        total, closed = 0, 0
        for number, demand in enumerate(demands(windows)):
            states = bounding_states(windows, self._rules, number)
            window = self._window(number, demand, states)
            found = self._best(renamed(window, canonical_order(window)))
            total += found.lower_bound
            closed += found.is_closed
        return WindowBounds(total=total, closed=closed)

    def rolling(self) -> RollingCosts:
        """Return what a schedule pays that looks one window ahead.

        Notes
        -----
        Of the fragments that may come last on a CPU, the one comes last that the trace itself
        used last; see :func:`dfopt.compare.rolling.rolling_steps`.
        """
        windows = self._windows
        states: list[State] = [*first_states(windows, self._rules)]
        totals, closed = [0] * windows.cpus, 0
        for number, demand in enumerate(demands(windows)):
            for cpu in windows.freed.get(number, ()):
                states[cpu] = FREE
            window = self._window(number, demand, states)
            order = canonical_order(window)
            found = self._best(renamed(window, order))
            closed += found.is_closed
            contents = Contents(found.costs, found.held)
            kinds = list(found.window.kinds())
            latest = [demand.latest[one] for one in order]
            for cpu, cost in enumerate(contents.costs):
                totals[cpu] += cost
                if contents.parts[cpu]:
                    kind = found.costs.last(cpu, contents.parts[cpu], latest)
                    fragment, (_, leaves, _) = kinds[kind]
                    states[cpu] = demand.fragments[order[fragment]], leaves
        return RollingCosts(costs=tuple(totals), closed=closed)

    def _found(self, window: MixedWindow) -> MixedSchedule:
        instance = instance_of(window)
        costs = WindowCosts(window, form_of(window, instance))
        bound = lower_bound(window)
        contents = MixedPacking(window, costs, bound).best()
        found = MixedSchedule(
            window=window,
            costs=costs,
            held=tuple(contents.held()),
            cost=window.value(contents.costs),
            lower_bound=bound,
        )
        if not found.is_closed and not window.by_worst:
            found = found.improved(*best_held(window, costs.form, found.cost, self._steps))
        if not found.is_closed:
            found = found.improved(*_searched_locally(instance))
        if found.is_closed or self._time.is_over:
            return found
        load_solvers()
        return found.improved(*self._time.spent(lambda seconds: _solved(instance, seconds)))

    def _window(self, number: int, demand: Demand, states: Sequence[State]) -> MixedWindow:
        windows, rules = self._windows, self._rules
        begin, end = windows.rows(number)
        leaves = windows.leaves
        assert leaves is not None, "this is for dispatches that leave their fragments differently"
        kinds = Counter(
            zip(
                windows.fragment[begin:end].tolist(),
                windows.entry[begin:end].tolist(),
                leaves[begin:end].tolist(),
                strict=True,
            )
        )
        place = {fragment: number for number, fragment in enumerate(demand.fragments)}
        fragments: list[list[Kind]] = [[] for _ in place]
        for (fragment, entry, left), count in sorted(kinds.items()):
            fragments[place[fragment]].append((entry, LEAVES[left], count))
        return MixedWindow(
            capacity=demand.capacity(rules.capacity, windows.cpus),
            fragments=tuple(map(tuple, fragments)),
            write_back=windows.exit,
            states=tuple(
                state if isinstance(state, int) else (place.get(state[0], FOREIGN), state[1])
                for state in states
            ),
            final=rules.ends_written and number == len(windows) - 1,
            by_worst=rules.by_worst,
        )


def _searched_locally(instance: Instance) -> tuple[Held | None, int]:
    """Return a schedule and a bound that take a moment to find."""
    search = Search(instance, seed=0, workers=1)
    bound = cheap_bound(instance, search.types)
    if bound.certificate is not None:
        search.proved(bound.value, bound.certificate)
    with suppress(SearchOver):
        first_schedule.improve(search, effort=EFFORT)
    return tuple(search.contents()), search.lower_bound


def _solved(instance: Instance, seconds: float) -> tuple[Held | None, int]:
    """Return the schedule and the bound that solvers find."""
    result = solved(instance, seconds)
    held = None
    if result.schedule is not None:
        held = tuple(
            dict(Counter(int(name.partition("#")[0]) for name in cpu.tasks))
            for cpu in result.schedule.cpus
        )
    return held, result.lower_bound or 0
