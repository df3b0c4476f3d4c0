"""The configuration LP of one instance, at one limit after the other, until it is solved.

A *limit* is the most that any CPU may cost; under total-penalty, the most that all CPUs may cost
together. The method decides one limit after the other:

1. Local search finds a first schedule, and goes on beside the rest if there are two workers.
2. Column generation finds the least limit that the LP allows. A refuted limit raises the bound.
3. At a limit between bound and schedule, dives look for a schedule. Local search fills the last
   CPUs of those that fail.
   At a limit that the LP hardly allows, a few branches come first.
4. If they fail too, a few nodes of a tree and other models are tried once. After that, branch and
   price decides the limit.
5. CP-SAT decides a limit where rounding errors hide the answer of the LP.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from contextlib import suppress

from dfopt.errors import MethodError
from dfopt.problem.certificate import Certificate, CompleteSearch, Proof
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers import parts
from dfopt.solvers.aggregation import Aggregation, has_moderate_sizes, task_classes
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.configuration.branch_and_price import BranchAndPrice
from dfopt.solvers.configuration.column_generation import ColumnGeneration
from dfopt.solvers.configuration.contents import Column, ColumnPool, columns_of, orders_of
from dfopt.solvers.configuration.diving import Diving, fill_last_cpus
from dfopt.solvers.configuration.master import LpSolution
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.proof_tree import ProofCase, proof_of
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.heuristics.local_search import walk_slowly, walking_beside
from dfopt.solvers.search import Search

FEW = 4
"""If at most 4 limits are left, they are tried one by one, the highest first."""

SHRUNK = 0.9
"""Tables are made smaller when the best objective is at most this share of the largest limit."""

LARGEST_MODEL = 2_000
"""CP-SAT's count model is tried if it has at most 2,000 counts."""

CP_SAT_EFFORT = 1.5

DIVES = 2
"""Where the count model is small, 2 dives come first: they take a second or two each."""

LITTLE = 0.05
"""A limit is tight if the LP leaves less than 0.05 CPUs."""

NODES_IF_TIGHT = 4
CPUS_IN_NODES = 128
"""At most 4 nodes before the dives at a tight limit; with more than 32 CPUs fewer, which take as
long as 4 with 32."""

FIRST_NODES = 15
"""At most 15 nodes before CP-SAT's count model is tried: they take about as long as that."""

MOST_NODES = 200
"""At most 200 nodes for a proof that can be checked, where CP-SAT has one that cannot."""

DISCREPANCIES = 5
"""A dive turns back at most 5 times."""

log = logging.getLogger(__name__)


class Overtaken(Exception):  # noqa: N818 - good news
    """The search beside this one has found a schedule within the limit that is being decided."""


def solve_by_configurations(search: Search) -> None:
    """Find and prove the optimum by the configuration LP, dives, and branch and price.

    Raises
    ------
    MethodError
        Under a matrix, with releases or precedence, and where sizes are too large.
    """
    instance = search.instance
    if isinstance(instance.penalty, PenaltyMatrix) or instance.is_timed:
        raise MethodError(
            "configuration is made for the penalties f and g without releases and precedence; "
            "use cp-sat or auto",
            place="method",
        )
    if not has_moderate_sizes(search):
        raise MethodError(
            "the sizes are too large for configuration, whose tables grow with the capacity; "
            "use a coarser unit, or cp-sat or auto",
            place="method",
        )
    if search.schedule is None:
        search.enter("local search")
        first_schedule.improve(search, effort=0.2 if search.workers > 1 else 1.0)
    search.check()
    with walking_beside(search):
        settle_idle_costs(search)
        ConfigurationSearch(search).solve()


