"""scx_rusty: domains, stealing and balancing, by hand."""

from __future__ import annotations

import pytest

from dfopt.simulate.policies.scx_rusty import ScxRusty
from dfopt.simulate.steps import Sleep
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import places, simulated, thread


def test_new_threads_are_dealt_out_to_domains_in_turn() -> None:
    def make() -> list[NewThread]:
        return [thread(name, Burst(9)) for name in "abcd"]

    done = simulated(ScxRusty, make, cpus=4, domains="0-1;2-3")
    assert [places(done, name) for name in "abcd"] == [[(0, 0)], [(2, 0)], [(1, 0)], [(3, 0)]]
    assert places(simulated(ScxRusty, make, cpus=4), "b") == [(1, 0)]


def test_a_domain_is_served_before_others_are_stolen_from() -> None:
    def make() -> list[NewThread]:
        times = {"a": 10, "b": 30, "c": 5, "d": 5}
        return [thread(name, Burst(time)) for name, time in times.items()]

    # a and c belong to CPU 0, b and d to CPU 1.
    done = simulated(ScxRusty, make, cpus=2, domains="0;1")
    assert (places(done, "c"), places(done, "d")) == ([(0, 10)], [(0, 15)])
    for threshold in (0, 2):
        done = simulated(ScxRusty, make, cpus=2, domains="0;1", greedy_threshold=threshold)
        assert places(done, "d") == [(1, 30)]


def test_a_stolen_thread_still_belongs_to_its_domain() -> None:
    def make() -> list[NewThread]:
        return [
            thread("a", Burst(10), Sleep(8), Burst(20)),
            thread("b", Burst(30)),
            thread("c", Burst(1)),
            thread("d", Burst(5), Sleep(20), Burst(5)),
        ]

    # d runs on CPU 0 from 11 to 16, as a sleeps until 18. At 36 CPU 0 still runs a, and its own
    # CPU 1 is idle since 30.
    assert places(simulated(ScxRusty, make, cpus=2, domains="0;1"), "d") == [(0, 11), (1, 36)]


def hogs() -> list[NewThread]:
    return [thread(name, Burst(1_000 if name in "ac" else 1)) for name in "abcd"]


@pytest.mark.parametrize("balance_interval", [100, 0])
def test_the_balancer_moves_threads_to_domains_of_less_load(balance_interval: int) -> None:
    done = simulated(
        ScxRusty,
        hogs,
        cpus=2,
        domains="0;1",
        slice_underutil=10,
        balance_interval=balance_interval,
        greedy_threshold=0,
    )
    # a and c take turns on CPU 0; b and d have ended. At 100 their loads are 1024 each, and the
    # average of the domains is 1024, too: one goes. a next leaves its CPU at 110.
    moved = [start for cpu, start in places(done, "a") if cpu == 1]
    assert moved[:1] == ([110] if balance_interval else [])
    # By then a has run for 60, and c for 50.
    assert done.counters.end == (110 + 950 if balance_interval else 2_000)
    # Each balancing counts anew.
    assert not any(each.own.runnable for each in done.engine.threads)


def test_a_thread_stays_where_its_move_would_not_help() -> None:
    def make() -> list[NewThread]:
        return [thread("a", Burst(1_000)), thread("b", Burst(1))]

    # A load of 1024 in one of two domains is 512 too much, and moved it would be so in the other.
    done = simulated(ScxRusty, make, cpus=2, domains="0;1", slice_underutil=10, balance_interval=99)
    assert {cpu for cpu, _ in places(done, "a")} == {0}


def test_who_has_slept_is_ahead_of_others_by_a_slice_at_most() -> None:
    def make() -> list[NewThread]:
        return [thread("hog", Burst(1_000)), thread("sleeper", Burst(1), Sleep(499), Burst(100))]

    # It wakes up at 510. The hog's slice ends at 511, and then the sleeper has two, one for what it
    # is ahead.
    done = simulated(ScxRusty, make, slice_underutil=10, slice_overutil=10)
    assert places(done, "sleeper")[1:5] == [(0, 511), (0, 541), (0, 561), (0, 581)]
