from __future__ import annotations

from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.steps import Sleep
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import order, places, simulated, thread


def waiting() -> list[NewThread]:
    return [thread("x", Burst(3)), thread("y", Burst(2)), thread("z", Burst(1))]


def test_threads_run_in_the_order_in_which_they_came() -> None:
    done = simulated(FirstComeFirstServed, waiting)
    assert order(done) == ["x", "y", "z"]


def test_whoever_becomes_ready_again_goes_to_the_end() -> None:
    done = simulated(
        FirstComeFirstServed,
        lambda: [thread("x", Burst(1), Sleep(1), Burst(1)), *waiting()[1:]],
    )
    assert order(done) == ["x", "y", "z", "x"]


def test_a_slice_that_is_used_up_leads_to_the_end() -> None:
    done = simulated(FirstComeFirstServed, waiting, time_slice=2)
    assert order(done) == ["x", "y", "z", "x"]


def test_there_is_one_queue_for_all_cpus() -> None:
    done = simulated(FirstComeFirstServed, waiting, cpus=2)
    assert places(done, "z") == [(1, 2)]
