"""Schedules within a budget of waiting: all dispatches together wait no longer than permitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.local_search.search import AnnealedSchedule
from dfopt.compare.attainable.timed_schedule import (
    TimedSchedule,
    cost_of,
    recorded_schedule,
    waits_of,
)
from dfopt.compare.attainable.waiting_limit import WaitingLimit

WITHIN = 0.99
"""The share of the dispatches that wait no longer than the 99th percentile."""


def recorded_budget(arrivals: Arrivals, share: float = 1.0) -> WaitingLimit:
    """Return the limit that mean and 99th percentile of the waits are no larger than recorded.

    Parameters
    ----------
    arrivals
        The dispatches, at least one.
    share
        The sum of the waits is at most this share of the recorded sum.
    """
    waits = np.sort(waits_of(arrivals, recorded_schedule(arrivals)))
    # The nearest rank: this number of waits is at most as long as the percentile.
    rank = math.ceil(WITHIN * len(waits))
    return WaitingLimit(
        total=int(share * int(waits.sum())),
        long=int(waits[rank - 1]),
        most_long=len(waits) - rank,
    )


def improve_within_budget(  # noqa: PLR0913 - what every search of schedules is given
    arrivals: Arrivals,
    limit: WaitingLimit,
    known: Sequence[TimedSchedule] = (),
    *,
    steps: int,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> TimedSchedule | None:
    """Return a cheap schedule within a limit on waiting; None if none was found.

    The search begins with the cheapest schedule within the limit among the recorded one and those
    that are known. If none of them is, it begins with the one that is least beyond the limit, and
    waiting too long has a price that rises until it does not occur any more.

    Parameters
    ----------
    arrivals
        The dispatches.
    limit
        How long they may wait, each and all together.
    known
        Possible schedules, such as those of the patient rule.
    steps
        Number of random changes to try.
    seed
        The same seed gives the same schedule.
    check
        Called every few tenths of a second; what it raises ends the search.
    """
    searches = [
        AnnealedSchedule(arrivals, limit, schedule, seed, check)
        for schedule in (recorded_schedule(arrivals), *known)
    ]
    first = min(
        searches, key=lambda search: (search.excess(), cost_of(arrivals, search.schedule()))
    )
    given = first.schedule()
    is_within = first.excess() == 0
    first.run(steps)
    if first.excess() > 0:
        return None
    found = first.schedule()
    # Dispatches of no length may stand in another order than the search took them to have.
    if is_within and cost_of(arrivals, found) > cost_of(arrivals, given):
        return given
    return found
