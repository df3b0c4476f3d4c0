"""The claim that relative response times depend only on the product of speed and cache.

At a fixed product x they depend on the cache c through √x · c^(−3/2) alone, and both numerator and
denominator are linear in it. So they are monotone along any stretch of caches, and the spread is
the difference between both ends.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.numeric import (
    Numbers,
    positive_product,
    relative_along,
    relative_response_time,
)

FURTHEST_PRODUCT = 1e8
"""The largest spread lies below this product; beyond it the spread only falls."""

STEPS = 4001
"""Products at which the spread is computed first."""


class Region(StrEnum):
    """The machines of a product that are compared."""

    ANY_CACHE = "any cache"
    """c from 1 to infinity; where c > x, processors are slower than today's."""

    GROWING = "growing"
    """c from 1 to x: neither speed nor cache falls below today's."""

    LARGE_CACHE = "large cache"
    """c from √x to infinity: the cache grows at least as the speed does, c ≥ s."""

    GROWING_LARGE_CACHE = "growing, large cache"
    """c from √x to x: c ≥ s ≥ 1."""


def product_spread(
    comparison: PolicyComparison, product: ArrayLike, region: Region = Region.GROWING
) -> Numbers:
    """Return how much the relative response time varies among machines of one product.

    Parameters
    ----------
    comparison
        A policy and the baseline.
    product
        Speed times cache, relative to today's machine; any shape, each at least 1.
    region
        Which machines of that product are compared.

    Returns
    -------
    numpy.ndarray
        The greatest less the least relative response time, in the shape of ``product``.

    Raises
    ------
    ModelError
        When a product is not more than 0.
    """
    products = positive_product(product)
    from_root = region in (Region.LARGE_CACHE, Region.GROWING_LARGE_CACHE)
    smallest = np.sqrt(products) if from_root else np.ones_like(products)
    first = relative_response_time(comparison, products / smallest, smallest)
    if region in (Region.ANY_CACHE, Region.LARGE_CACHE):
        last = relative_along(comparison, products, GrowthPath.LIMIT)
    else:
        last = relative_response_time(comparison, 1.0, products)
    return np.abs(last - first)


def largest_spread(
    comparison: PolicyComparison, region: Region = Region.GROWING_LARGE_CACHE
) -> tuple[float, float]:
    """Return the product at which the spread is largest, and the spread.

    Parameters
    ----------
    comparison
        A policy and the baseline.
    region
        Which machines of a product are compared; the product goes up to 10⁸.
    """
    from scipy.optimize import minimize_scalar

    exponents = np.linspace(0, np.log(FURTHEST_PRODUCT), STEPS)
    spreads = product_spread(comparison, np.exp(exponents), region)
    peak = int(np.argmax(spreads))
    around = exponents[max(0, peak - 1)], exponents[min(STEPS - 1, peak + 1)]

    def spread_at(exponent: float) -> float:
        return float(product_spread(comparison, np.exp(exponent), region))

    refined = minimize_scalar(lambda e: -spread_at(e), bounds=around, method="bounded").x
    exponent = max((*around, refined), key=spread_at)
    return float(np.exp(exponent)), spread_at(exponent)
