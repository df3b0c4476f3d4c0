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
from dfopt.compare.exact import solved
from dfopt.compare.problem import EMPTY, FREE
from dfopt.compare.rolling import RollingCosts
from dfopt.compare.rules import WindowRules, first_states
from dfopt.instance import Instance, Objective, Task
from dfopt.machine import CacheState, Leaves, PenaltyF
from dfopt.penalty import reading_cost
from dfopt.solvers import first_schedule
from dfopt.solvers.search import Knowledge, Search, SearchOver
from dfopt.stop import TimeLimit
from dfopt.trace.trace import LEAVES

EFFORT = 0.01
"""Of a whole local search; a window has few dispatches."""

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
        windows = self._windows
        total, closed = 0, 0
        for number, demand in enumerate(demands(windows)):
            free = [FREE] * windows.cpus
            states = free if number else first_states(windows, self._rules)
            _, known = self._solved(number, demand, states)
            total += known.lower_bound
            # Where empty caches pass for free ones the bound need not be attained.
            closed += known.is_closed and not {EMPTY, FREE} <= set(states)
        return WindowBounds(total=total, closed=closed)

    def rolling(self) -> RollingCosts:
        """Return what a schedule pays that looks one window ahead."""
        windows = self._windows
        states: list[State] = [*first_states(windows, self._rules)]
        totals, closed = [0] * windows.cpus, 0
        for number, demand in enumerate(demands(windows)):
            for cpu in windows.freed.get(number, ()):
                states[cpu] = FREE
            instance, known = self._solved(number, demand, states)
            assert known.schedule is not None, "first schedules come before any time limit"
            tasks = instance.tasks_by_name()
            orders = [[tasks[name] for name in one.tasks] for one in known.schedule.cpus]
            costs = [
                one.cost + _unsaid_cost(instance, state, order)
                for one, state, order in zip(known.schedule.cpus, states, orders, strict=True)
            ]
            closed += (max if self._rules.by_worst else sum)(costs) <= known.lower_bound
            for cpu, order in enumerate(orders):
                totals[cpu] += costs[cpu]
                if order:
                    states[cpu] = CacheState(df=order[-1].df, leaves=order[-1].leaves)
        return RollingCosts(costs=tuple(totals), closed=closed)

    def _solved(
        self, number: int, demand: Demand, states: Sequence[State]
    ) -> tuple[Instance, Knowledge]:
        instance = self._instance(number, demand, states)
        self._until += self._share
        seconds = max(0.0, self._until - time.monotonic())
        if self._thorough:
            result = solved(instance, seconds)
            assert result.lower_bound is not None
            return instance, Knowledge(
                lower_bound=result.lower_bound,
                objective=result.objective,
                schedule=result.schedule,
            )
        search = Search(instance, stop=TimeLimit(seconds), seed=0, workers=1, on_progress=None)
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
            # One CPU of which nothing is known frees all: no instance can say both, so that a
            # schedule pays more than the instance says; what bounds the one bounds the other.
            cold_start=EMPTY in states and FREE not in states,
            final_write_back=rules.ends_written and number == len(windows) - 1,
            tasks=tuple(
                Task(id=str(kind), df=str(fragment), lines=entry, leaves=LEAVES[left], count=count)
                for kind, ((fragment, entry, left), count) in enumerate(sorted(kinds.items()))
            ),
        )


def _unsaid_cost(instance: Instance, state: State, order: Sequence[Task]) -> int:
    """Return what a CPU pays that its instance cannot say."""
    assert isinstance(instance.penalty, PenaltyF)
    if not order:
        # What an unused CPU holds is written back all the same.
        held = isinstance(state, CacheState) and state.leaves is not Leaves.CLEAN
        return instance.penalty.write_back if held and instance.final_write_back else 0
    read = state == EMPTY and not instance.cold_start
    return reading_cost(instance.penalty, order[0]) if read else 0
