"""Earliest starts from when all CPUs are certainly busy: no schedule has an earlier one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from dfopt import replace
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.timetable import after_busy_times
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from tests.compare.attainable.drawn import random_arrivals
from tests.compare.attainable.enumeration import cheapest_schedule

WAITS = (0, 0, 2, 5)


def raised(seeds: range) -> int:
    """Return how many earliest starts are later than known before; check that schedules keep all.

    Schedules that are the cheapest for several costs are spread over all schedules.
    """
    later = 0
    for seed in seeds:
        random = Random(seed)
        arrivals = random_arrivals(random, most=6, most_cpus=2)
        limit = WaitingLimit(each=random.choice(WAITS))
        latest = arrivals.latest_starts_for_bounds(limit.each)
        fits = after_busy_times(arrivals, arrivals.ready_from, latest)
        later += int((fits > arrivals.ready_from).sum())
        together = permitted_starts(arrivals, limit.each, uses_lengths=True)
        for _ in range(3):
            entry = np.array([random.randint(-9, 9) for _ in range(len(arrivals))], np.int64)
            matrix = np.zeros((0, 0), np.int64)
            drawn = replace(arrivals, costs=replace(arrivals.costs, entry=entry, matrix=matrix))
            cheapest = cheapest_schedule(drawn, limit)
            assert cheapest is not None
            assert (cheapest[1].start >= fits).all(), seed
            assert (cheapest[1].start >= together.earliest).all(), seed
            assert (cheapest[1].start <= together.latest).all(), seed
    return later


def test_no_schedule_starts_where_cpus_are_busy() -> None:
    assert raised(range(40)) > 0


@pytest.mark.slow
def test_no_schedule_of_many_starts_where_cpus_are_busy() -> None:
    assert raised(range(40, 1000)) > 100
