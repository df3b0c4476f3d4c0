"""What LP and MI share: a thread goes where it ran, unless it has given that CPU up."""

from __future__ import annotations

import pytest

from dfopt.simulate.contract import Policy
from dfopt.simulate.policies.affinity import LastProcessor, MinimumIntervening
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Yield
from dfopt.simulate.workload import Burst, NewThread, Step
from tests.simulate.run_queue.hand_made import order, places, simulated, thread

POLICIES = [LastProcessor, MinimumIntervening]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_thread_goes_to_its_idle_cpu_even_if_its_waker_leaves_another_one(
    policy: type[Policy],
) -> None:
    def make() -> list[NewThread]:
        channel = Channel("c")
        return [
            thread("waker", Burst(5), Send(channel), Sleep(9), Burst(1)),
            thread("x", Burst(1), Receive(channel), Burst(1)),
        ]

    assert places(simulated(policy, make, cpus=2), "x") == [(1, 0), (1, 5)]


@pytest.mark.parametrize("policy", POLICIES)
def test_two_threads_of_one_idle_cpu_that_one_thread_wakes_up_use_two(policy: type[Policy]) -> None:
    def make() -> list[NewThread]:
        channel = Channel("c")
        return [
            thread("x", Burst(1), Receive(channel), Burst(9)),
            thread("waker", Burst(30), Send(channel, 2), Burst(9)),
            thread("beside", Burst(9)),
            thread("y", Burst(1), Receive(channel), Burst(9), arrival=2),
        ]

    done = simulated(policy, make, cpus=3)
    # CPU 0 is idle, and CPU 2 since 9.
    assert places(done, "x") == [(0, 0), (0, 30)]
    assert places(done, "y") == [(0, 2), (2, 30)]


@pytest.mark.parametrize("policy", POLICIES)
def test_whoever_yields_or_has_used_up_its_slice_is_not_preferred(policy: type[Policy]) -> None:
    polite: list[Burst | Step] = [Burst(2), Yield(), Burst(2)]
    done = simulated(policy, lambda: [thread("x", *polite), thread("y", Burst(1))])
    assert order(done) == ["x", "y", "x"]
    done = simulated(policy, lambda: [thread("x", Burst(4)), thread("y", Burst(1))], time_slice=2)
    assert order(done) == ["x", "y", "x"]
