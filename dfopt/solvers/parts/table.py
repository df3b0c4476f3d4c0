"""The cheapest full groups at given prices, by dynamic programming over the fragments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.parts.rules import Group, GroupRules

LARGEST_TABLE = 64_000_000
"""So many numbers of 4 bytes may be in memory."""

MOST_ENDS = 40
"""Of so many places where groups end the cheap ones are returned."""

UNREACHABLE = 2**30
"""More than any prices add up to."""


class Prices(NamedTuple):
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
    rules
        What is wanted.

    Attributes
    ----------
    sizes
        Of the fragments, in falling order; prices come in the same order.
    is_complete
        Whether every full group has its place in the table; otherwise only the smaller ones.
    """

    def __init__(self, rules: GroupRules) -> None:
        self.rules = rules
        self.sizes = sorted(rules.sizes, reverse=True)
        self.counted = rules.limit is not None
        self.is_complete = True
        # Where a group ends: its place in the table, and what it uses of the machine.
        self._ends = np.array(self._all_ends(), dtype=np.int64).reshape(-1, 5)
        self._rows = int(self._ends[:, 0].max(initial=0)) + 1
        most = int(self._ends[:, 1].max(initial=0))
        self._columns = most + 1 if self.counted else rules.capacity
        self._prices = Prices([], 0, 0, 0)
        self._layers: NDArray[Any] = np.empty((0, 0, 0), np.int32)
        self._end_prices: NDArray[Any] = np.empty(0, np.int64)
        if not self.counted:
            self.is_complete = len(self.sizes) * self._columns <= LARGEST_TABLE

    def _all_ends(self) -> list[tuple[int, int, int, int, int]]:
        """Return the row, column, room, longer and plain CPUs of every possible group."""
        rules, k = self.rules, self.rules.capacity
        if rules.limit is None:
            return [(0, -room % k, room, 0, 0) for room in range(min(rules.spare, k - 1) + 1)]
        ends: list[tuple[int, int, int, int, int]] = []
        total, items = sum(rules.sizes), len(rules.sizes)
        others = max(0, rules.wanted - 1)
        for cpus in range(1, rules.cpus - others + 1):
            least = max(0, cpus - (rules.cpus - rules.longer))
            for longer in range(least, min(cpus, rules.longer) + 1):
                fragments = (rules.limit - 1) * cpus + longer + 1
                if fragments + others > items:
                    continue
                most = min(cpus * k, total - others)
                rooms = range(cpus * k - most, min(rules.spare, cpus * k - fragments) + 1)
                entries = (items + 1) * (fragments + 1) * (most + 1)
                if entries > LARGEST_TABLE or len(ends) + len(rooms) > LARGEST_TABLE // 16:
                    self.is_complete = False
                    return ends
                ends += [
                    (fragments, cpus * k - room, room, longer, cpus - longer) for room in rooms
                ]
        return ends

    def price(self, prices: Prices) -> int:
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

    def cheapest(self, number: int) -> list[tuple[int, Group]]:
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
            row, column = self._before(first, row, column)
            chosen = next(self._extended(first + 1, row, column, budget, [first]))
            groups.append((price, self._group(end, chosen)))
        return groups

    def groups_within(self, budget: int) -> Iterator[Group]:
        """Yield all full groups of a price of at most ``budget``, by the order of their ends."""
        for end in np.argsort(self._end_prices, kind="stable"):
            if self._end_prices[end] > budget:
                return
            row, column, uses = self._goal(int(end))
            for chosen in self._extended(0, row, column, budget - uses, []):
                yield self._group(int(end), chosen)

    def _goal(self, end: int) -> tuple[int, int, int]:
        """Return the place where a group ends, and the price of what it uses of the machine."""
        row, column, *uses = (int(number) for number in self._ends[end])
        return row, column, sum(n * cost for n, cost in zip(uses, self._prices[1:], strict=True))

    def _group(self, end: int, chosen: Sequence[int]) -> Group:
        sizes = tuple(self.sizes[item] for item in chosen)
        longer, plain = (int(number) for number in self._ends[end, 3:])
        cpus = longer + plain if self.counted else -(-sum(sizes) // self._columns)
        return Group(sizes=sizes, cpus=cpus, longer=longer)

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

    def _extended(
        self, item: int, row: int, column: int, budget: int, chosen: list[int]
    ) -> Iterator[list[int]]:
        """Yield what is chosen, with every choice of later items that the budget allows.

        Of fragments of one size the first ones are chosen. What is yielded changes later.
        """
        if chosen and row == 0 and column == 0:
            yield chosen
            if self.counted:
                return
        # A stack of its own, for groups may have more fragments than Python has stack.
        stack = [(self._first_copies(item), row, column, budget)]
        while stack:
            items, row, column, budget = stack[-1]
            one = self._next_within(items, row, column, budget, first=not chosen)
            if one is None:
                stack.pop()
                if stack:
                    chosen.pop()
                continue
            chosen.append(one)
            row, column = self._before(one, row, column)
            if row == 0 and column == 0:
                yield chosen
                if self.counted:
                    chosen.pop()
                    continue
            budget -= self._prices.fragments[one]
            stack.append((self._first_copies(one + 1), row, column, budget))

    def _next_within(
        self, items: Iterator[int], row: int, column: int, budget: int, *, first: bool
    ) -> int | None:
        """Return the next item with which the budget can be kept."""
        for one in items:
            if not first and self._layers[one, row, column] > budget:
                return None
            if self._price_with(one, row, column) <= budget:
                return one
        return None
