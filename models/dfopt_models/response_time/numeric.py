"""The formulas as numbers: functions over NumPy arrays, compiled from the SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.model import Case, PolicyComparison

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from sympy import Symbol

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
    from dfopt_models.response_time import formulas

    function = _compiled(formulas.CASE + formulas.MACHINE, formulas.FUTURE_RESPONSE_TIME)
    return function(*parameters(case), *machines(speed, cache))


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
    from dfopt_models.response_time import formulas

    function = _compiled((*formulas.CASE, formulas.PRODUCT), formulas.along(path))
    return function(*parameters(case), positive_product(product))


def relative_along(comparison: PolicyComparison, product: ArrayLike, path: GrowthPath) -> Numbers:
    """Return the response time under a policy over that under the baseline, along a path.

    Parameters and errors are those of :func:`response_time_along`.
    """
    own = response_time_along(comparison.case, product, path)
    return own / response_time_along(comparison.baseline, product, path)


def path_coefficients(case: Case, path: GrowthPath) -> tuple[float, ...]:
    """Return the coefficients of the polynomial in v that stands for the response time.

    See :func:`dfopt_models.response_time.formulas.path_polynomial`; that of v⁰ comes first.
    """
    from dfopt_models.response_time import formulas

    function = _compiled(formulas.CASE, formulas.path_coefficients(path))
    return tuple(map(float, function(*parameters(case))))


def root_of_crossover(comparison: PolicyComparison, path: GrowthPath) -> float:
    """Return √x* by the closed form along ``limit`` or ``speed``; not finite if there is none."""
    import numpy as np

    from dfopt_models.response_time import formulas

    function = _compiled(formulas.COMPARISON, formulas.root_of_crossover(path))
    with np.errstate(all="ignore"):
        return float(function(*map(np.float64, parameters_of_both(comparison))))


def exchange_rate(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Numbers:
    """Return how much waste costs as much as one reallocation.

    Parameters and errors are those of :func:`response_time`; the result is in processor-seconds
    of today's machine, the unit in which the parameters have waste.
    """
    from dfopt_models.response_time import formulas

    function = _compiled(formulas.CASE + formulas.MACHINE, formulas.exchange_rate())
    return function(*parameters(case), *machines(speed, cache))


def waste_budget(
    comparison: PolicyComparison, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0
) -> Numbers:
    """Return how much waste makes the policy as slow as the baseline if it reallocates nothing.

    Parameters and errors are those of :func:`response_time`; the result is in processor-seconds
    of today's machine. It is negative where the policy cannot be as fast as the baseline.
    """
    from dfopt_models.response_time import formulas

    function = _compiled(formulas.COMPARISON + formulas.MACHINE, formulas.waste_budget())
    return function(*parameters_of_both(comparison), *machines(speed, cache))


def machines_along(path: GrowthPath, product: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return speed and cache of the machines along a path, by their product.

    Raises
    ------
    ModelError
        When a product is not more than 0, or along ``limit``, which no machine is on.
    """
    import numpy as np

    from dfopt_models.response_time import formulas

    if path is GrowthPath.LIMIT:
        raise ModelError(f"there is no machine along {path}; name another path")
    function = _compiled((formulas.PRODUCT,), formulas.SPEED_AND_CACHE[path])
    speeds, caches = np.broadcast_arrays(*function(positive_product(product)))
    return speeds.astype(np.float64), caches.astype(np.float64)


def machines(speed: ArrayLike, cache: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return speeds and caches as arrays of one shape.

    Raises
    ------
    ModelError
        When one of them is not more than 0 or beyond :data:`EXTREME`, or the shapes do not go
        together.
    """
    import numpy as np

    both = positive(speed, "speed", EXTREME), positive(cache, "cache", EXTREME)
    try:
        speeds, caches = np.broadcast_arrays(*both)
    except ValueError:
        shapes = " and ".join(str(one.shape) for one in both)
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
        What they are.
    extreme
        How large they may be; 1 over it is how small. Any if None.

    Raises
    ------
    ModelError
        When one of them is not finite and more than 0, or too extreme.
    """
    import numpy as np

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


def parameters(case: Case) -> tuple[float, ...]:
    """Return the numbers of a case in the order of the compiled functions."""
    from dfopt_models.response_time import formulas

    return tuple(float(getattr(case, name)) for name in formulas.PARAMETERS)


def parameters_of_both(comparison: PolicyComparison) -> tuple[float, ...]:
    """Return the numbers of a policy and the baseline, those that both share once."""
    from dfopt_models.response_time import formulas

    theirs = parameters(comparison.baseline)[: len(formulas.PARTS)]
    return parameters(comparison.case) + theirs


@cache
def _compiled(arguments: tuple[Symbol, ...], expression: Any) -> Callable[..., Numbers]:
    """Return the function of an expression, or of several; SymPy takes its time for each."""
    from sympy import lambdify

    function: Callable[..., Numbers] = lambdify(arguments, expression, modules="numpy")
    return function
