"""Types under a matrix: the best contents of CPUs, as schedules and proofs.

All supports of many types cannot be listed, but the cheap ones can, and most CPUs of a good
schedule have cheap ones. Where the CPU counts that pays most, no other supports are permitted
within a threshold; the linear program refutes thresholds, one after the other. Under total-penalty
the proof shows for all other supports that they are worth less than they cost.

Where tasks that follow their own type cost something, what a CPU pays depends on its numbers of
tasks. Contents within a threshold are limited in cost, then, and integer programs deal the tasks.

Where tasks have sizes, enough CPUs touch a set of types for the sizes of its tasks. The contents
count tasks only, so that the program is a relaxation: its proofs hold, but its plans are no
schedules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product

from dfopt.costs.task_types import TaskType
from dfopt.errors import MethodError
from dfopt.problem.instance import Objective
from dfopt.solvers.branch_and_price.linear_program import LinearProgram, Undecided
from dfopt.solvers.matrix.content_proof import ContentProver
from dfopt.solvers.matrix.content_search import NO_PLAN, ContentSearch
from dfopt.solvers.matrix.contents import Plan, SupportContents
from dfopt.solvers.matrix.dealing import dealt, report_orders
from dfopt.solvers.matrix.limited_dealing import chosen_supports, dealt_orders
from dfopt.solvers.matrix.problem import MOST_LISTED, MatrixProblem, matrix_problem, unit_of
from dfopt.solvers.matrix.support_list import UNREACHED, SupportList
from dfopt.solvers.search import Search

MOST_SUPPORTS = 20_000
"""At most 20,000 supports of each start are listed."""

LARGEST_COST = 1 << 26
"""Sums of such costs, times the scale of a proof, still fit into 53 bits."""

LARGEST_TABLE = 100_000
"""A table over numbers of tasks and what they cost has at most 100,000 entries."""

MOST_STEPS = 300
"""At most 300 parts of the problem are split at a threshold."""

STEPS_WITHOUT_PLAN = 5
"""While no plan is found, at most 5 parts are split: other methods find schedules."""

MOST_ROUNDS = 10
"""Supports are added at most 10 times to what a proof is tried with."""

FURTHER_THRESHOLDS = 6
"""For a first schedule, the least threshold and at most the next 6 are tried."""

STEPS_TO_TWICE = 200
"""Each of these is larger by a 200th, where costs are large."""

MOST_PLANS = 5
"""At most 5 plans are tried at a threshold, where tasks may have no room on the CPUs of a plan."""


class BestContents:
    """The search for the best contents of the CPUs of an instance.

    Parameters
    ----------
    search
        Of an instance with a matrix, without waits.
    types, members
        Its types of the matrix, and the task types of their tasks.
    """

    def __init__(
        self, search: Search, types: Sequence[TaskType], members: Sequence[Sequence[int]]
    ) -> None:
        self.search = search
        self.members = members
        self.is_sum = search.instance.objective is Objective.TOTAL_PENALTY
        least = [min(search.costs.exec[number] for number in numbers) for numbers in members]
        self.problem, self.order = matrix_problem(search.instance, types, least)
        self._names = [str(task_type.example.type) for task_type in types]
        starts = dict(zip(self.order, self.problem.starts, strict=True))
        self._groups = [starts[cpu] for cpu in range(self.problem.cpus)]
        self._plans = 0
        self._programs: dict[int, SupportContents] = {}
        prices = ring_prices(self.problem, search.check)
        self.contents = self._contents_at(prices)
        self._limits_costs = self._can_limit_costs()
        self._of_all: SupportContents | None = None
        if any(prices) and not self.is_sum and not self._limits_costs:
            # Without prices the rest is what a CPU pays at least, whatever its tasks.
            self._of_all, self.contents = self.contents, self._contents_at([0] * len(prices))
        self.listing = self.contents.listing

    def _can_limit_costs(self) -> bool:
        """Return whether costs limit the tasks of a CPU, in a table that is small enough."""
        instance, objective = self.search.instance, self.search.objective
        prices = self.contents.listing.prices
        if self.is_sum or not objective or instance.has_sizes or not any(prices):
            return False
        return min(prices) >= 0 and self.contents.within(objective).table_size <= LARGEST_TABLE

    def _contents_at(self, prices: Sequence[int]) -> SupportContents:
        instance, check = self.search.instance, self.search.check
        listing = SupportList(self.problem, prices, most=MOST_SUPPORTS, check=check)
        counted = Counter(self.problem.starts)
        cpus = [counted[start] for start in range(len(self.problem.start))]
        amounts = [self.search.size_of(numbers) for numbers in self.members]
        return SupportContents(
            listing,
            cpus,
            check,
            amounts=amounts if instance.has_sizes else (),
            room=instance.room,
        )

    def run(self) -> None:
        """Report bounds and schedules."""
        if self.is_sum:
            self._minimise_the_sum()
        else:
            if self._of_all is not None:
                self._share_the_sum(self._of_all)
            self._minimise_the_largest()

    def _share_the_sum(self, contents: SupportContents) -> None:
        """Bound the CPU that pays most by an even share of what all pay."""
        prover = self._prover(contents)
        tree = ContentSearch(
            contents, seed=self.search.seed, below=lambda: NO_PLAN, found=lambda _: None
        )
        if tree.bound < NO_PLAN:
            total = tree.bound + prover.base
            self._prove(prover, tree, -(-total // self.search.instance.cpus) - 1)

    def _minimise_the_sum(self) -> None:
        prover = self._prover(self.contents)

        def below() -> int:
            objective = self.search.objective
            return NO_PLAN if objective is None else objective - prover.base

        tree = ContentSearch(self.contents, seed=self.search.seed, below=below, found=self._report)
        bound = tree.bound
        if bound == NO_PLAN:
            return
        self._prove(prover, tree, bound + prover.base - 1)
        tree.dive()
        for steps in range(MOST_STEPS):
            if self._is_hopeless(steps) or not tree.step():
                break
            least = min(tree.bound, below())
            if least > bound:
                self._prove(prover, tree, least + prover.base - 1)
                bound = min(least, tree.bound)

    def _minimise_the_largest(self) -> None:
        """Find the least threshold that has a plan."""
        found = self._least_threshold()
        if found is None:
            return
        threshold, tree = found
        # All costs are multiples of a unit; so are the thresholds at which anything changes.
        unit = unit_of(self.problem)
        if unit > 1:
            threshold += unit - 1
            tree = self._tree(threshold)
        step = unit * max(1, threshold // (STEPS_TO_TWICE * unit))
        self._find_schedules(tree, threshold, step)
        while threshold <= self.listing.reach:
            for steps in range(MOST_STEPS):
                if self._is_hopeless(steps) or not tree.step():
                    break
            if tree.bound < NO_PLAN:
                return
            self._prove(self._prover(tree.program), tree, threshold)
            threshold += unit
            tree = self._tree(threshold)
            self._find_schedules(tree, threshold, step if self._limits_costs else 0)

    def _is_hopeless(self, steps: int) -> bool:
        """Return whether this number of steps should have found a plan."""
        return steps >= STEPS_WITHOUT_PLAN and not self._plans and not self._limits_costs

    def _least_threshold(self) -> tuple[int, ContentSearch] | None:
        """Prove that the linear program has no solution below some threshold; return that one."""
        lower, upper = self.search.lower_bound - 1, self.listing.reach
        if self.search.objective is not None:
            upper = min(upper, self.search.objective)
        else:
            rests = [rest[rest < UNREACHED // 2] for rest in self.listing.rest]
            upper = min(upper, *(int(rest.max()) for rest in rests))
        upper = max(upper, lower + 1)
        if upper > self.listing.reach:
            return None
        refuted: ContentSearch | None = None
        feasible: ContentSearch | None = None
        threshold = upper
        while feasible is None or upper - lower > 1:
            tree = self._tree(threshold)
            if tree.bound < NO_PLAN:
                upper, feasible = threshold, tree
            else:
                lower, refuted = threshold, tree
                if threshold == upper:
                    break
            threshold = (lower + upper) // 2
        if refuted is not None:
            self._prove(self._prover(refuted.program), refuted, lower)
        return None if feasible is None else (upper, feasible)

    def _tree(self, threshold: int) -> ContentSearch:
        def below() -> int:
            """Any plan will do, unless a schedule is known that keeps to the threshold."""
            return -NO_PLAN if self._is_attained(threshold) else NO_PLAN

        return ContentSearch(
            self._within(threshold),
            seed=self.search.seed,
            below=below,
            found=partial(self._report, threshold=threshold),
        )

    def _within(self, threshold: int) -> SupportContents:
        """Return the contents of CPUs within a threshold."""
        if threshold not in self._programs:
            self._programs[threshold] = self.contents.within(threshold)
        return self._programs[threshold]

    def _is_attained(self, threshold: int) -> bool:
        """Return whether a schedule within a threshold is known."""
        objective = self.search.objective
        return objective is not None and objective <= threshold

    def _find_schedules(self, tree: ContentSearch, threshold: int, step: int) -> None:
        """Look for schedules within a threshold, and within larger ones if there is a step."""
        for within in range(threshold, threshold + FURTHER_THRESHOLDS * step + 1, step or 1):
            if within > self.listing.reach or self._is_attained(within):
                return
            if self._limits_costs:
                # A threshold without a plan is probably refuted before long.
                if not self._deal_chosen_supports(within):
                    return
            elif (tree if within == threshold else self._tree(within)).dive():
                return

    def _deal_chosen_supports(self, threshold: int) -> bool:
        """Look for a schedule within a threshold; return whether there was a plan for one."""
        alone: Plan = {}
        for _ in range(MOST_PLANS):
            if self._is_attained(threshold):
                return True
            plan = chosen_supports(self._within(threshold), alone)
            if plan is None:
                break
            self._report(plan, threshold)
            # If the tasks of equal supports cannot be dealt, the next plan counts them CPU by CPU.
            shared = {key: number for key, number in plan.items() if number > alone.get(key, 1)}
            alone.update(shared)
            if not shared:
                break
        return bool(alone)

    def _prover(self, program: SupportContents) -> ContentProver:
        return ContentProver(self.search.instance, program, self._names, self._groups)

    def _prove(self, prover: ContentProver, tree: ContentSearch, threshold: int) -> None:
        if threshold < self.search.lower_bound:
            return
        for _ in range(MOST_ROUNDS):
            try:
                proof = prover.proof(tree.tree, threshold)
            except MethodError:  # more supports than the checker looks at
                return
            if proof is not None:
                self.search.proved(threshold + 1, proof)
                return
            # What rounding errors hide is not claimed. Within a threshold all supports are listed.
            if not prover.unlisted or not self.is_sum:
                return
            for _, supports in prover.unlisted:
                self.contents.list_supports(supports)
            tree.renew([part for part, _ in prover.unlisted])
            if tree.bound + prover.base <= threshold:
                return

    def _report(self, plan: Plan, threshold: int | None = None) -> None:
        """Report the schedule of a plan, if there is one within the threshold on its costs."""
        self._plans += 1
        if self.search.instance.has_sizes:
            return
        if self._limits_costs and threshold is not None:
            orders = dealt_orders(self._within(threshold), plan)
        else:
            orders = dealt(self.problem, self.listing, plan, self.search.check)
        if orders is not None:
            report_orders(self.search, self.order, self.members, orders)


def ring_prices(problem: MatrixProblem, check: Callable[[], object]) -> list[int]:
    """Return prices of tasks that no ring of switches undercuts, in whole numbers.

    Where tasks that take turns cost less than tasks that follow their own type, a ring of switches
    may pay less than switch[a][a] for each of its tasks. Let x_ab be how often b follows a. The
    transportation problem min Σ switch[a][b] x_ab with Σ_b x_ab = Σ_b x_ba = s_a has dual values
    α_a + β_b ≤ switch[a][b], and some in whole numbers (Hoffman and Kruskal 1956). With
    u_a = α_a + β_a each ring costs at least the prices of its tasks, and all tasks together have
    the largest price possible: that is switch[a][a], where no ring costs less.

    Raises
    ------
    Undecided
        When the linear program is not solved.
    """
    types = range(len(problem.sizes))
    program: LinearProgram[tuple[int, int]] = LinearProgram(check)
    for task_type, size in enumerate(problem.sizes):
        program.add_row(("leave", task_type), size, size)
        program.add_row(("enter", task_type), size, size)
    for arc in product(types, types):
        before, after = arc
        rows = [(("leave", before), 1), (("enter", after), 1)]
        program.add_column(arc, problem.switch[before][after], rows)
    program.solve()
    leaving = [round(program.dual(("leave", task_type))) for task_type in types]
    least = [min(problem.switch[row][column] - leaving[row] for row in types) for column in types]
    return [leaving[task_type] + least[task_type] for task_type in types]


def solve_by_contents(
    search: Search, types: Sequence[TaskType], members: Sequence[Sequence[int]]
) -> None:
    """Report the bounds and the schedules of the best contents.

    Parameters
    ----------
    search
        Of an instance with a matrix, without releases and precedence.
    types, members
        Its types of the matrix, and the task types of their tasks.
    """
    # A single CPU runs all types, and no list of cheap supports has that one.
    is_small = search.instance.cpus > 1 and len(types) <= MOST_LISTED
    if is_small and search.costs.between().max() <= LARGEST_COST:
        search.enter("contents of CPUs")
        with suppress(Undecided):
            BestContents(search, types, members).run()
