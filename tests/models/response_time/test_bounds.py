"""Bounds, headroom, and waste against reallocations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dfopt import replace
from dfopt_models.response_time import (
    RESPONSE_TIME,
    Case,
    bounds,
    exchange_rate,
    most_reallocations,
    non_dominated,
    pareto_front,
    relative_response_time,
    response_time,
    response_time_result,
    waste_budget,
)
from tests.strategies import cases, comparisons, response_models, with_numbers

machines = st.floats(1.0, 1e4)

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


def test_bounds_by_hand():
    best = bounds(CASE)
    assert best == {
        "response_time": pytest.approx(32),
        "perfect_affinity": pytest.approx((120 + 1000 * 5e-3) / 4),
        "zero_yield": pytest.approx((100 + 8) / 4),
        "ideal": pytest.approx(25),
    }


@given(case=cases(), speed=machines, cache=machines)
def test_no_policy_beats_its_bounds(case, speed, cache):
    assume(case.penalty_affinity <= case.penalty_no_affinity)
    best = bounds(case, speed, cache)
    rounding = 1 + 1e-12
    for bound in (best["perfect_affinity"], best["zero_yield"]):
        assert best["ideal"] <= bound * rounding
        assert bound <= best["response_time"] * rounding


@given(case=cases(), speed=machines, cache=machines, less=st.floats(0, 1), more=st.floats(0, 1))
def test_every_improvement_stays_above_the_ideal(case, speed, cache, less, more):
    """Less waste, more affinity: faster, but not faster than the ideal."""
    assume(case.penalty_affinity <= case.penalty_no_affinity)
    better = replace(
        case, waste=less * case.waste, affinity=case.affinity + more * (1 - case.affinity)
    )
    best = bounds(case, speed, cache)
    time = response_time(better, speed, cache)
    assert best["ideal"] * (1 - 1e-12) <= time <= best["response_time"] * (1 + 1e-12)


@pytest.mark.slow
@given(comparison=comparisons(), speed=machines, cache=machines)
def test_below_the_line_a_policy_is_faster(comparison, speed, cache):
    case = comparison.case
    budget = waste_budget(case, comparison.baseline, speed, cache)
    slack = float(budget - case.reallocations * exchange_rate(case, speed, cache)) - case.waste
    excess = float(relative_response_time(comparison, speed, cache)) - 1
    assume(abs(excess) > 1e-9)
    assert (slack > 0) == (excess < 0)


def test_the_line_by_hand():
    comparison = replace(
        RESPONSE_TIME.read("mix-5").comparison("MATRIX", "dynamic"),
        case=CASE,
        baseline=replace(CASE, reallocations=0, waste=60.0, allocation=5.0),
    )
    # As slow as the baseline: 160/5 s on 4 processors, 128 processor-seconds, 28 beyond the work.
    assert float(waste_budget(CASE, comparison.baseline)) == pytest.approx(28)
    assert float(exchange_rate(CASE)) == pytest.approx(8e-3)
    assert float(most_reallocations(comparison, waste=20)) == pytest.approx(1000)
    assert float(exchange_rate(replace(CASE, affinity=1.0))) == pytest.approx(5e-3)


def test_free_reallocations_have_no_limit():
    free = replace(CASE, reallocation_time=0.0, penalty_affinity=0.0, affinity=1.0)
    comparison = replace(
        RESPONSE_TIME.read("mix-5").comparison("MATRIX", "dynamic"),
        case=free,
        baseline=replace(free, waste=60.0),
    )
    assert np.isinf(most_reallocations(comparison))


@pytest.mark.parametrize(("work", "possible"), [(700.0, True), (900.0, False)])
def test_a_policy_that_is_slower_without_any_reallocation_affords_none(work, possible):
    model = RESPONSE_TIME.read("mix-5")
    job = model.job("MATRIX")
    dynamic = with_numbers(model, "MATRIX", "dynamic", work=work)
    changed = replace(job, policies={**job.policies, "dynamic": dynamic})
    rows = response_time_result(replace(model, jobs=(changed,))).response_times
    (row,) = (row for row in rows if row.policy == "dynamic")
    assert (row.most_reallocations is not None) == possible


def test_pareto_front():
    points = {"a": (0.0, 5.0), "b": (5.0, 0.0), "c": (5.0, 5.0), "d": (2.0, 2.0), "e": (2.0, 2.0)}
    assert non_dominated(points) == ("a", "b", "d", "e")


@given(st.dictionaries(st.text(max_size=2), st.tuples(*[st.integers(0, 4)] * 2), min_size=1))
def test_whoever_is_left_out_is_beaten_by_one_who_is_not(points):
    front = non_dominated(points)
    assert front
    for name, point in points.items():
        beaten = any(
            points[other][0] <= point[0] and points[other][1] <= point[1] and points[other] != point
            for other in front
        )
        assert beaten == (name not in front)


def test_the_front_takes_work_and_waste_together():
    # mix 5 holds the waste of the dynamic policies within their work.
    model = RESPONSE_TIME.read("mix-5")
    assert pareto_front(model, "MATRIX") == ("equipartition", "dyn-aff-delay")
    assert pareto_front(model, "GRAVITY") == ("equipartition", "dynamic", "dyn-aff-delay")


def test_machines_come_in_pairs_after_todays():
    model = RESPONSE_TIME.read("mix-5")

    def machines_of(speeds, caches):
        rows = response_time_result(model, speed=speeds, cache=caches).response_times
        return tuple(dict.fromkeys((row.speed, row.cache) for row in rows))

    assert machines_of([], []) == ((1.0, 1.0),)
    assert machines_of([4, 8], [2]) == ((1.0, 1.0), (4.0, 2.0), (8.0, 1.0))
    assert machines_of([1, 4], [1]) == ((1.0, 1.0), (4.0, 1.0))


@pytest.mark.slow
@given(model=response_models(jobs=2))
def test_the_table_has_everything(model):
    rows = response_time_result(model, speed=[4.0], cache=[2.0]).response_times
    assert [(row.speed, row.job, row.policy) for row in rows] == [
        (speed, job, policy)
        for speed in (1.0, 4.0)
        for job in ("job 0", "job 1")
        for policy in ("still", "moving")
    ]
    for row in rows:
        case = model.case(row.job, row.policy)
        assert row.response_time == float(response_time(case, row.speed, row.cache))
        assert row.headroom(row.ideal) == pytest.approx(1 - row.ideal / row.response_time)
        if row.policy == "still":
            assert row.relative == 1
    result = response_time_result(model, speed=[4.0], cache=[2.0])
    assert result.response_times == rows
