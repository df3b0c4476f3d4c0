"""The equations of Vaswani and Zahorjan's model, each written once.

They take plain numbers, NumPy arrays or SymPy symbols: :mod:`.numeric` gives them numbers, and the
documentation prints what they return for symbols. A case is anything that has the attributes of
:class:`.Case`.
"""

from __future__ import annotations

from typing import Any

from dfopt_models.growth import GrowthPath

HALF = 0.5
"""The exponent of a square root."""


def cache_penalty(case: Any, cache: Any = 1) -> Any:
    """Return the cache penalty of a reallocation in seconds, before memory becomes faster.

    Equation (2) on today's machine. A cache c times as large keeps more data, so that P^A falls
    as 1/c; it also loses more data, so that P^NA grows as √c (Figure 7).
    """
    return (
        case.penalty_no_affinity * cache**HALF * (1 - case.affinity)
        + case.penalty_affinity * case.affinity / cache
    )


def response_time(case: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the response time in seconds: Figure 7, which is equation (1) on today's machine."""
    reallocation = case.reallocation_time / speed + cache_penalty(case, cache) / speed**HALF
    return (case.reallocations * reallocation + (case.waste + case.work) / speed) / case.allocation


def exchange_rate(case: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the waste that costs as much as one reallocation, in today's processor-seconds.

    It is minus the slope of a line of equal response time in the plane of reallocations and waste.
    """
    return speed**HALF * cache_penalty(case, cache) + case.reallocation_time


def waste_budget(case: Any, baseline: Any, speed: Any = 1, cache: Any = 1) -> Any:
    """Return the waste that makes a policy without reallocations as slow as the baseline.

    It is in today's processor-seconds; each reallocation takes its exchange rate from it.
    """
    cost = baseline.reallocations * exchange_rate(baseline, speed, cache)
    given = cost + baseline.waste + baseline.work
    return (case.allocation * given - baseline.allocation * case.work) / baseline.allocation


def useful_share(
    case: Any, time: Any, *, speed: Any = 1, processors: Any = 1, copies: Any = 1
) -> Any:
    """Return the share of a machine that does the work of a job's copies, given a response time."""
    return copies * case.work / (processors * speed * time)


def speed_and_cache(path: GrowthPath, product: Any) -> tuple[Any, Any]:
    """Return speed and cache of the machine along a path at a product of both.

    Without the affinity term only the product matters, so that ``limit`` may run along any path.
    """
    if path is GrowthPath.EQUAL:
        return product**HALF, product**HALF
    return (1 + 0 * product, product) if path is GrowthPath.CACHE else (product, 1 + 0 * product)


def path_coefficients(case: Any, path: GrowthPath) -> tuple[Any, ...]:
    """Return the coefficients of the polynomial in v that stands for the response time on a path.

    The variable v is a root of 1/product: the fourth root along ``equal``, else the square root.
    It is 1 today and falls to 0 as machines grow. The polynomial is the response time times the
    speed times a power of v. This factor is positive and the same for every policy. So two
    policies are equal where their polynomials are, and the one with the larger polynomial is
    slower.

    Returns
    -------
    tuple
        The coefficient of v⁰ first.
    """
    computing = case.reallocations * case.reallocation_time + case.waste + case.work
    fixed = computing / case.allocation
    with_affinity = case.penalty_affinity * case.reallocations * case.affinity / case.allocation
    without = case.penalty_no_affinity * case.reallocations * (1 - case.affinity) / case.allocation
    match path:
        case GrowthPath.EQUAL:
            return without, 0, fixed, with_affinity
        case GrowthPath.SPEED:
            return without + with_affinity, fixed
        case GrowthPath.CACHE:
            return without, fixed, 0, with_affinity
        case GrowthPath.LIMIT:
            return without, fixed


def product_of(v: Any, path: GrowthPath) -> Any:
    """Return the product of speed and cache that v stands for; see :func:`path_coefficients`."""
    return v ** (-4 if path is GrowthPath.EQUAL else -2)
