"""Local search over schedules within a limit on waiting: annealing by stretches of time."""

from __future__ import annotations

from random import Random

import numpy as np

from dfopt.compare.attainable.check import WaitingLimit
from dfopt.compare.attainable.local_search.stretch import Timeline
from dfopt.compare.dispatches import Dispatches
from dfopt.compare.paid import cost_of
from dfopt.native.stretch import BOUNDS, NEVER, StretchAnnealing

DISPATCHES = 4_096
"""A stretch has about 4,096 dispatches, so that its tables fit into a processor's cache."""

FIRST_SHARE = 0.8
"""Share of the proposals for the whole stretch; the rest is for short parts of it."""

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
"""The temperature falls in 100 steps over a stretch, and in 10 steps over a part of it."""

SHORT_HOT, SHORT_COLD = 1.0, 0.2
"""The temperatures in a part of a stretch."""

REACHES = (16, 32, 64, 128)
"""A part of a stretch has 16 to 128 dispatches on each side of its middle."""

PROPOSALS = 50
"""Number of proposals for each dispatch of a part."""

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
    if len(schedule) == 0:
        return schedule
    annealing = AnnealedSchedule(schedule, limit, seed)
    if annealing.excess() > 0:
        raise ValueError("the given schedule is not within the limit on waiting")
    annealing.run(steps)
    found = annealing.schedule()
    # Dispatches of no length may stand in another order than the search took them to have.
    return found if cost_of(found) <= cost_of(schedule) else schedule


class AnnealedSchedule:
    """A schedule that gets better, stretch by stretch.

    Simulated annealing lets short segments of the CPUs' orders change places. Dispatches may be
    late for a while. That has a price, which rises until nothing is late. Then short parts of the
    stretch are annealed alone, around what is still late or else around single switches. What
    becomes of a part is kept if less is late, or as much at no higher cost. The cheapest schedule
    in which nothing was late is the answer.

    Parameters
    ----------
    schedule, limit, seed
        See :func:`improve`.
    """

    def __init__(
        self,
        schedule: Dispatches,
        limit: WaitingLimit,
        seed: int,
    ) -> None:
        self._dispatches = dispatches = schedule
        self.cpu = schedule.cpu.astype(np.int64)
        self.start = schedule.start.astype(np.int64)
        self._random = Random(seed)
        self._latest = dispatches.latest_starts(limit.each)
        total, each, most_long = (
            NEVER if bound is None else bound
            for bound in (limit.total, limit.long, limit.most_long)
        )
        self._bounds = np.array([(total, each, most_long)], BOUNDS)
        waits = schedule.waits
        self._waits = int(waits.sum())
        self._long_waits = int((waits > each).sum())
        self._cost_price = 1 / typical_cost(dispatches)
        self._length = max(1.0, float(dispatches.length.mean()))

    def excess(self) -> int:
        """Return by how much the schedule is beyond the limit: 0 if it is within."""
        late = int(np.maximum(self.start - self._latest, 0).sum())
        most, _, most_long = self._bounds[0].tolist()
        return int(late + max(0, self._waits - most) + max(0, self._long_waits - most_long))

    def schedule(self) -> Dispatches:
        """Return the schedule that has been reached."""
        return self._dispatches.moved(self.cpu, self.start.copy())

    def run(self, steps: int) -> None:
        """Try random changes in one stretch after the other."""
        count = len(self.cpu)
        timeline = Timeline(self._dispatches, self.cpu, self.start, self._latest)
        half = DISPATCHES // 2
        stretches = [
            (begin, min(count, begin + DISPATCHES))
            for begin in range(0, max(1, count - half), half)
        ]
        total = sum(end - begin for begin, end in stretches)
        for begin, end in stretches:
            inside, stretch = timeline.take(begin, end)
            annealing = StretchAnnealing(
                stretch,
                bounds=self._bounds,
                waits=self._waits,
                long_waits=self._long_waits,
                prices=(WAITS_SHARE, self._length),
                chances=CHANCES,
                seed=self._random.getrandbits(62) | 1,
            )
            if annealing.settle():
                self._improve(annealing, len(inside), steps * len(inside) // total)
                cpu, start, self._waits, self._long_waits = annealing.schedule()
                timeline.put_back(inside, cpu, start, begin, end)

    def _improve(self, annealing: StretchAnnealing, count: int, steps: int) -> None:
        first = int(steps * FIRST_SHARE)
        self._anneal(annealing, (0, count), first, (HOT, COLD), STAGES)
        left = steps - first
        while left > 0 and annealing.opener_count > 0:
            left -= self._anneal_part(annealing, count)
        annealing.take_cheapest()

    def _anneal_part(self, annealing: StretchAnnealing, count: int) -> int:
        """Anneal what lies around something late, or around a switch; return how many steps."""
        if annealing.late_count:
            middle = annealing.late(self._random.randrange(annealing.late_count))
        else:
            middle = annealing.opener(self._random.randrange(annealing.opener_count))
        reach = self._random.choice(REACHES)
        low, high = max(0, min(middle, count) - reach), min(count, middle + reach)
        proposals = PROPOSALS * (high - low)
        annealing.keep()
        self._anneal(annealing, (low, high), proposals, (SHORT_HOT, SHORT_COLD), SHORT_STAGES)
        annealing.go_back_if_worse()
        return proposals

    def _anneal(
        self,
        annealing: StretchAnnealing,
        part: tuple[int, int],
        proposals: int,
        temperatures: tuple[float, float],
        stages: int,
    ) -> None:
        for stage in range(stages):
            share = stage / (stages - 1)
            annealing.anneal(
                *part,
                proposals * (stage + 1) // stages - proposals * stage // stages,
                temperature=_between(temperatures, share),
                cost_price=self._cost_price,
                late_price=_between((LATE, LATER), share) / self._length,
            )


def typical_cost(dispatches: Dispatches) -> float:
    """Return what a switch between two fragments costs in the mean, at least 1."""
    if dispatches.matrix.size:
        return max(1.0, float(dispatches.matrix.mean()))
    return max(1.0, float((dispatches.entry + dispatches.exit).mean()))


def _between(ends: tuple[float, float], share: float) -> float:
    return float(ends[0] * (ends[1] / ends[0]) ** share)
