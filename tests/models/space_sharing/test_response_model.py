"""Simulated figures as a response-time model: replications of one seed are pairs."""

import pytest

from dfopt import replace
from dfopt.confidence import confidence_interval
from dfopt_models.crossover import possible_crossovers, relative_along, relative_range_along
from dfopt_models.growth import GrowthPath
from dfopt_models.response_time import POLICY_NUMBERS, RESPONSE_TIME, response_time
from dfopt_models.space_sharing import read_mix, simulate
from dfopt_models.space_sharing.simulation import response_model

MIX = read_mix("mix-1")
SEEDS = range(4)


@pytest.fixture(scope="module")
def model():
    summaries, complete = simulate(MIX, ["equipartition", "dynamic"], seeds=SEEDS, processes=1)
    assert complete
    return response_model(MIX, summaries)


@pytest.mark.slow
def test_the_file_has_the_replications(model):
    assert RESPONSE_TIME.parse(RESPONSE_TIME.text(model)) == model
    assert model.processors == 16
    (job,) = model.jobs
    assert job.copies == 2
    still, moving = (job.policies[name] for name in ("equipartition", "dynamic"))
    assert len(moving.replications["work"]) == len(SEEDS)
    # The same seed gives the same threads under every policy.
    assert moving.replications["work"] == pytest.approx(still.replications["work"], rel=1e-12)
    assert not moving.ranges
    for name in POLICY_NUMBERS:
        mean = confidence_interval(moving.replications[name]).mean
        assert mean == pytest.approx(getattr(moving, name))


@pytest.mark.slow
def test_policies_are_compared_in_pairs(model):
    comparison = model.comparison("MVA", "dynamic")
    low, high = relative_range_along(comparison, 1.0, GrowthPath.EQUAL)
    middle = float(relative_along(comparison, 1.0, GrowthPath.EQUAL))
    # The half width is that of the differences, in parts of the baseline's response time.
    pairs = [
        float(response_time(case) - response_time(baseline))
        for case, baseline in comparison.replications
    ]
    half_width = confidence_interval(pairs).half_width / float(response_time(comparison.baseline))
    assert (high - middle, middle - low) == pytest.approx((half_width, half_width))
    # Independent ranges of the same figures allow much more.
    job = model.jobs[0]
    ranges = {}
    for name in ("work", "waste", "allocation"):
        interval = confidence_interval(job.policies["dynamic"].replications[name])
        ranges[name] = (interval.mean - interval.half_width, interval.mean + interval.half_width)
    apart = replace(comparison, replications=(), ranges=ranges)
    lowest, highest = relative_range_along(apart, 1.0, GrowthPath.EQUAL)
    assert highest - lowest > 2 * (high - low)
    assert possible_crossovers(comparison)


def test_a_single_replication_says_nothing_of_spread():
    summaries, _ = simulate(MIX, ["equipartition", "dynamic"], seeds=range(1), processes=1)
    model = response_model(MIX, summaries)
    assert not any(policy.replications for job in model.jobs for policy in job.policies.values())
    assert not model.comparison("MVA", "dynamic").has_ranges
