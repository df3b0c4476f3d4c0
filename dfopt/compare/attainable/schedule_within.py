"""A cheap schedule within a waiting limit, by beam searches over its sections."""

from __future__ import annotations

import math
from collections.abc import Iterable
from random import Random

import numpy as np

from dfopt.compare.attainable.beam_search import BeamSettings, Sweep
from dfopt.compare.attainable.check import WaitingLimit, check_schedule, checked_cost
from dfopt.compare.attainable.local_search import improve
from dfopt.compare.dispatches import Dispatches
from dfopt.errors import DfoptError
from dfopt.native.trace import SectionLimits
from dfopt.structs import replace

PREFERENCES = (
    BeamSettings(idle=0.1, waiting=0.5, ahead=8, urgent=12),
    BeamSettings(idle=0.2, waiting=0.7),
    BeamSettings(idle=0.3, waiting=0.7, late=0.2),
    BeamSettings(idle=0.3, waiting=1.1, late=0.2),
    BeamSettings(idle=0.4, waiting=1.1, patience=10.0, ahead=24, urgent=12),
    BeamSettings(idle=0.05, waiting=0.9, patience=10.0, ahead=24),
    BeamSettings(idle=0.03, waiting=0.2, patience=1e6, ahead=24),
)
"""What beams prefer. The first one suits CPUs with time to spare."""

FOR_BUSY = 3
"""Which of them suits busy CPUs."""

DISPATCHES, DISPATCHES_IN_BUDGET = (512, 256, 128, 64), (2_048, 512, 256, 128)
"""Numbers of dispatches of a section, in one sweep over the schedule after the other. Short
sections find what long ones overlook, since a beam holds more of what they can become. The second
ones are for where all waits together are limited."""

WHOLE = 256
"""Where all waits together are limited, at most 256 dispatches stay together in one section:
sections share the permitted waiting in advance."""

WORK = 500_000
"""All sweeps together keep at most about 500,000 partial schedules (times the effort), unless
there are too many dispatches even for a single narrow sweep."""

MOST_SWEEPS = 20
"""At most 20 sweeps (times the effort)."""

NARROWEST, FEWEST_SAFE = 8, 4
"""A beam keeps at least 8 partial schedules after each dispatch, and at least 4 safe ones."""

BEST_SHARE = 0.6
"""The share of the beams that prefer what has been best so far."""

MEMORY = 0.8
"""What the beams of some preferences found counts 0.8 times as much after each further one."""

SPREAD = 0.3
"""Preferences vary by about 30 %."""

FIRST_POWER, POWER_SPREAD = 2.0, 1.5
"""Where all waits together are limited, a section also has a longest wait: the mean wait times
powers of 2, at first about 2². Later they vary around the last one that made a section cheaper."""

STEPS, MOST_STEPS = 400, 40_000_000
"""The local search tries 400 changes for each dispatch (times the effort), 40,000,000 at most."""

STEPS_IN_BUDGET, FEWER_STEPS_IN_BUDGET, MOST_STEPS_IN_BUDGET = 30, 10, 1_500_000
"""The same where all waits together are limited, and each change moves many more dispatches: 30,
and only 10 for each dispatch of a long trace."""

USUAL_STEPS_IN_BUDGET = 85_000
"""The number of changes above which there are fewer for each dispatch (times the effort)."""

LONGEST_WAITS = 6
"""There at most 6 longest waits of all dispatches are tried first."""

CLOSE = 1.5
"""If the best longest wait is known up to this factor, no further one is tried."""

WAIT_SPREAD = 0.5
"""Then the longest wait varies around the one that was best (powers of 2)."""

BUSY = 0.75
"""CPUs are busy if dispatches and blocks take three quarters of their time."""

PRICES = (0.0, 0.05)
"""There the permitted waiting has a price, in shares of the cost of the whole schedule."""


