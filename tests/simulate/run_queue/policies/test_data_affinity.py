"""Scheduling by data affinity, rule by rule: groups and batches; the unit is a millisecond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.contract import State
from dfopt.simulate.policies.data_affinity import DataAffinity
from dfopt.simulate.policies.linux_o1 import LinuxO1
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Yield
from dfopt.simulate.workload import UNMANAGED, Burst, NewThread, WorkloadKind
from dfopt.simulate.workloads.chat import Chat
from dfopt.simulate.workloads.custom import Custom
from tests.simulate.run_queue.hand_made import Make, order, places, simulated
from tests.simulate.run_queue.programs import (
    Operation,
    Programs,
    check_counters,
    check_trace,
    programs,
)
from tests.simulate.run_queue.small_times import UNBALANCED as MILLISECONDS
from tests.simulate.run_queue.small_times import small_times, thread

A, B, C = range(3)


def run(make: Make, *, cpus: int = 1, **parameters: Any) -> Simulation:
    return simulated(DataAffinity, make, cpus=cpus, **(MILLISECONDS | parameters))


# Rule 1.


def test_a_new_fragment_goes_where_the_fewest_threads_are() -> None:
    done = run(
        lambda: [
            thread("a1", Burst(10, A)),
            thread("b", Burst(20, B)),
            thread("a2", Burst(20, A)),
            thread("c", Burst(5, C)),
        ],
        cpus=2,
    )
    # Two on CPU 0, one on CPU 1.
    assert places(done, "c") == [(1, 20)]


def test_with_as_many_threads_the_fewest_groups_decide() -> None:
    done = run(
        lambda: [
            thread("a", Burst(1, A), Sleep(50)),
            thread("b", Burst(1, B), arrival=10),
        ],
        cpus=2,
    )
    assert places(done, "b") == [(1, 10)]


def test_a_thread_that_changes_does_not_count_itself() -> None:
    done = run(
        lambda: [
            thread("sleeper", Burst(1, A), Sleep(100), application=1),
            thread("b1", Burst(50, B)),
            thread("b2", Burst(50, B)),
            thread("t", Burst(5, A), Burst(5, C), arrival=2),
            thread("u", Burst(50), arrival=3),
        ],
        cpus=2,
    )
    # Beside it there is one on CPU 0, though more groups, and two are on CPU 1.
    assert places(done, "t") == [(0, 2), (0, 7)]


# Rule 2.


def test_a_known_fragment_draws_threads_to_its_cpu() -> None:
    done = run(lambda: [thread("a1", Burst(10, A)), thread("a2", Burst(5, A))], cpus=2)
    assert places(done, "a2") == [(0, 10)]


def test_fragments_are_known_by_application() -> None:
    done = run(
        lambda: [thread("a1", Burst(10, A)), thread("a2", Burst(5, A), application=1)], cpus=2
    )
    assert places(done, "a2") == [(1, 0)]


# Rule 3.


def test_a_thread_moves_before_it_touches_a_fragment_of_another_cpu() -> None:
    done = run(lambda: [thread("t", Burst(5, A), Burst(5, B)), thread("b", Burst(20, B))], cpus=2)
    assert places(done, "t") == [(0, 0), (1, 20)]


def test_a_thread_that_changes_leaves_a_batch_to_those_that_wait() -> None:
    done = run(
        lambda: [
            thread("t", Burst(5, A), Burst(5, B)),
            thread("b", Burst(5, B)),
            thread("a", Burst(5, A)),
        ]
    )
    assert order(done) == ["t", "a", "b", "t"]


def test_the_last_of_a_batch_takes_the_cpu_along() -> None:
    done = run(
        lambda: [
            thread("t", Burst(5, A), Burst(5, B)),
            thread("c", Burst(5, C)),
            thread("b", Burst(5, B)),
        ]
    )
    assert order(done) == ["t", "t", "b", "c"]


def test_bursts_without_a_fragment_change_nothing() -> None:
    done = run(
        lambda: [
            thread("t", Burst(5, A), Burst(5), Burst(5, A)),
            thread("b", Burst(5, B), arrival=6),
        ]
    )
    assert order(done) == ["t", "t", "t", "b"]


# Rule 4.


def test_a_thread_that_wakes_up_is_looked_up() -> None:
    done = run(
        lambda: [thread("t", Burst(1, A), Sleep(10), Burst(5, B)), thread("b", Burst(20, B))],
        cpus=2,
    )
    assert places(done, "t") == [(0, 0), (1, 20)]


# Batches and epochs.


def test_threads_of_a_group_run_in_succession() -> None:
    done = run(
        lambda: [
            thread("a1", Burst(5, A)),
            thread("b1", Burst(5, B)),
            thread("a2", Burst(5, A)),
            thread("b2", Burst(5, B)),
        ]
    )
    assert order(done) == ["a1", "a2", "b1", "b2"]


def test_a_batch_ends_when_all_have_used_their_quota() -> None:
    done = run(
        lambda: [
            thread("a1", Burst(20, A)),
            thread("b1", Burst(20, B)),
            thread("a2", Burst(20, A)),
            thread("b2", Burst(20, B)),
        ],
        time_slice=10,
    )
    # The second epoch begins with the group that the first one ended with.
    assert order(done) == ["a1", "a2", "b1", "b2", "b1", "b2", "a1", "a2"]


def test_who_wakes_up_joins_the_batch_that_runs() -> None:
    channel = Channel("c")
    done = run(
        lambda: [
            thread("a1", Burst(1, A), Receive(channel), Burst(5, A)),
            thread("a2", Burst(5, A), Send(channel), Burst(5, A)),
            thread("b", Burst(5, B)),
        ]
    )
    assert order(done) == ["a1", "a2", "a1", "b"]


def test_who_wakes_up_late_waits_for_the_next_batch() -> None:
    done = run(
        lambda: [
            thread("a", Burst(1, A), Sleep(5), Burst(5, A)),
            thread("b1", Burst(10, B)),
            thread("b2", Burst(10, B)),
        ]
    )
    assert order(done) == ["a", "b1", "b2", "a"]


def test_quotas_are_not_renewed_within_an_epoch() -> None:
    def sleeper() -> list[NewThread]:
        return [
            thread("sleeper", Burst(1, A), Sleep(150), Burst(140, A)),
            thread("b", Burst(300, B), nice=1),
        ]

    # Under O(1) it is interactive, and keeps the CPU.
    assert order(run(sleeper)) == ["sleeper", "b", "sleeper", "b", "sleeper", "b"]
    assert order(simulated(LinuxO1, sleeper, **MILLISECONDS)) == ["sleeper", "b", "sleeper", "b"]


def test_a_batch_goes_on_after_an_urgent_thread() -> None:
    done = run(
        lambda: [
            thread("urgent", Burst(1), Sleep(65), Burst(1)),
            thread("a1", Burst(70, A)),
            thread("b", Burst(5, B)),
            thread("a2", Burst(5, A)),
        ]
    )
    # Its priority is 119, and that of groups 120.
    assert order(done) == ["urgent", "a1", "urgent", "a1", "a2", "b"]


def test_a_yield_ends_a_turn_in_this_epoch() -> None:
    done = run(
        lambda: [
            thread("a1", Burst(1, A), Yield(), Burst(1, A)),
            thread("b", Burst(1, B)),
            thread("a2", Burst(1, A)),
        ]
    )
    assert order(done) == ["a1", "a2", "b", "a1"]


# The whole.


def without_fragments(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    changed: list[Operation] = []
    for kind, *values in operations:
        if kind in ("burst", "locked"):
            changed.append((kind, values[0], UNMANAGED, *values[2:]))
        elif kind == "spawn":
            changed.append((kind, without_fragments(values[0])))
        else:
            changed.append((kind, *values))
    return tuple(changed)


def scenario(
    workload: WorkloadKind, *, cpus: int, lock_time: int = 0, **parameters: Any
) -> Scenario:
    return Scenario(
        name="any",
        workload=workload,
        machine=Machine(cpus=cpus, switch_time=1, lock_time=lock_time),
        penalty=PenaltyF(read_line=1, write_back=3),
        policies={DataAffinity.name: parameters},
    )


@pytest.mark.slow
@given(workload=programs(most=8), parameters=small_times(), cpus=st.integers(1, 4))
def test_threads_without_fragments_are_scheduled_as_under_o1(
    workload: Programs, parameters: dict[str, int], cpus: int
) -> None:
    plain = replace(workload, threads=tuple(map(without_fragments, workload.threads)))
    ours = simulate_once(scenario(plain, cpus=cpus, **parameters), DataAffinity).trace
    theirs = replace(scenario(plain, cpus=cpus), policies={LinuxO1.name: parameters})
    trace = simulate_once(theirs, LinuxO1).trace
    for column in ("cpu", "start", "end", "task"):
        assert np.array_equal(getattr(ours, column), getattr(trace, column))


@pytest.mark.slow
@given(
    workload=programs(most=8),
    parameters=small_times(),
    split_after=st.integers(0, 4),
    cpus=st.integers(1, 4),
    lock_time=st.sampled_from([0, 2]),
)
def test_nothing_is_lost_however_short_the_times(
    workload: Programs,
    parameters: dict[str, int],
    split_after: int,
    cpus: int,
    lock_time: int,
) -> None:
    any_times = scenario(
        workload, cpus=cpus, lock_time=lock_time, split_after=split_after, **parameters
    )
    done = simulate_once(any_times, DataAffinity)
    policy = done.engine.policy
    assert isinstance(policy, DataAffinity)
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    assert {thread.name: thread.run_time for thread in done.engine.threads} == workload.executed()
    assert all(policy.load(cpu) == 0 for cpu in range(cpus))
    check_trace(done.trace)
    check_counters(done.trace, done.engine)


@pytest.mark.parametrize(
    ("workload", "cpus", "most"),
    [
        (Custom(threads=16, iterations=3_000_000), 2, 1 / 3),
        (Chat(rooms=4, users=6, messages=60), 4, 1 / 2),
    ],
    ids=["custom", "chat"],
)
def test_shared_fragments_are_switched_less_often_than_under_o1(
    workload: WorkloadKind, cpus: int, most: float
) -> None:
    two = Scenario(
        name="shared",
        workload=workload,
        machine=Machine(cpus=cpus, switch_time=1_000),
        penalty=PenaltyF(read_line=100, write_back=20_000),
    )
    ours, theirs = (simulate_once(two, policy).counters for policy in (DataAffinity, LinuxO1))
    assert ours.fragment_switches < most * theirs.fragment_switches
    assert sum(ours.penalties) < sum(theirs.penalties)


def test_parameters_are_checked() -> None:
    with pytest.raises(DfoptError, match="split_after"):
        DataAffinity(split_after=-1)
