"""What tasks on a CPU are worth under a proof by supports, and at most with more types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dfopt.verify.tree import UnprovenError

SHIFT = 20
"""Weights per task are rounded up to multiples of 2^-20."""

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
