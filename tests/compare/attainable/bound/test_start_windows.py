"""Between which times dispatches start: no schedule within the limit has another start."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from dfopt import replace
from dfopt.compare.attainable.bound.start_windows import start_windows
from dfopt.compare.attainable.check import WaitingLimit
from dfopt.compare.dispatches import NONE
from tests.compare.attainable.drawn import random_arrivals
from tests.compare.attainable.enumeration import cheapest_schedule
from tests.compare.attainable.tables import table

WAITS = (0, 0, 2, 5)


def raised(seeds: range) -> int:
    """Return how many earliest starts are raised; check that schedules keep all.

    Schedules that are the cheapest for several costs are spread over all schedules. Without what
    has to come first, nothing but how busy the CPUs are raises a start.
    """
    later = 0
    for seed in seeds:
        random = Random(seed)
        arrivals = random_arrivals(random, most=6, most_cpus=2)
        limit = WaitingLimit(each=random.choice(WAITS))
        nobody = np.full(len(arrivals), NONE)
        alone = replace(arrivals, previous=nobody, waker=nobody)
        busy, _ = start_windows(alone, limit.each, uses_lengths=True)
        later += int((busy > arrivals.ready_by).sum())
        earliest, latest = start_windows(arrivals, limit.each, uses_lengths=True)
        sooner, later_still = start_windows(
            arrivals, limit.each, uses_lengths=True, as_in_schedules=False
        )
        assert (sooner <= earliest).all()
        assert (latest <= later_still).all()
        for _ in range(3):
            entry = np.array([random.randint(-9, 9) for _ in range(len(arrivals))], np.int64)
            matrix = np.zeros((0, 0), np.int64)
            drawn = replace(arrivals, entry=entry, matrix=matrix)
            cheapest = cheapest_schedule(drawn, limit)
            assert cheapest is not None
            assert (cheapest[1].start >= busy).all(), seed
            assert (cheapest[1].start >= earliest).all(), seed
            assert (cheapest[1].start <= latest).all(), seed
    return later


def test_no_schedule_starts_where_cpus_have_no_time_or_room() -> None:
    assert raised(range(40)) > 0


@pytest.mark.slow
def test_no_schedule_of_many_starts_where_cpus_have_no_time_or_room() -> None:
    assert raised(range(40, 1000)) > 100


def two_on_one_cpu(start: tuple[int, int], length: tuple[int, int]) -> list[int]:
    """Return the earliest starts of two dispatches that are ready at 0 and start as recorded."""
    two = table(start=start, length=length, ready_from=0, ready_by=0, previous_end=0)
    earliest, _ = start_windows(two, 0, uses_lengths=True)
    found: list[int] = earliest.tolist()
    return found


def test_what_is_busy_until_then_comes_first() -> None:
    # The second one may start at 4 at the latest, and so may only start there: before, the first
    # one has to run.
    assert two_on_one_cpu((0, 4), (4, 4)) == [0, 4]


def test_what_is_short_goes_around_what_certainly_runs() -> None:
    # The first one must run from 2 on; the second one does not fit before that.
    assert two_on_one_cpu((2, 9), (5, 3)) == [0, 5]
