"""Small times of the O(1) scheduler, by hand or drawn, and threads and queues to go with them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dfopt.problem.penalties import PenaltyG
from dfopt.simulate.caches import penalty_caches
from dfopt.simulate.contract import Thread
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies.linux_o1 import LinuxO1
from dfopt.simulate.scenario import Machine
from dfopt.simulate.workload import Burst, NewThread, Step, Workload

MILLISECONDS: dict[str, Any] = {
    "time_slice": 100,
    "min_time_slice": 5,
    "max_sleep_average": 1000,
    "starvation_limit": 1000,
    "granularity": 10,
    "rebalance_interval": 200,
    "idle_rebalance_interval": 1,
    "cache_hot_time": 2,
}
"""Times of cases that are worked out by hand, in milliseconds."""

UNBALANCED: dict[str, Any] = MILLISECONDS | {
    "rebalance_interval": 0,
    "idle_rebalance_interval": 1000,
    "cache_hot_time": 0,
}
"""As the above, but that CPUs do not rebalance while a test does not want it."""


def small_times() -> st.SearchStrategy[dict[str, int]]:
    """Draw times as short as those of random programs, so that all of them matter."""
    return st.fixed_dictionaries(
        {
            "time_slice": st.integers(1, 20),
            "min_time_slice": st.integers(1, 5),
            "max_sleep_average": st.integers(1, 60),
            "starvation_limit": st.integers(0, 10),
            "granularity": st.integers(1, 5),
            "rebalance_interval": st.integers(0, 20),
            "idle_rebalance_interval": st.integers(1, 10),
            "cache_hot_time": st.integers(0, 10),
            "cache_nice_tries": st.integers(0, 3),
        }
    )


def thread(
    name: str, *steps: Burst | Step, arrival: int = 0, application: int = 0, nice: int = 0
) -> NewThread:
    return NewThread(
        name=name, steps=iter(steps), arrival=arrival, application=application, nice=nice
    )


class Queues:
    """Queues filled by hand; nothing runs."""

    def __init__(self, policy: LinuxO1, cpus: int = 2) -> None:
        self.policy = policy
        caches = penalty_caches(PenaltyG(fill=0, write_back=0), (), cpus, cold_start=True)
        Kernel(Machine(cpus=cpus), Workload(threads=()), caches, policy)
        policy.begin()

    def add(self, name: str, cpu: int, nice: int = 0) -> Thread:
        one = Thread(0, thread(name, nice=nice), None, 0)
        self.policy.admit(one, None)
        self.policy.start(one, cpu)
        return one
