"""How many CPUs must touch sets of types, and which of these conditions some numbers violate.

A CPU touches a set of types if it runs a task of any of them. There are too many sets to look at
all of them. So the small sets are looked at one by one, and the nearly violated ones among them are
grown to larger sets.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from itertools import combinations

import numpy as np

from dfopt.solvers.matrix.support_list import Floats, Integers, SupportList

TOLERANCE = 1e-6
"""Numbers of CPUs that differ by less are equal."""

MOST_ROWS = 30
"""At most 30 violated conditions are returned at once."""

MOST_SETS = 10_000
"""The conditions of at most 10,000 small sets of types are looked at each time."""

GROWN = 40
"""Beside them, 40 sets are grown, type by type, to larger ones that are nearly violated."""


class TouchingConditions:
    """The conditions, and the larger sets that were violated before.

    Parameters
    ----------
    listing
        The supports that CPUs may have.
    least_touching
        Returns how many CPUs touch a set of types at least.
    most_sets
        The conditions of at most about this number of small sets are known from the start.
    """

    def __init__(
        self, listing: SupportList, least_touching: Callable[[int], int], most_sets: int
    ) -> None:
        self._listing = listing
        self._least_touching = least_touching
        self._sizes = np.array(listing.problem.sizes, dtype=np.int64)
        self._capacity = listing.problem.capacity
        self._large: dict[int, int] = {}
        self._largest_small = 0
        self._small = self._small_sets(most_sets)

    def violated(
        self, used: Mapping[tuple[int, int], float], known: Container[object]
    ) -> list[int]:
        """Return sets of types, none of them known, whose conditions these numbers violate."""
        numbers: dict[int, float] = {}
        for (_, index), number in used.items():
            support = int(self._listing.supports[index])
            numbers[support] = numbers.get(support, 0.0) + number
        supports = np.array(list(numbers), dtype=np.int64)
        amounts = np.array(list(numbers.values()))
        small, least = self._small
        if self._large:
            large = np.array(list(self._large), dtype=np.int64)
            small = np.concatenate([small, large])
            least = np.concatenate([least, np.array(list(self._large.values()))])
        violations = least - _touching(small, supports, amounts)
        found = dict(zip(small.tolist(), violations.tolist(), strict=True))
        grown = small[np.argsort(-violations, kind="stable")[:GROWN]]
        types = np.arange(self._listing.types)
        bits = np.left_shift(np.int64(1), types)
        # From each of them on, the type is added that helps most.
        for _ in range(self._listing.types - 2):
            wider = grown[:, None] | bits
            flat = wider.ravel()
            counts = (flat[:, None] >> types & 1) @ self._sizes
            gaps = -(-counts // self._capacity) - _touching(flat, supports, amounts)
            gaps = gaps.reshape(wider.shape)
            gaps[wider == grown[:, None]] = -np.inf
            best = gaps.argmax(axis=1)
            rows = np.arange(len(grown))
            # Of the sets known before, more may be known than their numbers of tasks say.
            nearest = zip(wider[rows, best].tolist(), gaps[rows, best].tolist(), strict=True)
            found = dict(nearest) | found
            grown = np.unique(wider[rows, best])
            grown = grown[grown != (1 << self._listing.types) - 1]
            if not len(grown):
                break
        new = sorted(
            (types for types, gap in found.items() if gap > TOLERANCE and types not in known),
            key=lambda types: (-round(found[types], 6), types.bit_count(), types),
        )[:MOST_ROWS]
        for types in new:
            if types.bit_count() > self._largest_small:
                self._large[types] = self._least_touching(types)
        return new

    def _small_sets(self, most_sets: int) -> tuple[Integers, Integers]:
        """Return all small sets of types, and how many CPUs touch each at least."""
        present = [number for number, size in enumerate(self._sizes) if size]
        sets: list[int] = []
        for size in range(1, len(present) + 1):
            sets += [
                sum(1 << number for number in chosen) for chosen in combinations(present, size)
            ]
            self._largest_small = size
            if len(sets) * (len(present) - size) // (size + 1) > most_sets:
                break
        least = [self._least_touching(types) for types in sets]
        return np.array(sets, dtype=np.int64), np.array(least, dtype=np.int64)


def _touching(sets: Integers, supports: Integers, amounts: Floats) -> Floats:
    """Return by how many CPUs each set is touched."""
    touching: Floats = ((sets[:, None] & supports) != 0) @ amounts
    return touching
