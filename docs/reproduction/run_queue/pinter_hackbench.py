"""Hackbench under data affinity: Pinter and Zalmanovici, section 5, name it without numbers."""

from concurrent.futures import ProcessPoolExecutor

from pinter_runs import NEW, SHIPPED, SPAWN_TIMES, VANILLA, simulated

from dfopt import replace
from dfopt.simulate.contract import Policy
from dfopt.simulate.workloads.hackbench import Hackbench

HACKBENCH: Hackbench = SHIPPED["hackbench"].workload
READ_LINE = 200
"""Nanoseconds; assumed."""


def time_of(run: tuple[type[Policy], int, int]) -> int:
    """Return how long hackbench runs."""
    policy, loops, spawn_time = run
    kind = replace(HACKBENCH, loops=loops, spawn_time=spawn_time)
    return simulated(kind, policy, READ_LINE).counters.end


def gains_of_hackbench(loops: int) -> list[float]:
    """Return by how much the time falls, run by run."""
    with ProcessPoolExecutor() as pool:
        old, new = (
            list(pool.map(time_of, [(policy, loops, spawn_time) for spawn_time in SPAWN_TIMES]))
            for policy in (VANILLA, NEW)
        )
    return [1 - after / before for before, after in zip(old, new, strict=True)]
