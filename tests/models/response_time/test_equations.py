"""The equations, as numbers and as the formulas of the documentation."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt_models.crossover import (
    crossovers,
    path_coefficients,
    relative_along,
    relative_change_with_cache,
    response_time_along,
    root_of_crossover,
)
from dfopt_models.errors import ModelError
from dfopt_models.formulas import exact
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time import (
    RESPONSE_TIME,
    Case,
    PolicyComparison,
    exchange_rate,
    relative_response_time,
    response_time,
    today,
    waste_budget,
)
from tests.formulas import formula_named, value_of
from tests.strategies import cases, comparisons

ANY, POLICY, BASELINE = today.symbols("case", "policy", "baseline")
SPEED, CACHE, PRODUCT = today.symbols("speed", "cache", "product")

CASE = Case(
    work=100.0,
    waste=20.0,
    reallocations=1000,
    affinity=0.25,
    allocation=4.0,
    reallocation_time=1e-3,
    penalty_affinity=4e-3,
    penalty_no_affinity=8e-3,
)
machines = st.floats(0.1, 1e4)


def test_equations_1_and_2_by_hand():
    # Penalty 0.25·4 + 0.75·8 = 7 ms, a reallocation costs 8 ms, all of them 8 s.
    assert float(response_time(CASE)) == pytest.approx((120 + 8) / 4)


def test_figure_7_by_hand():
    # Speed 4, cache 16: penalty 0.25·4/16 + 0.75·8·4 = 24.0625 ms, halved by faster memory.
    expected = (120 / 4 + 1000 * (1e-3 / 4 + 24.0625e-3 / 2)) / 4
    assert float(response_time(CASE, 4, 16)) == pytest.approx(expected)


def test_figure_7_is_equation_1_on_todays_machine():
    """RT = (w + W + N (t_re + α P^A + (1 − α) P^NA)) / a, written down anew here."""
    penalty = ANY.affinity * ANY.penalty_affinity + (1 - ANY.affinity) * ANY.penalty_no_affinity
    reallocating = ANY.reallocations * (ANY.reallocation_time + penalty)
    by_hand = (ANY.work + ANY.waste + reallocating) / ANY.allocation
    now = exact(response_time(ANY, SPEED, CACHE))
    assert sympy.simplify(now.subs({SPEED: 1, CACHE: 1}) - by_hand) == 0


def test_the_exchange_rate_is_the_slope_of_equal_response_times():
    time = exact(response_time(ANY, SPEED, CACHE))
    slope = sympy.diff(time, ANY.reallocations) / sympy.diff(time, ANY.waste)
    rate = exact(exchange_rate(ANY, SPEED, CACHE))
    assert sympy.simplify(slope - rate) == 0


def test_arrays_of_any_shape():
    speeds, caches = np.array([1.0, 2.0, 4.0]), np.array([[1.0], [8.0]])
    times = response_time(CASE, speeds, caches)
    assert times.shape == (2, 3)
    for (row, column), time in np.ndenumerate(times):
        assert time == pytest.approx(float(response_time(CASE, speeds[column], caches[row, 0])))


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), [1.0, 0.0]])
def test_machines_must_be_positive(wrong):
    with pytest.raises(ModelError, match="speed must be a finite number above 0, not "):
        response_time(CASE, wrong)
    with pytest.raises(ModelError, match="cache must be a finite number above 0, not "):
        response_time(CASE, 1.0, wrong)
    with pytest.raises(ModelError, match="product"):
        response_time_along(CASE, wrong, GrowthPath.EQUAL)


@pytest.mark.parametrize("wrong", [1e101, 1e-101, 1e-320])
def test_machines_must_be_within_reason(wrong):
    with pytest.raises(ModelError, match="speed must be from 1e-100 to 1e"):
        response_time(CASE, wrong)
    with pytest.raises(ModelError, match="cache must be from 1e-100 to 1e"):
        exchange_rate(CASE, 1.0, wrong)


@pytest.mark.parametrize("speed", [1e-100, 1e100])
@pytest.mark.parametrize("cache", [1e-100, 1e100])
def test_extremes_stay_finite(speed, cache):
    large, small = 2.0**62, 2.0**-62
    heavy = Case(
        **dict.fromkeys(Case.__struct_fields__, large) | {"affinity": 0.5}
        | {"allocation": small}
    )  # fmt: skip
    light = replace(heavy, work=small, waste=0.0, reallocations=0.0, allocation=large)
    for one, other in ((heavy, light), (light, heavy)):
        comparison = PolicyComparison(job="J", policy="P", case=one, baseline=other)
        assert np.isfinite(response_time(one, speed, cache))
        assert np.isfinite(relative_response_time(comparison, speed, cache))
        assert np.isfinite(waste_budget(comparison.case, comparison.baseline, speed, cache))
        assert np.isfinite(exchange_rate(one, speed, cache))


def test_shapes_must_go_together():
    with pytest.raises(ModelError, match=r"shapes that do not go together: \(2,\) and \(3,\)"):
        response_time(CASE, [1, 2], [1, 2, 3])


@pytest.mark.slow
@pytest.mark.parametrize("path", list(GrowthPath))
@given(comparison=comparisons(), product=st.floats(1.0, 1e6))
def test_paths_and_polynomials_say_the_same_as_the_plane(path, comparison, product):
    """One formula, three routes: the plane, the path, and the polynomial in v."""
    relative = float(relative_along(comparison, product, path))
    if path is not GrowthPath.LIMIT:
        speed, cache = {
            GrowthPath.EQUAL: (product**0.5, product**0.5),
            GrowthPath.SPEED: (product, 1.0),
            GrowthPath.CACHE: (1.0, product),
        }[path]
        assert relative == pytest.approx(float(relative_response_time(comparison, speed, cache)))
    v = product ** (-0.25 if path is GrowthPath.EQUAL else -0.5)
    own, theirs = (
        sum(c * v**n for n, c in enumerate(path_coefficients(case, path)))
        for case in (comparison.case, comparison.baseline)
    )
    assert relative == pytest.approx(own / theirs)


@given(comparison=comparisons(), product=st.floats(1.0, 100.0))
def test_the_limit_is_where_caches_lead_at_a_fixed_product(comparison, product):
    cache = 1e14
    plane = float(relative_response_time(comparison, product / cache, cache))
    assert plane == pytest.approx(
        float(relative_along(comparison, product, GrowthPath.LIMIT)), rel=1e-6
    )


@given(case=cases(), speed=machines, cache=machines, factor=st.floats(0.01, 100.0))
def test_longer_times_give_longer_response_times(case, speed, cache, factor):
    """If all times grow by a factor, the response time grows by the same factor."""
    times = ("work", "waste", "reallocation_time", "penalty_affinity", "penalty_no_affinity")
    scaled = Case(
        **{
            name: getattr(case, name) * (factor if name in times else 1)
            for name in Case.__struct_fields__
        }
    )
    expected = factor * float(response_time(case, speed, cache))
    assert float(response_time(scaled, speed, cache)) == pytest.approx(expected)


@given(case=cases(), speed=machines, cache=machines, fewer=st.floats(0.0, 1.0))
def test_the_exchange_rate_keeps_the_response_time(case, speed, cache, fewer):
    """Waste instead of reallocations, at the exchange rate."""
    saved = fewer * case.reallocations
    waste = case.waste + saved * float(exchange_rate(case, speed, cache))
    values = {name: getattr(case, name) for name in Case.__struct_fields__}
    other = Case(**values | {"waste": waste, "reallocations": case.reallocations - saved})
    assert float(response_time(other, speed, cache)) == pytest.approx(
        float(response_time(case, speed, cache))
    )


@given(comparison=comparisons(), speed=machines, cache=machines)
def test_the_budget_is_what_makes_both_equal(comparison, speed, cache):
    budget = float(waste_budget(comparison.case, comparison.baseline, speed, cache))
    values = {name: getattr(comparison.case, name) for name in Case.__struct_fields__}
    still = Case(**values | {"waste": 0.0, "reallocations": 0.0})
    ideal = float(response_time(still, speed, cache))
    theirs = float(response_time(comparison.baseline, speed, cache))
    spent = budget / speed / comparison.case.allocation
    assert ideal + spent == pytest.approx(theirs)


def test_the_change_with_cache_at_a_fixed_product():
    """∂R/∂c = −(3/2)(a_e/a_d)·N·α·P^A·√x·c^(−5/2)/(w + W_e), derived anew here by hand."""
    by_hand = (
        -sympy.Rational(3, 2)
        * (BASELINE.allocation / POLICY.allocation)
        * POLICY.reallocations
        * POLICY.affinity
        * POLICY.penalty_affinity
        * sympy.sqrt(PRODUCT)
        * CACHE ** sympy.Rational(-5, 2)
        / (BASELINE.work + BASELINE.waste)
    )
    assert sympy.simplify(relative_change_with_cache().rhs - by_hand) == 0


def test_the_closed_form_by_hand():
    """√x* = [(a_d/a_e)(w + W_e) − (w + W_d) − N·t_re] / [N(1−α)P^NA], the baseline still."""
    by_hand = (
        (POLICY.allocation / BASELINE.allocation) * (BASELINE.work + BASELINE.waste)
        - (POLICY.work + POLICY.waste)
        - POLICY.reallocations * POLICY.reallocation_time
    ) / (POLICY.reallocations * (1 - POLICY.affinity) * POLICY.penalty_no_affinity)
    still = root_of_crossover(GrowthPath.LIMIT, POLICY, BASELINE).subs(BASELINE.reallocations, 0)
    assert sympy.simplify(still - by_hand) == 0


@pytest.mark.parametrize("path", [GrowthPath.LIMIT, GrowthPath.SPEED])
@pytest.mark.parametrize(
    "comparison",
    RESPONSE_TIME.read("mix-5").comparisons(),
    ids=lambda one: f"{one.job}-{one.policy}",
)
def test_the_printed_closed_form_gives_the_number(path, comparison):
    """The formula of the page, with the numbers of a case in place of its symbols."""
    values = {
        getattr(symbols, name): getattr(case, name)
        for symbols, case in ((POLICY, comparison.case), (BASELINE, comparison.baseline))
        for name in Case.__struct_fields__
    }
    printed = float(root_of_crossover(path, POLICY, BASELINE).subs(values))
    (crossing,) = crossovers(comparison, path)
    assert printed**2 == pytest.approx(crossing.product)


def test_a_formula_in_latex():
    constant = r"\frac{N P^{NA} \left(1 - \alpha\right)}{a}"
    slope = r"\frac{v \left(N t_{re} + W + w\right)}{a}"
    printed = formula_named("crossover/polynomial-limit").latex()
    assert printed == f"p(v) = {constant} + {slope}"


def test_a_formula_gives_the_number():
    names = {"alpha": "affinity", "t_re": "reallocation_time", "N": "reallocations", "w": "work"}
    names |= {"P_A": "penalty_affinity", "P_NA": "penalty_no_affinity", "a": "allocation"}
    numbers = {symbol: getattr(CASE, name) for symbol, name in names.items()} | {"W": CASE.waste}
    now = value_of(formula_named("response-time/today"), numbers)
    assert now == pytest.approx(float(response_time(CASE)))
    future = value_of(formula_named("response-time/future"), numbers | {"s": 4, "c": 16})
    assert future == pytest.approx(float(response_time(CASE, 4, 16)))
