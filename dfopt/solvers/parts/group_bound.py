"""Column generation: how many full groups there can be at most.

The linear program chooses fractions of groups, no fragment more than once in all. Pricing finds
the groups of least price by dynamic programming over the fragments. GroupPrices prove a bound in
integers: if no full group costs less than b, and all fragments and all of the machine cost c
together, there are no more than c/b groups.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.problem.certificate import (
    GroupResource,
    Leaf,
    Over,
    Proof,
    ProofRows,
    TaskClass,
    UseCount,
)
from dfopt.solvers.branch_and_price.linear_program import LinearProgram, Undecided
from dfopt.solvers.integers import in_lowest_terms
from dfopt.solvers.parts.groups import FragmentGroup, GroupGoal, GroupHeuristic
from dfopt.solvers.parts.packing import Packing
from dfopt.solvers.search import Search
from dfopt.structs import Record

ATTEMPTS = 2_000
"""Groups are dissolved at most this number of times where prices allow as many as wanted."""

COLUMNS_A_ROUND = 60


class GroupProgram:
    """The most full groups, in fractions, of those known so far."""

    def __init__(self, goal: GroupGoal, check: Callable[[], None]) -> None:
        self._rules = goal
        self._linear: LinearProgram[FragmentGroup] = LinearProgram(check)
        # Where all CPUs are alike, the groups use no more of them than there are.
        machine = {"room": goal.spare, "longer": goal.longer, "plain": goal.cpus - goal.longer}
        for name, number in (*Counter(goal.sizes).items(), *machine.items()):
            self._linear.add_row(name, 0, number)

    def add(self, group: FragmentGroup) -> bool:
        """Add a group; return whether it is new."""
        if group in self._linear.columns:
            return False
        entries: list[tuple[int | str, int]] = [*Counter(group.sizes).items()]
        entries.append(("room", self._rules.room(group)))
        if self._rules.longer:
            entries += [("longer", group.longer), ("plain", group.cpus - group.longer)]
        self._linear.add_column(group, -1, entries)
        return True

    def prices(self, sizes: Iterable[int], scale: int) -> GroupPrices:
        """Return the prices of fragments of these sizes, and of the machine.

        They are rounded to integers; a full group is worth ``scale``.
        """
        self._linear.solve()

        def rounded(row: int | str) -> int:
            return min(max(0, round(-self._linear.dual(row) * scale)), scale)

        return GroupPrices(
            fragments=[rounded(size) for size in sizes],
            room=rounded("room"),
            longer=rounded("longer"),
            plain=rounded("plain"),
        )


class GroupBound(Record):
    """At these prices each full group costs at least ``least``, and everything costs ``total``."""

    prices: GroupPrices
    least: int
    total: int

    def allows(self, number: int) -> bool:
        """Return whether there may be ``number`` full groups."""
        return self.total >= number * self.least

    @property
    def most(self) -> int:
        """How many full groups there are at most."""
        return self.total // self.least


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
    if most < goal.wanted:
        if not table.is_complete:
            raise Undecided
        return most, _certificate(goal, None if bound is None else bound.prices)
    heuristic = GroupHeuristic(goal, random.Random(search.seed), search.check)
    if not heuristic.search(ATTEMPTS):
        raise Undecided
    packing.report(goal.fill(heuristic.groups))
    return goal.wanted, None


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


def best_bound(table: GroupTable, check: Callable[[], None]) -> GroupBound | None:
    """Return the best bound that prices give.

    With a limit on parts the search ends as soon as a bound excludes the wanted number.

    Returns
    -------
    GroupBound or None
        None if there is no full group at all. If the table is not complete, neither is the
        bound.
    """
    goal = table.goal
    program = GroupProgram(goal, check)
    scale = UNREACHABLE // 2 // len(table.sizes)
    prices = GroupPrices([scale // len(table.sizes)] * len(table.sizes), 0, 0, 0)
    best: GroupBound | None = None
    while True:
        check()
        least = table.price(prices)
        if least >= UNREACHABLE:
            return None
        total = sum(prices.fragments) + prices.room * goal.spare
        total += prices.longer * goal.longer + prices.plain * (goal.cpus - goal.longer)
        bound = GroupBound(prices=prices, least=least, total=total)
        if least > 0 and (best is None or total * best.least < best.total * least):
            best = bound
            if goal.limit is not None and not best.allows(goal.wanted):
                break
        better = [group for price, group in table.cheapest(COLUMNS_A_ROUND) if price < scale]
        if not sum([program.add(group) for group in better]):
            break
        try:
            prices = program.prices(table.sizes, scale)
        except Undecided:
            break
    return best


LARGEST_TABLE = 64_000_000
"""At most this number of entries of 4 bytes are kept."""

MOST_ENDS = 40
"""Groups are returned from at most this number of ends, the cheapest ones."""

UNREACHABLE = 2**30
"""More than any prices add up to."""


class GroupPrices(NamedTuple):
    """Integer prices, none negative: of each fragment, and of what groups use of the machine."""

    fragments: Sequence[int]
    room: int
    longer: int
    plain: int


class GroupTable:
    """For every number of fragments and of tasks, the least price of such a group.

    Without a limit on parts the number of fragments does not matter, and of the tasks only how
    many the last CPU holds.

    Parameters
    ----------
    goal
        The wanted groups.

    Attributes
    ----------
    sizes
        Of the fragments, in falling order; prices come in the same order.
    is_complete
        Whether every full group has its place in the table; otherwise only the smaller ones.
    """

    def __init__(self, goal: GroupGoal) -> None:
        self.goal = goal
        self.sizes = sorted(goal.sizes, reverse=True)
        self.counted = goal.limit is not None
        self.is_complete = True
        # Where a group ends: its place in the table, and what it uses of the machine.
        self._ends = np.array(self._all_ends(), dtype=np.int64).reshape(-1, 5)
        self._rows = int(self._ends[:, 0].max(initial=0)) + 1
        most = int(self._ends[:, 1].max(initial=0))
        self._columns = most + 1 if self.counted else goal.capacity
        self._prices = GroupPrices([], 0, 0, 0)
        self._layers: NDArray[Any] = np.empty((0, 0, 0), np.int32)
        self._end_prices: NDArray[Any] = np.empty(0, np.int64)
        if not self.counted:
            self.is_complete = len(self.sizes) * self._columns <= LARGEST_TABLE

    def _all_ends(self) -> list[tuple[int, int, int, int, int]]:
        """Return the row, column, room, longer and plain CPUs of every possible group."""
        goal, k = self.goal, self.goal.capacity
        if goal.limit is None:
            return [(0, -room % k, room, 0, 0) for room in range(min(goal.spare, k - 1) + 1)]
        ends: list[tuple[int, int, int, int, int]] = []
        total, items = sum(goal.sizes), len(goal.sizes)
        others = max(0, goal.wanted - 1)
        for cpus in range(1, goal.cpus - others + 1):
            least = max(0, cpus - (goal.cpus - goal.longer))
            for longer in range(least, min(cpus, goal.longer) + 1):
                fragments = (goal.limit - 1) * cpus + longer + 1
                if fragments + others > items:
                    continue
                most = min(cpus * k, total - others)
                rooms = range(cpus * k - most, min(goal.spare, cpus * k - fragments) + 1)
                entries = (items + 1) * (fragments + 1) * (most + 1)
                if entries > LARGEST_TABLE or len(ends) + len(rooms) > LARGEST_TABLE // 16:
                    self.is_complete = False
                    return ends
                ends += [
                    (fragments, cpus * k - room, room, longer, cpus - longer) for room in rooms
                ]
        return ends

    def price(self, prices: GroupPrices) -> int:
        """Work the table out for these prices; return the least price of a full group."""
        self._prices = prices
        items = len(self.sizes)
        assert sum(prices.fragments) < UNREACHABLE
        if not self._layers.size:
            self._layers = np.empty((items + 1, self._rows, self._columns), np.int32)
        layers = self._layers
        layers[items] = UNREACHABLE
        layers[items, 0, 0] = 0
        groups = np.full((self._rows, self._columns), UNREACHABLE, np.int32)
        for item in range(items - 1, -1, -1):
            added = self._added(layers[item + 1], item)
            np.minimum(layers[item + 1], added, out=layers[item])
            np.minimum(groups, added, out=groups)  # unlike the layers, without the empty group
        machine = np.array(prices[1:], np.int64)
        self._end_prices = groups[self._ends[:, 0], self._ends[:, 1]] + self._ends[:, 2:] @ machine
        return int(self._end_prices.min(initial=UNREACHABLE))

    def _added(self, table: NDArray[Any], item: int) -> NDArray[Any]:
        """Return the prices of groups that have ``item``, and further ones as in ``table``."""
        size, price = self.sizes[item], self._prices.fragments[item]
        if not self.counted:
            return np.roll(table, size % self._columns, axis=1) + price
        added = np.full_like(table, UNREACHABLE)
        if size < self._columns:
            np.add(table[:-1, : self._columns - size], price, out=added[1:, size:])
        return added

    def cheapest(self, number: int) -> list[tuple[int, FragmentGroup]]:
        """Return cheap groups with their prices, that differ in where they end or begin."""
        candidates: list[tuple[int, int, int]] = []
        for end in np.argsort(self._end_prices, kind="stable")[:MOST_ENDS]:
            row, column, uses = self._goal(int(end))
            for first in self._first_copies(0):
                price = self._price_with(first, row, column) + uses
                if price < UNREACHABLE:
                    candidates.append((price, int(end), first))
        groups = []
        for price, end, first in sorted(candidates)[:number]:
            row, column, uses = self._goal(end)
            budget = price - uses - self._prices.fragments[first]
            groups.append(
                (price, self._group(end, self._beginning_with(first, row, column, budget)))
            )
        return groups

    def _goal(self, end: int) -> tuple[int, int, int]:
        """Return the place where a group ends, and the price of what it uses of the machine."""
        row, column, *uses = (int(number) for number in self._ends[end])
        return row, column, sum(n * cost for n, cost in zip(uses, self._prices[1:], strict=True))

    def _group(self, end: int, chosen: Sequence[int]) -> FragmentGroup:
        sizes = tuple(self.sizes[item] for item in chosen)
        longer, plain = (int(number) for number in self._ends[end, 3:])
        cpus = longer + plain if self.counted else -(-sum(sizes) // self._columns)
        return FragmentGroup(sizes=sizes, cpus=cpus, longer=longer)

    def _first_copies(self, item: int) -> Iterator[int]:
        """Yield ``item``, and of each smaller size the first item."""
        while item < len(self.sizes):
            yield item
            size = self.sizes[item]
            while item < len(self.sizes) and self.sizes[item] == size:
                item += 1

    def _before(self, item: int, row: int, column: int) -> tuple[int, int]:
        """Return the place from which ``item`` leads here; one of them is negative if none."""
        size = self.sizes[item]
        return (row - 1, column - size) if self.counted else (0, (column - size) % self._columns)

    def _price_with(self, item: int, row: int, column: int) -> int:
        """Return the least price of a group that begins with ``item`` and ends here."""
        row, column = self._before(item, row, column)
        if row < 0 or column < 0:
            return UNREACHABLE
        return self._prices.fragments[item] + int(self._layers[item + 1, row, column])

    def _beginning_with(self, first: int, row: int, column: int, budget: int) -> list[int]:
        """Return the items of a group that ends here, those behind the first within a budget."""
        chosen = [first]
        row, column = self._before(first, row, column)
        while row or column:
            item = next(
                item
                for item in self._first_copies(chosen[-1] + 1)
                if self._price_with(item, row, column) <= budget
            )
            chosen.append(item)
            budget -= self._prices.fragments[item]
            row, column = self._before(item, row, column)
        return chosen
