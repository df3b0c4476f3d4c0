"""Crossovers: the machines on which a policy is as fast as the baseline.

Along each path of growth the response time is a polynomial in v, see
:func:`.equations.path_coefficients`; a crossover is a root of the difference of two of them with
0 < v ≤ 1. The difference has at most three terms. So it has at most one turning point beyond 0,
which is known in closed form, and on either side of it the difference is monotone: it has one root
there if its signs at both ends differ, and none otherwise. Thus no root is missed. A sign counts
only if rounding cannot change it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from dfopt.structs import replace
from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.equations import CLOSED_FORMS, path_coefficients, product_of
from dfopt_models.response_time.numeric import Numbers

LARGEST_PRODUCT = 1e100
"""A crossover on a machine with a larger product does not count."""

TINY = 1e-300
"""Absolute error of a root: roots may have any order of magnitude."""

RELATIVE = 4 * 2.0**-52
"""Relative error of a root."""

MOST_STEPS = 5000
"""At most this many steps of the search for a root."""

ROUNDING = 16 * 2.0**-52
"""Error of a sum of a few terms, as a share of the largest of them."""


class Direction(StrEnum):
    """The change at a crossover as machines grow."""

    FALLS_BEHIND = "falls behind"
    """The policy is faster than the baseline before, and slower after."""

    OVERTAKES = "overtakes"
    """The policy is slower than the baseline before, and faster after."""

    TOUCHES = "touches"
    """Both are equal there, and the same one is faster before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossover:
    """A machine on which a policy is as fast as the baseline.

    Parameters
    ----------
    product
        Its speed times its cache, relative to today's machine; at least 1.
    direction
        What happens there as machines grow.
    """

    product: float
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A root of a difference, and the signs beside it.

    Parameters
    ----------
    v
        The root, more than 0 and at most 1.
    below, above
        The signs, -1 or 1, of the difference on either side; ``above`` is 0 for a root at 1.
    """

    v: float
    below: int
    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The polynomial of a policy minus that of the baseline; positive where the policy is slower.

    Parameters
    ----------
    coefficients
        That of v⁰ first.
    errors
        The greatest error of each coefficient.
    """

    coefficients: tuple[float, ...]
    errors: tuple[float, ...]

    def value(self, v: float) -> float:
        """Return the value at v."""
        return _polynomial(self.coefficients, v)

    def sign(self, v: float) -> int:
        """Return the sign at v, 0 where rounding could change it."""
        value = self.value(v)
        scale = _polynomial([abs(coefficient) for coefficient in self.coefficients], v)
        if abs(value) <= _polynomial(self.errors, v) + ROUNDING * scale:
            return 0
        return 1 if value > 0 else -1

    def reduced(self) -> Difference:
        """Return the difference without coefficients at either end that may be 0.

        Dividing by a power of v changes no root but 0.
        """
        known = [
            power
            for power, coefficient in enumerate(self.coefficients)
            if abs(coefficient) > self.errors[power]
        ]
        part = slice(known[0], known[-1] + 1) if known else slice(0)
        return Difference(coefficients=self.coefficients[part], errors=self.errors[part])

    def turning_points(self) -> list[float]:
        """Return where a difference with at most three terms turns between 0 and 1."""
        powers = [power for power, factor in enumerate(self.coefficients) if power and factor]
        if len(powers) == 1:
            return []
        low, high = powers  # low·b·v^(low−1) + high·c·v^(high−1) = 0
        ratio = -low * self.coefficients[low] / (high * self.coefficients[high])
        turn = ratio ** (1 / (high - low)) if ratio > 0 else 0.0
        return [turn] if 0 < turn < 1 else []

    def roots(self) -> tuple[Root, ...]:
        """Return all roots with 0 < v ≤ 1 in increasing order; a double one once.

        A difference that may be 0 everywhere has none.
        """
        from scipy.optimize import brentq

        reduced = self.reduced()
        if len(reduced.coefficients) <= 1:
            return ()
        ends = [0.0, *reduced.turning_points(), 1.0]
        signs = [reduced.sign(end) for end in ends]
        found = []
        for index, (end, sign) in enumerate(zip(ends, signs, strict=True)):
            # Two neighbouring ends that are both 0 within rounding are one root. 0 is no root.
            if index > 0 and sign == 0 and signs[index - 1] != 0:
                above = next((after for after in signs[index:] if after), 0)
                found.append(Root(v=end, below=signs[index - 1], above=above))
        for below, above, low, high in zip(signs, signs[1:], ends, ends[1:], strict=False):
            if below * above < 0:
                v = brentq(reduced.value, low, high, xtol=TINY, rtol=RELATIVE, maxiter=MOST_STEPS)
                found.append(Root(v=float(v), below=below, above=above))
        return tuple(sorted(found, key=lambda root: root.v))


