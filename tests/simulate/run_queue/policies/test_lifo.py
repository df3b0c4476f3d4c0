from __future__ import annotations

from dfopt.simulate.policies.simple import LastInFirstOut
from dfopt.simulate.steps import Sleep, Yield
from dfopt.simulate.workload import Burst
from tests.simulate.run_queue.hand_made import order, simulated, thread


def test_the_last_one_runs_first() -> None:
    done = simulated(
        LastInFirstOut,
        lambda: [
            thread("first", Burst(2), Sleep(1), Burst(1)),
            *[thread(name, Burst(5)) for name in "xyz"],
        ],
    )
    # It becomes ready again while the last one runs, and is the last one then.
    assert order(done) == ["first", "z", "first", "y", "x"]


def test_whoever_yields_goes_below_all_others() -> None:
    done = simulated(
        LastInFirstOut,
        lambda: [
            thread("polite", Burst(1), Yield(), Burst(1)),
            thread("x", Burst(1)),
            thread("y", Burst(1)),
        ],
    )
    assert order(done) == ["polite", "y", "x", "polite"]


def test_whoever_has_used_up_its_slice_goes_below_all_others() -> None:
    done = simulated(
        LastInFirstOut,
        lambda: [thread("long", Burst(4)), thread("x", Burst(1)), thread("y", Burst(1))],
        time_slice=3,
    )
    assert order(done) == ["long", "y", "x", "long"]
