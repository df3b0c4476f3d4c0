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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dfopt.solvers.matrix.support_list import Floats, Integers, SupportList
from dfopt.solvers.matrix.touching_conditions import MOST_SETS, TouchingConditions
from dfopt.solvers.matrix.transportation import go_on

PROMISING = 300
"""A program begins with at most 300 columns."""

Content = tuple[int, int, tuple[int, ...]]
"""A group of CPUs, the number of a support, and a number of tasks of each type."""

Masks = Sequence[npt.NDArray[np.bool_]]

Limits = Mapping[int, tuple[int, int]]
"""For sets of types, at least and at most this number of CPUs run any of them."""

Plan = dict[tuple[int, int], int]
"""For a group of CPUs and a support, the number of CPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportDuals:
    """Dual values: what they refute is a proof over supports.

    Parameters
    ----------
    sets
        The weight of each set of types that is touched.
    groups
        What a CPU of each group holds at most.
    unit
        The weight of a unit of cost.
    tasks
        The weight of a task of each type, beyond its price.
    """

    sets: Mapping[int, float]
    groups: Sequence[float]
    unit: float
    tasks: Sequence[float]


class ContentProgram:
    """The program.

    Parameters
    ----------
    listing
        The supports that CPUs may have.
    cpus
        Number of CPUs in each group; CPUs of a group start alike.
    check
        Called often; what it raises ends the work.
    most_sets
        The conditions of at most about this number of small sets are known from the start.
    amounts, room
        Where tasks have sizes: those of all tasks of each type together, and what a CPU has room
        for.
    """

    def __init__(  # noqa: PLR0913
        self,
        listing: SupportList,
        cpus: Sequence[int],
        check: Callable[[], object] = go_on,
        *,
        most_sets: int = MOST_SETS,
        amounts: Sequence[int] = (),
        room: int = 1,
    ) -> None:
        self.listing = listing
        self.cpus = list(cpus)
        self.sizes = np.array(listing.problem.sizes, dtype=np.int64)
        self.capacity = listing.problem.capacity
        self._amounts = list(amounts)
        self._room = room
        self.check = check
        self.pool: dict[Content, None] = {}
        """Contents that were worth considering."""
        self.conditions = TouchingConditions(listing, self.least_touching, most_sets)
        self._inside, self._more, self._left = self._arranged()

    def _arranged(self) -> tuple[Floats, Integers, Integers]:
        """Return the supports type by type, since pricing goes through the types."""
        inside = self.listing.inside
        return (
            np.ascontiguousarray(inside.T.astype(np.float64)),
            np.ascontiguousarray((inside * (self.sizes - 1)).T),
            self.capacity - inside.sum(axis=1),
        )

    def list_supports(self, supports: Iterable[int]) -> None:
        """Add supports to the list."""
        for support in supports:
            self.listing.add(support)
        self._inside, self._more, self._left = self._arranged()

    def least_touching(self, types: int) -> int:
        """Return how many CPUs touch a set of types at least."""
        by_number = -(-self._count(types) // self.most_tasks(types))
        amount = sum(size for number, size in enumerate(self._amounts) if types >> number & 1)
        return max(by_number, -(-amount // self._room))

    def most_tasks(self, types: int) -> int:
        """Return how many tasks of a set of types a CPU runs at most."""
        return self.capacity

    def most_touching(self, types: int) -> int:
        """Return how many CPUs touch a set of types at most."""
        return min(self._count(types), sum(self.cpus))

    def _count(self, types: int) -> int:
        return sum(int(size) for number, size in enumerate(self.sizes) if types >> number & 1)

    def worths(self, duals: SupportDuals) -> list[Floats]:
        """Return for each group what the best content of each support is worth, without cost."""
        return [self.worths_at_any_cost(duals)] * len(self.cpus)

    def worths_at_any_cost(self, duals: SupportDuals) -> Floats:
        """Return what the best content of each support is worth."""
        values = np.zeros(len(self.listing.supports))
        for weight, inside in zip(duals.tasks, self._inside, strict=True):
            if weight:
                values += weight * inside
        left = self._left.copy()
        for task_type in _heavy_first(duals.tasks):
            more = np.minimum(self._more[task_type], left)
            left -= more
            values += duals.tasks[task_type] * more
        for types, weight in duals.sets.items():
            if weight:
                values[(self.listing.supports & types) != 0] += weight
        return values

    def content(self, group: int, index: int, duals: SupportDuals) -> tuple[int, ...]:
        """Return the best content of a support: one task of each type, then the heaviest.

        Here all groups of CPUs have the same.
        """
        inside = self.listing.inside[index]
        counts = inside.astype(np.int64)
        left = self.capacity - int(counts.sum())
        for task_type in _heavy_first(duals.tasks):
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
        values = np.array([counts for _, _, counts in contents]) @ np.array(near.tasks)
        supports = self.listing.supports[indices]
        for types, weight in near.sets.items():
            if weight:
                values += weight * ((supports & types) != 0)
        for group, rest in enumerate(self.listing.rest):
            own = groups == group
            values[own] -= near.unit * rest[indices[own]] + near.groups[group]
        return [contents[place] for place in np.argsort(-values, kind="stable")[:PROMISING]]


def _heavy_first(tasks: Sequence[float]) -> list[int]:
    """Return the types whose tasks are worth something, the heaviest first."""
    types = [task_type for task_type, weight in enumerate(tasks) if weight > 0]
    return sorted(types, key=lambda task_type: -tasks[task_type])
