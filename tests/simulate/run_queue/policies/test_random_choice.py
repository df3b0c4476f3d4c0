from __future__ import annotations

from collections import Counter

from dfopt.simulate.policies.simple import RandomChoice
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import order, simulated, thread


def waiting() -> list[NewThread]:
    """Three threads that all wait for the first one."""
    return [thread("first", Burst(9)), *[thread(name, Burst(1)) for name in "xyz"]]


def drawn(seed: int) -> str:
    return "".join(order(simulated(RandomChoice, waiting, seed=seed))[1:])


def test_every_order_is_as_likely_as_any_other() -> None:
    seen = Counter(drawn(seed) for seed in range(600))
    assert len(seen) == 6
    # Five standard deviations of a share of 1/6 in 600.
    assert all(abs(times - 100) < 46 for times in seen.values())


def test_the_seed_decides() -> None:
    assert drawn(3) == drawn(3)


def test_a_slice_ends_a_turn() -> None:
    done = simulated(
        RandomChoice, lambda: [thread("x", Burst(50)), thread("y", Burst(50))], time_slice=1
    )
    assert len(order(done)) > 20