def difference(comparison: PolicyComparison, path: GrowthPath) -> Difference:
    """Return the difference of a policy and the baseline along a path."""
    own = path_coefficients(comparison.case, path)
    theirs = path_coefficients(comparison.baseline, path)
    pairs = [(float(a), float(b)) for a, b in zip(own, theirs, strict=True)]
    return Difference(
        coefficients=tuple(a - b for a, b in pairs),
        errors=tuple(ROUNDING * (abs(a) + abs(b)) for a, b in pairs),
    )


def crossovers(
    comparison: PolicyComparison, path: GrowthPath = GrowthPath.EQUAL
) -> tuple[Crossover, ...]:
    """Return all machines along a path on which a policy is as fast as the baseline.

    Parameters
    ----------
    comparison
        A policy and the baseline.
    path
        How speed and cache grow together.

    Returns
    -------
    tuple of Crossover
        By their product; none where speed or cache would be below 1, or the product beyond
        10¹⁰⁰. Empty too if both are equal everywhere.
    """
    found = (
        Crossover(product=product, direction=_direction(root.above, root.below))
        for root in reversed(difference(comparison, path).roots())
        if (product := product_at(root.v, path)) <= LARGEST_PRODUCT
    )
    return tuple(found)


def closed_form_crossover(comparison: PolicyComparison, path: GrowthPath) -> float | None:
    """Return the crossover along ``limit`` or ``speed`` by its closed form; None if there is none.

    Raises
    ------
    ModelError
        Along another path: there is no closed form.
    """
    if path not in CLOSED_FORMS:
        known = " and ".join(CLOSED_FORMS)
        raise ModelError(f"there is a closed form along {known} alone, not along {path}")
    terms = difference(comparison, path)
    if len(terms.reduced().coefficients) <= 1:
        return None  # numerator or denominator is rounding alone
    constant, slope = terms.coefficients
    root = -slope / constant  # √x* = 1/v
    if not 1 <= root <= math.sqrt(LARGEST_PRODUCT):  # a negative root must not be squared
        return None
    return root * root


def crossovers_against_waste(
    comparison: PolicyComparison, waste: ArrayLike, path: GrowthPath = GrowthPath.EQUAL
) -> Numbers:
    """Return where the policy falls behind, as a function of the baseline's waste.

    Parameters
    ----------
    comparison
        A policy and the baseline; the baseline's own waste does not matter.
    waste
        Waste of the baseline, processor-seconds; any shape.
    path
        How speed and cache grow together.

    Returns
    -------
    numpy.ndarray
        The product at the first crossover at which the policy falls behind; NaN without one.
    """
    wastes = np.asarray(waste, dtype=np.float64)
    products = np.full(wastes.shape, np.nan)
    for index, value in np.ndenumerate(wastes):
        baseline = replace(comparison.baseline, waste=float(value))
        for crossing in crossovers(replace(comparison, baseline=baseline), path):
            if crossing.direction is Direction.FALLS_BEHIND:
                products[index] = crossing.product
                break
    return products


def product_at(v: float, path: GrowthPath) -> float:
    """Return the product of speed and cache that v stands for; infinite where that is huge."""
    try:
        return float(product_of(v, path))
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _polynomial(coefficients: Sequence[float], v: float) -> float:
    """Return the value of a polynomial at v, by Horner's rule."""
    result = 0.0
    for coefficient in reversed(coefficients):
        result = result * v + coefficient
    return result


def _direction(before: int, after: int) -> Direction:
    if after > 0 >= before:
        return Direction.FALLS_BEHIND
    return Direction.OVERTAKES if after < 0 <= before else Direction.TOUCHES
