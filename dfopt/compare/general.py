"""Windows whose dispatches leave their fragments in different states, solved as instances.

What a visit costs then depends on which dispatches come first and last in it, so sizes are not
enough; :mod:`dfopt.compare.packing` is for the others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from dfopt.bounds import cheap_bound
from dfopt.compare.bound import WindowBounds
from dfopt.compare.demand import Demand, WindowedRuns, demands
from dfopt.compare.problem import EMPTY, FREE
from dfopt.compare.rolling import RollingCosts
from dfopt.compare.rules import WindowRules
from dfopt.instance import Instance, Objective, Task
from dfopt.machine import CacheState, PenaltyF
from dfopt.solvers import first_schedule, solve
from dfopt.solvers.search import Knowledge, Search, SearchOver
from dfopt.stop import TimeLimit
from dfopt.trace.trace import LEAVES

EFFORT = 0.01
"""Of a whole local search; a window has few dispatches."""

LEAST_SECONDS = 0.05
"""A window has so long at least, for a first schedule."""

State = CacheState | int
"""What a CPU's cache holds, or ``FREE``, or ``EMPTY``."""


class GeneralWindows:
    """Solves windows one after the other.

    Parameters
    ----------
    windows
        Their dispatches; none may evict.
    rules
        How they are scheduled.
    seconds
        How long the solvers may take, all together; each window has its share.
    thorough
        Whether the slower solvers are asked too.
    """

    def __init__(
        self, windows: WindowedRuns, rules: WindowRules, seconds: float, *, thorough: bool
    ) -> None:
        self._windows = windows
        self._rules = rules
        self._share = seconds / len(windows)
        self._thorough = thorough
        self._until = time.monotonic()

    def bounds(self) -> WindowBounds:
        """Return what no schedule undercuts; see :func:`dfopt.compare.bound.bounds_of`."""
        total, closed = 0, 0
        for number, demand in enumerate(demands(self._windows)):
            state = EMPTY if self._rules.begins_empty and number == 0 else FREE
            _, known = self._solved(number, demand, [state] * self._windows.cpus)
            total += known.lower_bound
            closed += known.is_closed
        return WindowBounds(total=total, closed=closed)

    def rolling(self) -> RollingCosts:
        """Return what a schedule pays that looks one window ahead."""
        cpus = self._windows.cpus
        states: list[State] = [EMPTY if self._rules.begins_empty else FREE] * cpus
        costs, closed = [0] * cpus, 0
        for number, demand in enumerate(demands(self._windows)):
            for cpu in self._windows.freed.get(number, ()):
                states[cpu] = FREE
            instance, known = self._solved(number, demand, states)
            closed += known.is_closed
            assert known.schedule is not None, "first schedules come before any time limit"
            tasks = instance.tasks_by_name()
            for cpu, one in enumerate(known.schedule.cpus):
                costs[cpu] += one.cost
                if one.tasks:
                    last = tasks[one.tasks[-1]]
                    states[cpu] = CacheState(df=last.df, leaves=last.leaves)
        return RollingCosts(costs=tuple(costs), closed=closed)

    def _solved(
        self, number: int, demand: Demand, states: Sequence[State]
    ) -> tuple[Instance, Knowledge]:
        instance = self._instance(number, demand, states)
        self._until += self._share
        stop = TimeLimit(max(LEAST_SECONDS, self._until - time.monotonic()))
        if self._thorough:
            result = solve(instance, stop=stop, workers=1)
            assert result.lower_bound is not None
            return instance, Knowledge(
                lower_bound=result.lower_bound,
                objective=result.objective,
                schedule=result.schedule,
            )
        search = Search(instance, stop=stop, seed=0, workers=1, on_progress=None)
        bound = cheap_bound(instance, search.types)
        if bound.certificate is not None:
            search.proved(bound.value, bound.certificate)
        with suppress(SearchOver):
            first_schedule.improve(search, effort=EFFORT)
        return instance, search.end()

    def _instance(self, number: int, demand: Demand, states: Sequence[State]) -> Instance:
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
        return Instance(
            cpus=windows.cpus,
            # Entry costs are no multiples of anything, so a line costs 1.
            penalty=PenaltyF(read_line=1, write_back=windows.exit),
            capacity=demand.capacity(rules.capacity, windows.cpus),
            objective=Objective.MAX_PENALTY if rules.by_worst else Objective.TOTAL_PENALTY,
            initial=tuple(state if isinstance(state, CacheState) else None for state in states),
            # One CPU of which nothing is known frees all: no instance can say both.
            cold_start=EMPTY in states and FREE not in states,
            final_write_back=rules.ends_written and number == len(windows) - 1,
            tasks=tuple(
                Task(id=str(kind), df=str(fragment), lines=entry, leaves=LEAVES[left], count=count)
                for kind, ((fragment, entry, left), count) in enumerate(sorted(kinds.items()))
            ),
        )
