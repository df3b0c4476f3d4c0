"""Tables 3 and 4 of Vaswani and Zahorjan, as far as the shipped parameters reproduce them."""

import pytest

from dfopt_models.space_sharing import PolicySummary, read_mix, simulate
from docs.reproduction.published import TABLE_3, TABLE_3_POLICIES, TABLE_4
from docs.reproduction.tie_breaks import with_parameters

SEEDS = range(3)
"""The report has ten; these means differ from those by a tenth of a percent."""

# Of all combinations, these give the least and the greatest affinity.
MANY_MOVES = {"victim": "earliest", "worker": "latest", "match": False}
FEW_MOVES = {"victim": "latest", "worker": "random", "match": True}


@pytest.fixture(scope="module")
def mix_5() -> dict[str, PolicySummary]:
    summaries, complete = simulate(read_mix("mix-5"), TABLE_3_POLICIES, seeds=SEEDS)
    assert complete
    return {summary.policy: summary for summary in summaries}


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "application"), TABLE_3)
def test_table_3(mix_5, policy, application):
    published = TABLE_3[policy, application]
    figures = mix_5[policy].job(application).figures
    assert figures["response_time"].mean == pytest.approx(published.response_time, rel=0.02)
    off = 0.05 if application == "GRAVITY" else 0.25
    assert figures["reallocations"].mean == pytest.approx(published.reallocations, rel=off)


@pytest.mark.slow
def test_affinity_of_dynamic_takes_other_tie_breaks():
    mix = with_parameters(read_mix("mix-5"), victim="latest", worker="lowest", match=False)
    (summary,), _ = simulate(mix, ["dynamic"], seeds=SEEDS)
    for job in summary.jobs:
        published = TABLE_3["dynamic", job.application].affinity
        assert job.figures["affinity"].mean == pytest.approx(published, abs=0.1)


@pytest.mark.parametrize("policy", ["dyn-aff", "dyn-aff-delay"])
def test_affinity_of_matrix(mix_5, policy):
    share = mix_5[policy].job("MATRIX").figures["affinity"].mean
    assert share == pytest.approx(TABLE_3[policy, "MATRIX"].affinity, abs=0.1)
    assert mix_5["dynamic"].job("MATRIX").figures["affinity"].mean < 0.31


@pytest.mark.slow
def test_affinity_of_the_affinity_policies_is_inside_the_range_over_tie_breaks():
    shares = []
    for choices in (MANY_MOVES, FEW_MOVES):
        mix = with_parameters(read_mix("mix-5"), **choices)
        summaries, _ = simulate(mix, ["dyn-aff", "dyn-aff-delay"], seeds=range(1))
        shares.append(
            {
                (summary.policy, job.application): job.figures["affinity"].mean
                for summary in summaries
                for job in summary.jobs
            }
        )
    few, many = shares
    for key in few:
        assert few[key] < TABLE_3[key].affinity < many[key]


@pytest.mark.slow
def test_table_4():
    for (name, policy), published in TABLE_4.items():
        (summary,), _ = simulate(read_mix(name), [policy], seeds=range(2 if name == "mix-4" else 9))
        mean = summary.jobs[0].figures["response_time"].mean
        if (name, policy) == ("mix-4", "dyn-aff-nopri"):
            assert mean < TABLE_4["mix-4", "dyn-aff"]  # not reproduced: it should be slower
        else:
            assert mean == pytest.approx(published, rel=0.035)


@pytest.mark.slow
def test_fairness_must_not_be_given_up():
    policies = ("equipartition", "dyn-aff", "dyn-aff-nopri")
    summaries, _ = simulate(read_mix("mix-5"), policies, seeds=range(1))
    even, fair, unfair = (
        {job.application: job.figures["response_time"].mean for job in summary.jobs}
        for summary in summaries
    )
    assert max(unfair[name] / even[name] for name in even) > 1.5
    assert max(fair[name] / even[name] for name in even) < 1.05
