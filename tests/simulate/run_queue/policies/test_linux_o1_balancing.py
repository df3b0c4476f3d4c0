"""The O(1) scheduler, by hand: where threads run, and its load balancer, in milliseconds."""

from __future__ import annotations

from typing import Any

import pytest

from dfopt.simulate.contract import State, Why
from dfopt.simulate.policies.linux_o1 import LinuxO1
from dfopt.simulate.simulation import Simulation
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Spawn, Yield
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import Make, places, simulated
from tests.simulate.run_queue.small_times import MILLISECONDS, Queues, thread


def run(make: Make, *, cpus: int = 1, **parameters: Any) -> Simulation:
    return simulated(LinuxO1, make, cpus=cpus, **(MILLISECONDS | parameters))


def test_a_thread_wakes_up_where_it_ran_last() -> None:
    done = run(
        lambda: [
            thread("a", Burst(8)),
            thread("sleeper", Burst(1), Sleep(10), Burst(1)),
            thread("b", Burst(100), arrival=5),
        ],
        cpus=2,
    )
    # CPU 0 is idle by then.
    assert places(done, "sleeper") == [(1, 0), (1, 11)]


def test_of_cpus_with_as_many_threads_the_next_in_the_circle_is_taken() -> None:
    done = run(lambda: [thread("a", Burst(1)), thread("b", Burst(1), arrival=5)], cpus=2)
    assert places(done, "b") == [(1, 5)]


def test_an_idle_cpu_pulls() -> None:
    done = run(
        lambda: [
            thread("a", Burst(10)),
            thread("b", Burst(4)),
            thread("c", Burst(10)),
        ],
        cpus=2,
    )
    assert places(done, "c") == [(1, 4)]


def test_an_idle_cpu_pulls_one_of_two_that_wake_up_together_on_another() -> None:
    def make() -> list[NewThread]:
        channel = Channel("c")
        return [
            thread("x", Burst(1), Receive(channel), Burst(50)),
            thread("waker", Burst(30), Send(channel, 2), Burst(500)),
            thread("z", Burst(1)),
            thread("y", Burst(1), Receive(channel), Burst(50), arrival=5),
        ]

    done = run(make, cpus=3, rebalance_interval=0)
    # Both ran on CPU 0, which is idle like CPU 2.
    assert places(done, "x")[1:] == [(0, 30)]
    assert places(done, "y")[1:] == [(2, 31)]


@pytest.mark.parametrize(
    ("cache_hot_time", "cache_nice_tries", "pulled"),
    [(0, 1, 10), (1000, 1, 30), (1000, 3, 50), (15, 9, 20)],
)
def test_threads_with_data_in_the_cache_are_pulled_after_failures(
    cache_hot_time: int, cache_nice_tries: int, pulled: int
) -> None:
    done = run(
        lambda: [
            thread("a", Burst(1), Sleep(1), Burst(200)),
            thread("b", Burst(1)),
            thread("c", Burst(10), Yield(), Burst(200)),
        ],
        cpus=2,
        cache_hot_time=cache_hot_time,
        cache_nice_tries=cache_nice_tries,
        idle_rebalance_interval=10,
        rebalance_interval=0,
        max_sleep_average=10,
    )
    # CPU 1 rests from 1 on, and looks every 10. On CPU 0, a preempts c at 2, which waits then.
    assert min(start for name in "ac" for cpu, start in places(done, name) if cpu) == pulled


def test_a_cpu_that_has_just_become_idle_looks_again() -> None:
    done = run(
        lambda: [
            thread("a", Burst(1), Sleep(1), Burst(200)),
            thread("b", Burst(15)),
            thread("c", Burst(10), Yield(), Burst(200)),
        ],
        cpus=2,
        cache_hot_time=15,
        cache_nice_tries=9,
        idle_rebalance_interval=10,
        rebalance_interval=0,
        max_sleep_average=10,
    )
    # c waits from 2 on, and is still hot at 15.
    assert min(start for name in "ac" for cpu, start in places(done, name) if cpu) == 25


