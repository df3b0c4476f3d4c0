"""Laws of all policies: whatever the threads do, nothing is lost, doubled, or miscounted."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare import CostModel, compare_trace
from dfopt.compare.cost_model_choice import ModelChoice, chosen_model
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyMatrix
from dfopt.simulate.contract import Policy, State, Thread, Why
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workload import ThreadSetting
from tests.simulate.run_queue.programs import (
    Programs,
    check_counters,
    check_trace,
    paid,
    penalties,
    programs,
)
from tests.simulate.run_queue.watched import watched


class Chaotic(Policy):
    """Does whatever a policy may do, at random."""

    name: ClassVar[str] = "chaotic"
    tick_interval = 7

    def __init__(self) -> None:
        self._queue: deque[Thread] = deque()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        del why, cpu
        self._queue.append(thread)
        random = self.engine.random
        self._queue.rotate(random.randrange(3))
        if random.random() < 0.3:
            self.engine.preempt(random.randrange(self.engine.cpus))
        return None

    def pick(self, cpu: int) -> Thread | None:
        del cpu
        return self._queue.popleft() if self._queue else None

    def slice(self, thread: Thread, cpu: int) -> int:
        del thread, cpu
        return self.engine.random.choice([0, 1, 3, 10])

    def changes(self, thread: Thread, fragment: int, cpu: int) -> bool:
        del cpu
        assert thread.fragment != fragment
        return self.engine.random.random() < 0.5

    def tick(self) -> None:
        self.engine.preempt(self.engine.random.randrange(self.engine.cpus))


ALL = [*POLICIES.values(), Chaotic]


def machine(cpus: int, *, is_parted: bool, **times: int) -> Machine:
    """Return a machine, of which odd and even CPUs may be a cache domain each."""
    members = (tuple(range(0, cpus, 2)), tuple(range(1, cpus, 2)))
    domains = CacheDomains(members) if is_parted and cpus > 1 else None
    return Machine(cpus=cpus, domains=domains, **times)


MACHINES = st.builds(
    machine,
    cpus=st.integers(1, 4),
    is_parted=st.booleans(),
    switch_time=st.sampled_from([0, 1]),
    lock_time=st.sampled_from([0, 2]),
    lock_doubling=st.sampled_from([0, 1]),
    wake_time=st.sampled_from([0, 3]),
    call_time=st.sampled_from([0, 2]),
    interrupt_time=st.sampled_from([0, 3]),
)


def simulated(
    workload: Programs,
    policy: type[Policy],
    penalty: Penalty,
    machine: Machine,
    *,
    cold_start: bool = True,
) -> Simulation:
    scenario = Scenario(
        name="programs", workload=workload, machine=machine, penalty=penalty, cold_start=cold_start
    )
    return simulate_once(scenario, policy)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
@settings(max_examples=40)
@given(workload=programs(), penalty=penalties(), machine=MACHINES, flag=st.booleans())
def test_all_laws_hold(
    policy: type[Policy], *, workload: Programs, penalty: Penalty, machine: Machine, flag: bool
) -> None:
    with watched() as seen:
        done = simulated(workload, policy, penalty, machine, cold_start=flag)
    seen.check(done)
    check_nothing_is_lost_or_doubled_or_miscounted(done, workload)
    assert done.counters.penalties == paid(done.trace, penalty, cold_start=flag)
    check_a_seed_says_all(done, simulated(workload, policy, penalty, machine, cold_start=flag))
    if not isinstance(penalty, PenaltyMatrix) and (done.trace.fragment >= 0).any():
        check_no_less_is_paid_than_the_optimum(done, CostModel(penalty=penalty, cold_start=flag))


def check_nothing_is_lost_or_doubled_or_miscounted(done: Simulation, workload: Programs) -> None:
    threads = done.engine.threads
    assert all(thread.state is State.ENDED for thread in threads)
    assert {thread.name: thread.run_time for thread in threads} == workload.executed()
    check_trace(done.trace)
    check_counters(done.trace, done.engine)


def check_a_seed_says_all(first: Simulation, second: Simulation) -> None:
    assert first.counters == second.counters
    for column in ("cpu", "start", "end", "task", "fragment"):
        assert np.array_equal(getattr(first.trace, column), getattr(second.trace, column))


def check_no_less_is_paid_than_the_optimum(done: Simulation, model: CostModel) -> None:
    comparison = compare_trace(done.trace, model, workers=1, time_limit=0.2, waits=None)
    assert comparison.realised.total == sum(done.counters.penalties)
    assert all(window.bound <= window.realised for window in comparison.windows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fcfs", "patience", "linux-o1", "eevdf", "data-affinity"])
@settings(max_examples=30)
@given(workload=programs(), penalty=penalties(), machine=MACHINES, flag=st.booleans())
def test_a_simulation_pays_what_a_comparison_says_of_its_trace(
    name: str, *, workload: Programs, penalty: Penalty, machine: Machine, flag: bool
) -> None:
    done = simulated(workload, POLICIES[name], penalty, machine, cold_start=flag)
    if not (done.trace.fragment >= 0).any():
        assert not any(done.counters.penalties)
        return
    model = chosen_model(ModelChoice(), done.trace.header)
    comparison = compare_trace(done.trace, model, windows=(), waits=None)
    assert [cpu.cost for cpu in comparison.cpus] == done.counters.penalties
    assert comparison.realised.total == sum(done.counters.penalties)


OBEDIENT = [policy for policy in ALL if policy.obeys_cpus_allowed]


@pytest.mark.parametrize("policy", OBEDIENT, ids=lambda policy: policy.name)
@settings(max_examples=10)
@given(
    workload=programs(),
    machine=MACHINES,
    bound=st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=2, max_size=2),
)
def test_bound_threads_run_only_where_they_may(
    policy: type[Policy], workload: Programs, machine: Machine, bound: list[set[int]]
) -> None:
    """The engine refuses all else; and none of them is forgotten."""
    threads = tuple(
        ThreadSetting(match=match, cpus_allowed=(0, *allowed))
        for match, allowed in zip(("even", "t?.*"), bound, strict=True)
    )
    scenario = Scenario(
        name="x",
        workload=workload,
        machine=machine,
        penalty=PenaltyF(read_line=1, write_back=5),
        threads=threads,
    )
    done = simulate_once(scenario, policy)
    for thread in done.engine.threads:
        assert thread.state is State.ENDED
        assert thread.run_time == workload.executed()[thread.name]