def schedule_within(
    dispatches: Dispatches,
    limit: WaitingLimit,
    *,
    known: Iterable[Dispatches] = (),
    effort: float = 1.0,
) -> Dispatches:
    """Return the cheapest schedule within a waiting limit that the searches found.

    The same arguments give the same schedule on every machine.

    Parameters
    ----------
    dispatches
        The dispatches of a trace.
    limit
        How long they may wait.
    known
        Schedules to begin with, beside the recorded one; those that break the limit are left out.
        The result costs no more than any of the others.
    effort
        The work is in proportion to this; 1 for some seconds with 10,000 dispatches.

    Raises
    ------
    DfoptError
        When no schedule is known that keeps the limit.
    """
    if not len(dispatches):
        return dispatches
    search = ScheduleSearch(dispatches, limit)
    for schedule in (dispatches, *known):
        search.report(schedule)
    width, sweeps = size_of_search(len(dispatches), effort)
    if limit.total is None:
        for sweep in range(sweeps):
            search.sweep(DISPATCHES[sweep % len(DISPATCHES)], width)
    else:
        # The first sweeps, too, take a part of the work.
        if sweeps < LONGEST_WAITS:
            width = max(NARROWEST, width // 2)
        wait = _longest_wait(search, width, min(LONGEST_WAITS, 2 * sweeps))
        for sweep in range(max(1, sweeps // 2)):
            # Only the whole schedule keeps the limit, or every section does.
            longest = int(wait * 2 ** search.random.gauss(0.0, WAIT_SPREAD))
            if limit.each is not None:
                longest = min(longest, limit.each)
            size = DISPATCHES_IN_BUDGET[sweep % len(DISPATCHES_IN_BUDGET)]
            if len(dispatches) <= WHOLE:
                size = DISPATCHES_IN_BUDGET[0]
            search.sweep(size, width, longest=longest if sweep % 3 == 0 else None)
    each, most = float(STEPS), MOST_STEPS
    if limit.total is not None:
        usual = USUAL_STEPS_IN_BUDGET / len(dispatches)
        each = min(STEPS_IN_BUDGET, max(FEWER_STEPS_IN_BUDGET, usual))
        most = MOST_STEPS_IN_BUDGET
    steps = min(most, int(each * effort * len(dispatches)))
    search.report(improve(search.schedule, limit, steps=steps))
    return search.schedule


def size_of_search(count: int, effort: float) -> tuple[int, int]:
    """Return how wide the beams are, and the number of sweeps over the schedule."""
    usual = BeamSettings()
    # The sections of a sweep overlap by half.
    most = int(WORK * effort / (2 * count))
    width = min(usual.width, max(NARROWEST, most - usual.safe))
    sweeps = most // (usual.width + usual.safe)
    return width, min(max(1, sweeps), max(1, int(MOST_SWEEPS * effort)))


def _longest_wait(search: ScheduleSearch, width: int, waits: int) -> int:
    """Return the longest of some waits whose schedules keep the limit on all waits together."""
    dispatches, most = search.dispatches, search.limit.each
    longest = int(dispatches.waits.max())
    longest_kept, shortest_broken = 0, None
    wait = longest // 8 + 1
    for _ in range(waits):
        if most is not None:
            wait = min(wait, most)
        if search.sweep(DISPATCHES_IN_BUDGET[0], width, longest=wait):
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
        # Longer waits are limited by their number, or do not occur.
        if longest_kept >= min(longest, search.limit.long or longest):
            break
        if longest_kept and shortest_broken is not None and shortest_broken < CLOSE * longest_kept:
            break
        wait = following
    return longest_kept


class ScheduleSearch:
    """The cheapest schedule so far, and how to find others."""

    def __init__(self, dispatches: Dispatches, limit: WaitingLimit) -> None:
        self.dispatches, self.limit = dispatches, limit
        self.random = Random(0)
        self._schedule: Dispatches | None = None
        self.cost = 0
        self._power, self._sweeps = FIRST_POWER, 0
        blocks = dispatches.fixed
        taken = int(dispatches.length.sum()) + int(blocks.length.sum())
        lasts = int(dispatches.end.max()) - int(dispatches.start.min())
        self._found = [0.0] * len(PREFERENCES)
        # What is tried first.
        self._found[FOR_BUSY if taken > BUSY * lasts * dispatches.cpus else 0] = -0.01

    @property
    def schedule(self) -> Dispatches:
        """The cheapest schedule so far."""
        if self._schedule is None:
            raise DfoptError("no schedule was found that keeps the limit; permit longer waits")
        return self._schedule

    def report(self, schedule: Dispatches) -> bool:
        """Keep a schedule if it costs no more than the one known; return if it keeps the limit."""
        if check_schedule(schedule, self.limit):
            return False
        cost = checked_cost(schedule)
        if self._schedule is None or cost <= self.cost:
            self._schedule, self.cost = schedule, cost
        return True

    def sweep(self, size: int, width: int, longest: int | None = None) -> bool:
        """Improve the schedule section by section; return whether it keeps the limit.

        Parameters
        ----------
        size, width
            The number of dispatches of a section, and of partial schedules that a beam keeps.
        longest
            If given, each dispatch may wait for this time, and only the whole schedule has to keep
            a limit on all waits together; if not, every section keeps it.
        """
        schedule, limit = self.schedule, self.limit
        # That changes waits, which only limits on all of them together would feel.
        gives_way = limit.each is not None and limit.total is None and limit.long is None
        sweep = Sweep(schedule, limit.each, gives_way=gives_way)
        waits = schedule.waits
        wait = int(waits.sum())
        long_waits = 0 if limit.long is None else int((waits > limit.long).sum())
        self._sweeps += 1
        count = len(schedule)
        cuts = sweep.sections.cuts(self.random.randrange(size // 2), size // 2).tolist()
        for begin, end in zip(cuts, [*cuts[2:], count], strict=False):
            limits, price = SectionLimits(), 0.0
            power, wait_here = self._power, longest
            if longest is None and limit.total is not None:
                # What may still be waited for is shared by the sections that follow.
                share = (end - begin) * (limit.total - wait) // (count - begin)
                limits = limits._replace(wait=share)
                power = self.random.gauss(self._power, POWER_SPREAD)
                wait_here = int(2**power * max(1.0, limit.total / count))
                price = self.random.choice(PRICES) * self.cost / max(1, limit.total)
            if longest is None and limit.long is not None and limit.most_long is not None:
                most_long = limit.most_long - long_waits
                limits = limits._replace(long_wait=limit.long, long_waits=most_long)
                wait_here = limit.long if wait_here is None else min(wait_here, limit.long)
            settings, number = self._settings(width, price)
            found = sweep.search(begin, end, limits, wait_here, settings)
            change = 0.0 if found is None else found.cost / max(1, found.cost_before)
            self._found[number] = MEMORY * self._found[number] + (1 - MEMORY) * change
            if found is None:
                continue
            waiting = found.wait + found.long_waits * limits.long_wait
            if found.cost + price * waiting <= 0:
                sweep.sections.put_back()
                wait, long_waits = wait + found.wait, long_waits + found.long_waits
                if found.cost < 0:
                    self._power = power
        return self.report(sweep.schedule)

    def _settings(self, width: int, price: float) -> tuple[BeamSettings, int]:
        """Return what a beam keeps and prefers, and the number of these preferences."""
        random = self.random
        number = int(np.argmin(self._found))
        spread = 0.0
        if self._sweeps > 1:
            spread = SPREAD
            if random.random() > BEST_SHARE:
                number = random.randrange(len(PREFERENCES))
        preferred = PREFERENCES[number]
        idle, waiting, patience = (
            value * random.uniform(1 - spread, 1 + spread)
            for value in (preferred.idle, preferred.waiting, preferred.patience)
        )
        settings = replace(
            preferred, width=width, safe=max(FEWEST_SAFE, width // 3), price=price,
            idle=idle, waiting=waiting, patience=patience,
        )  # fmt: skip
        return settings, number
