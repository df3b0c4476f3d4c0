"""The master LP: the configuration LP over the columns found so far.

It has one row for every task class, every group of CPUs, every token that would be used too often,
and every branching decision (Gilmore and Gomory 1961). With a limit on the cost of a content, its
value is the multiple λ of the CPUs that would do; without one (total-penalty) it is the least cost
of all contents. Its dual values price new columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import inf

from dfopt.solvers.branch_and_price.linear_program import (
    FROM_LAST_BASIS,
    TOLERANCE,
    LinearProgram,
)
from dfopt.solvers.branch_and_price.prices import Prices, Solution
from dfopt.solvers.configuration.contents import Column, Feature
from dfopt.solvers.configuration.remaining_problem import RemainingProblem

HIGHEST_PRICE = 1e6
"""No content can provide a task that is still missing at this multiple of its first price."""

SHARE = "the multiple of the CPUs"


LpSolution = Solution[Feature, Column]
"""Its value is λ or the least total cost; tasks are missing, or features that there must be."""


class Master:
    """The LP of a problem.

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
        for task_class, count in enumerate(problem.stock.tasks.tolist()):
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

    def raise_price(self) -> bool:
        """Raise the price of leaving tasks out; return False if that is pointless."""
        return self.program.raise_prices(HIGHEST_PRICE)

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

    def solve(self) -> LpSolution:
        """Return a solution of the LP; rows are added while some tokens are used too often."""
        while True:
            self.program.solve()
            used = {
                column: use for column, use in self.program.used() if isinstance(column, Column)
            }
            if not self._add_token_rows(used):
                return Solution(
                    value=self.program.value * self._unit,
                    missing=self.program.missing,
                    duals=self._duals(),
                    used=used,
                )

    def _add_token_rows(self, used: Mapping[Column, float]) -> bool:
        """Add a row for each token that is used too often; return whether there was any."""
        uses: Counter[int] = Counter()
        for column, use in used.items():
            for token in column.content.tokens:
                uses[token] += use  # type: ignore[assignment]
        counts = self._problem.stock.tokens
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

    def _duals(self) -> Prices[Feature, float]:
        program, stock = self.program, self._problem.stock
        weights, charges = [0.0] * len(stock.tasks), [0.0] * len(stock.tokens)
        bins = [0.0] * len(self._problem.cpus)
        exact = self._problem.data.must_be_exact
        for name in program.rows:
            match name:
                case ("class", int(task_class)):
                    value = program.dual(name)
                    weights[task_class] = value if exact[task_class] else max(0.0, value)
                case ("token", int(token)):
                    charges[token] = max(0.0, -program.dual(name))
                case ("group", int(group)):
                    bins[group] = max(0.0, -program.dual(name))
        scaled = Prices(
            weights=weights,
            charges=charges,
            features={feature: program.dual(feature) for feature in self._problem.limits},
            bins=bins,
            cost=0.0 if self._is_limited else 1 / self._unit,
        )
        return scaled.each(lambda price: price * self._unit)
