"""A cheap schedule within a waiting limit, by all methods one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.beam import BeamSettings, beam_search
from dfopt.compare.attainable.check import check_schedule, checked_cost
from dfopt.compare.attainable.local_search import improve
from dfopt.compare.attainable.same_timeline import improve_placement
from dfopt.compare.attainable.timed_schedule import TimedSchedule, recorded_schedule, waits_of
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.errors import DfoptError

BEAMS = (
    BeamSettings(time=0.1, waiting=0.9, patience=100.0),
    BeamSettings(time=0.1, waiting=0.4),
    BeamSettings(time=0.05, waiting=0.9, patience=10.0),
    BeamSettings(time=0.03, waiting=0.2),
)
"""Beams that follow each other. Idle CPUs cost the first ones more, so that they keep tight limits;
the last one is for CPUs that have time to spare."""

WORK = 1_000_000
"""All beams together keep at most about 1,000,000 partial schedules (times the effort), unless
there are too many dispatches even for a single narrow one."""

STEPS, MOST_STEPS = 200, 200_000_000
"""The local search tries 200 changes for each dispatch (times the effort), 200,000,000 at most."""

FEW = 2_000
"""Up to this number of dispatches the local search starts from the recorded schedule, too."""

NARROWEST = 8
"""A beam keeps at least 8 partial schedules after each dispatch."""

BUDGET_BEAMS = 6
"""At most 6 longest waits are tried where all waits together have a limit."""


def schedule_within(  # noqa: PLR0913 - options, all by keyword
    arrivals: Arrivals,
    limit: WaitingLimit,
    *,
    known: Iterable[TimedSchedule] = (),
    effort: float = 1.0,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> TimedSchedule:
    """Return the cheapest schedule within a waiting limit that the searches found.

    Parameters
    ----------
    arrivals
        The dispatches of a trace.
    limit
        How long they may wait.
    known
        Schedules to begin with, beside the recorded one; those that break the limit are left out.
        The result costs no more than any of the others.
    effort
        The work is in proportion to this; 1 for some seconds with 10,000 dispatches.
    seed
        The same arguments give the same schedule on every machine.
    check
        Called a few times a second; what it raises ends the search.

    Raises
    ------
    DfoptError
        When no schedule is known that keeps the limit.
    """
    if not len(arrivals):
        return recorded_schedule(arrivals)
    search = ScheduleSearch(arrivals, limit, seed, check)
    for schedule in (recorded_schedule(arrivals), *known):
        search.report(schedule)
    if limit.total is None and limit.long is None and limit.each is not None:
        for settings in beams_for(len(arrivals), effort):
            search.beam(limit.each, settings)
    else:
        _keep_budget(search, beams_for(len(arrivals), effort))
    if search.schedule is None:
        raise DfoptError("no schedule was found that keeps the limit on waiting")
    steps = min(MOST_STEPS, int(STEPS * effort * len(arrivals)))
    starts = [search.schedule]
    if len(arrivals) <= FEW and search.report(recorded_schedule(arrivals)):
        starts.append(recorded_schedule(arrivals))
    for start in starts:
        search.report(improve(arrivals, limit, start, steps=steps, seed=seed, check=check))
    search.report(improve_placement(arrivals, search.schedule, check))
    return search.schedule


class ScheduleSearch:
    """The cheapest schedule so far, and the ways to find others."""

    def __init__(
        self, arrivals: Arrivals, limit: WaitingLimit, seed: int, check: Callable[[], None]
    ) -> None:
        self.arrivals, self.limit = arrivals, limit
        self.seed, self.check = seed, check
        self.schedule: TimedSchedule | None = None
        self.cost = 0

    def report(self, schedule: TimedSchedule) -> bool:
        """Keep a schedule if it is the cheapest one; return whether it keeps the limit."""
        if check_schedule(self.arrivals, schedule, self.limit):
            return False
        cost = checked_cost(self.arrivals, schedule)
        if self.schedule is None or cost < self.cost:
            self.schedule, self.cost = schedule, cost
        return True

    def beam(self, wait: int, settings: BeamSettings) -> bool:
        """Search with a beam for schedules with a longest wait; return whether one was found."""
        longest = WaitingLimit(each=wait)
        guide = self.schedule
        if guide is not None and check_schedule(self.arrivals, guide, longest):
            guide = None
        found = beam_search(
            self.arrivals,
            longest,
            seed=self.seed,
            guide=guide,
            settings=settings,
            check=self.check,
        )
        return found is not None and self.report(found)


def _keep_budget(search: ScheduleSearch, beams: list[BeamSettings]) -> None:
    """Look for the longest permitted wait whose schedules keep the limit on all waits together."""
    most = search.limit.each
    recorded = waits_of(search.arrivals, recorded_schedule(search.arrivals))
    longest_kept, shortest_broken = 0, None
    wait = int(recorded.max()) // 8 + 1
    for number in range(BUDGET_BEAMS):
        if most is not None:
            wait = min(wait, most)
        if search.beam(wait, beams[number % len(beams)]):
            longest_kept = wait
        else:
            shortest_broken = wait
        if shortest_broken is None:
            following = 4 * wait
        elif longest_kept:
            following = math.isqrt(longest_kept * shortest_broken)
        else:
            following = shortest_broken // 4
        if wait == most or following in (longest_kept, shortest_broken):
            break
        wait = following
    for settings in beams:
        search.beam(longest_kept, settings)


def beams_for(dispatches: int, effort: float) -> list[BeamSettings]:
    """Return the beams that are worth their time: fewer and narrower ones for long traces."""
    work = WORK * effort
    usual = BEAMS[0].width + BEAMS[0].safe
    number = max(1, min(len(BEAMS), int(work / (dispatches * usual))))
    width = min(BEAMS[0].width, max(NARROWEST, int(work / dispatches) - BEAMS[0].safe))
    first = (len(BEAMS) - number) // 2
    return [replace(settings, width=width) for settings in BEAMS[first : first + number]]
