"""Local search over schedules within a limit on waiting: simulated annealing of the orders of CPUs.

Short segments of the CPUs' orders change places. Every change leaves the schedule within the limit.
One stretch of the schedule is annealed after the other. Whenever the temperature has fallen, the
schedule is kept if it is the cheapest so far.
"""

from __future__ import annotations

from random import Random

import numpy as np

from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.trace_rows import trace_rows
from dfopt.compare.dispatches import Dispatches
from dfopt.compare.paid import cost_of
from dfopt.native.trace import BOUNDS, NEVER, ScheduleAnnealing

STRETCH = 4_096
"""What is annealed at a time has about 4,096 dispatches, which processors' caches hold."""

HOT, COLD = 0.5, 0.12
"""The first and the last temperature, as shares of the cost of a typical switch. Hotter ones would
lose what is good about the given schedule."""

STAGES = 100
"""The temperature falls in 100 steps over a stretch."""

CHANGES_A_CALL = 2_000
"""2,000 changes take some milliseconds."""

CHANCES = -np.log((np.arange(1024) + 0.5) / 1024)
"""A change that is dearer by this, in units of the temperature, is made with equal chances."""


def improve(schedule: Dispatches, limit: WaitingLimit, *, steps: int, seed: int = 0) -> Dispatches:
    """Return a schedule within a limit on waiting that costs at most as much as a given one.

    Parameters
    ----------
    schedule
        A schedule within the limit.
    limit
        How long dispatches may wait.
    steps
        Number of random changes to try.
    seed
        The same seed gives the same schedule.

    Raises
    ------
    ValueError
        If the given schedule is not within the limit.
    """
    if check_schedule(schedule, limit):
        raise ValueError("the given schedule is not within the limit on waiting")
    count = len(schedule)
    bounds = (
        NEVER if bound is None else bound for bound in (limit.total, limit.long, limit.most_long)
    )
    if not count:
        return schedule
    annealing = ScheduleAnnealing(
        *trace_rows(schedule, limit.each),
        bounds=np.array([tuple(bounds)], BOUNDS),
        chances=CHANCES,
        seed=Random(seed).getrandbits(62) | 1,
    )
    if not annealing.settle():
        return schedule
    hot, cooling = HOT * typical_cost(schedule), COLD / HOT
    half = STRETCH // 2
    stretches = [
        (begin, min(count, begin + STRETCH)) for begin in range(0, max(1, count - half), half)
    ]
    total = sum(end - begin for begin, end in stretches)
    for begin, end in stretches:
        annealing.watch(begin, end)
        own = steps * (end - begin) // total
        for stage in range(STAGES):
            temperature = hot * cooling ** (stage / (STAGES - 1))
            left = own * (stage + 1) // STAGES - own * stage // STAGES
            for changes in range(left, 0, -CHANGES_A_CALL):
                annealing.anneal(min(CHANGES_A_CALL, changes), temperature)
            annealing.keep_if_cheaper()
        annealing.go_back()
    placements = annealing.placements()
    found = schedule.moved(placements["cpu"], placements["start"].copy())
    # Dispatches of no length may stand in another order than the search took them to have.
    return found if cost_of(found) <= cost_of(schedule) else schedule


def typical_cost(dispatches: Dispatches) -> float:
    """Return what a switch between two fragments costs in the mean, at least 1."""
    if dispatches.matrix.size:
        return max(1.0, float(dispatches.matrix.mean()))
    return max(1.0, float((dispatches.entry + dispatches.exit).mean()))
