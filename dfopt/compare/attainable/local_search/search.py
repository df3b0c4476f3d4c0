"""Local search over schedules within a limit on waiting: annealing by stretches of time."""

from __future__ import annotations

from random import Random

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.local_search.layout import (
    COST,
    LATE_COUNT,
    LATENESS,
    LATES,
    LONG_WAITS,
    NEVER,
    OPENERS,
    OPENING,
    RANDOM,
    WAITS,
    Stretch,
)
from dfopt.compare.attainable.local_search.stretch import Timeline
from dfopt.compare.attainable.timed_schedule import TimedSchedule, cost_of, waits_of
from dfopt.compare.attainable.waiting_limit import WaitingLimit

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


def improve(
    arrivals: Arrivals,
    limit: WaitingLimit,
    schedule: TimedSchedule,
    *,
    steps: int,
    seed: int = 0,
) -> TimedSchedule:
    """Return a schedule within a limit on waiting that costs at most as much as a given one.

    Parameters
    ----------
    arrivals
        The dispatches.
    limit
        How long they may wait.
    schedule
        A schedule within the limit.
    steps
        Number of random changes to try.
    seed
        The same seed gives the same schedule.

    Raises
    ------
    ValueError
        If the given schedule is not within the limit.
    """
    if len(arrivals) == 0:
        return schedule
    annealing = AnnealedSchedule(arrivals, limit, schedule, seed)
    if annealing.excess() > 0:
        raise ValueError("the given schedule is not within the limit on waiting")
    annealing.run(steps)
    found = annealing.schedule()
    # Dispatches of no length may stand in another order than the search took them to have.
    return found if cost_of(arrivals, found) <= cost_of(arrivals, schedule) else schedule


