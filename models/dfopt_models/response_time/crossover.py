"""Crossovers: the machines on which a policy is as fast as the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dfopt.files.formats import Format
from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time.model import PolicyComparison, ResponseModel
from dfopt_models.response_time.numeric import (
    path_coefficients,
    relative_along,
    root_of_crossover,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dfopt_models.response_time.numeric import Numbers
    from dfopt_models.response_time.roots import Polynomial

FORMAT = Format.CROSSOVER

LARGEST_PRODUCT = 1e100
"""A crossover on a machine beyond this counts as none."""

CLOSED_FORMS = (GrowthPath.LIMIT, GrowthPath.SPEED)
"""The paths along which the crossover has a closed form."""


class Direction(StrEnum):
    """What happens at a crossover as machines grow."""

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
class CrossoverRow:
    """The crossovers of a policy for one job, and what there could be within the ranges.

    Parameters
    ----------
    job, policy
        Their names.
    today
        Response time under the policy over that under the baseline, where the path begins.
    crossovers
        By their product; empty if there is none.
    possible
        Where there can be a crossover with parameters within their ranges: intervals of the
        product, the end of the last one perhaps infinite. None without ranges.
    """

    job: str
    policy: str
    today: float
    crossovers: tuple[Crossover, ...]
    possible: tuple[tuple[float, float], ...] | None = None


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

    Notes
    -----
    Along each path the difference of both response times, times a positive factor, is a
    polynomial of degree 3 at most in v, a root of 1/product; today is v = 1, and v goes to 0 as
    machines grow. All of its roots from 0 to 1 are found, see :mod:`.roots`. Nothing is squared,
    so that no root is invented.
    """
    from dfopt_models.response_time.roots import roots

    found = (
        Crossover(product=product, direction=_direction(root.above, root.below))
        for root in reversed(roots(difference(comparison, path)))
        if (product := product_at(root.at, path)) <= LARGEST_PRODUCT
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
    if len(difference(comparison, path).reduced().coefficients) <= 1:
        return None  # numerator or denominator is rounding alone
    root = root_of_crossover(comparison, path)
    if not 1 <= root <= math.sqrt(LARGEST_PRODUCT):  # a negative one must not be squared
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
    import numpy as np

    wastes = np.asarray(waste, dtype=np.float64)
    products = np.full(wastes.shape, np.nan)
    for place, value in np.ndenumerate(wastes):
        baseline = replace(comparison.baseline, waste=float(value))
        for crossing in crossovers(replace(comparison, baseline=baseline), path):
            if crossing.direction is Direction.FALLS_BEHIND:
                products[place] = crossing.product
                break
    return products


def crossover_table(
    model: ResponseModel, path: GrowthPath = GrowthPath.EQUAL
) -> tuple[CrossoverRow, ...]:
    """Return the crossovers of every policy of every job with the baseline.

    Raises
    ------
    ModelError
        When a job has no policy besides the baseline.
    """
    from dfopt_models.response_time.ranges import possible_crossovers

    return tuple(
        CrossoverRow(
            job=comparison.job,
            policy=comparison.policy,
            today=float(relative_along(comparison, 1.0, path)),
            crossovers=crossovers(comparison, path),
            possible=possible_crossovers(comparison, path) if comparison.has_ranges else None,
        )
        for comparison in model.comparisons()
    )


def crossover_document(
    model: ResponseModel, path: GrowthPath, rows: Sequence[CrossoverRow]
) -> dict[str, Any]:
    """Return the crossovers as a document of the format ``dfopt-crossover/1``."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "model": model.name,
        "baseline": model.baseline,
        "path": str(path),
        "crossovers": [
            {"job": row.job, "policy": row.policy, "product": product}
            for row in rows
            for product in _products(row)
        ],
    }
    ranges = [
        {"job": row.job, "policy": row.policy, "products": _finite(row.possible)}
        for row in rows
        if row.possible is not None
    ]
    return document | ({"x-ranges": ranges} if ranges else {})


def difference(comparison: PolicyComparison, path: GrowthPath) -> Polynomial:
    """Return the polynomial in v that is 0 at a crossover, positive where the policy is slow."""
    from dfopt_models.response_time.roots import Polynomial

    return Polynomial.difference(
        path_coefficients(comparison.case, path), path_coefficients(comparison.baseline, path)
    )


def product_at(v: float, path: GrowthPath) -> float:
    """Return the product of speed and cache that v stands for; infinite where that is huge."""
    from dfopt_models.response_time import formulas

    power = int(formulas.PRODUCT_OF_SHRINKING[path].as_base_exp()[1])
    try:
        return v**power
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _direction(before: int, after: int) -> Direction:
    if after > 0 >= before:
        return Direction.FALLS_BEHIND
    return Direction.OVERTAKES if after < 0 <= before else Direction.TOUCHES


def _products(row: CrossoverRow) -> list[float | None]:
    return [crossing.product for crossing in row.crossovers] or [None]


def _finite(intervals: Iterable[tuple[float, float]]) -> list[list[float | None]]:
    return [[end if math.isfinite(end) else None for end in interval] for interval in intervals]
