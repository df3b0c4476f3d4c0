"""Hackbench under data affinity: Pinter and Zalmanovici, section 5, name it without numbers."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from pinter_runs import NEW, SHIPPED, SPAWN_TIMES, VANILLA, simulated
from section import Row, evidence
from shares import is_clearly_above, with_interval

from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.workloads.hackbench import Hackbench

HACKBENCH: Hackbench = SHIPPED["hackbench"].workload
LOOPS = 30
READ_LINE = 200


def time_of(run: tuple[type[Policy], int]) -> int:
    """Return how long hackbench runs."""
    policy, spawn_time = run
    kind = replace(HACKBENCH, loops=LOOPS, spawn_time=spawn_time)
    return simulated(kind, policy, READ_LINE).counters.end


def modest_gain(chats: list[float]) -> Row:
    """Compare the gain with those of the chat."""
    with ProcessPoolExecutor() as pool:
        old, new = (
            list(pool.map(time_of, [(policy, spawn_time) for spawn_time in SPAWN_TIMES]))
            for policy in (VANILLA, NEW)
        )
    gains = [1 - after / before for before, after in zip(old, new, strict=True)]
    return evidence(
        shape="hackbench: gain",
        published="more modest than that of the chat",
        simulated=f"{with_interval([100 * gain for gain in gains])} %",
        criterion="more than 0, and less than half of the chat's least, with its 95 % interval",
        passes=lambda found: is_modest(found, min(chats)),
        found=gains,
        without={
            "vanilla twice": [[0.0] * len(gains)],
            "the chat's least": [[min(chats)] * len(gains)],
        },
    )


def is_modest(gains: list[float], chat: float) -> bool:
    """Return whether gains are above 0, and below half of the chat's."""
    return is_clearly_above(gains) and is_clearly_above([chat / 2 - gain for gain in gains])
