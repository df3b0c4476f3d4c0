"""Every policy on every kind of workload that makes sense for it."""

from __future__ import annotations

from random import Random

import pytest

from dfopt.simulate.contract import Policy, State
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario import Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads import WORKLOADS
from tests.simulate.run_queue.programs import check_counters, check_trace, paid
from tests.simulate.run_queue.scenarios import small_scenarios


def cases() -> list[tuple[Scenario, type[Policy]]]:
    return [
        (scenario, policy)
        for scenario in small_scenarios()
        for policy in POLICIES.values()
        if fits(scenario, policy())
    ]


def fits(scenario: Scenario, policy: Policy) -> bool:
    """Return whether a policy makes sense for a scenario."""
    policy.scenario = scenario
    workload = scenario.workload.build(Random(0))
    return policy.unfit(workload, scenario.machine.cpus) is None


def test_every_kind_of_workload_is_there() -> None:
    assert sorted(scenario.workload.name for scenario in small_scenarios()) == sorted(WORKLOADS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "policy"),
    [pytest.param(*case, id=f"{case[0].name}-{case[1].name}") for case in cases()],
)
def test_all_threads_end_and_all_counts_are_right(scenario: Scenario, policy: type[Policy]) -> None:
    done = simulate_once(scenario, policy)
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    check_trace(done.trace)
    check_counters(done.trace, done.engine)
    assert done.counters.penalties == paid(done.trace, scenario.penalty, cold_start=True)


def test_segregation_is_for_the_web_server_alone() -> None:
    fitting = {scenario.name for scenario, policy in cases() if policy.name == "segregation"}
    assert fitting == {"web-server"}
