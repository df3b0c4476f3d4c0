"""Scheduling by data affinity, rule by rule: how groups are balanced, in milliseconds."""

from __future__ import annotations

from typing import Any

import pytest

from dfopt.simulate.policies.data_affinity import DataAffinity
from dfopt.simulate.simulation import Simulation
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Spawn, Yield
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import Make, places, simulated
from tests.simulate.run_queue.small_times import UNBALANCED as MILLISECONDS
from tests.simulate.run_queue.small_times import thread

A, B, C = range(3)


def run(make: Make, *, cpus: int = 1, **parameters: Any) -> Simulation:
    return simulated(DataAffinity, make, cpus=cpus, **(MILLISECONDS | parameters))


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


@pytest.mark.parametrize(
    ("hogs", "of_the_group"),
    [(6, [(0, 501), (0, 506)]), (3, [(1, 50), (1, 55)]), (2, [(1, 50), (1, 55)])],
)
def test_a_group_is_moved_only_if_threads_with_a_group_cause_the_imbalance(
    hogs: int, of_the_group: list[tuple[int, int]]
) -> None:
    def make() -> list[NewThread]:
        others = [Spawn(thread(f"h{number}", Burst(100))) for number in range(2, hogs + 1)]
        return [
            thread("h1", Burst(1), *others, Burst(500), nice=-10),
            thread("b", Burst(500)),
            thread("a1", Burst(5, A)),
            thread("a2", Burst(5, A)),
        ]

    done = run(make, cpus=2, rebalance_interval=50, time_slice=10_000)
    # At 50 h1 runs on CPU 0, and b on CPU 1. With six of them CPU 0 has two threads with a group
    # more, but five hogs. With three it has two more of each, and with two one hog more.
    assert places(done, "a1") + places(done, "a2") == of_the_group
    if hogs == 6:
        # Half of seven, from the end of the list.
        moved = [places(done, name) for name in ("h6", "h5", "h4")]
        assert moved == [[(1, 500)], [(1, 600)], [(1, 700)]]


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
