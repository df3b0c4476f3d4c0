"""What a CPU can run where tasks that follow their own type cost something too.

Let a task of type a cost at least u_a, so that no ring of switches, from a type back to itself,
costs less than its tasks do. Then an order costs at least Σ u_a c_a, where c_a counts its tasks of
type a, and the least *rest* of its support. So a CPU within a threshold runs tasks of limited
number and of limited cost: a knapsack with two limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dfopt.errors import MethodError

MOST_ENTRIES = 3_000_000
"""At most this number of table entries are computed for a proof by weights."""

MOST_STEPS = 20_000_000
"""At most this number of steps, which take some ten seconds."""

Table = dict[tuple[int, int], int]
"""For a number of tasks and what they cost, the largest worth."""


class LimitedCosts:
    """The tasks that a CPU can run within a threshold.

    Parameters
    ----------
    sizes
        Number of tasks of each type.
    capacity
        A CPU runs at most this number of tasks.
    costs
        What a task of each type costs at least, none below 0.
    limits
        For each support of a CPU, a bit for each type, the most that its tasks may cost.
    weights
        What a task of each type is worth.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        capacity: int,
        costs: Sequence[int],
        limits: Mapping[int, int],
        weights: Sequence[int],
    ) -> None:
        self.sizes = sizes
        self.capacity = capacity
        self.costs = costs
        self.limits = limits
        self.weights = weights
        self._cheap_first = sorted(range(len(costs)), key=costs.__getitem__)
        self._most = max(limits.values(), default=-1)
        self._tables: dict[int, Table] = {0: {(0, 0): 0}}
        self._entries = self._steps = 0

    def most_tasks(self, types: int) -> int:
        """Return how many tasks of a set of types a CPU runs at most."""
        return max((self._most_tasks(types, support) for support in self.limits), default=0)

    def _most_tasks(self, types: int, support: int) -> int:
        """Return this for a support: one task of each type, then the cheapest of the set."""
        room = self.capacity - support.bit_count()
        members = [a for a in self._cheap_first if support >> a & 1]
        left = self.limits[support] - sum(self.costs[a] for a in members)
        if room < 0 or left < 0:
            return 0
        most = (support & types).bit_count()
        for a in members:
            if types >> a & 1:
                more = min(room, self.sizes[a] - 1)
                if self.costs[a]:
                    more = min(more, left // self.costs[a])
                most += more
                room -= more
                left -= more * self.costs[a]
        return most

    def worth(self, support: int) -> int | None:
        """Return what the best tasks of a support are worth, None if no tasks are possible."""
        limit = self.limits[support]
        table = self._table(support)
        return max((worth for (_, cost), worth in table.items() if cost <= limit), default=None)

    def _table(self, support: int) -> Table:
        """Return the table of a support, from that of one type less."""
        table = self._tables.get(support)
        if table is None:
            last = support.bit_length() - 1
            weight, each = self.weights[last], self.costs[last]
            table = {}
            for (number, cost), worth in self._table(support ^ 1 << last).items():
                most = min(self.sizes[last], self.capacity - number)
                if each:
                    most = min(most, (self._most - cost) // each)
                self._steps += most
                if self._steps > MOST_STEPS:
                    raise MethodError(
                        f"tables of what CPUs can run take more than {MOST_STEPS} steps, "
                        "too many to check"
                    )
                for more in range(1, most + 1):
                    entry = number + more, cost + more * each
                    if worth + more * weight > table.get(entry, worth + more * weight - 1):
                        table[entry] = worth + more * weight
            self._tables[support] = table
            self._entries += len(table)
            if self._entries > MOST_ENTRIES:
                raise MethodError(
                    f"tables of what CPUs can run have more than {MOST_ENTRIES} entries, "
                    "too many to check"
                )
        return table
