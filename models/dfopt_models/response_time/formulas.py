"""The model as SymPy expressions: the numbers and the formulas in the documentation come from here.

Importing this module imports SymPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import sympy
from sympy import Expr, Poly, Symbol, latex, sqrt

from dfopt_models.growth import GrowthPath

WORK, WASTE, REALLOCATIONS, AFFINITY, ALLOCATION = PARTS = sympy.symbols(
    "w W N alpha a", positive=True
)
REALLOCATION_TIME, PENALTY_AFFINITY, PENALTY_NO_AFFINITY = SHARED = sympy.symbols(
    "t_re P^A P^NA", positive=True
)
SPEED, CACHE, PRODUCT = sympy.symbols("s c x", positive=True)
SHRINKING = Symbol("v", positive=True)
"""A root of 1/product: 1 today, towards 0 as machines grow."""

PARAMETERS: Mapping[str, Symbol] = {
    "work": WORK,
    "waste": WASTE,
    "reallocations": REALLOCATIONS,
    "affinity": AFFINITY,
    "allocation": ALLOCATION,
    "reallocation_time": REALLOCATION_TIME,
    "penalty_affinity": PENALTY_AFFINITY,
    "penalty_no_affinity": PENALTY_NO_AFFINITY,
}
"""The symbols of a case, by the names that :class:`~dfopt_models.response_time.Case` has."""

CASE = tuple(PARAMETERS.values())
MACHINE = (SPEED, CACHE)

CACHE_PENALTY = AFFINITY * PENALTY_AFFINITY + (1 - AFFINITY) * PENALTY_NO_AFFINITY
"""Equation (2), seconds per reallocation."""

RESPONSE_TIME = (WORK + WASTE + REALLOCATIONS * (REALLOCATION_TIME + CACHE_PENALTY)) / ALLOCATION
"""Equation (1), seconds."""

FUTURE_CACHE_PENALTY = AFFINITY * PENALTY_AFFINITY / CACHE + (
    1 - AFFINITY
) * PENALTY_NO_AFFINITY * sqrt(CACHE)
"""Figure 7, seconds per reallocation before faster memory is taken into account."""

FUTURE_RESPONSE_TIME = (
    (WORK + WASTE) / SPEED
    + REALLOCATIONS * (REALLOCATION_TIME / SPEED + FUTURE_CACHE_PENALTY / sqrt(SPEED))
) / ALLOCATION
"""Figure 7, seconds."""

SPEED_AND_CACHE = {
    GrowthPath.EQUAL: (sqrt(PRODUCT), sqrt(PRODUCT)),
    GrowthPath.SPEED: (PRODUCT, sympy.Integer(1)),
    GrowthPath.CACHE: (sympy.Integer(1), PRODUCT),
    GrowthPath.LIMIT: (PRODUCT, sympy.Integer(1)),
}
"""Where each path is at a product. Without the affinity term only the product matters, so that
the path ``limit`` may run along any of the others."""

PRODUCT_OF_SHRINKING = {
    path: SHRINKING ** (-4 if path is GrowthPath.EQUAL else -2) for path in GrowthPath
}
"""Such powers of v make a polynomial of the response time along each path."""


@cache
def along(path: GrowthPath) -> Expr:
    """Return the response time in seconds along a path, as an expression in the product."""
    speed, cache_size = SPEED_AND_CACHE[path]
    response_time = FUTURE_RESPONSE_TIME.subs({SPEED: speed, CACHE: cache_size})
    return response_time.subs(PENALTY_AFFINITY, 0) if path is GrowthPath.LIMIT else response_time


@cache
def path_polynomial(path: GrowthPath) -> Poly:
    """Return the response time along a path as a polynomial in v.

    It is the response time times the speed times a power of v. The factor is positive and the
    same for every policy, so that two policies are equal where their polynomials are, and the
    one with the larger polynomial is slower.
    """
    speed, _ = SPEED_AND_CACHE[path]
    scaled = (speed * along(path)).subs(PRODUCT, PRODUCT_OF_SHRINKING[path])
    terms = sympy.expand(scaled, power_base=True)
    lowest = min(term.as_coeff_exponent(SHRINKING)[1] for term in terms.args)
    return Poly(sympy.expand(terms * SHRINKING**-lowest), SHRINKING)


@cache
def path_coefficients(path: GrowthPath) -> tuple[Expr, ...]:
    """Return the coefficients of :func:`path_polynomial`, that of v⁰ first."""
    return tuple(_tidy(part) for part in reversed(path_polynomial(path).all_coeffs()))


def _tidy(expression: Expr) -> Expr:
    """Return a sum in which 1 − α stands as such, so that nothing cancels when it is small."""
    return sympy.collect(sympy.expand(expression), PENALTY_NO_AFFINITY, sympy.factor)


def polynomial_of_path(path: GrowthPath) -> Expr:
    """Return the polynomial in v with its coefficients as :func:`path_coefficients` has them."""
    return sympy.Add(
        *(part * SHRINKING**power for power, part in enumerate(path_coefficients(path)))
    )


def of_policy(expression: Expr, mark: str) -> Expr:
    """Return an expression with the parameters that depend on the policy marked by a letter."""
    return expression.subs({part: Symbol(f"{part.name}_{mark}", positive=True) for part in PARTS})


COMPARISON = tuple(
    of_policy(part, mark) for mark, parts in (("d", CASE), ("e", PARTS)) for part in parts
)
"""The symbols of a policy d and of the baseline e, of which some are the same."""


@cache
def root_of_crossover(path: GrowthPath) -> Expr:
    """Return √x* of a policy d and the baseline e, where the crossover has a closed form.

    That is along ``limit`` and ``speed``, where the polynomials are linear. x* is the square of
    the value if that is at least 1; if it is not positive, there is no crossover.
    """
    # Both sides times both allocations, so that no fractions are left within the result.
    sides = of_policy(path_polynomial(path).as_expr(), "d") - of_policy(
        path_polynomial(path).as_expr(), "e"
    )
    factor = of_policy(ALLOCATION, "d")
    constant, slope = (sympy.expand(sides * factor).coeff(SHRINKING, power) for power in (0, 1))
    return _gathered(-slope) / _gathered(constant)


def _gathered(expression: Expr) -> Expr:
    """Return a difference of a policy's terms and a baseline's, those of the baseline factored."""
    ratio = of_policy(ALLOCATION, "d") / of_policy(ALLOCATION, "e")
    theirs = [term for term in expression.args if term.has(of_policy(ALLOCATION, "e"))]
    own = expression - sympy.Add(*theirs)
    return ratio * _tidy(sympy.Add(*theirs) / ratio) + _tidy(own)


@cache
def relative_response_time() -> Expr:
    """Return the response time of a policy d over that of the baseline e, in product and cache."""
    at_point = FUTURE_RESPONSE_TIME.subs(SPEED, PRODUCT / CACHE)
    return of_policy(at_point, "d") / of_policy(at_point, "e")


@cache
def relative_change_with_cache() -> Expr:
    """Return ∂/∂c of the relative response time at a fixed product, the baseline moving nothing."""
    still = relative_response_time().subs(of_policy(REALLOCATIONS, "e"), 0)
    return sympy.powsimp(sympy.simplify(sympy.diff(still, CACHE)))


@cache
def exchange_rate() -> Expr:
    """Return how much waste costs as much as one reallocation, in today's processor-seconds.

    It is minus the slope of a line of equal response time in the plane of reallocations and
    waste.
    """
    slope = sympy.diff(FUTURE_RESPONSE_TIME, REALLOCATIONS) / sympy.diff(
        FUTURE_RESPONSE_TIME, WASTE
    )
    return sympy.expand(slope).subs(
        sympy.expand(FUTURE_CACHE_PENALTY * sqrt(SPEED)), FUTURE_CACHE_PENALTY * sqrt(SPEED)
    )


@cache
def waste_budget() -> Expr:
    """Return how much waste makes a policy d without reallocations as slow as the baseline e.

    In today's processor-seconds; each reallocation takes its exchange rate from it.
    """
    waste = of_policy(WASTE, "d")
    without = of_policy(FUTURE_RESPONSE_TIME.subs(REALLOCATIONS, 0), "d")
    (budget,) = sympy.solve(without - of_policy(FUTURE_RESPONSE_TIME, "e"), waste)
    return budget


FORMULAS: Mapping[str, tuple[str, Callable[[], Expr]]] = {
    "response-time": (r"RT", lambda: RESPONSE_TIME),
    "cache-penalty": (r"cp", lambda: CACHE_PENALTY),
    "future-response-time": (r"RT", lambda: FUTURE_RESPONSE_TIME),
    "relative-change-with-cache": (
        r"\frac{\partial R}{\partial c}",
        relative_change_with_cache,
    ),
    "exchange-rate": (r"h", exchange_rate),
    "root-of-limit": (r"\sqrt{x^*}", lambda: root_of_crossover(GrowthPath.LIMIT)),
    "root-of-speed": (r"\sqrt{x^*}", lambda: root_of_crossover(GrowthPath.SPEED)),
    **{f"polynomial-{path}": ("p(v)", partial(polynomial_of_path, path)) for path in GrowthPath},
}
"""What the documentation shows: the left side, and what gives the right side."""


def formula(name: str) -> str:
    """Return a formula in LaTeX by its name in :data:`FORMULAS`."""
    left, expression = FORMULAS[name]
    return f"{left} = {latex(expression())}"
