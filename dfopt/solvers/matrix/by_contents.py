"""Types under a matrix: the program over contents, its schedules and its proofs.

All supports of many types cannot be listed, but the cheap ones can, and most CPUs of a good
schedule have cheap ones. :mod:`~dfopt.solvers.matrix.content_program` chooses among them by column
generation. Under max-penalty no other supports are permitted; under total-penalty the proof shows
for all others that they are worth less than they cost.

Where tasks have sizes, enough CPUs touch a set of types for the sizes of its tasks. The contents
count tasks only, so that the program is a relaxation: its proofs hold, but its plans are no
schedules.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, partial

from dfopt.costs.task_types import TaskType
from dfopt.errors import MethodError
from dfopt.problem.instance import Objective
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.matrix.content_program import ContentProgram, Masks, Plan
from dfopt.solvers.matrix.content_proof import ContentProver
from dfopt.solvers.matrix.content_search import NO_PLAN, ContentSearch
from dfopt.solvers.matrix.dealing import dealt, report_orders
from dfopt.solvers.matrix.problem import LARGEST_COST, MOST_LISTED, largest_cost, typed_tasks
from dfopt.solvers.matrix.ring_prices import ring_prices
from dfopt.solvers.matrix.support_list import UNREACHED, SupportList
from dfopt.solvers.search import Search

MOST_SUPPORTS = 20_000
"""At most 20,000 supports of each start are listed."""

MOST_STEPS = 150
"""At most 150 parts of the problem are split."""

STEPS_WITHOUT_PLAN = 5
"""While no plan is found, at most 5 parts are split: other methods find schedules."""

MOST_ROUNDS = 10
"""Supports are added at most 10 times to what a proof is tried with."""

FURTHER_THRESHOLDS = 6
"""For a first schedule, the least threshold and at most the next 6 are tried."""


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
        self.tasks = typed_tasks(search.instance, types, members, search.costs.exec)
        self.is_sum = search.instance.objective is Objective.TOTAL_PENALTY
        self._plans = 0
        self.listing = self._listed(with_prices=self.is_sum)

    def _listed(self, *, with_prices: bool) -> SupportList:
        """Return supports, with the prices of tasks or without."""
        problem, check = self.tasks.problem, self.search.check
        # Without them it is what a CPU pays at least, whatever its tasks.
        prices = self.prices if with_prices else [0] * len(problem.sizes)
        return SupportList(problem, prices, most=MOST_SUPPORTS, check=check)

    @cached_property
    def prices(self) -> list[int]:
        """What a task of each type costs at least."""
        return ring_prices(self.tasks.problem, self.search.check)

    @cached_property
    def program(self) -> ContentProgram:
        """The program over contents of any cost."""
        return self._program_over(self.listing)

    def _program_over(self, listing: SupportList) -> ContentProgram:
        instance, types = self.search.instance, self.search.types
        amounts = [sum(types[number].size for number in numbers) for numbers in self.members]
        return ContentProgram(
            listing,
            self.tasks.cpus,
            self.search.check,
            amounts=amounts if instance.has_sizes else (),
            room=instance.room,
        )

    def run(self) -> None:
        """Report bounds and schedules."""
        if self.is_sum:
            self._minimise_the_sum()
        else:
            self._share_the_sum()
            self._minimise_the_largest()

    def _share_the_sum(self) -> None:
        """Bound the CPU that pays most by an even share of what all pay, where own types cost."""
        if not any(self.prices):
            return
        program = self._program_over(self._listed(with_prices=True))
        tree = ContentSearch(
            program,
            permitted=None,
            seed=self.search.seed,
            below=lambda: NO_PLAN,
            found=lambda _: None,
        )
        prover = ContentProver(self.search.instance, program, self.tasks.names, self.tasks.groups)
        if tree.begin().bound < NO_PLAN:
            total = tree.bound + prover.base
            self._prove(prover, tree, -(-total // self.search.instance.cpus) - 1)

    def _minimise_the_sum(self) -> None:
        prover = ContentProver(
            self.search.instance, self.program, self.tasks.names, self.tasks.groups
        )

        def below() -> int:
            objective = self.search.objective
            return NO_PLAN if objective is None else objective - prover.base

        tree = ContentSearch(
            self.program,
            permitted=None,
            seed=self.search.seed,
            below=below,
            found=self._report,
        )
        if tree.begin().bound == NO_PLAN:
            return
        bound = tree.bound
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
        # A first schedule, with a larger threshold if need be.
        for further in range(FURTHER_THRESHOLDS):
            first = self._tree(threshold + further) if further else tree
            if first.dive():
                break
        while threshold <= self.listing.reach:
            for steps in range(MOST_STEPS):
                if self._is_hopeless(steps) or not tree.step():
                    break
            if tree.bound < NO_PLAN:
                return
            self._prove(self._prover(threshold), tree, threshold)
            threshold += 1
            tree = self._tree(threshold)
            tree.dive()

    def _is_hopeless(self, steps: int) -> bool:
        """Return whether this number of steps should have found a plan."""
        return steps >= STEPS_WITHOUT_PLAN and not self._plans

    def _least_threshold(self) -> tuple[int, ContentSearch] | None:
        """Prove that the linear program has no solution below some threshold; return that one."""
        lower, upper = self.search.lower_bound - 1, self.listing.reach
        if self.search.objective is not None:
            upper = min(upper, self.search.objective)
        else:
            upper = min(
                upper, max(int(rest[rest < UNREACHED // 2].max()) for rest in self.listing.rest)
            )
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
            self._prove(self._prover(lower), refuted, lower)
        return None if feasible is None else (upper, feasible)

    def _tree(self, threshold: int) -> ContentSearch:
        def below() -> int:
            """Any plan will do, unless a schedule is known that keeps to the threshold."""
            objective = self.search.objective
            return -NO_PLAN if objective is not None and objective <= threshold else NO_PLAN

        return ContentSearch(
            self._within(threshold),
            permitted=self._permitted(threshold),
            seed=self.search.seed,
            below=below,
            found=partial(self._report, threshold=threshold),
        ).begin()

    def _within(self, threshold: int) -> ContentProgram:
        """Return the program over contents of CPUs within a threshold."""
        return self.program

    def _permitted(self, threshold: int) -> Masks:
        """Return which supports such CPUs can have."""
        return [rest <= threshold for rest in self.listing.rest]

    def _prover(self, threshold: int) -> ContentProver:
        return ContentProver(
            self.search.instance,
            self._within(threshold),
            self.tasks.names,
            self.tasks.groups,
            self._permitted(threshold),
        )

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
            for part, supports in prover.unlisted:
                self.program.list_supports(supports)
                prover.forget(part)
            tree.renew([part for part, _ in prover.unlisted])
            if tree.bound + prover.base <= threshold:
                return

    def _report(self, plan: Plan, threshold: int | None = None) -> None:
        """Report the schedule of a plan, whatever threshold it keeps to."""
        self._plans += 1
        if not self.search.instance.has_sizes:
            orders = dealt(self.tasks.problem, self.listing, plan, self.search.check)
            if orders is not None:
                report_orders(self.search, self.tasks.order, self.members, orders)


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
    if is_small and largest_cost(search.costs) <= LARGEST_COST:
        search.enter("contents of CPUs")
        with suppress(Undecided):
            BestContents(search, types, members).run()
