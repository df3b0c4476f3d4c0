"""Column generation: whether contents within a limit can cover all tasks, or why they cannot.

The LP over the columns known so far has dual values. Pricing finds contents of negative reduced
cost, which become new columns, until the LP's value is small enough or some prices refute the
limit. Its rounds are few thanks to smoothed prices and to contents that complement each other.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from dfopt.solvers.branch_and_price.linear_program import (
    FROM_LAST_BASIS,
    TOLERANCE,
    LinearProgram,
    Undecided,
)
from dfopt.solvers.configuration.contents import Column, Pool, Prices, RemainingProblem
from dfopt.solvers.configuration.pricing import PricedProblem

SHARES = (0.85, 0.5, 0.0)
"""The shares of the best prices so far in the smoothed ones (Wentges 1997), tried in turn."""

SCALE = 2**24
"""Prices are integers. At this scale the content of one CPU is worth about 1."""

LARGEST_VALUE = 2**57
"""All tasks together are worth at most this number, so that sums of values fit into 64 bits."""

NEARLY = 0.9
"""Nine tenths of what the CPUs could have to spare are nearly all of it."""

COMPLEMENTS = 10
"""At most 10 complements are priced in a round."""

HIGHEST_PRICE = 1e6
"""No content can provide a task that is still missing at this multiple of its first price."""

SHARE = "the multiple of the CPUs"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Solution:
    """An optimal solution of the LP.

    Parameters
    ----------
    value
        λ, or the least total cost.
    missing
        The number of tasks, or of features that there must be, that the columns cannot provide.
    duals
        The dual values.
    used
        The columns used, and the number of CPUs that use each.
    """

    value: float
    missing: float
    duals: Prices
    used: Sequence[tuple[Column, float]]


@dataclass(frozen=True, slots=True)
class Refuting:
    """Prices that refute a limit, and the most that all CPUs together hold within it."""

    prices: Prices
    held: int

    def refutes(self, problem: RemainingProblem, limit: int) -> bool:
        """Return whether the prices exclude all schedules of a case within ``limit``."""
        cost = self.prices.cost * problem.data.largest_total(limit)
        return problem.worth(self.prices) > self.held + cost


class Master:
    """The configuration LP of a problem over the columns found so far (Gilmore and Gomory 1961).

    It has one row for every task class, every group of CPUs, every token that would be used too
    often, and every branching decision. With a limit on the cost of a content, its value is the
    multiple λ of the CPUs that would do; without one (total-penalty) it is the least cost of all
    contents.

    Parameters
    ----------
    problem
        The tasks to schedule.
    columns
        The first columns.
    check
        Called often; may end the work by an exception.
    """

    def __init__(
        self, problem: RemainingProblem, columns: Iterable[Column], check: Callable[[], None]
    ) -> None:
        self._problem = problem
        data = problem.data
        self._is_limited = limited = data.limit is not None
        # GLOP fails where costs are very large. A power of two makes them smaller without rounding.
        self._unit = 1.0 if limited else 2.0 ** max(0, data.largest_cost.bit_length() - 20)
        price = 1.0 / sum(problem.cpus) if limited else data.largest_cost / self._unit
        self.program: LinearProgram[Column | str] = LinearProgram(
            check, FROM_LAST_BASIS if limited else ""
        )
        for task_class, count in enumerate(problem.tasks.tolist()):
            if count:
                most = count if data.must_be_exact[task_class] else inf
                self.program.add_row(("class", task_class), count, most, lack=price)
        for group, number in enumerate(problem.cpus):
            self.program.add_row(("group", group), -inf, 0 if limited else number)
        if limited:
            rows = [(("group", group), -number) for group, number in enumerate(problem.cpus)]
            self.program.add_column(SHARE, 1.0, rows)
        for feature, (least, most) in problem.limits.items():
            self.program.add_row(feature, least, most, lack=price)
        self.add(columns)

    def add(self, columns: Iterable[Column]) -> None:
        """Add columns."""
        for column in columns:
            content = column.content
            self.program.add_column(
                column,
                0.0 if self._is_limited else column.cost / self._unit,
                [
                    (("group", column.group), 1),
                    *((("class", task_class), held) for task_class, held in content.tasks),
                    *((("token", token), 1) for token in content.tokens),
                    *((one, 1) for one in self._problem.limits if one.is_had_by(content)),
                ],
            )

    def solve(self) -> Solution:
        """Return a solution of the LP; rows are added while some tokens are used too often."""
        while True:
            self.program.solve()
            used = [
                (column, use) for column, use in self.program.used() if isinstance(column, Column)
            ]
            if not self._add_token_rows(used):
                value = self.program.value * self._unit
                return Solution(value, self.program.missing, self._duals(), used)

    def _add_token_rows(self, used: Sequence[tuple[Column, float]]) -> bool:
        """Add a row for each token that is used too often; return whether there was any."""
        uses: Counter[int] = Counter()
        for column, use in used:
            for token in column.content.tokens:
                uses[token] += use  # type: ignore[assignment]
        counts = self._problem.tokens
        wanted = sorted(
            token
            for token, use in uses.items()
            if use > counts[token] + TOLERANCE and ("token", token) not in self.program.rows
        )
        for token in wanted:
            self.program.add_row(("token", token), -inf, float(counts[token]))
            having = (
                column
                for column in self.program.columns
                if isinstance(column, Column) and token in column.content.tokens
            )
            self.program.enter(("token", token), having)
        return bool(wanted)

    def _duals(self) -> Prices:
        program, problem = self.program, self._problem
        weights, charges = np.zeros(len(problem.tasks)), np.zeros(len(problem.tokens))
        groups = np.zeros(len(problem.cpus))
        exact = problem.data.must_be_exact
        for name in program.rows:
            match name:
                case ("class", int(task_class)):
                    value = program.dual(name)
                    weights[task_class] = value if exact[task_class] else max(0.0, value)
                case ("token", int(token)):
                    charges[token] = max(0.0, -program.dual(name))
                case ("group", int(group)):
                    groups[group] = max(0.0, -program.dual(name))
        features = {feature: program.dual(feature) for feature in problem.limits}
        return Prices(weights, charges, features, groups=groups).times(self._unit)


class ColumnGeneration:
    """The configuration LP of a problem, within a limit.

    That is what no CPU may cost more than; under total-penalty, what all may cost together.

    Parameters
    ----------
    problem
        The tasks to schedule.
    limit
        See above.
    pool
        The columns known; new ones are added to it.
    check
        Called often; may end the search by an exception.
    on_priced
        Called with every solution of a pricing problem, since each may prove something.
    start
        Prices to begin with, such as those of a similar problem.

    Attributes
    ----------
    refuting : Refuting or None
        Prices that prove that the LP has no solution, once they are found.
    """

    def __init__(  # noqa: PLR0913
        self,
        problem: RemainingProblem,
        limit: int,
        pool: Pool,
        check: Callable[[], None],
        *,
        on_priced: Callable[[PricedProblem], None] = lambda priced: None,
        start: Prices | None = None,
    ) -> None:
        self.problem = problem
        self.limit = limit
        self.pool = pool
        self._check = check
        self._on_priced = on_priced
        # With a limit on costs, the LP finds the multiple of the CPUs that is enough.
        self._is_total = problem.data.limit is None
        self._near = start or first_duals(problem, limit)
        self._quality = -inf
        self.refuting: Refuting | None = None

    def decide(self, spare: float = 0.0) -> Solution | None:
        """Return a solution of the LP; None if ``refuting`` proves that there is none.

        Parameters
        ----------
        spare
            How many CPUs shall be left over, if there are solutions that leave nearly as many. It
            does not count under total-penalty.

        Raises
        ------
        Undecided
            When rounding errors hide the answer.
        """
        columns = [
            column
            for column in self.pool
            if (self._is_total or column.cost <= self.limit) and self.problem.admits(column)
        ]
        master = Master(self.problem, columns, self._check)
        enough = float(self.problem.data.largest_total(self.limit)) if self._is_total else 1.0
        self._priced(self._near)
        while self.refuting is None:
            self._check()
            solution = master.solve()
            log.debug(
                "limit %s: LP value %.6f over %d columns",
                self.limit,
                solution.value,
                len(master.program.columns),
            )
            if solution.value <= enough + TOLERANCE:
                if solution.missing > TOLERANCE:
                    if not master.program.raise_prices(HIGHEST_PRICE):
                        raise Undecided
                    continue
                if self._is_spare_enough(solution.value, spare):
                    return solution
            new = self._next_columns(solution.duals)
            if new:
                master.add(new)
            elif self.refuting is None:
                if max(solution.value - enough, solution.missing) <= TOLERANCE:
                    return solution
                raise Undecided
        return None

    def _next_columns(self, duals: Prices) -> list[Column]:
        """Return columns that improve the LP; none where prices refute the limit.

        Smoothing (Wentges 1997; Pessoa et al. 2018): the prices are a point between the dual values
        and the best prices so far. A point that gives no column of negative reduced cost (a
        "mis-pricing") is followed by one nearer to the dual values.
        """
        near = self._near
        for share in SHARES:
            priced = self._priced(duals.towards(near, share))
            if self.refuting is not None:
                return []
            new = self._columns(priced, duals)
            priced.release()
            if new:
                return new
            self._check()
        return []

    def _priced(self, duals: Prices) -> PricedProblem:
        """Return contents at these dual values; keep these if they refute the limit or are good.

        The bound that they give says how good they are: Farley's, on λ, or one on the total cost.
        """
        scale = self._scale_of(duals)
        prices = duals.rounded(scale, scale if self._is_total else 0)
        priced = PricedProblem(self.problem, prices, self._check)
        self._on_priced(priced)
        held = priced.capacity(self.limit)
        if priced.refutes(self.limit):
            self.refuting = Refuting(prices, held)
            return priced
        quality = priced.surplus / scale if self._is_total else priced.worth / max(1, held)
        if quality > self._quality:
            # All that the CPUs hold shall be worth 1, as it is in the LP.
            self._near = duals if self._is_total else duals.times(scale / max(1, held))
            self._quality = quality
        return priced

    def _is_spare_enough(self, value: float, spare: float) -> bool:
        """Return whether a solution leaves ``spare`` CPUs, or nearly as many as can be left."""
        if self._is_total:
            return True
        share = min(spare / max(1, sum(self.problem.cpus)), 1 - self._quality)
        return 1 + TOLERANCE - value >= NEARLY * share

    def _columns(self, priced: PricedProblem, duals: Prices) -> list[Column]:
        """Return new columns that improve the LP, and some that complement the best of them.

        The tasks of the best content are taken out, and what is left is priced again. So a round
        finds contents that go together, as those of a schedule do, and the LP converges in a
        fraction of the rounds.
        """
        new: list[Column] = []
        for turn in range(COMPLEMENTS + 1):
            found = priced.columns(self.limit, duals)
            fresh = [column for column in dict.fromkeys(found) if column not in self.pool]
            self.pool.update(dict.fromkeys(fresh))
            new += fresh
            if turn:
                priced.release()
            if not new or not found or turn == COMPLEMENTS:
                break
            best = max(found, key=lambda column: duals.worth(column.content))
            rest = priced.problem.without(best)
            if not any(rest.cpus) or not rest.tasks.any():
                break
            self._check()
            priced = priced.without(best)
        return new

    def _scale_of(self, duals: Prices) -> int:
        """Return the integer price of a dual value of 1, such that all sums fit into 64 bits."""
        problem, data = self.problem, self.problem.data
        reach = float(np.abs(duals.weights) @ problem.tasks + duals.charges @ problem.tokens)
        reach += sum(map(abs, duals.features.values()))
        scale = SCALE * max(1, sum(problem.cpus))
        if self._is_total:
            reach += float(data.largest_cost) * float(problem.tasks.sum())
            scale = data.price_scale
        while reach * scale > LARGEST_VALUE:
            scale //= 2
        if not scale:
            raise Undecided
        return scale


def first_duals(problem: RemainingProblem, limit: int) -> Prices:
    """Return dual values to begin with: what tasks cost at least, and the room that they take."""
    data = problem.data
    base, leaving, entry = data.exact_costs
    capacity = data.aggregation.instance.room
    sizes = np.array([task_class.size for task_class in data.aggregation.classes], np.int64)
    weights = np.zeros(len(base))
    for first, last in data.ranges:
        tokens = slice(data.first_token[first], data.first_token[last])
        visit = int(entry[tokens].min() + leaving[1, first:last].min())
        size = min(int(data.counts[first:last] @ sizes[first:last]), capacity)
        weights[first:last] = base[first:last] + visit / size * sizes[first:last]
    if data.limit is not None:
        weights += max(1, limit) / capacity * sizes
        weights /= max(1.0, float(weights @ problem.tasks))
    return Prices(weights, np.zeros(len(entry)), groups=np.zeros(len(data.groups)))
