"""Branch and price: whether a schedule within a limit exists, where the LP alone cannot tell.

At the last limit in question the LP is nearly out of CPUs, so that few nodes are enough. Each
one limits how many CPUs have some feature that the LP gave to a fraction of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from math import floor

from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.features import Feature, Holds, Meets, Opens, Visits
from dfopt.solvers.configuration.master import Solution, Undecided
from dfopt.solvers.configuration.problem import Problem
from dfopt.solvers.configuration.relaxation import Relaxation

FRACTION = 1e-5
"""What is nearer to an integer counts as one."""

MOST_MEETING = 8
"""Of so many fragments the meetings may be limited; each of them doubles the patterns."""

MOST_PATTERN_ENTRIES = 2**28
"""The tables of all patterns have at most this number of entries (of 8 bytes) together."""

DIVE_EVERY = 5
"""At one of so many nodes a schedule is looked for by diving."""

Dive = Callable[[Problem, Solution], tuple[Column, ...] | None]


class Branching:
    """Decides whether there is a schedule within a limit.

    Parameters
    ----------
    pool
        All columns known.
    limit
        What no CPU may cost more than; under total-penalty, what all may cost together.
    check
        Called often; may end the search by an exception.
    dive
        Looks for a schedule at a node.
    """

    def __init__(self, pool: Pool, limit: int, check: Callable[[], None], dive: Dive) -> None:
        self._pool = pool
        self._limit = limit
        self._check = check
        self._dive = dive
        self.nodes = 0
        self._undecided = False

    def search(self, problem: Problem, solution: Solution) -> tuple[Column, ...] | None:
        """Return columns that are a schedule; None when there is none.

        Parameters
        ----------
        problem, solution
            The root, and the solution of its LP.

        Raises
        ------
        Undecided
            When rounding errors hide the answer, or nothing is left to branch on.
        """
        waiting = [(problem, solution)]
        while waiting:
            node, solution = waiting.pop()
            self.nodes += 1
            if _is_schedule(solution):
                return tuple(one for one, number in solution.used for _ in range(round(number)))
            if self.nodes % DIVE_EVERY == 0:
                found = self._dive(node, solution)
                if found is not None:
                    return found
            branch = _branch(node, solution)
            if branch is None:
                self._undecided = True
            else:
                # The last one is looked at first: fewer CPUs with the feature, which says more.
                waiting += self._children(node, solution, *branch)
        if self._undecided:
            raise Undecided
        return None

    def _children(
        self, node: Problem, parent: Solution, feature: Feature, number: float
    ) -> Iterator[tuple[Problem, Solution]]:
        """Yield the nodes with more and with less of a feature, unless they are impossible."""
        least, most = node.limits.get(feature, (0, sum(node.cpus)))
        if not least <= number < most:
            self._undecided = True  # the LP keeps its own limits only roughly
            return
        for low, high in ((floor(number) + 1, most), (least, floor(number))):
            child = node.limited(feature, low, high)
            try:
                relaxation = Relaxation(child, self._pool, self._check, start=parent.duals)
                solution = relaxation.decide(self._limit)
            except Undecided:
                self._undecided = True
                continue
            if solution is not None:
                yield child, solution


def _is_schedule(solution: Solution) -> bool:
    return all(abs(number - round(number)) <= FRACTION for _, number in solution.used)


def _branch(node: Problem, solution: Solution) -> tuple[Feature, float] | None:
    """Return the feature to branch on, and how many CPUs have it; None if there is none.

    Those that cost pricing least come first; of these, one that few CPUs have and that is far
    from an integer.
    """
    for features in (_visits, _openings, _meetings, _holdings):
        uses: Counter[Feature] = Counter()
        for column, number in solution.used:
            for feature in features(column):
                uses[feature] += number  # type: ignore[assignment]
        fractions = {one: abs(number - round(number)) for one, number in uses.items()}
        candidates = [
            one
            for one, fraction in fractions.items()
            if fraction > FRACTION and _is_affordable(node, one)
        ]
        if candidates:
            feature = max(candidates, key=lambda one: fractions[one] / uses[one])
            return feature, uses[feature]
    return None


def _is_affordable(node: Problem, feature: Feature) -> bool:
    """Whether pricing can take another feature into account: patterns double with fragments."""
    if not isinstance(feature, Meets):
        return True
    meeting = len({*node.meeting, *feature.fragments})
    entries = node.layout.table_entries << meeting
    return meeting <= MOST_MEETING and entries <= MOST_PATTERN_ENTRIES


def _visits(column: Column) -> Iterator[Feature]:
    return map(Visits, column.content.fragments)


def _openings(column: Column) -> Iterator[Feature]:
    return map(Opens, column.content.tokens)


def _meetings(column: Column) -> Iterator[Feature]:
    return (Meets(*pair) for pair in combinations(column.content.fragments, 2))


def _holdings(column: Column) -> Iterator[Feature]:
    return (
        Holds(one, least) for one, number in column.content.tasks for least in range(1, number + 1)
    )
