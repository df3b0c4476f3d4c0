"""What CPUs hold where tasks that follow their own type cost something, within a threshold.

A CPU with the support S pays its rest G(S) and a price u_a for each task of type a. So its tasks
are limited in number and in cost, and pricing is a knapsack with these two limits. They also say
how many tasks of a set A of types one CPU runs at most, and thus on how many CPUs A must run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

import numpy as np

from dfopt.solvers.matrix.content_program import ContentProgram, SupportDuals
from dfopt.solvers.matrix.support_list import Floats, Integers, SupportList
from dfopt.solvers.matrix.transportation import go_on

MOST_SETS = 300
"""The conditions of at most about 300 small sets of types are known from the start."""

MOST_PRICED = 2_000
"""At most 2,000 supports of a group are priced exactly: those that are worth most at any cost."""

MOST_CELLS = 1_000_000
"""Tables of at most 1,000,000 entries are filled at once."""


class CostedContents(ContentProgram):
    """The program over contents of CPUs that pay at most a threshold.

    Parameters
    ----------
    listing
        The supports that CPUs may have, all that keep to the threshold, at prices of at least 0.
    cpus
        Number of CPUs in each group; CPUs of a group start alike.
    threshold
        What a CPU may pay.
    check
        Called often; what it raises ends the work.

    Attributes
    ----------
    permitted : list of array, bool
        For each group the supports within the threshold.
    limits : list of array, int64
        For each group what the tasks of each support may cost.
    """

    def __init__(
        self,
        listing: SupportList,
        cpus: Sequence[int],
        threshold: int,
        check: Callable[[], object] = go_on,
    ) -> None:
        self.threshold = threshold
        self.prices = np.array(listing.prices, dtype=np.int64)
        self.limits = [threshold - rest for rest in listing.rest]
        once = listing.inside @ self.prices
        fits = listing.inside.sum(axis=1) <= listing.problem.capacity
        self.permitted = [fits & (limit >= once) for limit in self.limits]
        self._cheap_first = np.argsort(self.prices, kind="stable").tolist()
        unit = gcd(*listing.prices) or 1
        self._steps = (self.prices // unit).tolist()
        # What is left for further tasks, and the room for them.
        self._further = [(limit - once) // unit for limit in self.limits]
        possible = [
            (listing.inside[permitted], further[permitted])
            for permitted, further in zip(self.permitted, self._further, strict=True)
        ]
        self._possible = np.concatenate([inside for inside, _ in possible])
        self._possible_further = np.concatenate([further for _, further in possible])
        self._most_tasks: dict[int, int] = {}
        super().__init__(listing, cpus, check, most_sets=MOST_SETS)

    @property
    def table_size(self) -> int:
        """Number of entries of a table over numbers of tasks and what they cost."""
        return (self.capacity + 1) * (int(self._possible_further.max(initial=0)) + 1)

    def most_tasks(self, types: int) -> int:
        """Return how many tasks of a set of types a CPU runs at most, at least 1."""
        if types not in self._most_tasks:
            inside, further = self._possible, self._possible_further.copy()
            room = self.capacity - inside.sum(axis=1)
            chosen = (types >> np.arange(self.listing.types) & 1).astype(bool)
            most = (inside & chosen).sum(axis=1)
            # One task of each type, and then the cheapest.
            for task_type in self._cheap_first:
                if not chosen[task_type]:
                    continue
                more = np.minimum(room, inside[:, task_type] * (self.sizes[task_type] - 1))
                if step := self._steps[task_type]:
                    more = np.minimum(more, further // step)
                    further -= more * step
                room -= more
                most += more
            self._most_tasks[types] = max(1, int(most.max(initial=0)))
        return self._most_tasks[types]

    def worths(self, duals: SupportDuals) -> list[Floats]:
        """Return for each group what the best content of each support is worth, without cost."""
        at_any_cost = self.worths_at_any_cost(duals)
        sets = np.zeros(len(at_any_cost))
        for types, weight in duals.sets.items():
            if weight:
                sets[(self.listing.supports & types) != 0] += weight
        values = []
        for group, permitted in enumerate(self.permitted):
            worth = np.full(len(at_any_cost), -np.inf)
            indices = np.flatnonzero(permitted)
            if len(indices) > MOST_PRICED:
                value = at_any_cost[indices] - duals.unit * self.listing.rest[group][indices]
                indices = indices[np.argpartition(-value, MOST_PRICED)[:MOST_PRICED]]
            worth[indices] = sets[indices] + self._worths_of_tasks(group, indices, duals.tasks)
            values.append(worth)
        return values

    def content(self, group: int, index: int, duals: SupportDuals) -> tuple[int, ...]:
        """Return the best content of a support."""
        inside = self.listing.inside[index]
        room = self.capacity - int(inside.sum())
        left = int(self._further[group][index])
        tables = [np.zeros((1, room + 1, left + 1))]
        types = [a for a in np.flatnonzero(inside).tolist() if duals.tasks[a] > 0]
        for task_type in types:
            tables.append(self._with(tables[-1], task_type, duals.tasks[task_type]))
        counts = inside.astype(np.int64)
        # Backwards through the tables: how many tasks of each type attain the entry?
        for task_type, before, after in zip(
            types[::-1], tables[-2::-1], tables[:0:-1], strict=True
        ):
            step, weight = self._steps[task_type], duals.tasks[task_type]
            more = 0
            while before[0, room - more, left - more * step] + weight * more < after[0, room, left]:
                more += 1
            counts[task_type] += more
            room -= more
            left -= more * step
        return tuple(counts.tolist())

    def _worths_of_tasks(self, group: int, indices: Integers, weights: Sequence[float]) -> Floats:
        """Return what the best tasks of supports are worth."""
        inside = self.listing.inside[indices]
        rooms = self.capacity - inside.sum(axis=1)
        further = self._further[group][indices]
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

    def _with(self, table: Floats, task_type: int, weight: float) -> Floats:
        """Return a table of the largest worth within room and cost, with a type more."""
        _, rooms, costs = table.shape
        step = self._steps[task_type]
        wider = table.copy()
        for more in range(1, min(int(self.sizes[task_type]), rooms)):
            if more * step >= costs:
                break
            region = wider[:, more:, more * step :]
            shorter = table[:, : rooms - more, : costs - more * step]
            np.maximum(region, shorter + weight * more, out=region)
        return wider