class AnnealedSchedule:
    """A schedule that gets better, stretch by stretch.

    Simulated annealing lets short segments of the CPUs' orders change places. Dispatches may be
    late for a while. That has a price, which rises until nothing is late. Then short parts of the
    stretch are annealed alone, around what is still late or else around single switches. What
    becomes of a part is kept if less is late, or as much at no higher cost. The cheapest schedule
    in which nothing was late is the answer.

    Parameters
    ----------
    arrivals, limit, schedule, seed
        See :func:`improve`.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        limit: WaitingLimit,
        schedule: TimedSchedule,
        seed: int,
    ) -> None:
        self._arrivals = arrivals
        self.cpu = schedule.cpu.astype(np.int64)
        self.start = schedule.start.astype(np.int64)
        self._random = Random(seed)
        self._latest = arrivals.latest_starts(limit.each)
        bounds = (limit.total, limit.long, limit.most_long)
        self._bounds = np.array([NEVER if bound is None else bound for bound in bounds], np.int64)
        waits = waits_of(arrivals, schedule)
        self._waits = int(waits.sum())
        self._long_waits = int((waits > self._bounds[1]).sum())
        self._cost_price = 1 / typical_cost(arrivals)
        self._length = max(1.0, float(arrivals.length.mean()))
        self._excess_prices = (WAITS_SHARE, self._length)
        self._pairs = np.zeros((4, 4), np.int64)
        self._cheapest: Stretch

    def excess(self) -> int:
        """Return by how much the schedule is beyond the limit: 0 if it is within."""
        late = int(np.maximum(self.start - self._latest, 0).sum())
        too_long = max(0, self._waits - int(self._bounds[0]))
        return late + too_long + max(0, self._long_waits - int(self._bounds[2]))

    def schedule(self) -> TimedSchedule:
        """Return the schedule that has been reached."""
        return TimedSchedule(cpu=self.cpu.astype(self._arrivals.cpu.dtype), start=self.start.copy())

    def run(self, steps: int) -> None:
        """Try random changes in one stretch after the other."""
        count = len(self.cpu)
        timeline = Timeline(self._arrivals, self.cpu, self.start, self._latest, self._bounds)
        half = DISPATCHES // 2
        stretches = [
            (begin, min(count, begin + DISPATCHES))
            for begin in range(0, max(1, count - half), half)
        ]
        total = sum(end - begin for begin, end in stretches)
        for begin, end in stretches:
            inside, stretch = timeline.take(begin, end)
            self._improve(stretch, len(inside), steps * len(inside) // total)
            timeline.put_back(inside, stretch, begin, end)

    def _improve(self, stretch: Stretch, dispatches: int, steps: int) -> None:
        from dfopt.compare.attainable.local_search.annealing import settle

        counters = stretch.counters
        counters[WAITS], counters[LONG_WAITS] = self._waits, self._long_waits
        counters[RANDOM] = self._random.getrandbits(62) | 1
        given = _copy(stretch)
        if not settle(stretch, dispatches) or counters[LATENESS] > 0:
            _put_back(stretch, given)
            return
        self._cheapest = _copy(stretch)
        first = int(steps * FIRST_SHARE)
        self._anneal(stretch, first, (HOT, COLD), STAGES, (0, dispatches))
        left = steps - first
        while left > 0 and counters[OPENING] > 0:
            left -= self._anneal_part(stretch, dispatches)
        _put_back(stretch, self._cheapest)
        self._waits, self._long_waits = int(counters[WAITS]), int(counters[LONG_WAITS])

    def _anneal_part(self, stretch: Stretch, dispatches: int) -> int:
        """Anneal what lies around something late, or around a switch; return how many steps."""
        counters, lists = stretch.counters, stretch.lists
        late = int(counters[LATE_COUNT])
        if late:
            middle = int(lists[LATES, self._random.randrange(late)])
        else:
            middle = int(lists[OPENERS, self._random.randrange(int(counters[OPENING]))])
        reach = self._random.choice(REACHES)
        low, high = max(0, min(middle, dispatches) - reach), min(dispatches, middle + reach)
        before = _copy(stretch)
        proposals = PROPOSALS * (high - low)
        self._anneal(stretch, proposals, (SHORT_HOT, SHORT_COLD), SHORT_STAGES, (low, high))
        if self._quality(stretch) > self._quality(before):
            _put_back(stretch, before)
        return proposals

    def _anneal(
        self,
        stretch: Stretch,
        proposals: int,
        temperatures: tuple[float, float],
        stages: int,
        dispatches: tuple[int, int],
    ) -> None:
        from dfopt.compare.attainable.local_search.annealing import anneal

        for stage in range(stages):
            share = stage / (stages - 1)
            temperature = _between(temperatures, share)
            late_price = _between((LATE, LATER), share) / self._length
            prices = np.array([self._cost_price, late_price, *self._excess_prices])
            number = proposals * (stage + 1) // stages - proposals * stage // stages
            anneal(stretch, self._pairs, temperature * CHANCES, prices, *dispatches, number)
            if self._quality(stretch) < self._quality(self._cheapest):
                self._cheapest = _copy(stretch)

    def _quality(self, stretch: Stretch) -> tuple[float, int]:
        """Return by how much a schedule is beyond its limits, then what it costs."""
        from dfopt.compare.attainable.local_search.annealing import badness

        prices = np.array([0.0, 0.0, *self._excess_prices])
        return badness(stretch, prices), int(stretch.counters[COST])


def typical_cost(arrivals: Arrivals) -> float:
    """Return what a switch between two fragments costs in the mean, at least 1."""
    costs = arrivals.costs
    if costs.matrix.size:
        return max(1.0, float(costs.matrix.mean()))
    return max(1.0, float((costs.entry + costs.exit).mean()))


def _between(ends: tuple[float, float], share: float) -> float:
    return float(ends[0] * (ends[1] / ends[0]) ** share)


def _copy(stretch: Stretch) -> Stretch:
    return stretch._replace(
        rows=stretch.rows.copy(), lists=stretch.lists.copy(), counters=stretch.counters.copy()
    )


def _put_back(stretch: Stretch, copy: Stretch) -> None:
    """Take over a copy, but not its random bits: the next attempt must not repeat this one."""
    random = stretch.counters[RANDOM]
    stretch.rows[:], stretch.lists[:], stretch.counters[:] = copy.rows, copy.lists, copy.counters
    stretch.counters[RANDOM] = random
