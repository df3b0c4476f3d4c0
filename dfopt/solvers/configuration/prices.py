"""The worth of tasks: the LP's dual values, and the integer prices that are made of them.

The LP is solved in floating point, but proofs use integer prices only. So rounding can weaken a
bound but never make it wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.configuration.branching_rules import Feature
from dfopt.solvers.configuration.columns import CpuContent
from dfopt.solvers.configuration.cost_grid import Integers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Duals:
    """Dual values of the LP: the worth of tasks, CPUs and entries.

    Parameters
    ----------
    weights
        Of a task, by class.
    charges
        Of opening a block, by token.
    bins
        Of a CPU, by group.
    features
        Of having a feature: above 0 where more CPUs should have it, below where fewer should.
    """

    weights: Floats
    charges: Floats
    bins: Floats
    features: Mapping[Feature, float]

    def feature(self, feature: Feature) -> float:
        """Return the dual value of a feature; 0 if its number is not limited."""
        return self.features.get(feature, 0.0)

    def worth(self, content: CpuContent) -> float:
        """Return the worth of a content.

        The reduced cost of a column is its cost, plus the price of a CPU, less this worth.
        """
        tasks = sum(self.weights[task_class] * held for task_class, held in content.tasks)
        charges = sum(self.charges[token] for token in content.tokens)
        features = sum(
            price for feature, price in self.features.items() if feature.is_had_by(content)
        )
        return float(tasks + features - charges)

    def towards(self, other: Duals, share: float) -> Duals:
        """Return a point between these and ``other``, a share of the way to the other."""

        def between(mine: Floats, others: Floats) -> Floats:
            return (1 - share) * mine + share * others

        return Duals(
            between(self.weights, other.weights),
            between(self.charges, other.charges),
            between(self.bins, other.bins),
            {
                feature: (1 - share) * price + share * other.feature(feature)
                for feature, price in self.features.items()
            },
        )

    def over(self, divisor: float) -> Duals:
        """Return these divided by ``divisor``."""
        return Duals(
            self.weights / divisor,
            self.charges / divisor,
            self.bins / divisor,
            {feature: price / divisor for feature, price in self.features.items()},
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """The worth of tasks, in integers.

    Parameters
    ----------
    weights
        Of a task, by class.
    charges
        Of opening a block with a task, by token; not negative.
    features
        Of having a feature, where the number of CPUs that have it is limited; of either sign.
    cost
        Of a unit of cost, under total-penalty; 0 where contents are limited in cost.
    """

    weights: Integers
    charges: Integers
    features: Mapping[Feature, int] = field(default_factory=dict)
    cost: int = 0

    def worth(self, content: CpuContent) -> int:
        """Return the worth of a content, whatever it costs."""
        tasks = sum(int(self.weights[task_class]) * held for task_class, held in content.tasks)
        charges = sum(int(self.charges[token]) for token in content.tokens)
        features = sum(
            price for feature, price in self.features.items() if feature.is_had_by(content)
        )
        return tasks + features - charges


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuting:
    """Prices that refute a limit, and the most that all CPUs together hold within it."""

    prices: Prices
    held: int
