"""The parts of a frontier that can be worked on apart from each other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.lower_bound import WaitingBound, lower_bound
from dfopt.compare.attainable.least_recently_used import least_recently_used
from dfopt.compare.attainable.patience import PatientRun, patience_curve
from dfopt.compare.attainable.same_timeline import BestPlacement, best_placement
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.attainable.timed_schedule import TimedSchedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.parallel.child import Work
from dfopt.parallel.dask_cluster import check_scheduler, performed_on_cluster
from dfopt.parallel.pool import performed as performed_here
from dfopt.solvers.facade import available_processors

Wanted = Literal["timeline", "rule", "patience", "schedule", "bound", "bound with lengths"]

Answer = BestPlacement | TimedSchedule | tuple[PatientRun, ...] | WaitingBound

NO_LIMIT = WaitingLimit()

WORTH_PROCESSES = 1_000
"""With fewer dispatches, starting processes takes longer than the work."""

EFFORT_FOR_TOTALS = 0.1
"""Searches under a limit on all waits together are slower, and begin with better schedules."""

REMEDY = "compare again, on another one or without a scheduler (`scheduler`)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrontierPart:
    """A schedule or a bound of a trace's dispatches.

    Parameters
    ----------
    arrivals
        The dispatches.
    wanted
        What is wanted: the best placement on the same timeline, that of the rule without
        foresight, the runs of the patient rule, a schedule within a limit, or a bound of all such
        schedules.
    limit
        The waiting limit.
    known
        Schedules within the limit from which the search begins, beside the recorded one.
    """

    arrivals: Arrivals
    wanted: Wanted
    limit: WaitingLimit = NO_LIMIT
    known: tuple[TimedSchedule, ...] = ()

    def perform(self) -> Answer:
        """Return what is wanted."""
        arrivals = self.arrivals
        match self.wanted:
            case "timeline":
                return best_placement(arrivals)
            case "rule":
                return least_recently_used(arrivals)
            case "patience":
                return patience_curve(arrivals)
            case "schedule":
                effort = 1.0 if self.limit.total is None else EFFORT_FOR_TOTALS
                return schedule_within(arrivals, self.limit, known=self.known, effort=effort)
            case "bound":
                return lower_bound(arrivals, self.limit, uses_lengths=False)
            case "bound with lengths":
                return lower_bound(arrivals, self.limit, uses_lengths=True)


def performed(
    parts: Sequence[FrontierPart], *, workers: int | None, scheduler: str | None
) -> Generator[tuple[FrontierPart, Answer], None, None]:
    """Yield parts with their answers as these come in.

    Parameters
    ----------
    parts
        The work.
    workers
        At most this number of processes work at once; None: one for each processor.
    scheduler
        Address of a Dask scheduler; its workers then do the work instead.
    """
    answers: Iterable[tuple[Work[Answer], Answer]]
    if scheduler is not None:
        check_scheduler(scheduler)
        answers = performed_on_cluster(parts, scheduler, remedy=REMEDY)
    else:
        dispatches = max((len(part.arrivals) for part in parts), default=0)
        processes = workers or available_processors()
        answers = performed_here(parts, processes if dispatches > WORTH_PROCESSES else 1)
    for part, answer in answers:
        assert isinstance(part, FrontierPart)
        yield part, answer
