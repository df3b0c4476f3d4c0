"""Beam searches over one section of a schedule after the other: what they find and prefer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dfopt.compare.attainable.trace_rows import trace_rows
from dfopt.compare.dispatches import Dispatches
from dfopt.native.trace import DISPATCHES_A_CALL, LIMITS, NEVER, SETTINGS, SectionLimits, Sections
from dfopt.structs import Record


class BeamSettings(Record):
    """What a beam search keeps and prefers.

    Parameters
    ----------
    width
        Number of partial schedules that are kept.
    safe
        At most this number of safe ones are kept beside them, at least 1.
    ahead
        Number of dispatches that are not ready yet and may be waited for.
    urgent
        Number of dispatches that are tried for a guess of how many will be late.
    waiting, late, idle
        What a fragment counts that waits and that no CPU holds, a dispatch that will be late, and
        a mean length of idle time; each in costs of a typical switch.
    patience
        A fragment that may still wait for this number of mean lengths counts half.
    price
        What a unit of waiting costs.
    """

    width: int = 24
    safe: int = 8
    ahead: int = 16
    urgent: int = 8
    waiting: float = 0.7
    late: float = 0.2
    idle: float = 0.2
    patience: float = 30.0
    price: float = 0.0


class Found(NamedTuple):
    """By how much what was found for a section differs from what it was.

    Parameters
    ----------
    cost, wait, long_waits
        By how much the cost, the sum of all waits and the number of long ones change.
    cost_before
        What the section cost before.
    """

    cost: int
    wait: int
    long_waits: int
    cost_before: int


class Sweep:
    """A schedule that gets better section by section, from early to late.

    Parameters
    ----------
    schedule
        The schedule to begin with.
    wait
        For how long each dispatch may wait; None: no such limit.
    gives_way
        Whether dispatches start as late as they may in the given order, which leaves the most room
        to sections before them. Costs stay what they are, but waits do not.
    """

    def __init__(self, schedule: Dispatches, wait: int | None, *, gives_way: bool = False) -> None:
        self._schedule = schedule
        ready = np.maximum(schedule.ready_from, schedule.previous_end)
        self.sections = Sections(*trace_rows(schedule, wait), ready=ready, gives_way=gives_way)
        matrix = schedule.matrix
        entry = matrix if matrix.size else schedule.entry + schedule.exit
        self._switch_cost = max(1.0, float(entry.mean()))
        self._length = max(1.0, float(schedule.length.mean()))

    @property
    def schedule(self) -> Dispatches:
        """The schedule that has been reached."""
        placements = self.sections.placements()
        return self._schedule.moved(placements["cpu"], placements["start"].copy())

    def search(
        self, begin: int, end: int, limits: SectionLimits, wait: int | None, settings: BeamSettings
    ) -> Found | None:
        """Return what a beam search finds within the limits for a section; None: nothing.

        Parameters
        ----------
        begin, end
            The section has the dispatches at ``begin`` … ``end`` - 1 in the order of starts. What
            this leaves out before ``begin`` is never taken again.
        limits
            By how much the sum of waits and the number of long ones may rise.
        wait
            For how long each dispatch may wait, unless it does already; None: no such limit.
        settings
            What to keep and to prefer.
        """
        switch_cost, length = self._switch_cost, self._length
        preferred = (
            settings.width,
            settings.safe,
            settings.ahead,
            settings.urgent,
            settings.waiting,
            settings.late * switch_cost,
            settings.idle * switch_cost / length,
            settings.price,
            # A long wait is as bad as waiting for that time.
            settings.price * limits.long_wait,
            settings.patience * length,
        )
        self.sections.take(
            begin,
            end,
            np.array([limits], LIMITS),
            NEVER if wait is None else wait,
            np.array([preferred], SETTINGS),
        )
        while self.sections.place(DISPATCHES_A_CALL):
            pass
        changes = np.empty(4, np.int64)
        return Found(*changes.tolist()) if self.sections.find(changes) else None
