"""All policies on all kinds of workloads: the laws hold, and none pays less than the optimum."""

from __future__ import annotations

import pytest

from dfopt.compare import WHOLE, CostModel, compare_trace, parse_window
from dfopt.simulate.contract import State
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario import Scenario
from dfopt.simulate.simulation import UnfitError, simulate_once
from dfopt.trace.trace import UNMANAGED
from tests.simulate.run_queue.programs import check_counters, check_trace, paid
from tests.simulate.run_queue.scenarios import small_scenarios

SCENARIOS = small_scenarios()


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_runs_everything_that_fits_it(scenario: Scenario, policy: str) -> None:
    try:
        done = simulate_once(scenario, POLICIES[policy], refuses_unfit=True)
    except UnfitError as error:
        pytest.skip(str(error))
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    check_trace(done.trace)
    check_counters(done.trace, done.engine)
    costs = paid(done.trace, scenario.penalty, cold_start=scenario.cold_start)
    assert done.counters.penalties == costs
    assert (done.trace.fragment != UNMANAGED).any()
    model = CostModel(penalty=scenario.penalty, cold_start=scenario.cold_start)
    comparison = compare_trace(
        done.trace,
        model,
        windows=(parse_window("10"), WHOLE),
        workers=1,
        time_limit=0.5,
        waits=None,
    )
    assert comparison.realised.total == sum(costs)
    for window in comparison.windows:
        assert window.bound <= window.realised
        assert window.bound <= window.rolling


def test_few_policies_are_choosy() -> None:
    refused = {
        (policy, scenario.name)
        for policy in POLICIES
        for scenario in SCENARIOS
        if _is_refused(scenario, policy)
    }
    # No scenario here has cache domains.
    assert {policy for policy, _ in refused} == {"segregation", "cache-aware"}
    assert ("segregation", "web-server") not in refused


def _is_refused(scenario: Scenario, policy: str) -> bool:
    try:
        simulate_once(scenario, POLICIES[policy], refuses_unfit=True)
    except UnfitError:
        return True
    return False
