"""Earliest starts from how busy the CPUs must be: no schedule has an earlier one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from dfopt import replace
from dfopt.compare.attainable.bound.work_ahead import after_work
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
        earliest = arrivals.ready_from
        found = after_work(arrivals, earliest, arrivals.latest_starts_for_bounds(limit.each))
        later += int((found > earliest).sum())
        for _ in range(3):
            entry = np.array([random.randint(-9, 9) for _ in range(len(arrivals))], np.int64)
            matrix = np.zeros((0, 0), np.int64)
            drawn = replace(arrivals, costs=replace(arrivals.costs, entry=entry, matrix=matrix))
            cheapest = cheapest_schedule(drawn, limit)
            assert cheapest is not None
            assert (cheapest[1].start >= found).all(), seed
    return later


def test_no_schedule_starts_earlier() -> None:
    assert raised(range(40)) > 0


@pytest.mark.slow
def test_no_schedule_of_many_starts_earlier() -> None:
    assert raised(range(40, 1000)) > 100


def test_what_is_busy_until_then_comes_first() -> None:
    # Two dispatches of length 4 on one CPU. The second may start at 4 at the latest, and so may
    # only start there: before, the first one has to run.
    arrivals = random_arrivals(Random(1), most=3, most_cpus=1)
    two = replace(
        arrivals,
        **{
            name: np.zeros(2, getattr(arrivals, name).dtype)
            for name in ("row", "fragment", "task", "cpu", "ready_from", "ready_by", "waker_offset")
        },
        start=np.array([0, 4]),
        length=np.array([4, 4]),
        blocks=replace(
            arrivals.blocks,
            **{
                name: getattr(arrivals.blocks, name)[:0]
                for name in arrivals.blocks.__dataclass_fields__
            },
        ),
    )
    starts = after_work(two, np.zeros(2, np.int64), np.array([0, 4]))
    assert starts.tolist() == [0, 4]