def test_a_pulled_thread_preempts_a_less_urgent_one() -> None:
    def make() -> list[NewThread]:
        children = [Spawn(thread(f"child{number}", Burst(300))) for number in range(4)]
        other = thread("other", Burst(300), nice=5)
        return [thread("parent", Burst(1), *children, Burst(300)), other]

    assert places(run(make, cpus=2, rebalance_interval=50), "parent")[1] == (1, 50)


def test_failures_are_counted_only_while_a_cpu_is_idle() -> None:
    done = run(
        lambda: [
            thread("a", Burst(1), Sleep(1), Burst(200)),
            thread("b", *(Burst(1), Sleep(5)) * 5),
            thread("c", Burst(10), Yield(), Burst(200)),
        ],
        cpus=2,
        cache_hot_time=1000,
        idle_rebalance_interval=1000,
        rebalance_interval=0,
        max_sleep_average=10,
    )
    # CPU 1 becomes idle five times, which is no reason to leave a cache.
    assert {cpu for name in "ac" for cpu, _ in places(done, name)} == {0}


def test_all_cpus_rebalance_at_times() -> None:
    def make() -> list[NewThread]:
        children = [Spawn(thread(f"child{number}", Burst(300))) for number in range(4)]
        return [thread("parent", Burst(1), *children, Burst(300)), thread("other", Burst(300))]

    done = run(make, cpus=2, rebalance_interval=50)
    # At 50, five against one: two are moved, and wait for the end of the slice there. The parent
    # has given its slice to its children and is expired; of the others, the last is moved.
    assert places(done, "parent")[1] == (1, 100)
    assert places(done, "child3")[0] == (1, 200)
    assert all(places(done, f"child{number}")[0][0] == 0 for number in range(3))


@pytest.mark.parametrize(
    ("here", "there", "moved"),
    [(0, 1, 0), (0, 2, 1), (0, 9, 1), (1, 2, 0), (1, 3, 1), (9, 11, 0), (8, 10, 1), (4, 10, 3)],
)
def test_a_queue_with_a_quarter_more_is_pulled_from(here: int, there: int, moved: int) -> None:
    queues = Queues(LinuxO1())
    for cpu, count in enumerate((here, there)):
        for number in range(count):
            queues.add(f"t{number}", cpu)
    assert queues.policy.balance(0) == (moved > 0)
    assert queues.policy.load(0) == here + moved
    assert queues.policy.load(1) == there - moved


def test_the_busiest_queue_is_pulled_from() -> None:
    queues = Queues(LinuxO1(), cpus=3)
    for cpu, count in enumerate((0, 2, 4)):
        for number in range(count):
            queues.add(f"t{number}", cpu)
    assert queues.policy.balance(0)
    assert [queues.policy.load(cpu) for cpu in range(3)] == [1, 2, 3]


def test_failures_count_in_a_row() -> None:
    queues = Queues(LinuxO1(cache_hot_time=10, cache_nice_tries=1))
    policy = queues.policy
    for number in range(7):
        queues.add(f"hot{number}", 1).stopped_at = 0
    tries = [policy.balance(0) for _ in range(4)]
    # A success, and a moment without an imbalance, let it begin anew.
    assert tries == [False, False, True, False]
    balancing = [queues.add(f"t{number}", 0) for number in range(5)]
    assert not policy.balance(0)
    for _ in range(len(balancing) + 1):
        policy.pick(0)
    assert [policy.balance(0) for _ in range(3)] == [False, False, True]


def test_the_expired_are_pulled_first_and_then_the_most_urgent() -> None:
    queues = Queues(LinuxO1())
    policy = queues.policy
    names = []
    for name, nice in (("lazy", 10), ("normal", 0), ("urgent", -10)):
        queues.add(name, 1, nice)
    expired = queues.add("expired", 1, nice=-20)
    assert policy.pick(1) is expired
    expired.state = State.READY
    policy.ready(expired, Why.YIELDED, 1)
    while policy.load(1) > 1:
        assert policy.balance(0)
        pulled = policy.pick(0)
        assert pulled is not None
        names.append(pulled.name)
    assert names == ["expired", "urgent", "normal"]
