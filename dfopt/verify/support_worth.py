"""What tasks on a CPU are worth in a proof over supports: with their costs weighed, or limited.

**Weighed** costs are taken off the worth. Supports of more types are worth no more than a bound, so
that most of them need not be looked at.

**Limited** costs leave a CPU within the threshold only few tasks. Let a task of type a cost at
least u_a, so that no ring of switches, from a type back to itself, costs less than its tasks do.
Then an order costs at least Σ u_a c_a, where c_a counts its tasks of type a, and the least *rest*
of its support. So tasks are limited in number and in cost: a knapsack with two limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dfopt.errors import MethodError
from dfopt.verify.tree import UnprovenError

SHIFT = 20
"""Weights per task are rounded up to multiples of 2^-20."""

MOST_ENTRIES = 3_000_000
"""At most this number of table entries are computed for a proof by weights."""

MOST_STEPS = 20_000_000
"""At most this number of steps, which take some ten seconds."""

Table = dict[tuple[int, int], int]
"""For a number of tasks and what they cost, the largest worth."""

Row = list[int | None]


class TaskWorth:
    """The worth of the tasks of a support.

    Parameters
    ----------
    sizes
        Number of tasks of each type.
    capacity
        A CPU runs at most this number of tasks.
    weights
        What a task of each type is worth where tasks are counted.
    sets
        Sets of types, a bit for each, and what it is worth to run any of them.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        capacity: int,
        weights: Sequence[int],
        sets: Sequence[tuple[int, int]],
    ) -> None:
        self.sizes = sizes
        self.capacity = capacity
        self.weights = weights
        self.sets = sets
        self.heavy_first = sorted(range(len(sizes)), key=lambda number: -weights[number])

    def of_sets(self, support: int) -> int:
        """Return what the sets are worth of which a support has a type."""
        return sum(weight for types, weight in self.sets if types & support)

    def of_tasks(self, support: int) -> int:
        """Return what the best tasks are worth: one of each type, then the heaviest."""
        left = self.capacity - support.bit_count()
        worth = 0
        for number in self.heavy_first:
            if support >> number & 1:
                weight = self.weights[number]
                more = min(left, self.sizes[number] - 1) if weight > 0 else 0
                worth += weight * (1 + more)
                left -= more
        return worth

    def with_more_types(self, support: int, entries: Sequence[int]) -> int:
        """Return what tasks and sets are worth at most, less the entries of further types.

        A further type b costs ``entries[b]``, and is worth the sets that it is the first to touch;
        of a set with a negative weight, its share.
        If f is left of its entry, its tasks are worth no more than a share of f less for each of
        the s_b tasks. So the best choice is at most that of a continuous knapsack, in which the
        items of the largest worth for each task come first (Dantzig 1957).
        """
        new = [0] * len(self.sizes)
        for types, weight in self.sets:
            if not types & support:
                # Of a negative weight each type of the set bears a share.
                share = weight if weight > 0 else -(-weight // types.bit_count())
                for number in range(len(new)):
                    if types >> number & 1:
                        new[number] += share
        worth = self.of_sets(support)
        left = self.capacity
        items = []
        for number, weight in enumerate(self.weights):
            room = min(self.sizes[number], self.capacity)
            each = weight << SHIFT
            if support >> number & 1:
                worth += weight
                left -= 1
                room -= 1
            else:
                entry = entries[number] - new[number]
                if entry <= 0:
                    worth -= entry
                else:
                    each -= (entry << SHIFT) // room  # rounded up
            if each > 0 and room:
                items.append((each, room))
        items.sort(reverse=True)
        scaled = 0
        for each, room in items:
            if left <= 0:
                break
            scaled += each * min(room, left)
            left -= room
        return worth - (-scaled >> SHIFT)


class Extensions:
    """Which supports are worth looking at beyond others.

    Parameters
    ----------
    arcs
        What a task costs, less its weight, by the type before it.
    ends
        What the last task costs in addition.
    worth
        What tasks and sets are worth.
    claim
        Orders that are worth no more need not be found.
    """

    def __init__(
        self,
        arcs: Sequence[Sequence[int]],
        ends: Sequence[int],
        worth: TaskWorth,
        claim: int,
    ) -> None:
        types = range(len(ends))
        self.potentials = potentials = _potentials(arcs)
        # With potentials no arc is negative, and the cost of an order is that of its arcs, plus
        # the potential of its last type.
        self.arcs = [
            [cost + potentials[a] - potentials[b] for b, cost in enumerate(row)]
            for a, row in enumerate(arcs)
        ]
        self.entries = [min((self.arcs[a][b] for a in types if a != b), default=0) for b in types]
        self.end = min(potentials[last] + ends[last] for last in types)
        self.worth = worth
        self.claim = claim

    def beyond(self, support: int, costs: Row) -> Iterable[int]:
        """Yield supports of one type more that may lead to an order worth more than the claim."""
        margin = self.worth.with_more_types(support, self.entries) - self.end - self.claim
        for last, cost in enumerate(costs):
            if cost is None:
                continue
            left = margin - cost + self.potentials[last]
            if left <= 0:
                continue
            for new, arc in enumerate(self.arcs[last]):
                # The cheapest entry of this type has been counted already.
                if not support >> new & 1 and arc - self.entries[new] < left:
                    yield support | 1 << new


def _potentials(arcs: Sequence[Sequence[int]]) -> list[int]:
    """Return what the cheapest way to each type costs, at most 0 (Bellman and Ford)."""
    potentials = [0] * len(arcs)
    for _ in range(len(arcs) + 1):
        before = list(potentials)
        for a, row in enumerate(arcs):
            for b, cost in enumerate(row):
                potentials[b] = min(potentials[b], potentials[a] + cost)
        if potentials == before:
            return potentials
    raise UnprovenError("more tasks are worth ever more")


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
