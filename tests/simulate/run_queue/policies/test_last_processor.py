from __future__ import annotations

from dfopt.simulate.policies.affinity import LastProcessor
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.steps import Sleep
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import order, places, simulated, thread


def both_wait() -> list[NewThread]:
    """While both CPUs are busy, y becomes ready, which ran on CPU 1, then x, which ran on 0."""
    return [
        thread("x", Burst(1), Sleep(4), Burst(1)),
        thread("y", Burst(1), Sleep(2), Burst(1)),
        thread("short", Burst(10), arrival=1),
        thread("long", Burst(20), arrival=1),
    ]


def test_a_cpu_prefers_its_own_and_else_takes_the_first() -> None:
    done = simulated(LastProcessor, both_wait, cpus=2)
    assert order(done, 0) == ["x", "short", "x", "y"]
    without = simulated(FirstComeFirstServed, both_wait, cpus=2)
    assert order(without, 0) == ["x", "short", "y", "x"]


def test_a_thread_that_ran_elsewhere_is_forgotten() -> None:
    def make() -> list[NewThread]:
        return [
            *both_wait(),
            thread("on 0", Burst(20), arrival=13),
            thread("on 1", Burst(1), arrival=14),
        ]

    # CPU 1 would have preferred the one that CPU 0 has taken.
    assert order(simulated(LastProcessor, make, cpus=2), 1) == ["y", "long", "on 1"]


def test_a_thread_goes_to_its_last_cpu_if_that_is_idle() -> None:
    done = simulated(
        LastProcessor,
        # The first CPU has been idle for longer.
        lambda: [thread("x", Burst(1)), thread("y", Burst(2), Sleep(3), Burst(1))],
        cpus=2,
    )
    assert places(done, "y") == [(1, 0), (1, 5)]


def test_a_thread_goes_elsewhere_if_its_last_cpu_is_busy() -> None:
    done = simulated(
        LastProcessor,
        lambda: [
            thread("x", Burst(1), Sleep(3), Burst(1)),
            thread("y", Burst(2)),
            thread("z", Burst(9), arrival=1),
        ],
        cpus=2,
    )
    assert places(done, "x") == [(0, 0), (1, 4)]


def test_threads_of_one_cpu_that_wake_up_together_use_all_idle_ones() -> None:
    done = simulated(
        LastProcessor,
        lambda: [
            thread("x", Burst(1), Sleep(9), Burst(5)),
            thread("long", Burst(5)),
            thread("y", Burst(1), Sleep(8), Burst(5), arrival=1),
        ],
        cpus=2,
    )
    assert places(done, "x")[0][0] == places(done, "y")[0][0] == 0
    assert {place for name in "xy" for place in places(done, name)[1:]} == {(0, 10), (1, 10)}
