"""The diving heuristic: schedules from the LP, by fixing the contents of CPUs step by step.

After every step the LP of what is left is solved, with new columns. A dive that fails turns back
and avoids the contents of its last step: limited discrepancy search, as in Sadykov et al. (2019).
Where few CPUs were left before it failed, they are filled by local search: these CPUs and the tasks
left for them are an instance of their own. It is small, so that local search is far better at it
than at the whole instance, and the dive has chosen it such that the LP allows it.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from dfopt.problem.instance import Instance
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.configuration.column_generation import ColumnGeneration
from dfopt.solvers.configuration.contents import Column, ColumnPool, orders_of
from dfopt.solvers.configuration.master import LpSolution
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.heuristics.local_search import LocalSearch
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import replace

WHOLE = 0.999
"""A column with at least this value in the LP counts as used by a whole CPU."""

SHARE = 20
"""For every 20 CPUs that are left, one column is fixed at a time."""

NOISE = 0.3
"""A random number of at most this size is added to a column's value before one is chosen."""

FEW = (12, 8)
"""Where at most 12, then at most 8 CPUs are left, the rest of the schedule is found otherwise."""

MOVES_PER_CPU = 100_000
"""A walk has 100,000 moves for each CPU, which take about 0.03 seconds."""

WALKS = 2
"""At most 2 walks fill the same CPUs."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Diving:
    """Dives for a schedule within a limit.

    Parameters
    ----------
    problem
        The tasks to schedule.
    pool
        All columns known.
    limit
        The most that any CPU may cost; under total-penalty, the most that all may cost together.
    check
        Called often; may end the search by an exception.
    source
        Source of the random choices.
    finish
        Called with the columns fixed while few CPUs were left, and the limit for these CPUs,
        after the dive has failed; reports a schedule if it finds one.
    """

    problem: RemainingProblem
    pool: ColumnPool
    limit: int
    check: Callable[[], None]
    source: random.Random
    finish: Callable[[Sequence[Column], int], None] = lambda fixed, limit: None

    def dive(self, solution: LpSolution, discrepancies: int) -> tuple[Column, ...] | None:
        """Return columns that are a schedule; None when the dive failed too often.

        Parameters
        ----------
        solution
            Of the LP of the whole problem.
        discrepancies
            At most this number of times it turns back and takes another column.
        """
        left, limit = self.problem, self.limit
        fixed: list[Column] = []
        avoided: set[Column] = set()
        # A dive that has few CPUs from the start hands on at most half of them.
        half = sum(left.cpus) // 2
        fewer = [few for few in FEW if few < half] or [half]
        handed_on: list[tuple[tuple[Column, ...], int]] = []
        # The less of the CPUs the LP needs, the better they can be filled in integers. So all that
        # can be spare is found first, and every step keeps it for the last CPUs.
        solution = self._solved(left, limit, solution, sum(left.cpus)) or solution
        while True:
            spare = (1 - solution.value) * sum(left.cpus)
            chosen, deeper = self._chosen(left, solution, avoided)
            if not chosen:
                break
            is_total = left.data.limit is None
            rest = limit - sum(column.cost for column in chosen) if is_total else limit
            if rest >= 0 and not deeper.stock.tasks.any():
                return (*fixed, *chosen)
            log.debug("dive: %d columns fixed, %d more chosen", len(fixed), len(chosen))
            following = self._solved(deeper, rest, solution, spare) if rest >= 0 else None
            if following is not None:
                left, limit, solution = deeper, rest, following
                fixed += chosen
                if fewer and sum(left.cpus) <= fewer[0]:
                    handed_on.append((tuple(fixed), limit))
                    fewer = [few for few in fewer if few < sum(left.cpus)]
                continue
            while handed_on:
                self.finish(*handed_on.pop(0))
            if not discrepancies:
                break
            discrepancies -= 1
            avoided.update(chosen)
        for few_left in handed_on:
            self.finish(*few_left)
        return None

    def _solved(
        self, problem: RemainingProblem, limit: int, before: LpSolution, spare: float
    ) -> LpSolution | None:
        """Return the solution of what is left; None if it cannot be scheduled."""
        if not any(problem.cpus):
            return None
        try:
            relaxation = ColumnGeneration(problem, self.pool, self.check, start=before.duals)
            return relaxation.decide(limit, spare)
        except Undecided:
            return None

    def _chosen(
        self, problem: RemainingProblem, solution: LpSolution, avoided: set[Column]
    ) -> tuple[list[Column], RemainingProblem]:
        """Return the columns to fix next, whole ones or else large ones, and what is left."""
        whole: list[Column] = []
        left = problem
        for column, use in solution.used.items():
            for _ in range(int(use + 1 - WHOLE)):
                # Several columns may hold more of a class than there is, together.
                if column not in avoided and left.has_room_for(column):
                    whole.append(column)
                    left = left.without(column)
        if whole:
            return whole, left
        candidates = [
            (use + NOISE * self.source.random(), column)
            for column, use in solution.used.items()
            if column not in avoided
        ]
        candidates.sort(key=itemgetter(0), reverse=True)
        several = -(-sum(problem.cpus) // SHARE)
        for _, column in candidates:
            if len(whole) < several and left.has_room_for(column):
                whole.append(column)
                left = left.without(column)
        return whole, left


def fill_last_cpus(
    search: Search,
    data: PricingData,
    fixed: Sequence[Column],
    limit: int,
    check: Callable[[], None],
) -> None:
    """Look for a schedule in which some CPUs hold given contents; report it if there is one.

    Parameters
    ----------
    search
        Where the schedule is reported if it is better than the best one.
    data
        The instance as arrays.
    fixed
        The contents of some CPUs.
    limit
        The most that any other CPU may cost; under total-penalty, all others together.
    check
        Called every few milliseconds; may end the search by an exception.
    """
    if search.instance.has_sizes:
        return
    orders = orders_of(data, fixed)
    cpus = [cpu for cpu, order in enumerate(orders) if not order]
    used = Counter(chain.from_iterable(orders))
    left = [task_type.count - used[number] for number, task_type in enumerate(search.types)]
    if not any(left):
        search.found(orders)
        return
    part = Search(_instance_of(search, cpus, left), seed=search.seed, is_part=True)

    def is_over() -> bool:
        check()
        return False

    with suppress(SearchOver):  # raised where the part costs nothing
        walk = LocalSearch(part, seed=len(search.history))
        for _ in range(WALKS):
            if walk.run(limit, MOVES_PER_CPU * len(cpus), is_over):
                break
    check()
    assert part.schedule is not None
    for cpu, there in zip(cpus, part.schedule.cpus, strict=True):
        orders[cpu] = [int(name.partition("#")[0]) for name in there.tasks]
    search.found(orders)
    check()


def _instance_of(search: Search, cpus: Sequence[int], left: Sequence[int]) -> Instance:
    """Return the instance of some CPUs and some tasks; its tasks are named by their types.

    Parameters
    ----------
    search
        Of the whole instance.
    cpus
        The CPUs.
    left
        The number of tasks of each type.
    """
    whole = search.instance
    tasks = tuple(
        replace(task_type.example, id=str(number), count=count, size=1)
        for number, (task_type, count) in enumerate(zip(search.types, left, strict=True))
        if count
    )
    initial = tuple(whole.initial[cpu] for cpu in cpus) if whole.initial else ()
    return replace(whole, cpus=len(cpus), tasks=tasks, capacity=whole.room, initial=initial)
