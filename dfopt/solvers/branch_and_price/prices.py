"""What contents of CPUs are worth: dual values of a linear program, or integers made of them.

The program is solved in floating point, but proofs use integer prices only. So rounding can weaken
a bound but never make it wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Column = TypeVar("Column")
Number = TypeVar("Number", int, float)
Other = TypeVar("Other", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices(Generic[Key, Number]):
    """The worth of tasks, of what is counted in contents, of CPUs, and of a unit of cost.

    Parameters
    ----------
    weights
        Of a task, by class.
    charges
        Of opening a block, by token: what that takes from the worth of a content; not negative.
    features
        Of having what is counted: above 0 where more CPUs should have it, below where fewer should.
    bins
        Of a CPU, by group.
    cost
        Of a unit of cost; 0 where costs are limited instead.
    """

    weights: Sequence[Number]
    charges: Sequence[Number]
    features: Mapping[Key, Number]
    bins: Sequence[Number]
    cost: Number

    def each(self, change: Callable[[Number], Other]) -> Prices[Key, Other]:
        """Return these prices with each number changed."""
        return Prices(
            weights=list(map(change, self.weights)),
            charges=list(map(change, self.charges)),
            features={key: change(price) for key, price in self.features.items()},
            bins=list(map(change, self.bins)),
            cost=change(self.cost),
        )

    def rounded(self, scale: float) -> Prices[Key, int]:
        """Return the integers that are nearest to these prices, times ``scale``."""
        return self.each(lambda price: round(price * scale))

    def towards(self, other: Prices[Key, float], share: float) -> Prices[Key, float]:
        """Return a point between these and ``other``, a share of the way to the other."""

        def between(mine: Sequence[float], others: Sequence[float]) -> list[float]:
            pairs = zip(mine, others, strict=True)
            return [(1 - share) * one + share * another for one, another in pairs]

        known = [other.features.get(key, 0.0) for key in self.features]
        features = between(list(self.features.values()), known)
        return Prices(
            weights=between(self.weights, other.weights),
            charges=between(self.charges, other.charges),
            features=dict(zip(self.features, features, strict=True)),
            bins=between(self.bins, other.bins),
            cost=self.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution(Generic[Key, Column]):
    """An optimal solution of a linear program over contents.

    Parameters
    ----------
    value
        Its value.
    missing
        By how much its rows are missed, which the columns cannot provide.
    duals
        The dual values.
    used
        The columns used, and the number of CPUs that use each.
    """

    value: float
    missing: float
    duals: Prices[Key, float]
    used: Mapping[Column, float]
