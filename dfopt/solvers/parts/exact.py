"""Decides whether there are as many full groups as wanted.

Prices may show that there are fewer. Otherwise CP-SAT chooses among all groups that matter: those
whose price is low enough (reduced cost fixing).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

from ortools.sat.python import cp_model

from dfopt.problem.certificate import (
    GroupResource,
    Leaf,
    Over,
    Proof,
    ProofRows,
    TaskClass,
    UseCount,
)
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.cp_sat.runner import is_solvable
from dfopt.solvers.integers import in_lowest_terms
from dfopt.solvers.parts.group_bound import GroupPrices, GroupTable, best_bound
from dfopt.solvers.parts.groups import FragmentGroup, GroupGoal
from dfopt.solvers.parts.heuristic import GroupHeuristic
from dfopt.solvers.parts.packing import Packing
from dfopt.solvers.search import Search

ATTEMPTS = 2_000
"""Groups are dissolved at most this number of times before CP-SAT looks for more of them."""

FIRST_GROUPS = 5_000
HALVINGS = 20
MOST_GROUPS = 300_000
"""CP-SAT chooses among at most MOST_GROUPS groups; at first among the cheapest FIRST_GROUPS."""


def most_groups(search: Search, packing: Packing, goal: GroupGoal) -> tuple[int, Proof | None]:
    """Return the largest possible number of full groups, but at most the wanted number.

    With fewer come prices that prove it. With the wanted number a schedule is reported.

    Raises
    ------
    Undecided
        When neither was found.
    """
    table = GroupTable(goal)
    bound = best_bound(table, search.check)
    most = 1 if bound is None else bound.most
    if most < goal.wanted and not table.is_complete:
        raise Undecided
    certificate = _certificate(goal, None if bound is None else bound.prices)
    if bound is None or most < goal.wanted:
        return most, certificate
    heuristic = GroupHeuristic(goal, random.Random(search.seed), search.check)
    if heuristic.search(ATTEMPTS):
        packing.report(goal.fill(heuristic.groups))
        return goal.wanted, None
    table.price(bound.prices)
    # All wanted groups together exceed their least price by at most ``total - wanted * least``.
    # The group that exceeds it most need not be priced: it takes the tasks that are left over.
    # Each of the others exceeds its least price by at most half of that.
    excess = (bound.total - goal.wanted * bound.least) // 2
    number = FIRST_GROUPS
    while True:
        chosen, is_all = _cheapest(search, table, bound.least, excess, number)
        if is_solvable(search, partial(SelectionModel, packing, goal, chosen)):
            return goal.wanted, None
        if is_all and table.is_complete:
            return goal.wanted - 1, certificate
        if is_all or number >= MOST_GROUPS:
            raise Undecided
        number = min(8 * number, MOST_GROUPS)


def _certificate(goal: GroupGoal, prices: GroupPrices | None) -> Proof:
    """Return the certificate that has these prices; with none, there is no full group at all."""
    rows, sizes = ProofRows(Over.GROUPS), sorted(goal.sizes, reverse=True)
    by_size = dict.fromkeys(sizes, 0)
    machine = dict.fromkeys(GroupResource, 0)
    if prices is not None:
        by_size = dict(zip(sizes, prices.fragments, strict=True))
        machine = dict(zip(GroupResource, prices[1:], strict=True))
    leaf = Leaf(
        weights=tuple(
            (rows.of(TaskClass(fragment_size=size)), price) for size, price in by_size.items()
        ),
        prices=tuple(
            (rows.count(UseCount(of=of)), price) for of, price in machine.items() if price
        ),
    )
    return rows.proof([in_lowest_terms(leaf, weighs_costs=False)], None)


def _cheapest(
    search: Search, table: GroupTable, least: int, excess: int, number: int
) -> tuple[list[FragmentGroup], bool]:
    """Return about ``number`` of the cheapest groups, and whether that is all of them."""
    most = excess
    for _ in range(HALVINGS):
        groups = []
        for group in islice(table.groups_within(least + most), number + 1):
            groups.append(group)
            if len(groups) % 1000 == 0:
                search.check()
        if len(groups) <= number:
            break
        most //= 2
    return groups[:number], most == excess and len(groups) <= number


class SelectionModel:
    """A model of how often each group is chosen; any solution is a schedule within the goal.

    Parameters
    ----------
    packing
        The instance.
    goal
        The wanted groups: one group less is chosen, and the rest is the last one.
    groups
        Full groups to choose from.
    """

    def __init__(self, packing: Packing, goal: GroupGoal, groups: Sequence[FragmentGroup]) -> None:
        self.model = cp_model.CpModel()
        self._packing = packing
        self._rules = goal
        self._groups = groups
        counts = Counter(goal.sizes)
        members = [Counter(group.sizes) for group in groups]
        self._chosen = [
            self.model.new_int_var(0, min(counts[size] // n for size, n in sizes.items()), "")
            for sizes in members
        ]
        using: dict[int, list[cp_model.LinearExprT]] = {size: [] for size in counts}
        for sizes, chosen in zip(members, self._chosen, strict=True):
            for size, number in sizes.items():
                using[size].append(number * chosen)
        for size, uses in using.items():
            self.model.add(sum(uses) <= counts[size])
        self.model.add(sum(self._chosen) == goal.wanted - 1)
        self._at_most(len(goal.sizes) - 1, [len(group.sizes) for group in groups])
        self._at_most(goal.spare, [goal.room(group) for group in groups])
        if goal.longer:
            self._at_most(goal.longer, [group.longer for group in groups])
            plain = goal.cpus - goal.longer
            self._at_most(plain, [group.cpus - group.longer for group in groups])

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        groups = [
            group
            for group, chosen in zip(self._groups, self._chosen, strict=True)
            for _ in range(value(chosen))
        ]
        return self._packing.orders(self._rules.fill(groups))

    def _at_most(self, limit: int, uses: Sequence[int]) -> None:
        chosen = zip(uses, self._chosen, strict=True)
        self.model.add(sum(use * number for use, number in chosen if use) <= limit)
