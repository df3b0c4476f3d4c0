"""The formulas as numbers: functions over NumPy arrays, compiled from the SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.model import Case, Comparison

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]


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
    speeds, caches = machines(speed, cache)
    return _compiled("response_time")(*parameters(case), speeds, caches)  # type: ignore[no-any-return]


def relative_response_time(
    comparison: Comparison, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0
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
    products = positive(product, "the product of speed and cache")
    return _compiled(f"along {path}")(*parameters(case), products)  # type: ignore[no-any-return]


def relative_along(comparison: Comparison, product: ArrayLike, path: GrowthPath) -> Numbers:
    """Return the response time under a policy over that under the baseline, along a path.

    Parameters and errors are those of :func:`response_time_along`.
    """
    own = response_time_along(comparison.case, product, path)
    return own / response_time_along(comparison.baseline, product, path)


def path_coefficients(case: Case, path: GrowthPath) -> tuple[float, ...]:
    """Return the coefficients of the polynomial in v that stands for the response time.

    See :func:`dfopt_models.response_time.formulas.path_polynomial`; that of v⁰ comes first.
    """
    return tuple(map(float, _compiled(f"coefficients {path}")(*parameters(case))))


def root_of_crossover(comparison: Comparison, path: GrowthPath) -> float:
    """Return √x* by the closed form along ``limit`` or ``speed``; not finite if there is none."""
    import numpy as np

    own, theirs = comparison.case, comparison.baseline
    with np.errstate(all="ignore"):
        return float(
            _compiled(f"root {path}")(*map(np.float64, (*parameters(own), *parts(theirs))))
        )


def exchange_rate(case: Case, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Numbers:
    """Return how much waste costs as much as one reallocation.

    Parameters and errors are those of :func:`response_time`; the result is in processor-seconds
    of today's machine, the unit in which the parameters have waste.
    """
    speeds, caches = machines(speed, cache)
    return _compiled("exchange rate")(*parameters(case), speeds, caches)  # type: ignore[no-any-return]


def waste_budget(comparison: Comparison, speed: ArrayLike = 1.0, cache: ArrayLike = 1.0) -> Numbers:
    """Return how much waste makes the policy as slow as the baseline if it reallocates nothing.

    Parameters and errors are those of :func:`response_time`; the result is in processor-seconds
    of today's machine. It is negative where the policy cannot be as fast as the baseline.
    """
    speeds, caches = machines(speed, cache)
    own, theirs = comparison.case, comparison.baseline
    return _compiled("waste budget")(*parameters(own), *parts(theirs), speeds, caches)  # type: ignore[no-any-return]


def machines(speed: ArrayLike, cache: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return speeds and caches as arrays of one shape.

    Raises
    ------
    ModelError
        When one of them is not more than 0, or the shapes do not go together.
    """
    import numpy as np

    both = positive(speed, "speed"), positive(cache, "cache")
    try:
        speeds, caches = np.broadcast_arrays(*both)
    except ValueError:
        shapes = " and ".join(str(one.shape) for one in both)
        raise ModelError(f"speed and cache have shapes that do not go together: {shapes}") from None
    return speeds, caches


def positive(values: ArrayLike, what: str) -> Numbers:
    """Return numbers as an array.

    Raises
    ------
    ModelError
        When one of them is not finite and more than 0.
    """
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    wrong = numbers[~(np.isfinite(numbers) & (numbers > 0))]
    if wrong.size:
        raise ModelError(f"{what} must be a finite number above 0, not {wrong.flat[0]:g}")
    return numbers


def parameters(case: Case) -> tuple[float, ...]:
    """Return the numbers of a case in the order of the compiled functions."""
    from dfopt_models.response_time import formulas

    return tuple(float(getattr(case, name)) for name in formulas.PARAMETERS)


def parts(case: Case) -> tuple[float, ...]:
    """Return those numbers of a case that depend on the policy."""
    from dfopt_models.response_time import formulas

    return parameters(case)[: len(formulas.PARTS)]


@cache
def _compiled(name: str) -> Callable[..., Any]:
    """Return the function of an expression; sympy takes its time for each."""
    from sympy import lambdify

    from dfopt_models.response_time import formulas

    machine = (formulas.SPEED, formulas.CACHE)
    own = tuple(formulas.PARAMETERS.values())
    theirs = tuple(formulas.of_policy(part, "e") for part in formulas.PARTS)
    marked = tuple(formulas.of_policy(part, "d") for part in own)
    kind, _, path = name.partition(" ")
    match kind:
        case "response_time":
            arguments, expression = (*own, *machine), formulas.FUTURE_RESPONSE_TIME
        case "along":
            arguments = (*own, formulas.PRODUCT)
            expression = formulas.along(GrowthPath(path))
        case "coefficients":
            arguments, expression = own, formulas.path_coefficients(GrowthPath(path))
        case "root":
            arguments = (*marked, *theirs)
            expression = formulas.root_of_crossover(GrowthPath(path))
        case "exchange":
            arguments, expression = (*own, *machine), formulas.exchange_rate()
        case _:
            arguments, expression = (*marked, *theirs, *machine), formulas.waste_budget()
    return lambdify(arguments, expression, modules="numpy")  # type: ignore[no-any-return]
