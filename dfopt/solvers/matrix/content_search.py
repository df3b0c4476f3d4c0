"""Dives, and branch and bound over the numbers of CPUs that touch sets of types.

The linear program over contents leaves a small gap, but its solution is fractional. A dive fixes
one support after the other. Branching takes a set of types that a fractional number f of CPUs
touch: at most ⌊f⌋ CPUs touch it, or more. Of some candidates the one is taken whose two programs
have the largest values (strong branching, Applegate, Bixby, Chvátal and Cook 1995).
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor

from dfopt.solvers.branch_and_price.cases import CountedCase
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.matrix.content_master import MOST_ROUNDS, ContentMaster, ContentSolution
from dfopt.solvers.matrix.content_program import (
    ContentProgram,
    Limits,
    Masks,
    Plan,
    SupportDuals,
)
from dfopt.solvers.matrix.touching_conditions import TOLERANCE

NO_PLAN = 1 << 60
"""The bound of a part in which the conditions cannot be met."""

FIRST_DIVES = 3
"""Number of dives from the first solution."""

CANDIDATES = 5
"""At most 5 sets of types are tried before the program is split at one of them."""

LARGEST_SPLIT = 3
"""The program is split at sets of at most 3 types."""

LEAST_FRACTION = 0.05
"""A number of CPUs is fractional if it is 0.05 from any integer, where there are such."""


def rounded_up(value: float) -> int:
    """Return the least integer that is not below a value, but for rounding errors."""
    return ceil(value - TOLERANCE * max(1.0, abs(value)))


Part = CountedCase[int, SupportDuals | None]
"""A part of the problem: how many CPUs may touch sets of types, and what refutes it."""


@dataclass(frozen=True, slots=True, order=True)
class _Open:
    """An open part; ``order`` puts the least bound first, and then the deepest."""

    order: tuple[int, int, int]
    part: Part
    solution: ContentSolution

    @property
    def bound(self) -> int:
        """No plan of the part is below this."""
        return self.order[0]


class ContentSearch:
    """Branch and bound for the least sum of rests.

    Parameters
    ----------
    program
        The program.
    permitted
        For each group whether a support is permitted; by default all are.
    seed
        Of the choices in dives.
    below
        Returns a value; plans are wanted whose rests add up to less.
    found
        Called with each such plan.
    """

    def __init__(
        self,
        program: ContentProgram,
        *,
        permitted: Masks | None,
        seed: int,
        below: Callable[[], int],
        found: Callable[[Plan], None],
    ) -> None:
        self.program = program
        self.permitted = permitted
        self.below = below
        self.found = found
        self.tree = Part({}, None)
        self.bound = -NO_PLAN
        self._source = random.Random(seed)
        self._queue: list[_Open] = []
        self._parts = 0

    def begin(self) -> ContentSearch:
        """Solve the program, and return this."""
        self._open(self.tree, -NO_PLAN, None)
        return self

    def dive(self) -> bool:
        """Dive from the open part of the least bound; return whether a plan was found."""
        plan = self._dive(self._queue[0], None) if self._queue else None
        for _ in range(FIRST_DIVES):
            if plan is not None or not self._queue:
                break
            plan = self._dive(self._queue[0], self._source)
        return plan is not None

    def step(self) -> bool:
        """Split the open part of the least bound; return whether there was one to split."""
        if not self._queue or self.bound >= self.below():
            return False
        node = self._queue[0]
        chosen = self._split(node)
        if chosen is None:  # the solution is integral, or rounding errors make it fractional
            return False
        heapq.heappop(self._queue)
        types, touching = chosen
        for half in self._halves(node.part, types, touching):
            self._open(half, node.bound, node.solution.duals)
        if self._queue:
            self._dive(self._queue[0], None)
        return True

    def renew(self, parts: Sequence[Part]) -> None:
        """Solve the programs of open parts again, after supports have been listed."""
        renewed = {id(part) for part in parts}
        self._queue = [node for node in self._queue if id(node.part) not in renewed]
        heapq.heapify(self._queue)
        for part in parts:
            self._open(part, -NO_PLAN, part.weights)

    def _open(self, part: Part, least: int, near: SupportDuals | None) -> None:
        """Solve the program of a part, and note its bound."""
        solution = self._solved(part.limits, near)
        part.weights = solution.duals
        if solution.duals.unit:
            bound = rounded_up(solution.value)
            self._parts += 1
            bound = max(bound, least)
            order = (bound, -len(part.limits), self._parts)
            heapq.heappush(self._queue, _Open(order, part, solution))
        self.bound = self._queue[0].bound if self._queue else NO_PLAN

    def _solved(
        self, limits: Limits, near: SupportDuals | None, most_rounds: int = MOST_ROUNDS
    ) -> ContentSolution:
        """Return the cheapest contents, or those that miss least."""
        master = ContentMaster(self.program, limits, permitted=self.permitted, near=near)
        solution = master.solve(most_rounds)
        if solution.missing > TOLERANCE and most_rounds:
            master = ContentMaster(self.program, limits, permitted=self.permitted, minimises=False)
            solution = master.solve()
            if solution.missing <= TOLERANCE:
                raise Undecided
        return solution

    def _dive(self, node: _Open, source: random.Random | None) -> Plan | None:
        """Fix one support after the other; return a plan that is wanted."""
        solution = node.solution
        master = None
        while True:
            if solution.missing > TOLERANCE or rounded_up(solution.value) >= self.below():
                return None
            fractions = {
                key: number - floor(number + TOLERANCE) for key, number in solution.used.items()
            }
            open_keys = [key for key, fraction in fractions.items() if fraction > TOLERANCE]
            if not open_keys:
                break
            if master is None:
                master = ContentMaster(
                    self.program,
                    node.part.limits,
                    permitted=self.permitted,
                    near=node.solution.duals,
                )
            for key, number in solution.used.items():
                if number > 1 - TOLERANCE:
                    master.fix(*key, floor(number + TOLERANCE))
            if source is None:
                key = max(open_keys, key=lambda key: fractions[key])
            else:
                weights = [fractions[key] ** 3 for key in open_keys]
                key = source.choices(open_keys, weights)[0]
            master.fix(*key, floor(solution.used[key] + TOLERANCE) + 1)
            solution = master.solve(most_rounds=1)
        supports = self.program.listing.supports
        plan = {
            (group, int(supports[index])): round(number)
            for (group, index), number in solution.used.items()
            if round(number)
        }
        self.found(plan)
        return plan

    def _halves(self, part: Part, types: int, touching: float) -> tuple[Part, ...]:
        """Split a part at a fractional number of CPUs that touch a set of types."""
        return part.split(types, floor(touching), (0, sum(self.program.cpus)))

    def _split(self, node: _Open) -> tuple[int, float] | None:
        """Return the set to split at, and by how many CPUs it is touched."""
        best: tuple[float, int, float] | None = None
        for types, touching in self._candidates(node.solution):
            gains = []
            for half in self._halves(Part(node.part.limits, None), types, touching):
                solution = self._solved(half.limits, node.solution.duals, most_rounds=0)
                gain = solution.value - node.solution.value
                gains.append(1.0 if solution.missing > TOLERANCE else min(1.0, gain))
            score = max(gains[0], 0.01) * max(gains[1], 0.01)
            if best is None or score > best[0]:
                best = score, types, touching
        return None if best is None else best[1:]

    def _candidates(self, solution: ContentSolution) -> Iterator[tuple[int, float]]:
        """Yield sets that fractional numbers of CPUs touch: few types, and near to a half."""
        supports = self.program.listing.supports
        numbers = [(int(supports[index]), number) for (_, index), number in solution.used.items()]
        types = range(self.program.listing.types)
        for fraction in (LEAST_FRACTION, TOLERANCE * 10):
            yielded = 0
            for size in range(1, LARGEST_SPLIT + 1):
                rows = []
                for chosen in combinations(types, size):
                    mask = sum(1 << number for number in chosen)
                    touching = sum(number for support, number in numbers if support & mask)
                    distance = abs(touching - round(touching))
                    if distance > fraction:
                        rows.append((-distance, mask, touching))
                for _, mask, touching in sorted(rows):
                    if yielded >= CANDIDATES:
                        break
                    # A set that too few CPUs touch leaves nothing on one side.
                    if touching >= self.program.least_touching(mask):
                        yielded += 1
                        yield mask, touching
                if yielded >= CANDIDATES:
                    break
            if yielded:
                return