def settle_idle_costs(search: Search) -> None:
    """Let the count model decide where the costs of idle CPUs matter.

    A CPU that runs nothing may have to write back what its cache held at the start. The linear
    program assumes that an idle CPU costs nothing. That does no harm where the limit is at least
    the cost of an idle CPU.
    """
    idle = max(start.idle for start in search.form.starts)
    if search.lower_bound >= idle:
        return
    from dfopt.solvers.cp_sat.count_model import CountModel
    from dfopt.solvers.cp_sat.runner import decide, minimise

    search.enter("count model")
    assert search.objective is not None
    if search.instance.objective is not Objective.TOTAL_PENALTY and search.objective > idle:
        bounds = (search.lower_bound, idle - 1)
        if not decide(search, lambda: CountModel(search, bounds), idle):
            return
    minimise(search, lambda bounds: CountModel(search, bounds))
    search.check()


class ConfigurationSearch:
    """The LP of one instance, at one limit after the other.

    Parameters
    ----------
    search
        Where bounds and schedules are reported; it knows a schedule.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self._aggregation = Aggregation(
            instance=search.instance,
            types=search.types,
            form=search.form,
            cpu_groups=search.cpu_groups,
            classes=task_classes(search.types, search.form, search.instance.task_count),
        )
        self._pool = ColumnPool()
        self._random = random.Random(search.seed)
        self._solutions: dict[int, LpSolution] = {}
        self._problem = self._whole_problem()
        self._spare: dict[int, float] = {}
        self._tree: tuple[int, BranchAndPrice] | None = None

    def solve(self) -> None:
        """Raise the bound and look for schedules until they meet."""
        self._find_bound()
        is_small = self._has_count_model()
        dives_left = DIVES if is_small else 1
        while True:
            self.search.check()
            with suppress(Overtaken):
                limit = self._middle_limit()
                if self._decided(limit) is None:
                    continue
                if self._is_tight(limit):
                    # A few branches often are enough to refute it.
                    nodes = min(NODES_IF_TIGHT, CPUS_IN_NODES // self.search.instance.cpus)
                    self._branch(limit, most_nodes=nodes)
                    if self.search.lower_bound > limit:
                        continue
                if self._dive_from(limit):
                    continue
                dives_left -= 1
                if not dives_left:
                    if is_small:
                        self._branch(limit, most_nodes=FIRST_NODES)
                        self.search.check()
                    self._try_other_models(limit)
                elif dives_left < 0:
                    self._branch(limit)

    def _find_bound(self) -> None:
        """Find the least limit that is possible for the LP.

        First comes the limit just below the best schedule, since refuting it ends the search.
        After that the limits go down: one by one if few are left, else by a third of the way.
        """
        possible = self._objective
        is_first = True
        while possible > self.search.lower_bound:
            self.search.check()
            possible = min(possible, self._objective)
            steps = self._problem.data.steps(self.search.lower_bound, possible - 1)
            few = is_first or len(steps) <= FEW
            limit = possible - 1 if few else steps[-(len(steps) // 3)]
            is_first = False
            with suppress(Overtaken):
                solution = self._decided(limit)
                if solution is not None:
                    possible = min(limit, self._reached(solution))
                    self._solutions[possible] = solution

    def _middle_limit(self) -> int:
        """Return a limit halfway between the bound and the best schedule, the lower of two."""
        best = self._objective
        steps = self._problem.data.steps(self.search.lower_bound, best - 1)
        if not steps:
            return best - 1
        after = (len(steps) - 1) // 2 + 1
        # All limits up to the next cost that a schedule can have are alike.
        return steps[after] - 1 if after < len(steps) else best - 1

    def _decided(self, limit: int) -> LpSolution | None:
        """Return the LP's solution for a limit; None when the limit is impossible."""
        if limit not in self._solutions:
            self._adapt()
            self._check_within(limit)()
            self.search.enter(f"linear program, limit {limit}")
            relaxation = ColumnGeneration(
                self._problem, self._pool, self._check_within(limit), self._learn
            )
            try:
                solution = relaxation.decide(limit)
            except Undecided:
                self._leave_to_cp_sat(limit)
                self._check_within(limit)()
                return None
            if solution is None:
                log.debug("limit %d is refuted; the bound is %d", limit, self.search.lower_bound)
                return None
            log.debug(
                "limit %d: the LP allows it with %d columns in use, %d in the pool",
                limit,
                len(solution.used),
                len(self._pool),
            )
            self._solutions[limit] = solution
        return self._solutions[limit]

    def _dive_from(self, limit: int) -> bool:
        """Dive for a schedule within a limit, then for one that is better than the best.

        If the limit is tight the order is the other way round: higher limits are far easier.
        Return whether a schedule within the limit was found.
        """
        self.search.enter(f"diving, limit {limit}")
        is_tight = self._is_tight(limit)
        if not is_tight and self._is_reached_by_dive(limit):
            return True
        while self._objective - 1 > limit:
            self.search.check()
            nearest = self._objective - 1
            if not self._is_reached_by_dive(nearest):
                return False
        return is_tight and self._is_reached_by_dive(limit)

    def _is_tight(self, limit: int) -> bool:
        """Return whether a limit that the LP allows leaves less than a little of a CPU over."""
        if self._problem.data.limit is None:
            return False
        cpus = self.search.instance.cpus
        solution = self._decided(limit)
        if solution is not None and limit not in self._spare:
            relaxation = ColumnGeneration(
                self._problem, self._pool, self._check_within(limit), start=solution.duals
            )
            with suppress(Undecided):
                solution = relaxation.decide(limit, spare=cpus) or solution
            self._solutions[limit] = solution
            self._spare[limit] = (1 - solution.value) * cpus
        return self._spare.get(limit, 1.0) < LITTLE

    def _is_reached_by_dive(self, limit: int) -> bool:
        """Return whether a dive finds a schedule within a limit."""
        solution = self._decided(limit)
        if solution is None:
            return False
        return self._found(self._dive(limit, self._problem, solution), limit)

    def _dive(
        self, limit: int, problem: RemainingProblem, solution: LpSolution
    ) -> tuple[Column, ...] | None:
        check = self._check_within(limit)
        diving = Diving(
            problem,
            self._pool,
            limit,
            check,
            self._random,
            lambda fixed, rest: fill_last_cpus(self.search, problem.data, fixed, rest, check),
        )
        return diving.dive(solution, DISCREPANCIES)

    def _branch(self, limit: int, *, most_nodes: int | None = None) -> None:
        """Find a schedule within a limit, or prove that there is none.

        With ``most_nodes`` the limit may stay undecided. A second call for the same limit goes on
        with the tree.
        """
        solution = self._decided(limit)
        if solution is None:
            return
        self.search.enter(f"branching, limit {limit}")
        if self._tree is None or self._tree[0] != limit:
            branching = BranchAndPrice(
                self._problem,
                self._pool,
                limit,
                self._check_within(limit),
                lambda problem, there: self._dive(limit, problem, there),
            )
            self._tree = limit, branching
        branching = self._tree[1]
        try:
            columns = branching.search(solution, most_nodes)
            if columns is None:
                self._prove(branching.root, limit)
            elif not self._found(columns, limit):
                # On a coarse cost grid contents seem cheaper than they are; and the LP does not
                # know what idle CPUs cost.
                raise Undecided
        except Undecided:
            if most_nodes is None:
                self._leave_to_cp_sat(limit)

    def _try_other_models(self, limit: int) -> None:
        """Try models that are good at filling CPUs exactly, of which the LP knows nothing.

        Where they would be too large, local search walks slowly to a schedule within the limit,
        if it does not walk beside this.
        """
        search = self.search
        if parts.counts_parts(search.instance):
            search.enter("packing parts")
            parts.prove(search)
        elif self._has_count_model():
            from dfopt.solvers.cp_sat.count_model import CountModel
            from dfopt.solvers.cp_sat.runner import attempt

            search.enter("count model")
            best = self._objective
            search.check()  # the dives may have left nothing to look for
            bounds = (search.lower_bound, best - 1)
            if attempt(search, lambda: CountModel(search, bounds), CP_SAT_EFFORT):
                self._prove_again(best)
        elif search.workers == 1:
            search.enter(f"local search, limit {limit}")
            walk_slowly(search, limit)

    def _has_count_model(self) -> bool:
        """Return whether the count model is the one to try, and is small enough."""
        counts = len(self._aggregation.classes) * self.search.instance.cpus
        return not parts.counts_parts(self.search.instance) and counts <= LARGEST_MODEL

    def _prove_again(self, bound: int) -> None:
        """Prove by branching what CP-SAT says, if a moderate tree does: that can be checked.

        The bound is reported in any case, whatever ends the search.
        """
        from dfopt.solvers.cp_sat.runner import prove

        try:
            self._branch(bound - 1, most_nodes=MOST_NODES)
        finally:
            if self._objective >= bound:
                prove(self.search, bound)

    def _leave_to_cp_sat(self, limit: int) -> None:
        """Decide a limit by the count model where rounding errors hide the answer."""
        from dfopt.solvers.cp_sat.count_model import CountModel
        from dfopt.solvers.cp_sat.runner import decide

        self.search.enter(f"count model, limit {limit}")
        bounds = (self.search.lower_bound, limit)
        decide(self.search, lambda: CountModel(self.search, bounds), limit + 1)

    def _prove(self, root: ProofCase, limit: int) -> None:
        """Report that no schedule keeps a limit, with the tree as the proof if it is not large."""
        certificate: Certificate = CompleteSearch(threshold=limit, solver="branch and price")
        certificate = proof_of(root, self._problem, limit) or certificate
        try:
            if isinstance(certificate, Proof):
                certificate = proof_of(root, self._problem, limit, self.search.check) or certificate
        finally:
            # The bound is kept, whatever ends the search now.
            self.search.proved(limit + 1, certificate)

    def _found(self, columns: tuple[Column, ...] | None, limit: int) -> bool:
        """Report the schedule that columns make; return whether there is one within ``limit``."""
        if columns is None:
            return False
        self.search.found(orders_of(self._problem.data, columns))
        return self._objective <= limit

    def _learn(self, priced: PricedProblem, limit: int) -> None:
        """Report what the solution of a pricing problem proves."""
        known = self.search.lower_bound
        refuted = priced.refuted(known, limit)
        if refuted < known:
            return
        proven = priced.bound(refuted) - 1
        self._prove(ProofCase(self._problem.limits, priced.refutation(proven)), proven)

    def _reached(self, solution: LpSolution) -> int:
        """Return the least limit that the columns of a solution keep."""
        if self._problem.data.limit is None:
            return int(-(-solution.value // 1))
        return max(column.cost for column in solution.used)

    def _check_within(self, limit: int) -> Callable[[], None]:
        """Return a check that also ends the work when the limit is met meanwhile."""

        def check() -> None:
            self.search.check()
            if self._objective <= limit:
                raise Overtaken

        return check

    def _adapt(self) -> None:
        """Add the best schedule to the pool, and make the tables smaller if less is of interest."""
        data = self._problem.data
        if data.limit is not None and self._objective - 1 < SHRUNK * data.limit:
            self._problem = self._whole_problem()
            if self._problem.data.cost_grid.unit != data.cost_grid.unit:
                # Costs that were rounded in another unit would count as less than they are.
                self._pool = ColumnPool()
                self._solutions.clear()
        for column in columns_of(data, self.search.contents()):
            self._pool.add(column)

    def _whole_problem(self) -> RemainingProblem:
        is_total = self.search.instance.objective is Objective.TOTAL_PENALTY
        limit = None if is_total else self._objective - 1
        return RemainingProblem.whole_of(PricingData(self._aggregation, limit, self.search.check))

    @property
    def _objective(self) -> int:
        assert self.search.objective is not None
        return self.search.objective
