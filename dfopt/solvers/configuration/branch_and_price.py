"""Branch and price: decides whether a schedule within a limit exists, after the LP alone failed.

Every node adds a branching decision: a limit on how many CPUs may have a feature that the LP gave
to a fractional number of them (see :mod:`~dfopt.solvers.configuration.branching_rules`). At the
last limit in question the LP has hardly a CPU to spare, so that few nodes are enough.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Set
from math import floor

from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.configuration.column_generation import ColumnGeneration
from dfopt.solvers.configuration.contents import RULES, Column, ColumnPool, Feature, VisitsPair
from dfopt.solvers.configuration.master import LpSolution
from dfopt.solvers.configuration.proof_tree import ProofCase
from dfopt.solvers.configuration.remaining_problem import RemainingProblem

FRACTION = 1e-5
"""A value counts as an integer if it differs from one by at most this fraction."""

MOST_PAIRED = 8
"""At most 8 fragments are in limited pairs; each of them doubles the number of patterns."""

MOST_PATTERN_ENTRIES = 2**28
"""At most this number of entries (of 8 bytes) are in the tables of all patterns together."""

DIVE_EVERY = 5
"""Every fifth node looks for a schedule by diving."""

log = logging.getLogger(__name__)

Dive = Callable[[RemainingProblem, LpSolution], tuple[Column, ...] | None]


class BranchAndPrice:
    """Decides whether there is a schedule within a limit.

    Parameters
    ----------
    problem
        The root.
    pool
        All columns known.
    limit
        The most that any CPU may cost; under total-penalty, the most that all may cost together.
    check
        Called often; may end the search by an exception.
    dive
        Looks for a schedule at a node.
    """

    def __init__(
        self,
        problem: RemainingProblem,
        pool: ColumnPool,
        limit: int,
        check: Callable[[], None],
        dive: Dive,
    ) -> None:
        self._pool = pool
        self._limit = limit
        self._check = check
        self._dive = dive
        self.nodes = 0
        self.problem = problem
        self.root = ProofCase(problem.limits, None)
        self._waiting: list[tuple[ProofCase, LpSolution]] | None = None
        self._undecided = False

    def search(
        self, solution: LpSolution, most_nodes: int | None = None
    ) -> tuple[Column, ...] | None:
        """Return columns that are a schedule; None when there is none.

        Then the leaves of the tree below ``root`` say why. After too many nodes, a second call
        goes on where the first one ended.

        Parameters
        ----------
        solution
            The solution of the LP of the root.
        most_nodes
            At most this number of nodes are looked at, by all calls together.

        Raises
        ------
        Undecided
            When rounding errors hide the answer, or nothing is left to branch on, or there are
            too many nodes.
        """
        if self._waiting is None:
            self._waiting = [(self.root, solution)]
        waiting = self._waiting
        while waiting:
            if most_nodes is not None and self.nodes >= most_nodes:
                raise Undecided
            case, solution = waiting.pop()
            node = self.problem.within(case.limits)
            self.nodes += 1
            if _is_schedule(solution):
                # On a coarse grid, or with CPUs whose idleness costs something, it may cost more
                # than the limit: then this leaf stays open.
                self._undecided = True
                return tuple(
                    column for column, use in solution.used.items() for _ in range(round(use))
                )
            if self.nodes % DIVE_EVERY == 0:
                found = self._dive(node, solution)
                if found is not None:
                    self._undecided = True
                    return found
            branch = _branch(node, solution)
            log.debug("node %d, %d waiting: branch on %s", self.nodes, len(waiting), branch)
            if branch is None:
                self._undecided = True
            else:
                # The last child is examined first: it has fewer CPUs with the feature.
                waiting += self._children(case, solution, *branch)
        if self._undecided:
            raise Undecided
        return None

    def _children(
        self, case: ProofCase, parent: LpSolution, feature: Feature, use: float
    ) -> Iterator[tuple[ProofCase, LpSolution]]:
        """Yield the children that are possible: more CPUs have a feature, or fewer have it."""
        whole = 0, sum(self.problem.cpus)
        least, most = case.limits.get(feature, whole)
        if not least <= use < most:
            self._undecided = True  # the LP keeps its limits with rounding errors
            return
        fewer, more = case.split(feature, floor(use), whole)
        for child in (more, fewer):
            problem = self.problem.within(child.limits)
            relaxation = ColumnGeneration(problem, self._pool, self._check, start=parent.duals)
            try:
                solution = relaxation.decide(self._limit)
            except Undecided:
                self._undecided = True
                continue
            child.weights = relaxation.refuting
            if solution is not None:
                yield child, solution


def _is_schedule(solution: LpSolution) -> bool:
    return all(abs(use - round(use)) <= FRACTION for use in solution.used.values())


def _branch(node: RemainingProblem, solution: LpSolution) -> tuple[Feature, float] | None:
    """Return the feature to branch on, and how many CPUs have it; None if there is none.

    The first rule with a fractional feature is used. The feature is one that few CPUs have, and
    the number of these CPUs is far from an integer. Of pairs, one comes first that adds the fewest
    fragments to those in limited pairs, since each of them doubles the number of patterns.
    """
    paired = set(node.paired_fragments)
    for rule in RULES:
        uses: Counter[Feature] = Counter()
        for column, number in solution.used.items():
            for feature in rule.all_of(column.content):
                uses[feature] += number  # type: ignore[assignment]
        fractions = {feature: abs(number - round(number)) for feature, number in uses.items()}
        candidates = [
            feature
            for feature, fraction in fractions.items()
            if fraction > FRACTION and _is_affordable(node, feature)
        ]
        if candidates:
            feature = min(
                candidates,
                key=lambda candidate: (
                    _added(candidate, paired),
                    -fractions[candidate] / uses[candidate],
                ),
            )
            return feature, uses[feature]
    return None


def _added(feature: Feature, paired: Set[int]) -> int:
    """Return how many fragments a feature adds to those in limited pairs."""
    return len({*feature.fragments} - paired) if isinstance(feature, VisitsPair) else 0


def _is_affordable(node: RemainingProblem, feature: Feature) -> bool:
    """Return whether pricing can handle a feature: each fragment doubles the number of patterns."""
    if not isinstance(feature, VisitsPair):
        return True
    paired = len({*node.paired_fragments, *feature.fragments})
    entries = node.data.table_entries << paired
    return paired <= MOST_PAIRED and entries <= MOST_PATTERN_ENTRIES
