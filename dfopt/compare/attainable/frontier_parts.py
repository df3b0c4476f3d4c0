"""The parts of a frontier that can be worked on apart from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.lower_bound import WaitingBound, lower_bound
from dfopt.compare.attainable.least_recently_used import least_recently_used
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.same_timeline import BestPlacement, best_placement
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.attainable.timed_schedule import TimedSchedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit

Wanted = Literal["timeline", "rule", "patience", "schedule", "bound", "bound with lengths"]

Answer = BestPlacement | TimedSchedule | WaitingBound

PartKey = tuple[Wanted, WaitingLimit, int]

NO_LIMIT = WaitingLimit()

WORTH_PROCESSES = 1_000
"""With fewer dispatches, starting processes takes longer than the work."""

EFFORT_FOR_TOTALS = 0.1
"""Searches under a limit on all waits together are slower, and begin with better schedules."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrontierPart:
    """A schedule or a bound of a trace's dispatches.

    Parameters
    ----------
    arrivals
        The dispatches.
    wanted
        What is wanted: the best placement on the same timeline, that of the rule without
        foresight, a run of the patient rule, a schedule within a limit, or a bound of all such
        schedules.
    limit
        The waiting limit.
    patience
        For how long the patient rule keeps a CPU to its fragment; 0 for anything else.
    known
        Schedules within the limit from which the search begins, beside the recorded one.
    """

    arrivals: Arrivals
    wanted: Wanted
    limit: WaitingLimit = NO_LIMIT
    patience: int = 0
    known: tuple[TimedSchedule, ...] = ()

    @property
    def key(self) -> PartKey:
        """Return what tells this part from others of the same trace."""
        return self.wanted, self.limit, self.patience

    def perform(self) -> Answer:
        """Return what is wanted."""
        arrivals = self.arrivals
        match self.wanted:
            case "timeline":
                return best_placement(arrivals)
            case "rule":
                return least_recently_used(arrivals)
            case "patience":
                return run_patiently(arrivals, self.patience)
            case "schedule":
                effort = 1.0 if self.limit.total is None else EFFORT_FOR_TOTALS
                return schedule_within(arrivals, self.limit, known=self.known, effort=effort)
            case "bound":
                return lower_bound(arrivals, self.limit, uses_lengths=False)
            case "bound with lengths":
                return lower_bound(arrivals, self.limit, uses_lengths=True)
