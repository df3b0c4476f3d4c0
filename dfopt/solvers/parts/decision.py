"""Whether there are as many full groups as wanted: by prices, by choosing among all that matter."""

from __future__ import annotations

import random
from functools import partial
from itertools import islice

from dfopt.solvers.cp_sat.runner import is_solvable
from dfopt.solvers.parts.columns import best_bound
from dfopt.solvers.parts.packing import Packing
from dfopt.solvers.parts.quick import QuickGroups
from dfopt.solvers.parts.rules import Group, GroupRules
from dfopt.solvers.parts.selection import SelectionModel
from dfopt.solvers.parts.table import GroupTable
from dfopt.solvers.search import Search

ATTEMPTS = 2_000
"""So often groups that were found are dissolved to find more, before CP-SAT has its turn."""

FIRST_GROUPS = 5_000
HALVINGS = 20
MOST_GROUPS = 300_000
"""Of so many groups CP-SAT chooses; from few at first, which are the cheapest."""


class Undecided(Exception):  # noqa: N818 - no error, but the end of what this search can do
    """Raised where nobody knows whether there are enough groups."""


def most_groups(search: Search, packing: Packing, rules: GroupRules) -> int:
    """Return how many full groups there can be: fewer than wanted, or all that are wanted.

    In the second case a schedule is reported.

    Raises
    ------
    Undecided
        When neither was found.
    """
    table = GroupTable(rules)
    bound = best_bound(table, search.check)
    most = 1 if bound is None else bound.most
    if most < rules.wanted and not table.is_complete:
        raise Undecided
    if bound is None or most < rules.wanted:
        return most
    quick = QuickGroups(rules, random.Random(search.seed), search.check)
    if quick.search(ATTEMPTS):
        packing.report(rules.fill(quick.groups))
        return rules.wanted
    table.price(bound.prices)
    # All wanted groups together exceed their least price by no more than this. The one that
    # exceeds it most is what is left over; the others by no more than half.
    excess = (bound.total - rules.wanted * bound.least) // 2
    number = FIRST_GROUPS
    while True:
        chosen, is_all = _cheapest(search, table, bound.least, excess, number)
        if is_solvable(search, partial(SelectionModel, packing, rules, chosen)):
            return rules.wanted
        if is_all and table.is_complete:
            return rules.wanted - 1
        if is_all or number >= MOST_GROUPS:
            raise Undecided
        number = min(8 * number, MOST_GROUPS)


def _cheapest(
    search: Search, table: GroupTable, least: int, excess: int, number: int
) -> tuple[list[Group], bool]:
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
