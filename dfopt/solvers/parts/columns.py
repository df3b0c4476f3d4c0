"""Column generation: how many full groups there can be at most, and which ones matter for that.

The linear program chooses fractions of groups, no fragment more than once in all. Its prices
prove a bound in integers: if no full group costs less than b, and all fragments and all of the
machine cost c together, there are no more than c/b groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ortools.linear_solver import pywraplp

from dfopt.solvers.parts.rules import Group, GroupRules
from dfopt.solvers.parts.table import UNREACHABLE, GroupTable, Prices

COLUMNS_A_ROUND = 60


class LinearProgram:
    """The most full groups, in fractions, of those known so far."""

    def __init__(self, rules: GroupRules) -> None:
        self._rules = rules
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._solver.Objective().SetMaximization()
        self._rows = {
            size: self._solver.Constraint(0, number)
            for size, number in Counter(rules.sizes).items()
        }
        self._room = self._solver.Constraint(0, rules.spare)
        # Where all CPUs are alike, the groups use no more of them than there are.
        self._longer = self._solver.Constraint(0, rules.longer)
        self._plain = self._solver.Constraint(0, rules.cpus - rules.longer)
        self._groups: set[Group] = set()

    def add(self, group: Group) -> bool:
        """Add a group; return whether it is new."""
        if group in self._groups:
            return False
        self._groups.add(group)
        column = self._solver.NumVar(0, self._solver.infinity(), "")
        self._solver.Objective().SetCoefficient(column, 1)
        for size, number in Counter(group.sizes).items():
            self._rows[size].SetCoefficient(column, number)
        self._room.SetCoefficient(column, self._rules.room(group))
        if self._rules.longer:
            self._longer.SetCoefficient(column, group.longer)
            self._plain.SetCoefficient(column, group.cpus - group.longer)
        return True

    def prices(self, sizes: Iterable[int], scale: int) -> Prices | None:
        """Return the prices of fragments of these sizes, and of the machine; None on failure.

        They are rounded to so many parts of a group's worth as ``scale`` says.
        """
        if self._solver.Solve() != pywraplp.Solver.OPTIMAL:
            return None

        def rounded(row: pywraplp.Constraint) -> int:
            price: float = row.dual_value()
            return min(max(0, round(price * scale)), scale)

        by_size = {size: rounded(row) for size, row in self._rows.items()}
        return Prices(
            fragments=[by_size[size] for size in sizes],
            room=rounded(self._room),
            longer=rounded(self._longer),
            plain=rounded(self._plain),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """At these prices no full group costs less than ``least``, and all there is ``total``."""

    prices: Prices
    least: int
    total: int

    def allows(self, number: int) -> bool:
        """Whether there may be so many full groups."""
        return self.total >= number * self.least

    @property
    def most(self) -> int:
        """How many full groups there are at most."""
        return self.total // self.least


def best_bound(table: GroupTable, check: Callable[[], None]) -> Bound | None:
    """Return the best bound that prices give.

    With a limit on parts the search for it stops once it rules out the wanted number.

    Returns
    -------
    Bound or None
        None if there is no full group at all. If the table is not complete, neither is the
        bound.
    """
    rules = table.rules
    program = LinearProgram(rules)
    scale = UNREACHABLE // 2 // len(table.sizes)
    prices: Prices | None = Prices([scale // len(table.sizes)] * len(table.sizes), 0, 0, 0)
    best: Bound | None = None
    while prices is not None:
        check()
        least = table.price(prices)
        if least >= UNREACHABLE:
            return None
        total = sum(prices.fragments) + prices.room * rules.spare
        total += prices.longer * rules.longer + prices.plain * (rules.cpus - rules.longer)
        bound = Bound(prices=prices, least=least, total=total)
        if least > 0 and (best is None or total * best.least < best.total * least):
            best = bound
            if rules.limit is not None and not best.allows(rules.wanted):
                break
        better = [group for price, group in table.cheapest(COLUMNS_A_ROUND) if price < scale]
        if not sum([program.add(group) for group in better]):
            break
        prices = program.prices(table.sizes, scale)
    return best
