"""The linear program over contents, dives, and branch and bound on how many CPUs touch types.

The linear program leaves a small gap, but its solution is fractional. A dive fixes one support
after the other. Branching takes a set of types that a fractional number f of CPUs touch: at most
⌊f⌋ CPUs touch it, or more. Of some candidates the one is taken whose two programs have the largest
values (strong branching, Applegate, Bixby, Chvátal and Cook 1995).
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, floor, inf

import numpy as np

from dfopt.solvers.branch_and_price.cases import CountedCase, Range
from dfopt.solvers.branch_and_price.linear_program import LinearProgram, Undecided
from dfopt.solvers.branch_and_price.prices import Prices, Solution
from dfopt.solvers.matrix.contents import TOLERANCE, Content, Plan, SupportContents, SupportDuals
from dfopt.solvers.matrix.support_list import UNREACHED

MOST_COLUMNS = 60
"""At most 60 columns of a group of CPUs are added at once."""

MOST_ROUNDS = 30
"""Violated conditions are added at most 30 times."""

HIGHEST_PRICE = 100.0
"""What a condition may be missed by has at first the price of the largest cost of a CPU, and at
most 100 times as much."""

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

Part = CountedCase[int, SupportDuals | None]
"""A part of the problem: how many CPUs may touch sets of types, and what refutes it."""


ContentSolution = Solution[int, tuple[int, int]]
"""Its value is the least sum of rests, or by how much the conditions are missed; CPUs are counted
for each group and number of a support."""

Open = tuple[int, int, int, Part, ContentSolution]
"""An open part and its solution, after what puts the least bound first, and then the deepest."""


class ContentMaster:
    """The linear program with the rows and columns so far.

    Its rows are the numbers of tasks, the CPUs of each group, the sets of types, named by their
    bits, and the supports that are fixed, named by their group and number.

    Parameters
    ----------
    program
        What CPUs can hold.
    limits
        How many CPUs may touch sets of types.
    near
        Dual values of a similar program: the work begins with its conditions and columns.
    minimises
        Whether the rests are minimised; otherwise only what is missing.
    """

    def __init__(
        self,
        program: SupportContents,
        limits: Mapping[int, Range],
        near: SupportDuals | None = None,
        *,
        minimises: bool = True,
    ) -> None:
        self.program = program
        self.limits = limits
        self.minimises = minimises
        self._linear: LinearProgram[Content] = LinearProgram(program.check)
        self._price = 1.0
        if minimises:
            rests = [rest[rest < UNREACHED // 2] for rest in program.listing.rest]
            self._price += max(int(rest.max() - rest.min()) for rest in rests)
        for task_type, size in enumerate(program.sizes):
            share = program.capacity if minimises else 1
            self._linear.add_row(("tasks", task_type), size, lack=self._price / share)
        for group, cpus in enumerate(program.cpus):
            self._linear.add_row(("group", group), cpus, cpus)
        self._fixed: set[tuple[int, int]] = set()
        self._sets: list[int] = []
        tight = [types for types, weight in near.features.items() if weight] if near else []
        single = [1 << number for number in range(program.listing.types)]
        self._add_rows([(1 << program.listing.types) - 1, *single, *tight, *limits])
        nothing = (0,) * len(program.sizes)
        for group in range(len(program.cpus)):
            self._add_column((group, 0, nothing))
        for content in program.promising(near):
            self._add_column(content)

    def fix(self, group: int, index: int, number: int) -> None:
        """Demand at least this number of CPUs of a group with a support."""
        key = group, index
        if key in self._fixed:
            self._linear.limit_row(key, number)
            return
        self._fixed.add(key)
        self._linear.add_row(key, number, lack=self._price)
        self._linear.enter(key, (one for one in self._linear.columns if one[:2] == key))

    def solve(self, most_rounds: int = MOST_ROUNDS) -> ContentSolution:
        """Return a solution of the linear program.

        Parameters
        ----------
        most_rounds
            Violated conditions are added at most this number of times.
        """
        rounds = 0
        while True:
            self.program.check()
            self._linear.solve()
            solution = self._solution()
            if self._add_columns(solution.duals):
                continue
            if solution.missing > TOLERANCE:
                if not self.minimises or not self._linear.raise_prices(HIGHEST_PRICE):
                    return solution
                continue
            rounds += 1
            known = self._linear.rows
            new = [] if rounds > most_rounds else self.program.violated(solution.used, known)
            if not new:
                return solution
            self._add_rows(new)

    def _add_column(self, content: Content) -> bool:
        """Add a column that is not there and may be; return whether it was added."""
        group, index, counts = content
        program = self.program
        if content in self._linear.columns or not program.permitted[group][index]:
            return False
        support = int(program.listing.supports[index])
        self._linear.add_column(
            content,
            program.listing.rest[group][index] if self.minimises else 0,
            [
                (("group", group), 1),
                ((group, index), 1),
                *((("tasks", number), count) for number, count in enumerate(counts) if count),
                *((types, 1) for types in self._sets if types & support),
            ],
        )
        return True

    def _add_rows(self, sets: Iterable[int]) -> None:
        """Add the conditions for sets of types."""
        cpus = sum(self.program.cpus)
        supports = self.program.listing.supports
        for types in sets:
            if types in self._linear.rows:
                continue
            least, most = self.program.touching(types, self.limits)
            self._sets.append(types)
            is_limited = most < cpus
            self._linear.add_row(
                types,
                least,
                most if is_limited else inf,
                lack=self._price,
                excess=self._price if is_limited else 0.0,
            )
            touching = (one for one in self._linear.columns if types & int(supports[one[1]]))
            self._linear.enter(types, touching)

    def _solution(self) -> ContentSolution:
        linear = self._linear
        used: dict[tuple[int, int], float] = {}
        for (group, index, _), number in linear.used():
            if number > TOLERANCE:
                used[group, index] = used.get((group, index), 0.0) + number
        return Solution(
            value=linear.value,
            missing=linear.missing,
            used=used,
            duals=Prices(
                weights=[linear.dual(("tasks", a)) for a in range(len(self.program.sizes))],
                charges=[],
                features={types: linear.dual(types) for types in self._sets},
                bins=[-linear.dual(("group", g)) for g in range(len(self.program.cpus))],
                cost=float(self.minimises),
            ),
        )

    def _add_columns(self, duals: SupportDuals) -> bool:
        """Add contents that are worth more than they cost; return whether there were any."""
        program = self.program
        added = False
        for group, of_contents in enumerate(program.gains(duals)):
            gains = of_contents - duals.bins[group]
            for key in self._fixed:
                if key[0] == group:
                    gains[key[1]] += self._linear.dual(key)
            best = np.argpartition(-gains, min(MOST_COLUMNS, len(gains) - 1))[:MOST_COLUMNS]
            for index in sorted(best.tolist(), key=lambda index: -gains[index]):
                if gains[index] <= TOLERANCE:
                    break
                content = (group, index, program.content(group, index, duals))
                if self._add_column(content):
                    program.pool[content] = None
                    added = True
        return added


class ContentSearch:
    """Branch and bound for the least sum of rests.

    Parameters
    ----------
    program
        What CPUs can hold.
    seed
        Of the choices in dives.
    below
        Returns a value; plans are wanted whose rests add up to less.
    found
        Called with each such plan.

    Attributes
    ----------
    tree : CountedCase
        All parts.
    bound : int
        No plan of any part is below this.
    """

    def __init__(
        self,
        program: SupportContents,
        *,
        seed: int,
        below: Callable[[], int],
        found: Callable[[Plan], None],
    ) -> None:
        self.program = program
        self.below = below
        self.found = found
        self.tree = Part({}, None)
        self._source = random.Random(seed)
        self._queue: list[Open] = []
        self._parts = 0
        self._open(self.tree, -NO_PLAN, None)

    @property
    def bound(self) -> int:
        """No plan of any part is below this."""
        return self._queue[0][0] if self._queue else NO_PLAN

    def dive(self) -> bool:
        """Dive from the open part of the least bound; return whether a plan was found."""
        sources = [None, *[self._source] * FIRST_DIVES]
        return any(self._dive(source) for source in sources)

    def step(self) -> bool:
        """Split the open part of the least bound; return whether there was one to split."""
        if self.bound >= self.below():
            return False
        bound, _, _, part, solution = self._queue[0]
        chosen = self._split(part, solution)
        if chosen is None:  # the solution is integral, or rounding errors make it fractional
            return False
        heapq.heappop(self._queue)
        for half in self._halves(part, *chosen):
            self._open(half, bound, solution.duals)
        self._dive(None)
        return True

    def renew(self, parts: Sequence[Part]) -> None:
        """Solve the programs of open parts again, after supports have been listed."""
        renewed = {id(part) for part in parts}
        self._queue = [one for one in self._queue if id(one[3]) not in renewed]
        heapq.heapify(self._queue)
        for part in parts:
            self._open(part, -NO_PLAN, part.weights)

    def _open(self, part: Part, least: int, near: SupportDuals | None) -> None:
        """Solve the program of a part, and note its bound."""
        solution = ContentMaster(self.program, part.limits, near).solve()
        if solution.missing > TOLERANCE:  # weights that refute it do not count costs
            solution = ContentMaster(self.program, part.limits, minimises=False).solve()
            if solution.missing <= TOLERANCE:
                raise Undecided
        else:
            self._parts += 1
            order = max(_bound(solution), least), -len(part.limits), self._parts
            heapq.heappush(self._queue, (*order, part, solution))
        part.weights = solution.duals

    def _dive(self, source: random.Random | None) -> bool:
        """Fix one support after the other; return whether a plan was found that is wanted."""
        if not self._queue:
            return False
        _, _, _, part, solution = self._queue[0]
        master = None
        while True:
            if solution.missing > TOLERANCE or _bound(solution) >= self.below():
                return False
            fractions = {
                key: number - floor(number + TOLERANCE) for key, number in solution.used.items()
            }
            open_keys = [key for key, fraction in fractions.items() if fraction > TOLERANCE]
            if not open_keys:
                break
            if master is None:
                master = ContentMaster(self.program, part.limits, solution.duals)
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
        self.found(
            {
                (group, int(supports[index])): round(number)
                for (group, index), number in solution.used.items()
                if round(number)
            }
        )
        return True

    def _halves(self, part: Part, types: int, touching: float) -> tuple[Part, ...]:
        """Split a part at a fractional number of CPUs that touch a set of types."""
        return part.split(types, floor(touching), (0, sum(self.program.cpus)))

    def _split(self, part: Part, there: ContentSolution) -> tuple[int, float] | None:
        """Return the set to split at, and by how many CPUs it is touched."""
        best: tuple[float, int, float] | None = None
        for types, touching in self._candidates(there):
            gains = []
            for half in self._halves(Part(part.limits, None), types, touching):
                master = ContentMaster(self.program, half.limits, there.duals)
                solution = master.solve(most_rounds=0)
                gain = 1.0 if solution.missing > TOLERANCE else solution.value - there.value
                gains.append(min(1.0, max(0.01, gain)))
            score = gains[0] * gains[1]
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
                    # A set that too few CPUs touch leaves nothing on one side.
                    if yielded < CANDIDATES and touching >= self.program.touching(mask)[0]:
                        yielded += 1
                        yield mask, touching
            if yielded:
                return


def _bound(solution: ContentSolution) -> int:
    """Return the least integer that is not below the value, but for rounding errors."""
    return ceil(solution.value - TOLERANCE * max(1.0, abs(solution.value)))
