"""Crossovers: the machines on which a policy is as fast as the baseline.

Along each path of growth the response time is a polynomial in v, see :func:`path_coefficients`; a
crossover is a root of the difference of two of them with
0 < v ≤ 1. The difference has at most three terms. So it has at most one turning point beyond 0,
which is known in closed form, and on either side of it the difference is monotone: it has one root
there if its signs at both ends differ, and none otherwise. Thus no root is missed. A sign counts
only if rounding cannot change it.

Parameters may be known within ranges only. The difference of two response times, times the factor
that makes a polynomial of it, is linear in
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

The paper claims that relative response times depend only on the product of speed and cache. At a
fixed product x they depend on the cache c through √x · c^(−3/2) alone, and both numerator and
denominator are linear in it. So they are monotone along any stretch of caches, and the spread is
the difference between both ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import pairwise
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import field
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike

from dfopt.confidence import CONFIDENCE
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import DocumentPart, Record, replace
from dfopt.table import Table, Uncertain, Value, columns, facts
from dfopt_models.formulas import Equations, equation, exact
from dfopt_models.growth import KNOWN_DIGITS, GrowthPath, growth_text
from dfopt_models.model import AnalyticModel
from dfopt_models.response_time import (
    EXTREME,
    HALF,
    QUANTITIES,
    RESPONSE_MODELS,
    SHARED_NUMBERS,
    Case,
    Numbers,
    PolicyComparison,
    Range,
    ResponseModel,
    assumed_note,
    assumptions_of_comparison,
    positive,
    relative_response_time,
    response_time,
)

if TYPE_CHECKING:
    from sympy import Eq, Expr


CLOSED_FORMS = (GrowthPath.LIMIT, GrowthPath.SPEED)
"""The paths along which the crossover has a closed form."""

TINY = 1e-300
"""Absolute error of a root: roots may have any order of magnitude."""

RELATIVE = 4 * 2.0**-52
"""Relative error of a root."""

MOST_STEPS = 5000
"""At most this many steps of the search for a root."""

ROUNDING = 16 * 2.0**-52
"""Error of a sum of a few terms, as a share of the largest of them."""

REAL = 1e-9
"""A root counts as real if its imaginary part is at most this share of it."""

SLOWS = ("work", "waste", "reallocations")
"""Parameters that make a policy slower when they grow; allocation makes it faster."""

FURTHEST_PRODUCT = 1e8
"""The largest spread lies below this product; beyond it the spread only falls."""

STEPS = 4001
"""Products at which the spread is computed first."""

FULL_DIGITS = 4
"""Significant digits of a product that follows from exact parameters."""

SAME = 1e-12
"""Relative response times that differ from 1 by no more are 1."""

crossing = Equations(QUANTITIES)


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


def polynomial_of_path(path: GrowthPath, case: Any, v: Any) -> Any:
    """Return the polynomial in v that stands for the response time along a path."""
    return sum(part * v**power for power, part in enumerate(path_coefficients(case, path)))


def root_of_crossover(path: GrowthPath, policy: Any, baseline: Any) -> Any:
    """Return √x* of a policy and the baseline, where their polynomials are linear.

    Every term is multiplied by the policy's allocation, so that it is no fraction.
    """
    from sympy import Add

    own, theirs = (
        [
            Add(*(term * policy.allocation for term in Add.make_args(coefficient)))
            for coefficient in path_coefficients(each, path)
        ]
        for each in (policy, baseline)
    )
    return (theirs[1] - own[1]) / (own[0] - theirs[0])


for each_path in GrowthPath:
    crossing(
        f"what decides which policy is faster, {each_path.meaning}",
        name=f"polynomial-{each_path}",
        source="derived: Figure 7 along a path, times positive factors that policies share",
        left="polynomial",
    )(partial(polynomial_of_path, each_path))

for each_path in CLOSED_FORMS:
    crossing(
        f"the crossover, {each_path.meaning}",
        name=f"root-{each_path}",
        source="derived: the root of the difference of two linear polynomials",
        left="root",
    )(partial(root_of_crossover, each_path))


@crossing.built(
    "change-with-cache",
    "how the relative response time changes at a fixed product, the baseline still",
    source="derived: Figure 7",
)
def relative_change_with_cache() -> Eq:
    """Return ∂R/∂c at a fixed product, with a baseline that moves nothing."""
    from sympy import Derivative, Function, diff, powsimp, simplify

    policy, baseline, product, cache = crossing.symbols("policy", "baseline", "product", "cache")
    own, theirs = (response_time(each, product / cache, cache) for each in (policy, baseline))
    still: Expr = exact(own / theirs).subs(baseline.reallocations, 0)
    change = powsimp(simplify(diff(still, cache)))
    return equation(Derivative(Function("R")(cache, product), cache), change)


def response_time_along(case: Case, product: ArrayLike, path: GrowthPath) -> Any:
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
    along = speed_and_cache(path, positive(product, "the product of speed and cache"))
    return response_time(case, *along)


def relative_along(comparison: PolicyComparison, product: ArrayLike, path: GrowthPath) -> Any:
    """Return the response time under a policy over that under the baseline, along a path.

    Parameters and errors are those of :func:`response_time_along`.
    """
    own = response_time_along(comparison.case, product, path)
    return own / response_time_along(comparison.baseline, product, path)


class Direction(StrEnum):
    """The change at a crossover as machines grow."""

    FALLS_BEHIND = "falls behind"
    """The policy is faster than the baseline before, and slower after."""

    OVERTAKES = "overtakes"
    """The policy is slower than the baseline before, and faster after."""

    TOUCHES = "touches"
    """Both are equal there, and the same one is faster before and after."""


class Crossover(Record):
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


class Root(NamedTuple):
    """A root of a difference, more than 0 and at most 1, and the signs, -1 or 1, beside it.

    ``above`` is 0 for a root at 1.
    """

    v: float
    below: int
    above: int


class Difference(Record):
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
        places = [(v, reduced.sign(v)) for v in (0.0, *reduced.turning_points(), 1.0)]
        places += [
            (brentq(reduced.value, low, high, xtol=TINY, rtol=RELATIVE, maxiter=MOST_STEPS), 0)
            for (low, below), (high, above) in pairwise(places)
            if below * above < 0
        ]
        places.sort()
        # Neighbouring places that are both 0 within rounding are one root. 0 is no root.
        return tuple(
            Root(v, below, next((after for place, after in places if place > v and after), 0))
            for (_, below), (v, sign) in pairwise(places)
            if below and not sign
        )


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
        if (product := product_at(root.v, path)) <= EXTREME
    )
    return tuple(found)


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

    return _possible(
        is_possible, {root.v for corner in (*slowest, *fastest) for root in corner.roots()}, path
    )


def _possible(
    is_possible: Callable[[float], bool], roots: Iterable[float], path: GrowthPath
) -> tuple[tuple[float, float], ...]:
    """Return the products where something is possible that changes at roots alone."""
    turns = sorted({*roots, 1.0})
    intervals: list[list[float]] = []
    for low, high in pairwise([0.0, *turns]):
        for begin in (low, high):  # the stretch between two turns, and then the second one alone
            if not is_possible((begin + high) / 2):
                continue
            if intervals and intervals[-1][1] == begin:
                intervals[-1][1] = high
            else:
                intervals.append([begin, high])
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
    theirs = _choices(comparison.baseline_ranges, slow=their_end)
    for values in combinations(_choices(shared), _choices(own, slow=my_end), theirs):
        yield comparison.with_values(*values)


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
    return _possible(is_possible, {root for root in real if 0 < root < 1}, path)


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
    products = positive(product, "the product of speed and cache")
    from_root = region in (Region.LARGE_CACHE, Region.GROWING_LARGE_CACHE)
    smallest = np.sqrt(products) if from_root else np.ones_like(products)
    first = relative_response_time(comparison, products / smallest, smallest)
    if region in (Region.ANY_CACHE, Region.LARGE_CACHE):
        last = relative_along(comparison, products, GrowthPath.LIMIT)
    else:
        last = relative_response_time(comparison, 1.0, products)
    return np.asarray(np.abs(last - first))


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


class CrossoverRow(Record):
    """The crossovers of a policy for one job, and those that the ranges allow.

    Parameters
    ----------
    job, policy
        Their names.
    today
        Response time under the policy over that under the baseline, where the path begins.
    crossovers
        By their product; empty if there is none.
    possible
        Where a crossover is possible with parameters within their ranges: intervals of the
        product, the last of which may be infinite. None without ranges.
    assumptions
        What it rests on that is assumed, a text each.
    """

    job: str
    policy: str
    today: float
    crossovers: tuple[Crossover, ...]
    possible: tuple[tuple[float, float], ...] | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def digits(self) -> int:
        """Significant digits of its products that mean anything."""
        return KNOWN_DIGITS if self.possible is not None else FULL_DIGITS


def crossover_table(
    model: ResponseModel, path: GrowthPath = GrowthPath.EQUAL
) -> tuple[CrossoverRow, ...]:
    """Return the crossovers of every policy of every job with the baseline.

    Raises
    ------
    ModelError
        When a job has no policy besides the baseline.
    """
    return tuple(
        CrossoverRow(
            job=comparison.job,
            policy=comparison.policy,
            today=float(relative_along(comparison, 1.0, path)),
            crossovers=crossovers(comparison, path),
            possible=possible_crossovers(comparison, path) if comparison.has_ranges else None,
            assumptions=assumptions_of_comparison(model, comparison.job, comparison.policy),
        )
        for comparison in model.comparisons()
    )


class CrossingProduct(DocumentPart):
    """A machine on which a policy is as fast as the baseline.

    Parameters
    ----------
    job, policy
        Their names.
    product
        Speed times cache; null if there is no such machine.
    """

    job: str
    policy: str
    product: float | None


class PossibleProducts(DocumentPart):
    """Where a crossover is possible with parameters within their ranges.

    Parameters
    ----------
    job, policy
        Their names.
    products
        Intervals of the product; the last of which may have no end.
    """

    job: str
    policy: str
    products: tuple[tuple[float | None, float | None], ...]


class CrossoverResult(DocumentPart):
    """What ``dfopt model crossover --json`` prints.

    Parameters
    ----------
    model
        Its name.
    baseline
        The policy that all others are compared with.
    path
        How speed and cache grow.
    crossovers
        By job and policy.
    ranges
        By job and policy, where parameters have ranges.
    """

    model: str
    baseline: str
    path: GrowthPath
    crossovers: tuple[CrossingProduct, ...]
    ranges: tuple[PossibleProducts, ...] = field(name="x-ranges", default=())

    def tables(self, model: ResponseModel) -> list[Table]:
        """Return the crossovers as tables."""
        path = self.path
        begin = "at 1" if path == "limit" else "today"  # without the affinity term it is not today
        headings = columns(
            *("job", "policy", f"÷ base {begin} :.3f", "speed × cache :,.10g"),
            *("there the policy", "possible crossovers"),
        )
        rows = crossover_table(model, path)
        values: list[tuple[Value, ...]] = []
        for row in rows:
            crossings: list[tuple[Value, str]] = [
                (
                    Uncertain(float(f"{each.product:.{row.digits}g}"), None, bool(row.assumptions)),
                    str(each.direction),
                )
                for each in row.crossovers
            ]
            values += [
                (
                    *(row.job, row.policy, Uncertain(row.today, None, bool(row.assumptions))),
                    *(*found, _intervals(row)),
                )
                for found in crossings or [("none", _without(row))]
            ]
        assumed = (text for row in rows for text in row.assumptions)
        return [
            facts({"baseline": self.baseline, "path": f"{path}, {path.meaning}"}, self.model),
            Table("", headings, values, assumed_note(assumed)),
        ]


def crossover_result(
    model: ResponseModel, *, path: GrowthPath = GrowthPath.EQUAL
) -> CrossoverResult:
    """Return where policies become as fast as the baseline.

    Raises
    ------
    ModelError
        When a job has no policy besides the baseline.
    """
    rows = crossover_table(model, path)
    return CrossoverResult(
        model=model.name,
        baseline=model.baseline,
        path=path,
        crossovers=tuple(
            CrossingProduct(job=row.job, policy=row.policy, product=product)
            for row in rows
            for product in [each.product for each in row.crossovers] or (None,)
        ),
        ranges=tuple(
            PossibleProducts(job=row.job, policy=row.policy, products=row.possible)
            for row in rows
            if row.possible is not None
        ),
    )


def _without(row: CrossoverRow) -> str:
    """Say what the lack of a crossover means."""
    if math.isclose(row.today, 1, rel_tol=SAME):
        return "is as fast as the baseline"
    return f"is {'faster' if row.today < 1 else 'slower'} on every machine"


def _intervals(row: CrossoverRow) -> str | None:
    """Return where a crossover can be."""
    if row.possible is None:
        return None
    return ", ".join(_interval(*products) for products in row.possible) or "none"


def _interval(least: float, most: float) -> str:
    """Return an interval of products; there is none below 1."""
    low, high = (growth_text(end, KNOWN_DIGITS) for end in (least, most))
    if math.isinf(most):
        return "any" if least <= 1 else f"{low} or more"
    if least <= 1 < most:
        return f"up to {high}"
    return low if low == high else f"{low} to {high}"


CROSSOVER = AnalyticModel(
    name="crossover",
    parameters=RESPONSE_MODELS,
    results=DocumentType(Format.CROSSOVER, CrossoverResult),
    says=crossover_result,
    formulas=crossing.formulas,
)
