"""Local search over schedules within a limit on waiting: simulated annealing of the orders of CPUs.

Short segments of the CPUs' orders change places. Dispatches may be late for a while. That has a
price, which rises until nothing is late. Then short parts are annealed alone, around what is still
late or else around single switches. What becomes of a part is kept if less is late, or as much at
no higher cost; and so is what becomes of a stretch of the schedule, one after the other.
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
"""What is annealed at a time has about 4,096 dispatches: what is late in the end spoils no more."""

FIRST_SHARE = 0.8
"""Share of the proposals for a whole stretch; the rest is for short parts of it."""

HOT, COLD = 0.5, 0.12
"""The first and the last temperature, as shares of the cost of a typical switch. Hotter ones would
lose what is good about the given schedule."""

LATE, LATER = 20.0, 1000.0
"""What it costs at the beginning and at the end if something is late by the mean length of a
dispatch, in costs of a typical switch."""

WAITS_SHARE = 0.1
"""If the sum of all waits is too large by some time, that is as bad as being late by a tenth of it.
A long wait above their permitted number is as bad as being late by the mean length."""

STAGES, SHORT_STAGES = 100, 10
"""The temperature falls in 100 steps over the schedule, and in 10 steps over a part of it."""

SHORT_HOT, SHORT_COLD = 1.0, 0.2
"""The temperatures in a part of the schedule."""

REACHES = (16, 32, 64, 128)
"""A part of the schedule has 16 to 128 dispatches on each side of its middle."""

PROPOSALS = 50
"""Number of proposals for each dispatch of a part."""

PROPOSALS_A_CALL = 2_000
"""2,000 proposals take some milliseconds."""

CHANCES = -np.log((np.arange(1024) + 0.5) / 1024)
"""A change that is worse by this, in units of the temperature, is made with equal chances."""


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
    count, random = len(schedule), Random(seed)
    bounds = (
        NEVER if bound is None else bound for bound in (limit.total, limit.long, limit.most_long)
    )
    if not count:
        return schedule
    length = max(1.0, float(schedule.length.mean()))
    cost_price = 1 / typical_cost(schedule)
    annealing = ScheduleAnnealing(
        *trace_rows(schedule, limit.each),
        bounds=np.array([tuple(bounds)], BOUNDS),
        prices=(WAITS_SHARE, length),
        chances=CHANCES,
        seed=random.getrandbits(62) | 1,
    )
    if not annealing.settle():
        return schedule

    def anneal(
        low: int, high: int, proposals: int, temperatures: tuple[float, float], stages: int
    ) -> None:
        for stage in range(stages):
            share = stage / (stages - 1)
            own = proposals * (stage + 1) // stages - proposals * stage // stages
            for begun in range(0, own, PROPOSALS_A_CALL):
                annealing.anneal(
                    low,
                    high,
                    min(PROPOSALS_A_CALL, own - begun),
                    temperature=_between(temperatures, share),
                    cost_price=cost_price,
                    late_price=_between((LATE, LATER), share) / length,
                )
            annealing.keep_if_better(0)

    half = STRETCH // 2
    stretches = [
        (begin, min(count, begin + STRETCH)) for begin in range(0, max(1, count - half), half)
    ]
    total = sum(end - begin for begin, end in stretches)
    for begin, end in stretches:
        annealing.watch(begin, end)
        annealing.keep(0)
        left = steps * (end - begin) // total
        first = int(left * FIRST_SHARE)
        anneal(begin, end, first, (HOT, COLD), STAGES)
        left -= first
        while left > 0 and annealing.opener_count:
            # What lies around something late, or around a switch.
            if annealing.late_count:
                middle = annealing.late(random.randrange(annealing.late_count))
            else:
                middle = annealing.opener(random.randrange(annealing.opener_count))
            # Where no dispatch runs before what is late, the CPU's beginning is named instead.
            middle = min(middle, count)
            reach = random.choice(REACHES)
            low, high = max(0, middle - reach), min(count, middle + reach)
            annealing.keep(1)
            anneal(low, high, PROPOSALS * (high - low), (SHORT_HOT, SHORT_COLD), SHORT_STAGES)
            annealing.go_back_if_worse(1)
            left -= PROPOSALS * (high - low)
        annealing.go_back_if_worse(0)
    placements = annealing.placements()
    found = schedule.moved(placements["cpu"], placements["start"].copy())
    # Dispatches of no length may stand in another order than the search took them to have.
    return found if cost_of(found) <= cost_of(schedule) else schedule


def typical_cost(dispatches: Dispatches) -> float:
    """Return what a switch between two fragments costs in the mean, at least 1."""
    if dispatches.matrix.size:
        return max(1.0, float(dispatches.matrix.mean()))
    return max(1.0, float((dispatches.entry + dispatches.exit).mean()))


def _between(ends: tuple[float, float], share: float) -> float:
    return float(ends[0] * (ends[1] / ends[0]) ** share)
