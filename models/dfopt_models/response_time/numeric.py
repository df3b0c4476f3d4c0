"""Response times on given machines: the equations as functions of NumPy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfopt.structs import replace
from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time import equations
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.parameters import Case

Numbers = NDArray[np.float64]

EXTREME = 1e30
"""The greatest speed and cache, and 1 over the least: no result overflows."""


def response_time(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Numbers:
    """Return the response time of a job on machines of some speed and cache.

    The model of Figure 7, which at speed 1 and cache 1 is that of equations (1) and (2).

    Parameters
    ----------
    case
        A job under a policy.
    speed
        Speed of a processor, relative to today's machine; any shape.
    cache
        Size of a cache, relative to today's machine; any shape that goes with that of ``speed``.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of both together.

    Raises
    ------
    ModelError
        When a speed or a cache is not more than 0.
    """
    return np.asarray(equations.response_time(case, *machines(speed, cache)))


def relative_response_time(
    comparison: PolicyComparison, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0
) -> Numbers:
    """Return the response time under a policy, over that under the baseline.

    Parameters and errors are those of :func:`response_time`; the result has no unit. Below 1 the
    policy is faster.
    """
    own = response_time(comparison.case, speed, cache)
    return own / response_time(comparison.baseline, speed, cache)


def response_time_along(case: Case, product: ArrayLike, path: GrowthPath) -> Numbers:
    """Return the response time in seconds along a path.

    Along ``limit`` it is that at cache 1 without the affinity term; only ratios of two such times
    mean anything.

    Parameters
    ----------
    case
        A job under a policy.
    product
        Speed times cache, relative to today's machine; any shape.
    path
        How speed and cache grow together.

    Raises
    ------
    ModelError
        When a product is not more than 0.
    """
    if path is GrowthPath.LIMIT:
        case = replace(case, penalty_affinity=0.0)
    along = equations.speed_and_cache(path, positive_product(product))
    return np.asarray(equations.response_time(case, *along))


def relative_along(comparison: PolicyComparison, product: ArrayLike, path: GrowthPath) -> Numbers:
    """Return the response time under a policy over that under the baseline, along a path.

    Parameters and errors are those of :func:`response_time_along`.
    """
    own = response_time_along(comparison.case, product, path)
    return own / response_time_along(comparison.baseline, product, path)


def exchange_rate(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Numbers:
    """Return how much waste costs as much as one reallocation.

    Parameters and errors are those of :func:`response_time`; the result is in processor-seconds
    of today's machine, the unit in which the parameters have waste.
    """
    return np.asarray(equations.exchange_rate(case, *machines(speed, cache)))


def waste_budget(
    comparison: PolicyComparison, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0
) -> Numbers:
    """Return how much waste makes the policy as slow as the baseline if it reallocates nothing.

    Parameters and errors are those of :func:`response_time`; the result is in processor-seconds
    of today's machine. It is negative where the policy cannot be as fast as the baseline.
    """
    both = comparison.case, comparison.baseline
    return np.asarray(equations.waste_budget(*both, *machines(speed, cache)))


def machines(speed: ArrayLike, cache: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return speeds and caches as arrays of one shape.

    Raises
    ------
    ModelError
        When one of them is not more than 0 or beyond :data:`EXTREME`, or the shapes do not go
        together.
    """
    both = positive(speed, "speed", EXTREME), positive(cache, "cache", EXTREME)
    try:
        speeds, caches = np.broadcast_arrays(*both)
    except ValueError:
        shapes = " and ".join(str(values.shape) for values in both)
        raise ModelError(f"speed and cache have shapes that do not go together: {shapes}") from None
    return speeds, caches


def positive_product(values: ArrayLike) -> Numbers:
    """Return products of speed and cache as an array; see :func:`positive`."""
    return positive(values, "the product of speed and cache")


def positive(values: ArrayLike, what: str, extreme: float | None = None) -> Numbers:
    """Return numbers as an array.

    Parameters
    ----------
    values
        The numbers; any shape.
    what
        What an error calls them.
    extreme
        The greatest number, and 1 over the least one; no limits if None.

    Raises
    ------
    ModelError
        When one of them is not finite and more than 0, or too extreme.
    """
    numbers = np.asarray(values, dtype=np.float64)
    wrong = numbers[~(np.isfinite(numbers) & (numbers > 0))]
    if wrong.size:
        raise ModelError(f"{what} must be a finite number above 0, not {wrong.flat[0]:g}")
    if extreme is not None:
        beyond = numbers[(numbers > extreme) | (numbers < 1 / extreme)]
        if beyond.size:
            raise ModelError(
                f"{what} must be from {1 / extreme:g} to {extreme:g}, not {beyond.flat[0]:g}"
            )
    return numbers
