"""Times with units, such as ``30s``, where a scenario has numbers."""

import pytest

from dfopt.errors import DfoptError
from dfopt.simulate.parameters import parameters_of
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario_document import is_time_with_unit, read_scenario, settings_document

SMALLEST_TIME = 100_000
"""Times of policies are in nanoseconds; their counts are smaller than this."""


@pytest.mark.parametrize("policy", POLICIES)
def test_times_of_policies_are_known_by_their_names(policy: str) -> None:
    for name, parameter in parameters_of(POLICIES[policy]).items():
        default = parameter.default
        is_time = type(default) is int and (default >= SMALLEST_TIME or name == "look_time")
        assert is_time_with_unit(f"policy.{policy}.{name}", "30s") == is_time, name


@pytest.mark.parametrize(
    ("unit", "text", "number"),
    [("ms", "30s", 30_000), ("ns", "1.5 ms", 1_500_000), ("us", "2us", 2), ("ms", "7", "7")],
)
def test_times_are_in_the_unit_of_the_scenario(unit: str, text: str, number: object) -> None:
    changed = settings_document({"policy.patience.patience": text}, unit)
    assert changed["policy"]["patience"]["patience"] == number


def test_a_unit_that_is_set_counts() -> None:
    settings = {"until": "3s", "time_unit": "ms"}
    assert settings_document(settings, "ns")["until"] == 3000
    assert settings_document({"until": "3s"}, "ns")["until"] == 3_000_000_000


@pytest.mark.parametrize(
    ("unit", "problem"),
    [
        (
            "s",
            "machine.switch_time: 5ms cannot be said in a scenario whose times are whole s; give",
        ),
        ("cycles", "machine.switch_time: 5ms means nothing in a scenario whose times are in 'cycl"),
    ],
)
def test_times_that_a_unit_cannot_say(unit: str, problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        settings_document({"machine.switch_time": "5ms"}, unit)


def test_texts_stay_texts() -> None:
    assert settings_document({"name": "10s"}, "ns")["name"] == "10s"
    changed = read_scenario("custom", {"description": "30s", "policy.fcfs.time_slice": "1ms"})
    assert changed.description == "30s"
    assert changed.policies == {"fcfs": {"time_slice": 1_000_000}}
