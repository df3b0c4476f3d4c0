"""Schedules of one instance compared with its optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import field

from dfopt.compare.comparison_parts import cost_ratio
from dfopt.errors import FileError
from dfopt.files import fingerprint
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.result import InstanceName, Progress, Result, TimeLimit
from dfopt.solvers import solve
from dfopt.structs import DERIVED_DIGITS, DocumentPart, Natural, NonNegative, Signed
from dfopt.table import Table, facts, table_of
from dfopt.verify import verify


class ComparedInstance(InstanceName):
    """The instance, which need not have a name."""

    name: str | None


class ScheduleResult(DocumentPart):
    """A schedule compared with the optimum.

    Parameters
    ----------
    name
        The name of the schedule: its file.
    method
        The method that found it; None if that is not known.
    objective
        Its value under the instance's objective, computed anew.
    worst
        The cost of the CPU that pays most.
    total
        The cost of all CPUs.
    ratio
        objective / lower_bound: 1 if both are 0, None if only the bound is 0.
    difference
        objective − lower_bound.
    """

    name: str = field(name="result")
    method: str | None
    objective: Natural
    worst: Natural = field(name="max")
    total: Natural
    ratio: NonNegative | None
    difference: Signed


class SchedulesComparison(DocumentPart):
    """Schedules of one instance compared with its optimum.

    Parameters
    ----------
    instance
        The instance.
    objective, time_unit
        Those of the instance.
    lower_bound
        No schedule costs less.
    best
        The value of the best schedule known, whether it is one of these or not.
    is_proven
        Whether the bound is the optimum.
    schedules
        The schedules, in the order in which they were given.
    """

    instance: ComparedInstance
    objective: Objective
    time_unit: str | None
    lower_bound: Natural
    best: Natural
    is_proven: bool = field(name="proven")
    schedules: tuple[ScheduleResult, ...] = field(name="results")

    def tables(self) -> list[Table]:
        """Return what was compared, and each schedule beside the optimum."""
        optimum = f"between {self.lower_bound:,} (proven) and {self.best:,} (found)"
        subject = facts({
            "instance": self.instance.name or "without a name",
            "objective": str(self.objective),
            "unit": self.time_unit,
            "optimum": f"{self.best:,}, proven" if self.is_proven else optimum,
            "ratio": "cost / " + ("optimum" if self.is_proven else "lower bound"),
        })  # fmt: skip
        shown = {
            "name": "schedule",
            "objective": "cost",
            "ratio": "ratio :ratio",
            "difference": "difference",
            "worst": "most expensive CPU",
            "total": "all CPUs",
            "method": "method",
        }
        return [subject, table_of("", self.schedules, shown)]


OF_SCHEDULES = DocumentType(Format.COMPARISON, SchedulesComparison)


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
    lower_bound = 0
    values = {}
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
        values[name] = found.objective, [cpu.cost for cpu in result.schedule.cpus]
    best = min(objective for objective, _ in values.values())
    if lower_bound < best:
        stop = None if time_limit is None else TimeLimit(time_limit)
        solved = solve(instance, stop=stop, workers=workers, on_progress=on_progress)
        lower_bound = max(lower_bound, solved.lower_bound or 0)
        if solved.objective is not None:
            best = min(best, solved.objective)
    return SchedulesComparison(
        instance=ComparedInstance(name=instance.name, sha256=fingerprint(instance)),
        objective=instance.objective,
        time_unit=instance.time_unit,
        lower_bound=lower_bound,
        best=best,
        is_proven=best == lower_bound,
        schedules=tuple(
            ScheduleResult(
                name=name,
                method=results[name].method,
                objective=objective,
                worst=max(costs, default=0),
                total=sum(costs),
                ratio=None if ratio is None else round(ratio, DERIVED_DIGITS),
                difference=objective - lower_bound,
            )
            for name, (objective, costs) in values.items()
            for ratio in [cost_ratio(objective, lower_bound)]
        ),
    )
