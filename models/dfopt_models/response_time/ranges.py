"""Response times and crossovers that are possible with parameters known within ranges only.

The difference of two response times, times the factor that makes a polynomial of it, is linear in
every single parameter but the allocations, and it is linear in the reciprocals of those. So its
extremes over a box of parameters lie at corners. In most parameters it rises or falls whatever the
others are. Only the affinities and the parameters that both policies share may go either way, and
all of their corners are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product as combinations

import numpy as np
from numpy.typing import ArrayLike

from dfopt_models.growth import GrowthPath
from dfopt_models.parameter_fields import Range
from dfopt_models.response_time.crossover import difference, product_at
from dfopt_models.response_time.model import SHARED_NUMBERS, PolicyComparison
from dfopt_models.response_time.numeric import Numbers, relative_along

SLOWS = ("work", "waste", "reallocations")
"""Parameters that make a policy slower when they grow; allocation makes it faster."""


def possible_crossovers(
    comparison: PolicyComparison, path: GrowthPath = GrowthPath.EQUAL
) -> tuple[tuple[float, float], ...]:
    """Return where a crossover can be with some parameters within their ranges.

    Parameters
    ----------
    comparison
        A policy and the baseline, with ranges.
    path
        How speed and cache grow together.

    Returns
    -------
    tuple of (float, float)
        Intervals of the product of speed and cache, in order. Every product within has a
        crossover for some parameters, and no other has one. The last interval may be infinite.

    Notes
    -----
    At a given machine the possible differences fill the interval between the least and the
    greatest difference at the corners. So a crossover is possible where these two enclose 0, and
    that can change only at a root of one of the corners' polynomials.
    """
    slowest = [difference(corner, path) for corner in corners(comparison, slow=True)]
    fastest = [difference(corner, path) for corner in corners(comparison, slow=False)]

    def is_possible(v: float) -> bool:
        return any(corner.sign(v) >= 0 for corner in slowest) and any(
            corner.sign(v) <= 0 for corner in fastest
        )

    turns = sorted({root.v for corner in (*slowest, *fastest) for root in corner.roots()} | {1.0})
    intervals: list[list[float]] = []
    for low, high in zip([0.0, *turns], turns, strict=False):
        if is_possible((low + high) / 2) and low < high:
            if intervals and intervals[-1][1] == low:
                intervals[-1][1] = high
            else:
                intervals.append([low, high])
        if is_possible(high) and not (intervals and intervals[-1][1] == high):
            intervals.append([high, high])
    return tuple(
        (product_at(high, path), product_at(low, path)) for low, high in reversed(intervals)
    )


def relative_range_along(
    comparison: PolicyComparison, product: ArrayLike, path: GrowthPath
) -> tuple[Numbers, Numbers]:
    """Return the least and the greatest relative response time that the ranges allow.

    Parameters
    ----------
    comparison
        A policy and the baseline, with ranges.
    product
        Speed times cache, relative to today's machine; any shape.
    path
        How speed and cache grow together.

    Returns
    -------
    tuple of numpy.ndarray
        Response time under the policy over that under the baseline, each in the shape of
        ``product``.

    Notes
    -----
    Each response time is linear in a parameter, so that their ratio is monotone in it, and its
    extremes lie at corners, too.
    """
    least, greatest = (
        [relative_along(corner, product, path) for corner in corners(comparison, slow=slow)]
        for slow in (False, True)
    )
    return np.min(least, axis=0), np.max(greatest, axis=0)


def corners(comparison: PolicyComparison, *, slow: bool) -> Iterator[PolicyComparison]:
    """Yield corners of the ranges; the slowest or fastest of all corners is among them.

    Parameters
    ----------
    comparison
        A policy and the baseline, with ranges.
    slow
        Whether the policy is to be slow and the baseline fast, or the other way round.
    """
    own = {name: limits for name, limits in comparison.ranges.items() if name not in SHARED_NUMBERS}
    shared = {name: limits for name, limits in comparison.ranges.items() if name in SHARED_NUMBERS}
    for common in _choices(shared):
        for mine in _choices(own, slow=slow):
            for theirs in _choices(comparison.baseline_ranges, slow=not slow):
                yield replace(
                    comparison,
                    case=replace(comparison.case, **common, **mine),
                    baseline=replace(comparison.baseline, **common, **theirs),
                )


def _choices(
    ranges: Mapping[str, Range], *, slow: bool | None = None
) -> Iterator[dict[str, float]]:
    """Yield the values to try: both ends of each range, or the slow or fast end if it is known."""
    ends: list[tuple[float, ...]] = []
    for name, (least, greatest) in ranges.items():
        if slow is not None and name in SLOWS:
            ends.append((greatest if slow else least,))
        elif slow is not None and name == "allocation":
            ends.append((least if slow else greatest,))
        else:
            ends.append((least, greatest))
    for values in combinations(*ends):
        yield dict(zip(ranges, values, strict=True))
