"""Scheduling by data affinity, rule by rule; the unit is a millisecond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError
from dfopt.machine import PenaltyF
from dfopt.simulate.run_queue.machine import Machine
from dfopt.simulate.run_queue.policies.data_affinity import DataAffinity
from dfopt.simulate.run_queue.policies.linux_o1 import LinuxO1
from dfopt.simulate.run_queue.scenario import Scenario
from dfopt.simulate.run_queue.simulation import Simulation, simulate_once
from dfopt.simulate.run_queue.steps import (
    UNMANAGED,
    Burst,
    Channel,
    NewThread,
    Receive,
    Send,
    Sleep,
    Spawn,
    Step,
    Yield,
)
from dfopt.simulate.run_queue.thread import State
from dfopt.simulate.run_queue.workload import WorkloadKind
from dfopt.simulate.run_queue.workloads.chat import Chat
from dfopt.simulate.run_queue.workloads.custom import Custom
from tests.simulate.run_queue.hand_made import Make, order, places, simulated
from tests.simulate.run_queue.programs import (
    Operation,
    Programs,
    check_counters,
    check_trace,
    programs,
)
from tests.simulate.run_queue.small_times import small_times

A, B, C = range(3)

MILLISECONDS: dict[str, Any] = {
    "time_slice": 100,
    "min_time_slice": 5,
    "max_sleep_average": 1000,
    "starvation_limit": 1000,
    "granularity": 10,
    "rebalance_interval": 0,
    "idle_rebalance_interval": 1000,
    "cache_hot_time": 0,
}
"""As in Linux, but that CPUs do not rebalance while a test does not want it."""


def thread(
    name: str, *steps: Burst | Step, arrival: int = 0, application: int = 0, nice: int = 0
) -> NewThread:
    return NewThread(
        name=name, steps=iter(steps), arrival=arrival, application=application, nice=nice
    )


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


# Rule 5.


@pytest.mark.parametrize(("rebalance_interval", "place"), [(100, (0, 8)), (7, (1, 8))])
def test_a_fragment_is_forgotten_when_nobody_uses_it(
    rebalance_interval: int, place: tuple[int, int]
) -> None:
    done = run(
        lambda: [
            thread("a1", Burst(5, A)),
            thread("u1", Burst(6)),
            thread("u2", Burst(20), arrival=1),
            thread("a2", Burst(5, A), arrival=8),
        ],
        cpus=2,
        rebalance_interval=rebalance_interval,
    )
    # CPU 0, where the fragment was, runs u2; CPU 1 is idle.
    assert places(done, "a2") == [place]


def test_a_fragment_that_somebody_uses_is_not_forgotten() -> None:
    done = run(
        lambda: [
            thread("a1", Burst(5, A), Sleep(50)),
            thread("u1", Burst(6)),
            thread("u2", Burst(20), arrival=1),
            thread("a2", Burst(5, A), arrival=8),
        ],
        cpus=2,
        rebalance_interval=7,
    )
    assert places(done, "a2") == [(0, 8)]


# Rule 6.


def test_whole_groups_are_moved() -> None:
    done = run(
        lambda: [
            thread("a", Burst(50, A)),
            thread("b", Burst(5, B)),
            thread("c1", Burst(10, C)),
            thread("c2", Burst(10, C)),
        ],
        cpus=2,
    )
    # The O(1) balancer would move one of them to the idle CPU.
    assert places(done, "c1") + places(done, "c2") == [(1, 5), (1, 15)]


def test_a_moved_group_draws_those_that_wake_up() -> None:
    done = run(
        lambda: [
            thread("sleeper", Burst(1, C), Sleep(50), Burst(1, C)),
            thread("b", Burst(15, B)),
            thread("a", Burst(90, A), arrival=2),
            thread("c", Burst(10, C), arrival=3),
        ],
        cpus=2,
        cache_nice_tries=0,
    )
    assert places(done, "sleeper") == [(0, 0), (1, 51)]


def test_threads_without_a_fragment_are_moved_when_the_group_runs() -> None:
    def make() -> list[NewThread]:
        unmanaged = thread("u", Burst(10))
        return [
            thread("a1", Burst(5, A), Spawn(unmanaged), Burst(50, A)),
            thread("b", Burst(20, B)),
            thread("a2", Burst(50, A)),
        ]

    done = run(make, cpus=2)
    assert places(done, "u") == [(1, 20)]
    assert places(done, "a2")[0][0] == 0


def test_a_group_that_runs_is_not_moved_however_often_balancing_fails() -> None:
    done = run(
        lambda: [thread("a1", Burst(100, A)), thread("a2", Burst(100, A))],
        cpus=2,
        idle_rebalance_interval=10,
        cache_nice_tries=0,
        split_after=100,
    )
    assert places(done, "a2") == [(0, 100)]


def test_the_group_that_ran_last_is_moved_after_failures() -> None:
    done = run(
        lambda: [
            thread("urgent", Burst(1), Sleep(65), Burst(40)),
            thread("a", Burst(100, A), arrival=2),
        ],
        cpus=2,
        idle_rebalance_interval=10,
    )
    # It has been preempted at 66; CPU 1 fails at 76 and 86.
    assert places(done, "a") == [(0, 2), (1, 96)]


def test_no_group_is_moved_that_leaves_as_great_an_imbalance() -> None:
    done = run(
        lambda: [
            thread("a", Burst(90, A), nice=-5),
            thread("b", Burst(90, B)),
            thread("c1", Burst(10, C), nice=-5),
            thread("c2", Burst(10, C), nice=-5),
        ],
        cpus=2,
        rebalance_interval=50,
    )
    # Three against one; on CPU 1 it would run at once.
    assert places(done, "c1") == [(0, 90)]


def test_an_idle_cpu_pulls_one_of_two_groups_that_wake_up_together_on_another() -> None:
    def make() -> list[NewThread]:
        channel = Channel("c")
        return [
            thread("a", Burst(1, A), Receive(channel), Burst(50, A)),
            thread("waker", Burst(30), Send(channel, 2), Burst(500)),
            thread("c", Burst(1, C), Sleep(50)),
            thread("b", Burst(1, B), Receive(channel), Burst(50, B), arrival=5),
        ]

    done = run(make, cpus=3, idle_rebalance_interval=1)
    # Both ran on CPU 0, which is idle like CPU 2.
    assert places(done, "a") == [(0, 0), (2, 31)]
    assert places(done, "b") == [(0, 5), (0, 30)]


@pytest.mark.parametrize(("split_after", "begins"), [(0, 10), (3, 40), (5, 60)])
def test_a_group_is_split_when_the_imbalance_lasts(split_after: int, begins: int) -> None:
    done = run(
        lambda: [
            thread("a1", Burst(100, A)),
            thread("a2", Burst(100, A)),
            thread("a3", Burst(30, A)),
        ],
        cpus=2,
        idle_rebalance_interval=10,
        split_after=split_after,
        cache_nice_tries=100,
    )
    # The thread that would run last.
    assert places(done, "a3") == [(1, begins)]


def test_those_split_off_find_their_group_when_they_wake_up() -> None:
    done = run(
        lambda: [
            thread("a1", Burst(90, A)),
            thread("a2", Burst(90, A)),
            thread("a3", Burst(30, A), Sleep(5), Burst(5, A)),
        ],
        cpus=2,
        idle_rebalance_interval=10,
        split_after=1,
    )
    # There it waits behind a2, until that is split, too: CPU 1 has been idle since 50.
    assert places(done, "a3") == [(1, 20), (1, 70)]


def test_those_split_off_stay_together_until_they_wake_up() -> None:
    done = run(
        lambda: [thread(name, Burst(60, A), Yield(), Burst(60, A)) for name in ("a1", "a2")],
        cpus=2,
        idle_rebalance_interval=10,
        split_after=0,
    )
    assert places(done, "a2") == [(1, 10)]


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
    assert all(one.state is State.ENDED for one in done.engine.threads)
    assert {one.name: one.run_time for one in done.engine.threads} == workload.executed()
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
