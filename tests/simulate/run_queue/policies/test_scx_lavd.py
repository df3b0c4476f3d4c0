"""scx_lavd: criticality, deadlines and preemption, by hand."""

from __future__ import annotations

import pytest

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.fair_queues import UNIT
from dfopt.simulate.policies.scx_lavd import ScxLavd
from dfopt.simulate.steps import Channel, Device, InputOutput, Receive, Send, Sleep
from dfopt.simulate.workload import Burst, NewThread
from dfopt.trace.nice import NICE_0
from tests.simulate.run_queue.hand_made import order, places, simulated, thread

MICROSECOND, MILLISECOND = 1_000, 1_000_000


def test_how_critical_a_thread_is_depends_on_what_wakes_it() -> None:
    channel, disk = Channel("c"), Device("disk")

    def make() -> list[NewThread]:
        return [
            thread("woken", Receive(channel), Burst(1)),
            thread("timer", Sleep(5), Burst(1)),
            thread("disk", InputOutput(disk, 5), Burst(1)),
            thread("new", Send(channel), Burst(1)),
            thread("bound", Burst(1), cpus_allowed=[1]),
        ]

    threads = simulated(ScxLavd, make, cpus=5).engine.threads
    # A new thread is taken to run for 5 ms at a time, so its shortness is 995 / 0.5 + 1 = 1991.
    # Times 101 that has 18 bits, and one for the product of the frequencies: (1 + 18)^2 = 361.
    # The others have run for nothing once, so 4.375 ms on average: 1992. Times 100 · 129 + 1,
    # 100 · 641 + 1 and 100 · 1153 + 1 that has 25, 27 and 28 bits; times 100 · 257 + 1, 26.
    assert {each.name: each.own.criticality for each in threads} == {
        "new": 19**2, "woken": 26**2, "timer": 28**2, "disk": 29**2, "bound": 27**2,
    }  # fmt: skip


def test_threads_that_wait_and_wake_more_frequently_are_more_critical() -> None:
    channel = Channel("c")

    def make() -> list[NewThread]:
        rounds = [Burst(MILLISECOND), Send(channel), Sleep(MILLISECOND)] * 2
        return [
            thread("middle", *rounds, Burst(1)),
            thread("end", Receive(channel), Burst(1), Receive(channel), Burst(1)),
        ]

    middle, end = simulated(ScxLavd, make, cpus=2).engine.threads
    # It waits at 1 and 3 ms: an eighth of 1000 a second, then 7/8 of that and an eighth of 500.
    assert middle.own.wait_frequency == 125 - 15 + 62
    assert middle.own.wake_frequency == 125 - 15 + 62
    assert end.own.wake_frequency == 0
    # 173^2 has 15 bits. Its average is 4.5 and then 4.0625 ms, so 1992 · 64101 has 27 bits.
    assert middle.own.criticality == (15 + 27) ** 2


@pytest.mark.parametrize(
    ("sleep", "wakes"),
    [(500 * MICROSECOND, 600 * MICROSECOND), (1_000 * MICROSECOND, 5_600 * MICROSECOND)],
)
def test_a_critical_thread_preempts_one_that_will_run_for_longer(sleep: int, wakes: int) -> None:
    def make() -> list[NewThread]:
        sleeper = thread("sleeper", Burst(100 * MICROSECOND), Sleep(sleep), Burst(1))
        return [sleeper, thread("hog", Burst(20 * MILLISECOND))]

    # The hog is expected to run until 5.1 ms. The sleeper takes 4.3875 ms on average, so it
    # preempts before 0.7125 ms. Later it waits until the end of the hog's slice of 5.5 ms.
    assert places(simulated(ScxLavd, make), "sleeper") == [(0, 0), (0, wakes)]


def test_who_ran_for_longer_since_it_slept_has_a_later_deadline() -> None:
    def make() -> list[NewThread]:
        return [thread(name, Burst(12 * MILLISECOND)) for name in "ab"]

    # Slices of 5 ms, in turn; the last parts run alone.
    assert order(simulated(ScxLavd, make)) == ["a", "b", "a", "b", "a", "b"]


def test_who_sleeps_for_seconds_falls_back_by_half_a_second_at_most() -> None:
    def make() -> list[NewThread]:
        sleeper = thread("sleeper", Burst(1), Sleep(2_000 * MILLISECOND), Burst(1))
        return [sleeper, thread("hog", Burst(3_000 * MILLISECOND))]

    sleeper, _ = simulated(ScxLavd, make).engine.threads
    # The hog has run for 2 s by then, so the average is 1 s, less half of what its present slice
    # of at most half a second has not counted yet.
    fell_back = sleeper.own.vruntime * NICE_0 / UNIT
    assert 250 * MILLISECOND < fell_back <= 500 * MILLISECOND + 1


def alone() -> tuple[ScxLavd, Thread]:
    """Return the policy of a simulation, and its only thread."""
    engine = simulated(ScxLavd, lambda: [thread("a", Burst(1))]).engine
    assert isinstance(engine.policy, ScxLavd)
    return engine.policy, engine.threads[0]


def test_a_thread_inherits_an_eighth_and_at_most_a_quarter_of_its_own() -> None:
    policy, only = alone()
    own = policy._criticality(only, Why.NEW)
    for inherited, more in (
        ([2 * own, 0], 0),
        ([own + 80, own], 10),
        ([9 * own, 9 * own], own // 4),
    ):
        only.own.inherited = inherited
        assert policy._criticality(only, Why.NEW) == own + more
        assert only.own.inherited == [0, 0]


def test_the_more_threads_wait_the_less_the_clock_moves() -> None:
    policy, only = alone()
    clock = policy._clock
    for later in (100, 200, 300):
        policy._queue.add(only, clock + later)
    only.own.deadline = clock + 100
    policy.pick(0)
    assert policy._clock == clock + 100 // 2
