"""Large-neighbourhood search under a matrix: some CPUs at a time share their tasks anew.

A few CPUs of a schedule run few types, even where there are many in all. So the program over
supports finds the best way for them to share the tasks that they have (Shaw 1998 calls that a large
neighbourhood). Schedules of equal cost are accepted, because they lead to others.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from dfopt.solvers.matrix.problem import (
    MatrixProblem,
    largest_cost,
    matrix_problem,
    with_exec,
)
from dfopt.solvers.matrix.support_costs import (
    LARGEST_COST,
    NegativeRing,
    SupportCosts,
    prices_of_tasks,
)
from dfopt.solvers.matrix.support_dealing import dealt
from dfopt.solvers.matrix.support_program import SupportProgram
from dfopt.solvers.matrix.support_search import cheapest_plan
from dfopt.solvers.matrix.trail import Trail, trail_of
from dfopt.solvers.search import Search

MOST_TYPES = 14
"""A group of CPUs runs at most 14 types."""

LARGEST_GROUP = 6
"""At most 6 CPUs share their tasks anew."""

MOST_NODES = 3
"""At most 3 parts of the problem of a group are looked at."""

FAILURES = 10
"""The search gives up after 10 groups per CPU in a row without a better schedule."""


class CpuGroups:
    """The search, from a schedule given as trails.

    Parameters
    ----------
    problem
        The tasks to schedule.
    trails
        The trail of each CPU; changed.
    seed
        Of the choice of CPUs.
    check
        Called often; what it raises ends the search.
    """

    def __init__(
        self,
        problem: MatrixProblem,
        trails: list[Trail],
        seed: int,
        check: Callable[[], object],
    ) -> None:
        self.problem = problem
        self.trails = trails
        self._random = random.Random(seed)
        self._check = check

    def value(self) -> int:
        """Return the objective."""
        return self.problem.value([trail.cost for trail in self.trails])

    def run(self, found: Callable[[], object]) -> None:
        """Improve the schedule; call ``found`` after each improvement."""
        failures = 0
        least = self.value()
        while failures < FAILURES * len(self.trails):
            self._check()
            self._share_anew(self._group())
            failures += 1
            if self.value() < least:
                least = self.value()
                failures = 0
                found()

    def _group(self) -> list[int]:
        """Return some CPUs that run few types together."""
        order = list(range(len(self.trails)))
        self._random.shuffle(order)
        if self.problem.by_worst:
            worst = max(trail.cost for trail in self.trails)
            order.sort(key=lambda cpu: self.trails[cpu].cost < worst)
            # One of those that pay most, then any.
            order[1:] = self._random.sample(order[1:], len(order) - 1)
        group: list[int] = []
        types: set[int] = set()
        for cpu in order:
            if len(group) < LARGEST_GROUP and len(types | self.trails[cpu].types) <= MOST_TYPES:
                group.append(cpu)
                types |= self.trails[cpu].types
        return sorted(group)

    def _share_anew(self, group: Sequence[int]) -> None:
        old = [self.trails[cpu] for cpu in group]
        counts = Counter(task_type for trail in old for task_type in trail.order())
        types = sorted(counts)
        if len(group) <= 1 or not types:
            return
        sub, names = self._part(group, types, counts)
        try:
            costs = SupportCosts(sub, prices_of_tasks(sub), self._check)
        except NegativeRing:
            return
        cpus = Counter(sub.starts)
        program = SupportProgram(
            sub.sizes,
            sub.capacity,
            cpus=[cpus[start] for start in range(len(sub.start))],
            rest=costs.rest,
            check=self._check,
        )
        permitted = None
        if sub.by_worst:
            below = max(trail.cost for trail in old)
            least = costs
            if any(costs.prices):
                least = SupportCosts(sub, [0] * len(types), self._check)
            permitted = [rest < below for rest in least.rest]
        plan = cheapest_plan(program, permitted, most_nodes=MOST_NODES).plan
        new = dealt(sub, costs, plan, self._check) if plan is not None else None
        if new is None:
            return
        if sub.value([trail.cost for trail in new]) > sub.value([trail.cost for trail in old]):
            return
        for cpu, trail in zip(group, new, strict=True):
            order = [names[task_type] for task_type in trail.order()]
            self.trails[cpu] = trail_of(self.problem, self.problem.starts[cpu], order)

    def _part(
        self, group: Sequence[int], types: Sequence[int], counts: Counter[int]
    ) -> tuple[MatrixProblem, Sequence[int]]:
        """Return the problem of a group of CPUs and the types of the whole problem in it."""
        problem = self.problem
        starts = sorted({problem.starts[cpu] for cpu in group})
        return replace(
            problem,
            sizes=tuple(counts[task_type] for task_type in types),
            starts=tuple(starts.index(problem.starts[cpu]) for cpu in group),
            switch=tuple(tuple(problem.switch[a][b] for b in types) for a in types),
            start=tuple(tuple(problem.start[start][b] for b in types) for start in starts),
            finish=tuple(problem.finish[a] for a in types),
            idle=tuple(problem.idle[start] for start in starts),
        ), types


def share_tasks_anew(search: Search) -> None:
    """Improve the best schedule of a search.

    Parameters
    ----------
    search
        Of an instance with a matrix and without releases and precedence, which has a schedule.
    """
    instance = search.instance
    if instance.cpus == 1 or largest_cost(search.costs) > LARGEST_COST:
        return
    problem, cpus = matrix_problem(instance, search.types, search.costs)
    problem = with_exec(problem, instance.objective, search.costs.exec)
    assert search.schedule is not None
    numbers = {name: number for number, types in enumerate(search.types) for name in types.names}
    trails = [
        trail_of(problem, start, [numbers[name] for name in search.schedule.cpus[cpu].tasks])
        for cpu, start in zip(cpus, problem.starts, strict=True)
    ]
    groups = CpuGroups(problem, trails, search.seed, search.check)

    def found() -> None:
        orders: list[Sequence[int]] = [()] * instance.cpus
        for cpu, trail in zip(cpus, groups.trails, strict=True):
            orders[cpu] = trail.order()
        search.found(orders)

    search.enter("groups of CPUs")
    groups.run(found)
