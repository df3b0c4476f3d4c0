from __future__ import annotations

from dfopt.simulate.policies.affinity import FixedProcessor
from dfopt.simulate.steps import Sleep
from dfopt.simulate.workload import Burst
from tests.simulate.run_queue.hand_made import order, places, simulated, thread


def test_a_thread_waits_for_its_cpu_while_others_idle() -> None:
    done = simulated(
        FixedProcessor,
        lambda: [thread("x", Burst(10)), thread("y", Burst(1)), thread("z", Burst(1))],
        cpus=2,
    )
    assert places(done, "z") == [(0, 10)]


def test_a_thread_comes_back_to_its_cpu() -> None:
    done = simulated(
        FixedProcessor,
        # The first CPU has been idle for longer whenever it wakes up.
        lambda: [thread("x", Burst(1)), thread("y", Burst(2), Sleep(3), Burst(1))],
        cpus=2,
    )
    assert places(done, "y") == [(1, 0), (1, 5)]


def test_a_new_thread_goes_to_the_cpu_that_has_fewest() -> None:
    done = simulated(
        FixedProcessor,
        lambda: [
            thread("x", Burst(9)),
            thread("gone", Burst(1)),
            thread("y", Burst(9), arrival=2),
            thread("z", Burst(1), arrival=3),
        ],
        cpus=2,
    )
    assert order(done, 0) == ["x", "z"]
    assert order(done, 1) == ["gone", "y"]


def test_threads_of_a_cpu_take_turns() -> None:
    done = simulated(
        FixedProcessor, lambda: [thread("x", Burst(5)), thread("y", Burst(2))], time_slice=2
    )
    assert order(done) == ["x", "y", "x"]
