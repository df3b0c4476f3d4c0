"""Few types under a matrix: the integer program over supports, its schedule and its proof.

The *support* of a CPU is the set of types that it runs. With u_a the cost of a task that follows
its own type, every schedule costs Σ u_a s_a and what the supports of its CPUs cost beyond that.
:mod:`~dfopt.solvers.matrix.support_costs` has these costs,
:mod:`~dfopt.solvers.matrix.support_program` the program that chooses supports.

Where tasks have sizes, the program deals out their sizes. Then it is a relaxation, in which tasks
can be cut: its bound and its proof hold, but its plan is no schedule.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import Supports
from dfopt.problem.instance import Objective
from dfopt.solvers.matrix.problem import largest_cost, typed_tasks
from dfopt.solvers.matrix.ring_prices import ring_prices
from dfopt.solvers.matrix.support_costs import (
    LARGEST_COST,
    UNREACHED,
    NegativeRing,
    SupportCosts,
    prices_of_tasks,
)
from dfopt.solvers.matrix.support_dealing import report_plan
from dfopt.solvers.matrix.support_program import ANY_SUM, TOLERANCE, SupportProgram
from dfopt.solvers.matrix.support_proof import SupportProver
from dfopt.solvers.matrix.support_search import (
    Part,
    Permitted,
    PlanSearch,
    cheapest_plan,
    plan_within,
    rounded_up,
)
from dfopt.solvers.search import Search


class FewTypes:
    """The search for the best supports of an instance.

    Parameters
    ----------
    search
        Of an instance with a matrix of few types, without waits.
    types, members
        Its types of the matrix, and the task types of their tasks.
    """

    def __init__(
        self, search: Search, types: Sequence[TaskType], members: Sequence[Sequence[int]]
    ) -> None:
        self.search = search
        self.members = members
        self.tasks = typed_tasks(search.instance, types, members, search.costs.exec)
        self.problem = problem = self.tasks.problem
        check = search.check
        prices = prices_of_tasks(problem)
        try:
            self.costs = SupportCosts(problem, prices, check)
        except NegativeRing:
            prices = ring_prices(problem)
            self.costs = SupportCosts(problem, prices, check)
        self.prices = prices
        self.least = self.costs
        if any(prices):
            self.least = SupportCosts(problem, [0] * len(prices), check)
        counts, room = problem.sizes, problem.capacity
        if search.instance.has_sizes:
            room = search.instance.room
            sizes = [task_type.size for task_type in search.types]
            counts = tuple(sum(sizes[number] for number in numbers) for numbers in members)
        self.program = SupportProgram(
            counts,
            room,
            cpus=self.tasks.cpus,
            rest=self.costs.rest,
            check=check,
        )
        self.prover = SupportProver(
            self.program, self.tasks.names, problem.sizes, prices, self.tasks.groups
        )

    def run(self) -> None:
        """Report bounds and schedules."""
        if self.search.instance.objective is Objective.TOTAL_PENALTY:
            root = self.program.solve({})
            if root is not None:
                bound = rounded_up(root.value) + self.prover.base
                self._prove(bound - 1, Part({}, weights=root.weights), None)
            found = cheapest_plan(self.program)
            value = found.value + self.prover.base
            self._prove(value - 1, found.tree, None)
            self._report(found)
        else:
            self._minimise_the_largest()

    def _minimise_the_largest(self) -> None:
        """Find the least threshold that has a plan."""
        lower = self.search.lower_bound - 1
        upper = max(int(rest[rest < UNREACHED // 2].max()) for rest in self.least.rest)
        upper = max(upper + self.prover.base, lower + 1)
        if self.search.objective is not None:
            upper = min(upper, self.search.objective)
        refuted: Part | None = None
        while upper - lower > 1:
            threshold = (lower + upper) // 2
            weights = self._refuted(threshold)
            if weights is None:
                upper = threshold
            else:
                lower, refuted = threshold, weights
        if refuted is not None:
            self._prove(lower, refuted, self._permitted(lower))
        while not self.search.is_closed:
            found = plan_within(self.program, self._budget(upper), self._permitted(upper))
            if found.plan is not None or not found.is_complete:
                self._report(found)
                return
            self._prove(upper, found.tree, self._permitted(upper))
            upper += 1

    def _refuted(self, threshold: int) -> Part | None:
        """Return why the linear program has no solution, None if it has one."""
        solution = self.program.solve(
            {}, budget=self._budget(threshold), permitted=self._permitted(threshold)
        )
        if solution is None or solution.value < TOLERANCE:
            return None
        return Part({}, weights=solution.weights)

    def _permitted(self, threshold: int) -> Permitted:
        """Return which supports a CPU can have that pays at most ``threshold``."""
        return [rest <= threshold for rest in self.least.rest]

    def _budget(self, threshold: int) -> int:
        """Return what all rests may add up to."""
        if not any(self.prices):
            return ANY_SUM
        return threshold * self.problem.cpus - self.prover.base

    def _prove(self, threshold: int, tree: Part, permitted: Permitted | None) -> None:
        if threshold < self.search.lower_bound:
            return
        is_sum = self.search.instance.objective is Objective.TOTAL_PENALTY
        budget = (threshold if is_sum else threshold * self.problem.cpus) - self.prover.base
        proof = self.prover.proof(tree, budget, permitted)
        if proof is not None:  # what rounding errors hide is not claimed
            self.search.proved(threshold + 1, Supports(threshold=threshold, proof=proof))

    def _report(self, found: PlanSearch) -> None:
        """Report the schedule of a plan."""
        if found.plan is None or self.search.instance.has_sizes:
            return
        report_plan(self.search, self.tasks, self.members, self.costs, found.plan)


def solve_few_types(
    search: Search, types: Sequence[TaskType], members: Sequence[Sequence[int]]
) -> None:
    """Report the bound and the schedule of the best supports.

    Parameters
    ----------
    search
        Of an instance with a matrix, without releases and precedence.
    types, members
        Its types of the matrix, and the task types of their tasks.
    """
    if largest_cost(search.costs) <= LARGEST_COST:
        search.enter("supports")
        FewTypes(search, types, members).run()
