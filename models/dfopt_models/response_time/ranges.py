"""Response times and crossovers that are possible with parameters known within ranges only.

The difference of two response times, times the factor that makes a polynomial of it, is linear in
every single parameter but the allocations, and it is linear in the reciprocals of those. So its
extremes over a box of parameters lie at corners. In most parameters it rises or falls whatever the
others are. Only the affinities and the parameters that both policies share may go either way, and
all of their corners are tried.

Measurements move several parameters together. The difference is linear in the response time, in
the number of reallocations and in the affinity. In the interval it falls as long as reallocations
cost less than the work, whatever the others are. So its extremes lie at corners too, and all of
them are tried.

Replications of an experiment say more than ranges: each is a pair of the policy and the baseline
under the same circumstances. At each machine the difference then has a confidence interval. Its
half width times itself is a polynomial, too, so that the ends of what is possible are roots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product as combinations

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike

from dfopt.simulate.statistics import CONFIDENCE
from dfopt.structs import replace
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.crossover import difference, product_at
from dfopt_models.response_time.equations import path_coefficients
from dfopt_models.response_time.numeric import Numbers, relative_along
from dfopt_models.response_time.parameters import SHARED_NUMBERS, Range

REAL = 1e-9
"""A root counts as real if its imaginary part is at most this share of it."""

SLOWS = ("work", "waste", "reallocations")
"""Parameters that make a policy slower when they grow; allocation makes it faster."""


def possible_crossovers(
    comparison: PolicyComparison, path: GrowthPath = GrowthPath.EQUAL
) -> tuple[tuple[float, float], ...]:
    """Return where a crossover can be with some parameters within their ranges.

    Parameters
    ----------
    comparison
        A policy and the baseline, with ranges or replications.
    path
        How speed and cache grow together.

    Returns
    -------
    tuple of (float, float)
        Intervals of the product of speed and cache, in order. Every product within has a
        crossover for some parameters, and no other has one. The last interval may be infinite.
        With replications, the products at which the confidence interval of the difference has 0.

    Notes
    -----
    At a given machine the possible differences fill the interval between the least and the
    greatest difference at the corners. So a crossover is possible where these two enclose 0, and
    that can change only at a root of one of the corners' polynomials.
    """
    if comparison.replications:
        return _paired_crossovers(comparison, path)
    slowest = [difference(corner, path) for corner in corners(comparison, slow=True)]
    fastest = [difference(corner, path) for corner in corners(comparison, slow=False)]

    def is_possible(v: float) -> bool:
        return any(corner.sign(v) >= 0 for corner in slowest) and any(
            corner.sign(v) <= 0 for corner in fastest
        )

    return _intervals(
        is_possible, {root.v for corner in (*slowest, *fastest) for root in corner.roots()}, path
    )


def _intervals(
    is_possible: Callable[[float], bool], roots: Iterable[float], path: GrowthPath
) -> tuple[tuple[float, float], ...]:
    """Return the products where something is possible that changes at roots alone."""
    turns = sorted({*roots, 1.0})
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
    if comparison.replications:
        return _paired_range(comparison, product, path)
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
    # Under own work, a policy that is slow for its work makes the baseline slow, too.
    both_move = comparison.measured is not None or comparison.own_work
    my_end = None if both_move else slow
    their_end = None if comparison.baseline_measured is not None else not slow
    for common in _choices(shared):
        for mine in _choices(own, slow=my_end):
            for theirs in _choices(comparison.baseline_ranges, slow=their_end):
                yield comparison.with_values(common, mine, theirs)


def _paired_crossovers(
    comparison: PolicyComparison, path: GrowthPath
) -> tuple[tuple[float, float], ...]:
    mean = difference(comparison, path).coefficients
    margin = polynomial.polysub(
        polynomial.polymul(mean, mean), _squared_half_width(comparison, path)
    )

    def is_possible(v: float) -> bool:
        return float(polynomial.polyval(v, margin)) <= 0

    found = polynomial.polyroots(np.trim_zeros(margin, "b"))
    real = {float(root.real) for root in found if abs(root.imag) <= REAL * abs(root)}
    return _intervals(is_possible, {root for root in real if 0 < root < 1}, path)


def _paired_range(
    comparison: PolicyComparison, product: ArrayLike, path: GrowthPath
) -> tuple[Numbers, Numbers]:
    middle = relative_along(comparison, product, path)
    v = np.asarray(product, np.float64) ** (-1 / 4 if path is GrowthPath.EQUAL else -1 / 2)
    square = polynomial.polyval(v, _squared_half_width(comparison, path))
    baseline = [float(each) for each in path_coefficients(comparison.baseline, path)]
    half_width = np.sqrt(np.maximum(square, 0.0)) / polynomial.polyval(v, baseline)
    return middle - half_width, middle + half_width


def _squared_half_width(comparison: PolicyComparison, path: GrowthPath) -> Numbers:
    """Return the polynomial in v that is the square of the half width of the 95 % interval."""
    from scipy.special import stdtrit

    pairs = [
        difference(replace(comparison, case=case, baseline=baseline), path).coefficients
        for case, baseline in comparison.replications
    ]
    count = len(pairs)
    deviations = np.asarray(pairs) - np.mean(pairs, axis=0)
    variance = np.sum([np.convolve(each, each) for each in deviations], axis=0) / (count - 1)
    quantile = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return np.asarray(quantile**2 / count * variance)


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
