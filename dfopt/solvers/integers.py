"""Integers out of dual values: a proof is exact, and small numbers read well.

An LP is solved in floating point. Multiplied by a scale and rounded, its dual values are weights
which may prove a little less. The smallest scale that still proves what is wanted is the one to
take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd
from typing import TypeVar

from dfopt.problem.certificate import Leaf
from dfopt.structs import replace

S = TypeVar("S")
T = TypeVar("T")

SCALES = (1, 2, 3, 4, 6, 12, 60, 10**3, 10**5, 10**7)
"""What dual values are multiplied by, in turn: many bounds are sums of halves or of twelfths."""


def of_smallest_scale(attempt: Callable[[S], T | None], scales: Iterable[S]) -> T | None:
    """Return what the first of some scales, or of some scaled prices, proves; None if none does."""
    return next((found for found in map(attempt, scales) if found is not None), None)


def in_lowest_terms(leaf: Leaf, *, weighs_costs: bool) -> Leaf:
    """Return the same leaf with all numbers divided by what divides them all.

    Parameters
    ----------
    leaf
        Weights.
    weighs_costs
        Whether the scale is one of these numbers.
    """
    pairs = (*leaf.weights, *leaf.leaving, *leaf.prices)
    scale = leaf.scale if weighs_costs else 0
    divisor = gcd(scale, *leaf.bin_weights, *(value for _, value in pairs)) or 1

    def divided(rows: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return tuple((number, value // divisor) for number, value in rows)

    return replace(
        leaf,
        weights=divided(leaf.weights),
        leaving=divided(leaf.leaving),
        prices=divided(leaf.prices),
        scale=scale // divisor if weighs_costs else leaf.scale,
        bin_weights=tuple(value // divisor for value in leaf.bin_weights),
    )
