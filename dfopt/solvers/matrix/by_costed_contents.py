"""Types that cost something to follow too, where the CPU counts that pays most.

What such a CPU pays depends on its numbers of tasks. At a threshold
:mod:`~dfopt.solvers.matrix.costed_contents` says what CPUs can hold; its linear program refutes
thresholds, and :mod:`~dfopt.solvers.matrix.limited_dealing` finds schedules within others.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from dfopt.costs.task_types import TaskType
from dfopt.problem.instance import Objective
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.matrix.by_contents import BestContents
from dfopt.solvers.matrix.content_program import Masks, Plan
from dfopt.solvers.matrix.content_search import NO_PLAN
from dfopt.solvers.matrix.costed_contents import CostedContents
from dfopt.solvers.matrix.dealing import report_orders, supports_of
from dfopt.solvers.matrix.limited_dealing import chosen_supports, dealt_orders
from dfopt.solvers.matrix.problem import LARGEST_COST, MOST_LISTED, largest_cost, unit_of
from dfopt.solvers.matrix.support_list import SupportList
from dfopt.solvers.search import Search

LARGEST_TABLE = 100_000
"""A table over numbers of tasks and what they cost has at most 100,000 entries."""

MOST_STEPS = 300
"""At most 300 parts of the problem are split at a threshold."""

STEPS_BEFORE_SCHEDULES = 15
"""After 15 such steps, schedules are looked for within larger thresholds."""

MOST_PLANS = 5
"""At most 5 plans are tried at a threshold."""

FURTHER_THRESHOLDS = 3
"""Schedules are looked for within the least threshold that may have one, and 3 larger ones."""

STEPS_TO_TWICE = 200
"""Each of these is larger by a 200th, where costs are large."""


class CostedTypes(BestContents):
    """The search for the best contents where CPUs pay for each task.

    Parameters
    ----------
    search
        Of an instance with a matrix, without waits; the CPU that pays most counts.
    types, members
        Its types of the matrix, and the task types of their tasks.
    """

    def __init__(
        self, search: Search, types: Sequence[TaskType], members: Sequence[Sequence[int]]
    ) -> None:
        super().__init__(search, types, members)
        self._programs: dict[int, CostedContents] = {}
        self._without_schedule = 0
        """Within this threshold no schedule was found."""

    def _listed(self, *, with_prices: bool = True) -> SupportList:
        return super()._listed(with_prices=True)

    def run(self) -> None:
        """Report bounds and schedules."""
        objective = self.search.objective
        if objective is None or not self.listing.prices or min(self.listing.prices) < 0:
            return
        if self._within(objective).table_size > LARGEST_TABLE:
            return
        found = self._least_threshold()
        if found is None:
            return
        threshold, tree = found
        # All costs are multiples of a unit; so are the thresholds at which anything changes.
        unit = unit_of(self.tasks.problem)
        if unit > 1:
            threshold += unit - 1
            tree = self._tree(threshold)
        while threshold <= self.listing.reach:
            tree.dive()
            self._find_schedules(threshold, unit)
            if self.search.is_closed:
                return
            for steps in range(MOST_STEPS):
                if not tree.step():
                    break
                if steps == STEPS_BEFORE_SCHEDULES:
                    self._find_schedules_above(threshold, unit)
            if tree.bound < NO_PLAN:
                return
            self._prove(self._prover(threshold), tree, threshold)
            threshold += unit
            tree = self._tree(threshold)

    def _is_attained(self, threshold: int) -> bool:
        """Return whether a schedule within a threshold is known."""
        objective = self.search.objective
        return objective is not None and objective <= threshold

    def _find_schedules(self, threshold: int, unit: int) -> None:
        """Look for schedules within a threshold and a little above."""
        # A threshold without a plan is probably refuted before long.
        if self._find_schedule(threshold):
            step = unit * max(1, threshold // (STEPS_TO_TWICE * unit))
            for further in range(1, FURTHER_THRESHOLDS + 1):
                if threshold + further * step <= self.listing.reach:
                    self._find_schedule(threshold + further * step)

    def _find_schedules_above(self, threshold: int, unit: int) -> None:
        """Look for schedules between a threshold and the best schedule so far, by bisection."""
        lower = max(threshold, self._without_schedule)
        while (objective := self.search.objective) is not None:
            middle = (lower + (objective - lower) // 2) // unit * unit
            if middle <= lower or middle > self.listing.reach:
                return
            self._find_schedule(middle)
            if not self._is_attained(middle):
                lower = self._without_schedule = middle

    def _find_schedule(self, threshold: int) -> bool:
        """Look for a schedule within a threshold; return whether there was a plan for one."""
        alone: Plan = {}
        for _ in range(MOST_PLANS):
            if self._is_attained(threshold):
                return True
            plan = chosen_supports(self._within(threshold), alone, self.search.check)
            if plan is None:
                break
            self._report(plan, threshold)
            # If the tasks of equal supports cannot be dealt, the next plan counts them CPU by CPU.
            shared = {key: number for key, number in plan.items() if number > alone.get(key, 1)}
            alone.update(shared)
            if not shared:
                break
        return bool(alone)

    def _within(self, threshold: int) -> CostedContents:
        if threshold not in self._programs:
            self._programs[threshold] = CostedContents(
                self.listing, self.tasks.cpus, threshold, self.search.check
            )
        return self._programs[threshold]

    def _permitted(self, threshold: int) -> Masks:
        return self._within(threshold).permitted

    def _report(self, plan: Plan, threshold: int | None = None) -> None:
        """Report the schedule of a plan, if the tasks can be dealt within the threshold."""
        assert threshold is not None
        program = self._within(threshold)
        supports = supports_of(self.tasks.problem, plan)
        orders = dealt_orders(program, supports, self.search.check)
        if orders is not None:
            report_orders(self.search, self.tasks.order, self.members, orders)


def solve_costed_types(
    search: Search, types: Sequence[TaskType], members: Sequence[Sequence[int]]
) -> None:
    """Report the bounds and the schedules of the best contents, if own types cost something.

    Parameters
    ----------
    search
        Of an instance with a matrix, without releases and precedence, which has a schedule.
    types, members
        Its types of the matrix, and the task types of their tasks.
    """
    is_small = search.instance.cpus > 1 and len(types) <= MOST_LISTED
    is_sum = search.instance.objective is Objective.TOTAL_PENALTY
    if is_small and not is_sum and largest_cost(search.costs) <= LARGEST_COST:
        search.enter("contents of limited cost")
        with suppress(Undecided):
            CostedTypes(search, types, members).run()
