"""The results of one simulation, under a penalty and with caches of lines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError, InstanceError
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workload import Burst
from dfopt.simulate.workloads.custom import Custom
from dfopt.trace.trace import Lengths
from tests.simulate.run_queue.hand_made import simulated as by_hand
from tests.simulate.run_queue.hand_made import thread
from tests.simulate.run_queue.programs import Programs, check_counters, check_trace, programs

PENALTY = PenaltyF(read_line=1, write_back=3)


def simulated(workload: Programs, caches: CacheSizes | None, cpus: int, quantum: int) -> Simulation:
    scenario = Scenario(
        name="programs",
        workload=workload,
        machine=Machine(cpus=cpus, switch_time=1),
        penalty=PENALTY,
        caches=caches,
        policies={"fcfs": {"time_slice": quantum}},
    )
    return simulate_once(scenario, FirstComeFirstServed)


@pytest.mark.slow
@given(
    workload=programs(),
    lines=st.integers(1, 30),
    shared=st.sampled_from([0, 40]),
    cpus=st.integers(1, 3),
    quantum=st.sampled_from([0, 5]),
)
def test_what_is_paid_is_what_the_caches_count(
    workload: Programs, lines: int, shared: int, cpus: int, quantum: int
) -> None:
    sizes = CacheSizes(lines=lines, miss=7, write_back=11, shared_lines=shared, shared_hit=2)
    done = simulated(workload, sizes, cpus, quantum)
    check_trace(done.trace)
    check_counters(done.trace, done.engine)
    counts = done.caches
    assert counts is not None
    for cpu, paid in enumerate(done.counters.penalties):
        hits = counts.shared_hits[cpu]
        from_memory = counts.misses[cpu] - hits
        assert paid == 7 * from_memory + 2 * hits + 11 * counts.write_backs[cpu]
        assert counts.misses[cpu] <= counts.touched[cpu]


@pytest.mark.slow
@given(workload=programs())
def test_under_a_penalty_there_are_no_caches_of_lines(workload: Programs) -> None:
    assert simulated(workload, None, 2, 0).caches is None


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"time": -1}, "time"),
        ({"fragment": -2}, "fragment"),
        ({"lines": 1.5}, "lines"),
        ({"leaves": 3}, "leaves"),
    ],
)
def test_bursts_are_checked(values: dict[str, Any], place: str) -> None:
    with pytest.raises(InstanceError) as error:
        Burst(**({"time": 1} | values))
    assert error.value.place == place


def test_a_fragment_without_a_name_is_refused() -> None:
    with pytest.raises(DfoptError, match="a uses fragment 3, but the workload has 3; name it"):
        by_hand(FirstComeFirstServed, lambda: [thread("a", Burst(1, 2), Burst(1, 3))])


def test_two_threads_of_one_name_are_refused() -> None:
    with pytest.raises(DfoptError, match="two threads are called 'a'; give each a name"):
        by_hand(FirstComeFirstServed, lambda: [thread(name, Burst(1)) for name in ("a", "b", "a")])


def test_a_time_to_stop_is_not_negative() -> None:
    with pytest.raises(InstanceError, match="until: must be at least 0"):
        Scenario(name="x", workload=Custom(), machine=Machine(cpus=1), penalty=PENALTY, until=-1)


def test_lengths_include_what_switches_take() -> None:
    penalty = PenaltyG(fill=20, write_back=0)
    done = by_hand(FirstComeFirstServed, lambda: [thread("a", Burst(5, 0))], penalty=penalty)
    assert done.trace.end.tolist() == [25]
    assert done.trace.header.lengths is Lengths.WITH_SWITCHES
