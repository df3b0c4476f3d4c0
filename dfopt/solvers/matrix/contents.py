"""What CPUs hold under a matrix: a linear program over supports and counts.

A column is a *content*: a support and a number of tasks of each of its types, at most as many as
there are, and at most k in all. The contents hold every task. Without the limit by the sizes of the
types the program would say much less: a CPU of two small types could seem full. In addition, for
each set A of types at least ⌈s(A)/k⌉ CPUs *touch* A, that is run any of A, where s(A) counts the
tasks of A and a CPU runs at most k tasks. By the theorem of Gale (1957) on flows these conditions,
one for each A, say that the tasks can be dealt to CPUs with these supports; each of them is rounded
up, a cut of Chvátal and Gomory. Columns and these conditions are added as needed.

Pricing: within a support the tasks of the largest dual value come first, after one task of each
type. That is best, because all tasks take the same room.

Within a threshold a CPU with the support S pays its rest G(S) and a price u_a for each task of type
a. So where tasks have prices they are limited in cost, too, and pricing is a knapsack with two
limits. They also say how many tasks of a set A of types one CPU runs at most.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from copy import copy
from itertools import combinations
from math import gcd
from types import MappingProxyType

import numpy as np

from dfopt.solvers.branch_and_price.cases import Range
from dfopt.solvers.branch_and_price.prices import Number, Prices
from dfopt.solvers.matrix.support_list import UNREACHED, Floats, Integers, SupportList

TOLERANCE = 1e-6
"""Numbers of CPUs that differ by less are equal."""

PROMISING = 300
"""A program begins with at most 300 columns."""

MOST_ROWS = 30
"""At most 30 violated conditions are returned at once."""

MOST_SETS = 10_000
"""The conditions of at most about 10,000 small sets of types are looked at each time."""

MOST_SETS_OF_COSTS = 300
"""At most about 300 where costs limit the tasks of a CPU, so that each takes long to know."""

GROWN = 40
"""Beside them, 40 sets are grown, type by type, to larger ones that are nearly violated."""

MOST_PRICED = 2_000
"""At most 2,000 supports of a group are priced exactly: those that are worth most at any cost."""

MOST_CELLS = 1_000_000
"""Tables of at most 1,000,000 entries are filled at once."""

Content = tuple[int, int, tuple[int, ...]]
"""A group of CPUs, the number of a support, and a number of tasks of each type."""

Plan = dict[tuple[int, int], int]
"""For a group of CPUs and a support, the number of CPUs."""


SupportDuals = Prices[int, float]
"""Of tasks beyond their own prices, and of sets of types that are touched."""


class SupportContents:
    """The contents that CPUs can have, priced at dual values, and the conditions on them.

    Parameters
    ----------
    listing
        The supports that CPUs may have.
    cpus
        Number of CPUs in each group; CPUs of a group start alike.
    check
        Called often; what it raises ends the work.
    amounts, room
        Where tasks have sizes: those of all tasks of each type together, and what a CPU has room
        for.

    Attributes
    ----------
    threshold : int or None
        What a CPU may pay; None for anything.
    permitted : list of array, bool
        For each group the supports within the threshold.
    pool : dict
        Contents that were worth considering.
    """

    def __init__(
        self,
        listing: SupportList,
        cpus: Sequence[int],
        check: Callable[[], object],
        *,
        amounts: Sequence[int] = (),
        room: int = 1,
    ) -> None:
        self.listing = listing
        self.cpus = list(cpus)
        self.sizes = np.array(listing.problem.sizes, dtype=np.int64)
        self.capacity = listing.problem.capacity
        self.check = check
        self._amounts = np.array(amounts or self.sizes, dtype=np.int64)
        self._room = room if amounts else self.capacity
        self.threshold: int | None = None
        self.pool: dict[Content, None] = {}
        self._costs: _LimitedCosts | None = None
        self._larger: dict[int, int] = {}
        self._arrange()
        self._small_sets = self._sets_of_few_types(MOST_SETS)

    def within(self, threshold: int) -> SupportContents:
        """Return the contents of CPUs that pay at most a threshold."""
        narrower = copy(self)
        narrower.threshold = threshold
        if any(self.listing.prices):
            narrower._costs = _LimitedCosts(self.listing, threshold)
            narrower.pool, narrower._larger = {}, {}
            narrower._small_sets = narrower._sets_of_few_types(MOST_SETS_OF_COSTS)
            narrower.permitted = narrower._costs.permitted
        else:
            narrower.permitted = [rest <= threshold for rest in self.listing.rest]
        return narrower

    def _arrange(self) -> None:
        """Arrange the supports type by type, since pricing goes through the types."""
        inside = self.listing.inside
        self.permitted = [rest < UNREACHED // 2 for rest in self.listing.rest]
        self._inside = np.ascontiguousarray(inside.T.astype(np.float64))
        self._more = np.ascontiguousarray((inside * (self.sizes - 1)).T)
        self._left = self.capacity - inside.sum(axis=1)

    def list_supports(self, supports: Iterable[int]) -> None:
        """Add supports to the list."""
        for support in supports:
            self.listing.add(support)
        self._arrange()

    @property
    def table_size(self) -> int:
        """Number of entries of a table over numbers of tasks and what they cost."""
        return 0 if self._costs is None else self._costs.table_size

    def touching(self, types: int, limits: Mapping[int, Range] = MappingProxyType({})) -> Range:
        """Return how many CPUs touch a set of types: in any schedule, and within these limits."""
        chosen = self._chosen(types)
        count = int(self.sizes @ chosen)
        in_a_cpu = self.capacity if self._costs is None else self._costs.most_tasks(chosen)
        least, most = limits.get(types, (0, sum(self.cpus)))
        by_size = -(-int(self._amounts @ chosen) // self._room)
        return max(least, by_size, -(-count // in_a_cpu)), min(most, count)

    def _chosen(self, types: int) -> Integers:
        return types >> np.arange(self.listing.types) & 1

    def gains(self, duals: Prices[int, Number]) -> list[Floats]:
        """Return for each group what the best content of each support is worth, less its cost.

        That is −∞ for supports that are not permitted.
        """
        sets = np.zeros(len(self.listing.supports))
        for types, weight in duals.features.items():
            if weight:
                sets[(self.listing.supports & types) != 0] += weight
        at_any_cost = sets + self._worths_of_tasks(duals.weights)
        gains = []
        for permitted, rest in zip(self.permitted, self.listing.rest, strict=True):
            gain = np.where(permitted, at_any_cost - duals.cost * rest, -np.inf)
            if self._costs is not None:
                best = np.argsort(-gain, kind="stable")[: min(MOST_PRICED, permitted.sum())]
                worth = sets[best] + self._costs.worths(rest, best, duals.weights)
                gain[:] = -np.inf
                gain[best] = worth - duals.cost * rest[best]
            gains.append(gain)
        return gains

    def _worths_of_tasks(self, weights: Sequence[float]) -> Floats:
        """Return what the best tasks of each support are worth at any cost."""
        values = np.zeros(len(self.listing.supports))
        for weight, inside in zip(weights, self._inside, strict=True):
            if weight:
                values += weight * inside
        left = self._left.copy()
        for task_type in _heavy_first(weights):
            more = np.minimum(self._more[task_type], left)
            left -= more
            values += weights[task_type] * more
        return values

    def content(self, group: int, index: int, duals: SupportDuals) -> tuple[int, ...]:
        """Return the best content of a support: one task of each type, then the heaviest."""
        if self._costs is not None:
            return self._costs.content(self.listing.rest[group][index], index, duals.weights)
        inside = self.listing.inside[index]
        counts = inside.astype(np.int64)
        left = self.capacity - int(counts.sum())
        for task_type in _heavy_first(duals.weights):
            if inside[task_type]:
                more = min(left, int(self.sizes[task_type]) - 1)
                counts[task_type] += more
                left -= more
        return tuple(counts.tolist())

    def promising(self, near: SupportDuals | None) -> list[Content]:
        """Return contents of the pool that are worth nearly what they cost."""
        contents = list(self.pool)
        if near is None or len(contents) <= PROMISING:
            return contents
        groups = np.array([group for group, _, _ in contents])
        indices = np.array([index for _, index, _ in contents])
        values = np.array([counts for _, _, counts in contents]) @ np.array(near.weights)
        supports = self.listing.supports[indices]
        for types, weight in near.features.items():
            if weight:
                values += weight * ((supports & types) != 0)
        for group, rest in enumerate(self.listing.rest):
            own = groups == group
            values[own] -= near.cost * rest[indices[own]] + near.bins[group]
        return [contents[place] for place in np.argsort(-values, kind="stable")[:PROMISING]]

    def violated(
        self, used: Mapping[tuple[int, int], float], known: Container[object]
    ) -> list[int]:
        """Return sets of types, none of them known, whose conditions these numbers violate.

        There are too many sets to look at all of them. So the small sets are looked at one by one,
        and the nearly violated ones among them are grown to larger sets.
        """
        supports = self.listing.supports[[index for _, index in used]]
        amounts = np.array(list(used.values()))
        types = np.arange(self.listing.types)
        sets, least = self._small_sets
        sets = np.append(sets, np.array(list(self._larger), dtype=np.int64))
        least = np.append(least, np.array(list(self._larger.values()), dtype=np.int64))
        gaps = least - _touching(sets, supports, amounts)
        found = dict(zip(sets.tolist(), gaps.tolist(), strict=True))
        grown = sets[np.argsort(-gaps, kind="stable")[:GROWN]]
        # From each of them on, the type is added that helps most.
        for _ in range(self.listing.types - 2):
            wider = grown[:, None] | np.left_shift(np.int64(1), types)
            flat = wider.ravel()
            counts = (flat[:, None] >> types & 1) @ self.sizes
            gaps = -(-counts // self.capacity) - _touching(flat, supports, amounts)
            gaps = gaps.reshape(wider.shape)
            gaps[wider == grown[:, None]] = -np.inf
            rows, best = np.arange(len(grown)), gaps.argmax(axis=1)
            # Of the sets known before, more may be known than their numbers of tasks say.
            nearest = zip(wider[rows, best].tolist(), gaps[rows, best].tolist(), strict=True)
            found = dict(nearest) | found
            grown = np.unique(wider[rows, best])
            grown = grown[grown != (1 << self.listing.types) - 1]
            if not len(grown):
                break
        new = sorted(
            (types for types, gap in found.items() if gap > TOLERANCE and types not in known),
            key=lambda types: (-round(found[types], 6), types.bit_count(), types),
        )[:MOST_ROWS]
        largest = int(self._small_sets[0][-1]).bit_count()
        larger = (types for types in new if types.bit_count() > largest)
        self._larger.update((types, self.touching(types)[0]) for types in larger)
        return new

    def _sets_of_few_types(self, most: int) -> tuple[Integers, Integers]:
        """Return small sets of types, about this number, and how many CPUs touch each at least."""
        present = np.flatnonzero(self.sizes).tolist()
        sets: list[int] = []
        for size in range(1, len(present) + 1):
            sets += [sum(1 << one for one in chosen) for chosen in combinations(present, size)]
            if len(sets) * (len(present) - size) // (size + 1) > most:
                break
        return np.array(sets, dtype=np.int64), np.array([self.touching(types)[0] for types in sets])


class _LimitedCosts:
    """What CPUs hold where what they pay limits their tasks.

    Parameters
    ----------
    listing
        The supports that CPUs may have, all that keep to the threshold, at prices of at least 0.
    threshold
        What a CPU may pay.

    Attributes
    ----------
    permitted : list of array, bool
        For each group the supports within the threshold.
    """

    def __init__(self, listing: SupportList, threshold: int) -> None:
        self._inside = listing.inside
        self._sizes = listing.problem.sizes
        self._rooms = listing.problem.capacity - self._inside.sum(axis=1)
        prices = np.array(listing.prices, dtype=np.int64)
        self._unit = gcd(*listing.prices)
        self._steps = (prices // self._unit).tolist()
        self._cheap_first = np.argsort(prices, kind="stable").tolist()
        # What a CPU may pay beside its rest, once it runs a task of each type.
        self._limits = threshold - self._inside @ prices
        self.permitted = [(self._rooms >= 0) & (rest <= self._limits) for rest in listing.rest]
        further = [
            self._further(rest, np.flatnonzero(permitted))
            for rest, permitted in zip(listing.rest, self.permitted, strict=True)
        ]
        self._possible = np.concatenate([np.flatnonzero(permitted) for permitted in self.permitted])
        self._possible_further = np.concatenate(further)
        most = int(self._possible_further.max(initial=0))
        self.table_size = (listing.problem.capacity + 1) * (most + 1)
        self._known: dict[bytes, int] = {}

    def _further(self, rest: Integers, indices: Integers) -> Integers:
        """Return what is left for further tasks of some supports, in units."""
        return (self._limits[indices] - rest[indices]) // self._unit

    def most_tasks(self, chosen: Integers) -> int:
        """Return how many tasks of a set of types a CPU runs at most, at least 1."""
        key = chosen.tobytes()
        if key not in self._known:
            inside, further = self._inside[self._possible], self._possible_further.copy()
            room = self._rooms[self._possible]
            most = inside @ chosen
            # One task of each type, and then the cheapest.
            for task_type in self._cheap_first:
                if not chosen[task_type]:
                    continue
                more = np.minimum(room, inside[:, task_type] * (self._sizes[task_type] - 1))
                if step := self._steps[task_type]:
                    more = np.minimum(more, further // step)
                    further -= more * step
                room = room - more
                most = most + more
            self._known[key] = max(1, int(most.max(initial=0)))
        return self._known[key]

    def worths(self, rest: Integers, indices: Integers, weights: Sequence[float]) -> Floats:
        """Return what the best tasks of supports are worth."""
        inside, rooms = self._inside[indices], self._rooms[indices]
        further = self._further(rest, indices)
        worths: Floats = inside @ np.array(weights, dtype=np.float64)
        cells = (int(rooms.max(initial=0)) + 1) * (int(further.max(initial=0)) + 1)
        stretch = max(1, MOST_CELLS // cells)
        for first in range(0, len(indices), stretch):
            rows = slice(first, first + stretch)
            room, left = rooms[rows], further[rows]
            table = np.zeros((len(room), int(room.max()) + 1, int(left.max()) + 1))
            for task_type, weight in enumerate(weights):
                having = np.flatnonzero(inside[rows, task_type])
                if weight > 0 and len(having):
                    table[having] = self._with(table[having], task_type, weight)
            worths[rows] += table[np.arange(len(room)), room, left]
        return worths

    def content(self, rest: int, index: int, weights: Sequence[float]) -> tuple[int, ...]:
        """Return the best content of a support."""
        inside = self._inside[index]
        room = int(self._rooms[index])
        left = int(self._limits[index] - rest) // self._unit
        tables = [np.zeros((1, room + 1, left + 1))]
        types = [a for a in np.flatnonzero(inside).tolist() if weights[a] > 0]
        for task_type in types:
            tables.append(self._with(tables[-1], task_type, weights[task_type]))
        counts = inside.astype(np.int64)
        # Backwards through the tables: how many tasks of each type attain the entry?
        for task_type, before, after in zip(
            types[::-1], tables[-2::-1], tables[:0:-1], strict=True
        ):
            step, weight = self._steps[task_type], weights[task_type]
            more = 0
            while before[0, room - more, left - more * step] + weight * more < after[0, room, left]:
                more += 1
            counts[task_type] += more
            room -= more
            left -= more * step
        return tuple(counts.tolist())

    def _with(self, table: Floats, task_type: int, weight: float) -> Floats:
        """Return a table of the largest worth within room and cost, with a type more."""
        _, rooms, costs = table.shape
        step = self._steps[task_type]
        wider = table.copy()
        for more in range(1, min(int(self._sizes[task_type]), rooms)):
            if more * step >= costs:
                break
            region = wider[:, more:, more * step :]
            shorter = table[:, : rooms - more, : costs - more * step]
            np.maximum(region, shorter + weight * more, out=region)
        return wider


def _heavy_first(tasks: Sequence[float]) -> list[int]:
    """Return the types whose tasks are worth something, the heaviest first."""
    types = [task_type for task_type, weight in enumerate(tasks) if weight > 0]
    return sorted(types, key=lambda task_type: -tasks[task_type])


def _touching(sets: Integers, supports: Integers, amounts: Floats) -> Floats:
    """Return by how many CPUs each set is touched."""
    touching: Floats = ((sets[:, None] & supports) != 0) @ amounts
    return touching
