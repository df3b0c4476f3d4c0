"""Response-time models with measured penalties."""

import pytest

from dfopt.errors import DfoptError
from dfopt_models.measure import (
    PENALTIES,
    MachineCosts,
    penalties_of_machine,
    with_penalties,
)
from dfopt_models.response_time import RESPONSE_TIME, response_time_result

ONE = """
format = "dfopt-penalties/1"
reallocation_time = 4e-6
[[job]]
name = "*"
penalties = [{ quantum = 0.4, affinity = 1e-4, no_affinity = 3e-4 }]
[x-source]
reallocation_time = "measured: here"
penalties = "measured: there"
"""
SHORTER = "penalties = [{ quantum = 0.1, affinity = 0, no_affinity = 0 }, {"
TWO = ONE.replace("penalties = [{", SHORTER, 1)

MEASURED = """
format = "dfopt-response-model/1"
baseline = "a"
reallocation_time = 0.00075
[[job]]
name = "x"
penalty_affinity = 0.001
penalty_no_affinity = 0.002
x-range = { penalty_affinity = [0.0, 0.01] }
x-source = { penalty_affinity = "assumed: nothing" }
policy.a.measured = { affinity = 0.5, reallocations = 100, interval = 0.2, response_time = 10 }
policy.b.measured = { affinity = 0.9, reallocations = 10, interval = 1.9, response_time = 11 }
"""


def test_response_times_of_what_was_measured_stay() -> None:
    model = RESPONSE_TIME.parse(MEASURED)
    changed = with_penalties(model, PENALTIES.from_toml(ONE))
    times = {row.policy: row.response_time for row in response_time_result(changed).response_times}
    assert times == pytest.approx({"a": 10.0, "b": 11.0})
    for policy in times:
        case = changed.case("x", policy)
        assert (case.penalty_affinity, case.penalty_no_affinity) == (1e-4, 3e-4)
    # Interval 0.2 s a hundred times, less what reallocations cost now.
    assert changed.case("x", "a").work == pytest.approx(20 - 100 * (4e-6 + 2e-4))
    (job,) = changed.jobs
    assert job.sources == {
        "penalty_affinity": "measured: there",
        "penalty_no_affinity": "measured: there",
    }
    assert changed.sources == {"reallocation_time": "measured: here"}
    assert not job.ranges


def test_penalties_by_quantum() -> None:
    changed = with_penalties(RESPONSE_TIME.parse(MEASURED), PENALTIES.from_toml(TWO))
    # 0.2 s is in the middle of 0.1 and 0.4 on a logarithmic scale.
    assert changed.case("x", "a").penalty_no_affinity == pytest.approx(1.5e-4)
    assert changed.jobs[0].sources == {"penalties": "measured: there"}


def test_a_shipped_model_with_other_penalties() -> None:
    model = RESPONSE_TIME.read("mix-5")
    changed = with_penalties(model, PENALTIES.from_toml(ONE))
    before, after = (
        {
            (row.job, row.policy): row.response_time
            for row in response_time_result(each).response_times
        }
        for each in (model, changed)
    )
    assert before.keys() == after.keys()
    assert all(after[key] <= before[key] + 1e-9 for key in before)


def test_penalties_of_a_machine() -> None:
    costs = MachineCosts(time_unit="ps", read_line=21_000, write_back=1_000_000, lines=16_384)
    found = penalties_of_machine(costs, reallocation_time=2e-6)
    (entry,) = found.of("any")
    assert entry.no_affinity == pytest.approx(16_384 * 21e-9 + 1e-6)
    assert entry.affinity == 0
    assert found.sources["penalties"].startswith("assumed: ")
    assert found.reallocation_time == 2e-6
    # The path length stays the model's own, and what its file says of it.
    said = MEASURED.replace(
        "[[job]]", 'x-source = { reallocation_time = "assumed: x" }\n[[job]]', 1
    )
    model = RESPONSE_TIME.parse(said)
    own = penalties_of_machine(costs, reallocation_time=model.reallocation_time)
    assert with_penalties(model, own).sources == {"reallocation_time": "assumed: x"}


def test_time_to_fill() -> None:
    assert PENALTIES.from_toml(ONE).time_to_fill(None) == 304_000
    assert PENALTIES.from_toml(TWO).time_to_fill("any") == 304_000
    named = ONE.replace('"*"', '"a"')
    with pytest.raises(DfoptError, match="has no job 'b'"):
        PENALTIES.from_toml(named).time_to_fill("b")
    another = '[[job]]\nname = "b"\npenalties = [{ quantum = 1, affinity = 0, no_affinity = 0 }]\n'
    several = named.replace("[x-source]", another + "[x-source]")
    with pytest.raises(DfoptError, match="has the jobs a, b; say which: JOB=FILE"):
        PENALTIES.from_toml(several).time_to_fill(None)
