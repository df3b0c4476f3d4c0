"""Schedules of one instance compared with its optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dfopt.compare.comparison_parts import cost_ratio
from dfopt.compare.document import FORMAT, rounded
from dfopt.errors import FileError
from dfopt.files import fingerprint
from dfopt.problem.instance import Instance
from dfopt.problem.result import Progress, Result
from dfopt.problem.stop import TimeLimit
from dfopt.solvers import solve
from dfopt.table import Table, columns, facts
from dfopt.verify import verify


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleResult:
    """A schedule compared with the optimum.

    Parameters
    ----------
    name
        The name of the schedule.
    method
        The method that found it; None if that is not known.
    objective, worst, total
        Its value under the instance's objective, the cost of the CPU that pays most, and that of
        all CPUs.
    """

    name: str
    method: str | None
    objective: int
    worst: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulesComparison:
    """Schedules of one instance compared with its optimum.

    Parameters
    ----------
    instance
        The instance.
    lower_bound
        No schedule costs less.
    best
        The value of the best schedule known, whether it is one of these or not.
    schedules
        The schedules, in the order in which they were given.
    """

    instance: Instance
    lower_bound: int
    best: int
    schedules: tuple[ScheduleResult, ...]

    @property
    def is_proven(self) -> bool:
        """Whether the bound is the optimum."""
        return self.best == self.lower_bound

    def ratio(self, schedule: ScheduleResult) -> float | None:
        """Return objective / bound: 1 if both are 0, None if only the bound is 0."""
        return cost_ratio(schedule.objective, self.lower_bound)

    def tables(self) -> list[Table]:
        """Return what was compared, and each schedule beside the optimum."""
        instance = self.instance
        optimum = f"between {self.lower_bound:,} (proven) and {self.best:,} (found)"
        subject = facts({
            "instance": instance.name or "without a name",
            "objective": str(instance.objective),
            "unit": instance.time_unit,
            "optimum": f"{self.best:,}, proven" if self.is_proven else optimum,
            "ratio": "cost / " + ("optimum" if self.is_proven else "lower bound"),
        })  # fmt: skip
        rows = [
            (
                *(each.name, each.objective, self.ratio(each), each.objective - self.lower_bound),
                *(each.worst, each.total, each.method),
            )
            for each in self.schedules
        ]
        headings = ("schedule", "cost", "ratio :ratio", "difference", "most expensive CPU")
        return [subject, Table("", columns(*headings, "all CPUs", "method"), rows)]

    def to_document(self) -> dict[str, Any]:
        """Return the document of the format ``dfopt-comparison/1``."""
        return {
            "format": FORMAT,
            "instance": {"name": self.instance.name, "sha256": fingerprint(self.instance)},
            "objective": str(self.instance.objective),
            "time_unit": self.instance.time_unit,
            "lower_bound": self.lower_bound,
            "best": self.best,
            "proven": self.is_proven,
            "results": [
                {
                    "result": schedule.name,
                    "method": schedule.method,
                    "objective": schedule.objective,
                    "max": schedule.worst,
                    "total": schedule.total,
                    "ratio": rounded(self.ratio(schedule)),
                    "difference": schedule.objective - self.lower_bound,
                }
                for schedule in self.schedules
            ],
        }


def compare_schedules(
    instance: Instance,
    results: Mapping[str, Result],
    *,
    time_limit: float | None = None,
    workers: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> SchedulesComparison:
    """Compare schedules with the optimum of their instance.

    No claim of a result is trusted: its schedule is evaluated anew, and its lower bound counts only
    if its certificate proves it.

    Parameters
    ----------
    instance
        The instance.
    results
        By name.
    time_limit
        Seconds to search for the optimum; None searches until it is proven.
    workers, on_progress
        As for :func:`~dfopt.solve`.

    Raises
    ------
    FileError
        With the name of the result, when a result is wrong or has no schedule.
    """
    schedules = []
    lower_bound = 0
    for name, result in results.items():
        found = verify(instance, result)
        if found.problems:
            raise FileError(found.problems[0], file=name)
        if result.schedule is None or found.objective is None:
            raise FileError(
                f"is null: this result is {result.status}, there is nothing to compare",
                place="schedule",
                file=name,
            )
        if found.bound_checked and found.lower_bound is not None:
            lower_bound = max(lower_bound, found.lower_bound)
        costs = [cpu.cost for cpu in result.schedule.cpus]
        schedules.append(
            ScheduleResult(
                name=name,
                method=result.method,
                objective=found.objective,
                worst=max(costs, default=0),
                total=sum(costs),
            )
        )
    best = min(schedule.objective for schedule in schedules)
    if lower_bound < best:
        stop = None if time_limit is None else TimeLimit(time_limit)
        solved = solve(instance, stop=stop, workers=workers, on_progress=on_progress)
        lower_bound = max(lower_bound, solved.lower_bound or 0)
        if solved.objective is not None:
            best = min(best, solved.objective)
    return SchedulesComparison(
        instance=instance, lower_bound=lower_bound, best=best, schedules=tuple(schedules)
    )
