"""Crossovers: every root, no other, and what ranges allow."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dfopt import replace
from dfopt_models.crossover import (
    CROSSOVER,
    Difference,
    Direction,
    PossibleProducts,
    crossover_result,
    crossovers,
    difference,
    possible_crossovers,
    relative_along,
    relative_range_along,
)
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time import EXTREME, RESPONSE_TIME, Case, PolicyComparison
from tests.strategies import comparisons

paths = st.sampled_from(GrowthPath)
EVERY_PATH = pytest.mark.parametrize("path", list(GrowthPath))

STILL = Case(
    work=100.0,
    waste=0.0,
    reallocations=0,
    affinity=1.0,
    allocation=1.0,
    reallocation_time=0.0,
    penalty_affinity=1.0,
    penalty_no_affinity=1.0,
)


def against(policy: Case, baseline: Case = STILL) -> PolicyComparison:
    return PolicyComparison(job="J", policy="P", case=policy, baseline=baseline)


@pytest.mark.slow
@EVERY_PATH
@given(comparison=comparisons())
def test_every_crossover_is_one(path, comparison):
    """Every crossover that is returned is a root: none comes from squaring, for example."""
    for crossing in crossovers(comparison, path):
        assert crossing.product >= 1
        assert float(relative_along(comparison, crossing.product, path)) == pytest.approx(1)


@pytest.mark.slow
@EVERY_PATH
@given(comparison=comparisons())
def test_every_change_of_sign_on_a_dense_grid_is_a_crossover(path, comparison):
    """No crossover is missed."""
    products = np.geomspace(1, 1e9, 3000)
    excess = relative_along(comparison, products, path) - 1
    found = [crossing.product for crossing in crossovers(comparison, path)]
    clear = np.abs(excess) > 1e-9
    products, faster = products[clear], excess[clear] < 0
    for here in np.flatnonzero(faster[1:] != faster[:-1]):
        low, high = products[here], products[here + 1]
        assert any(low * (1 - 1e-6) <= product <= high * (1 + 1e-6) for product in found)


@pytest.mark.slow
@EVERY_PATH
@given(comparison=comparisons())
def test_directions_say_what_the_curve_does(path, comparison):
    products = [crossing.product for crossing in crossovers(comparison, path)]
    for number, crossing in enumerate(crossovers(comparison, path)):
        last = min(4 * crossing.product, EXTREME)
        after = products[number + 1] if number + 1 < len(products) else last
        middle = (crossing.product * after) ** 0.5
        excess = float(relative_along(comparison, middle, path)) - 1
        assume(abs(excess) > 1e-9)
        if crossing.direction is Direction.FALLS_BEHIND:
            assert excess > 0
        elif crossing.direction is Direction.OVERTAKES:
            assert excess < 0


def closed_form_crossover(comparison: PolicyComparison, path: GrowthPath) -> float | None:
    """The crossover along a path whose polynomials are linear; None if there is none."""
    terms = difference(comparison, path)
    if len(terms.reduced().coefficients) <= 1:
        return None  # numerator or denominator is rounding alone
    constant, slope = terms.coefficients
    root = -slope / constant  # √x* = 1/v
    return root * root if 1 <= root <= EXTREME**0.5 else None


@pytest.mark.slow
@pytest.mark.parametrize("path", [GrowthPath.LIMIT, GrowthPath.SPEED])
@given(comparison=comparisons())
def test_the_closed_form_is_what_the_roots_are(path, comparison):
    closed = closed_form_crossover(comparison, path)
    found = [crossing.product for crossing in crossovers(comparison, path)]
    today = abs(float(relative_along(comparison, 1.0, path)) - 1)
    assume(today > 1e-9 or not found)  # at today's machine rounding decides
    assume(closed is None or closed < 1e20)
    assert found == ([] if closed is None else [pytest.approx(closed)])


@given(comparison=comparisons(), path=paths, factor=st.floats(0.01, 100.0))
def test_the_unit_of_time_does_not_matter(comparison, path, factor):
    times = ("work", "waste", "reallocation_time", "penalty_affinity", "penalty_no_affinity")

    def scaled(case):
        return replace(case, **{name: factor * getattr(case, name) for name in times})

    other = replace(comparison, case=scaled(comparison.case), baseline=scaled(comparison.baseline))
    products = [crossing.product for crossing in crossovers(comparison, path)]
    assume(all(1.001 < product < 1e12 for product in products))
    assume(not any(c.direction is Direction.TOUCHES for c in crossovers(comparison, path)))
    assume(abs(float(relative_along(comparison, 1.0, path)) - 1) > 1e-9)
    assert [c.product for c in crossovers(other, path)] == [pytest.approx(p) for p in products]


@given(comparison=comparisons(), path=paths)
def test_a_policy_never_crosses_itself(comparison, path):
    same = replace(comparison, baseline=comparison.case)
    assert crossovers(same, path) == ()


def test_a_negative_root_is_none():
    # (1·100 − 110) / (N(1−α)P^NA) = −1: its square would be a crossover today.
    slower = replace(STILL, work=110.0, reallocations=10, affinity=0.0)
    assert crossovers(against(slower), GrowthPath.LIMIT) == ()
    assert closed_form_crossover(against(slower), GrowthPath.LIMIT) is None


def test_perfect_affinity_never_falls_behind_in_the_limit():
    perfect = replace(STILL, work=90.0, reallocations=10, affinity=1.0)
    assert crossovers(against(perfect), GrowthPath.LIMIT) == ()
    assert closed_form_crossover(against(perfect), GrowthPath.LIMIT) is None


def test_one_by_hand():
    # 90 + 10·√x = 100.
    moving = replace(STILL, work=90.0, reallocations=10, affinity=0.0)
    (crossing,) = crossovers(against(replace(moving, work=70.0)), GrowthPath.LIMIT)
    assert crossing.product == pytest.approx(9)
    assert crossing.direction is Direction.FALLS_BEHIND
    (today,) = crossovers(against(moving), GrowthPath.LIMIT)
    assert today.product == pytest.approx(1)


@EVERY_PATH
def test_the_furthest_crossovers_can_be_evaluated(path):
    """Whatever is returned as a crossover is a machine that other functions take."""
    moving = replace(STILL, work=70.0, reallocations=1e-16, affinity=0.0)
    for crossing in crossovers(against(moving), path):
        assert crossing.product > 1e30
        assert float(relative_along(against(moving), crossing.product, path)) == pytest.approx(1)


def test_a_baseline_that_moves_can_be_overtaken():
    moving = replace(STILL, work=70.0, reallocations=10, affinity=0.0)
    still = replace(STILL, work=100.0)
    (crossing,) = crossovers(against(still, baseline=moving), GrowthPath.LIMIT)
    assert crossing.product == pytest.approx(9)
    assert crossing.direction is Direction.OVERTAKES


def test_two_crossovers_on_one_path():
    # Along s = 1 the difference is M + B·v + A·v³; with roots 1/2 and 1/4 it is a multiple of
    # (v − 1/2)(v − 1/4)(v + 3/4) = v³ − (7/16)v + 3/32.
    policy = Case(
        work=100.0 - 7.0 / 16 * 32,
        waste=0.0,
        reallocations=1.0,
        affinity=0.5,
        allocation=1.0,
        reallocation_time=0.0,
        penalty_affinity=2 * 32.0,
        penalty_no_affinity=2 * 3.0,
    )
    baseline = replace(policy, work=100.0, reallocations=0.0)
    found = crossovers(against(policy, baseline), GrowthPath.CACHE)
    assert [crossing.product for crossing in found] == [pytest.approx(4), pytest.approx(16)]
    assert [crossing.direction for crossing in found] == [
        Direction.OVERTAKES,
        Direction.FALLS_BEHIND,
    ]


def test_curves_that_touch():
    # (v − 1/2)²(v + 1) = v³ − (3/4)v + 1/4.
    policy = Case(
        work=100.0 - 24.0,
        waste=0.0,
        reallocations=1.0,
        affinity=0.5,
        allocation=1.0,
        reallocation_time=0.0,
        penalty_affinity=64.0,
        penalty_no_affinity=16.0,
    )
    baseline = replace(policy, work=100.0, reallocations=0.0)
    (crossing,) = crossovers(against(policy, baseline), GrowthPath.CACHE)
    assert crossing.product == pytest.approx(4)
    assert crossing.direction is Direction.TOUCHES


def test_far_away_is_far_away():
    # x* would be 10¹²⁰: beyond what counts. And 10⁴⁰ is not.
    policy = replace(STILL, work=1.0, reallocations=1e-60, affinity=0.0)
    baseline = replace(STILL, work=2.0)
    assert crossovers(against(policy, baseline), GrowthPath.LIMIT) == ()
    nearer = replace(policy, reallocations=1e-20)
    (crossing,) = crossovers(against(nearer, baseline), GrowthPath.LIMIT)
    assert crossing.product == pytest.approx(1e40)


# Roots


def polynomial(*coefficients):
    return Difference(coefficients=coefficients, errors=(0.0,) * len(coefficients))


@pytest.mark.parametrize("middle", [1, 2])
@given(first=st.floats(0.01, 1.0), second=st.floats(0.01, 1.0), sign=st.sampled_from([-1, 1]))
@example(first=0.5, second=0.5, sign=1)
def test_roots_of_a_product_are_found(middle, first, second, sign):
    """Both roots from 0 to 1, and not the third one, which is negative."""
    assume(first == second or abs(first - second) > 0.01)
    # Without the term in v², or in v, the third root follows from the other two.
    third = -(first + second) if middle == 1 else -first * second / (first + second)
    coefficients = np.polynomial.Polynomial.fromroots([first, second, third]).coef * sign
    coefficients[3 - middle] = 0.0
    found = polynomial(*map(float, coefficients)).roots()
    wanted = sorted({first, second})
    assert [root.v for root in found] == [pytest.approx(v, rel=1e-4) for v in wanted]


def test_a_difference_that_is_rounding_has_no_roots():
    assert Difference(coefficients=(0.0, 0.0), errors=(1e-16, 1e-16)).roots() == ()
    assert polynomial(2.0).roots() == ()


# Ranges


def drawn_inside(data, comparison):
    """Return a comparison with every parameter somewhere in its range."""
    shared = ("reallocation_time", "penalty_affinity", "penalty_no_affinity")

    def somewhere(ranges):
        return {name: data.draw(st.floats(*limits)) for name, limits in ranges.items()}

    own, theirs = somewhere(comparison.ranges), somewhere(comparison.baseline_ranges)
    common = {name: value for name, value in own.items() if name in shared}
    return replace(
        comparison,
        case=replace(comparison.case, **own),
        baseline=replace(comparison.baseline, **common, **theirs),
    )


@pytest.mark.slow
@given(data=st.data(), comparison=comparisons(ranged=True), path=paths)
def test_ranges_hold_every_crossover(data, comparison, path):
    possible = possible_crossovers(comparison, path)
    for crossing in crossovers(drawn_inside(data, comparison), path):
        assert any(
            low * (1 - 1e-6) <= crossing.product <= high * (1 + 1e-6) for low, high in possible
        )


@pytest.mark.slow
@given(data=st.data(), comparison=comparisons(ranged=True), path=paths)
def test_bands_hold_every_curve(data, comparison, path):
    products = np.geomspace(1, 1e6, 7)
    low, high = relative_range_along(comparison, products, path)
    curve = relative_along(drawn_inside(data, comparison), products, path)
    assert (low <= curve * (1 + 1e-9)).all()
    assert (curve <= high * (1 + 1e-9)).all()


@given(comparison=comparisons(), path=paths)
def test_without_ranges_only_the_crossovers_are_possible(comparison, path):
    found = [crossing.product for crossing in crossovers(comparison, path)]
    possible = possible_crossovers(comparison, path)
    assume(abs(float(relative_along(comparison, 1.0, path)) - 1) > 1e-9)
    assume(all(high < 1e100 for _, high in possible))
    assert [low for low, high in possible if low == high] == found


def test_ranges_end_where_a_corner_crosses():
    comparison = replace(
        RESPONSE_TIME.read("mix-5").comparison("MATRIX", "dyn-aff"),
        ranges={"affinity": (0.825, 0.835)},
        measured=None,
    )
    ((least, most),) = possible_crossovers(comparison, GrowthPath.LIMIT)
    ends = []
    for affinity, waste in ((0.825, 0.0), (0.835, 40.0)):
        corner = replace(
            comparison,
            case=replace(comparison.case, affinity=affinity),
            baseline=replace(comparison.baseline, waste=waste),
        )
        ends.append(closed_form_crossover(corner, GrowthPath.LIMIT))
    assert (least, most) == (pytest.approx(ends[0]), pytest.approx(ends[1]))


def test_a_range_that_ends_in_perfect_affinity_has_no_end():
    moving = replace(STILL, work=70.0, reallocations=10, affinity=0.5)
    comparison = replace(against(moving), ranges={"affinity": (0.0, 1.0)})
    ((least, most),) = possible_crossovers(comparison, GrowthPath.LIMIT)
    assert least == pytest.approx(9)
    assert most == float("inf")
    model = RESPONSE_TIME.read("mix-5")
    ranges = (PossibleProducts(job="MATRIX", policy="dynamic", products=((least, most),)),)
    document = CROSSOVER.results.to_document(replace(crossover_result(model), ranges=ranges))
    assert document["x-ranges"][0]["products"] == [[pytest.approx(9), None]]
