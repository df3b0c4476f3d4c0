"""The parts of a comparison that can be worked on apart from each other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dfopt.compare.best import BestPlacements
from dfopt.compare.bound import WindowBounds, bounds_of
from dfopt.compare.demand import WindowedRuns
from dfopt.compare.rolling import RollingCosts, rolling_costs
from dfopt.compare.rules import WindowRules
from dfopt.solvers.facade import available_processors

FEW_WINDOWS = 100
"""Up to so many windows the slower solvers are worth their time."""

DISPATCHES_A_JOB = 200_000
"""So many take about as long as it takes to start a process for them."""

WORTH_PROCESSES = 500_000
"""Fewer dispatches, those of all jobs together, are done before processes have started."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """Bounds or a rolling schedule for some windows.

    Parameters
    ----------
    key
        Whose job it is.
    kind
        What is wanted.
    windows, rules
        For which windows, and how they are scheduled.
    seconds
        How long solvers may search.
    thorough
        Whether the slower solvers are asked too.
    """

    key: tuple[int, str]
    kind: Literal["bound", "rolling"]
    windows: WindowedRuns
    rules: WindowRules
    seconds: float
    thorough: bool


Answer = WindowBounds | RollingCosts


def jobs_of(
    key: tuple[int, str],
    kind: Literal["bound", "rolling"],
    windows: WindowedRuns,
    rules: WindowRules,
    seconds: float,
) -> list[Job]:
    """Return the jobs for windows; windows whose bounds are wanted know nothing of each other."""
    count = len(windows)
    jobs = max(1, len(windows.cpu) // DISPATCHES_A_JOB) if kind == "bound" else 1
    size = -(-count // jobs)
    return [
        Job(
            key=key,
            kind=kind,
            windows=windows.part(first, min(first + size, count)),
            rules=replace(
                rules,
                begins_empty=rules.begins_empty and first == 0,
                ends_written=rules.ends_written and first + size >= count,
            ),
            seconds=seconds * min(size, count - first) / count,
            thorough=count <= FEW_WINDOWS,
        )
        for first in range(0, count, size)
    ]


def perform(job: Job) -> Answer:
    """Return what a job asks for."""
    if job.windows.leaves is not None:
        from dfopt.compare.general import GeneralWindows

        general = GeneralWindows(job.windows, job.rules, job.seconds, thorough=job.thorough)
        return general.bounds() if job.kind == "bound" else general.rolling()
    best = BestPlacements(job.seconds, thorough=job.thorough)
    if job.kind == "bound":
        return bounds_of(job.windows, job.rules, best)
    return rolling_costs(job.windows, job.rules, best)


def performed(
    jobs: Sequence[Job], *, workers: int | None, scheduler: str | None
) -> Generator[tuple[Job, Answer], None, None]:
    """Yield jobs with their answers as these come in.

    Parameters
    ----------
    jobs
        What is to be done.
    workers
        How many processes may work at once; None: one a processor.
    scheduler
        Address of a Dask scheduler whose workers shall do it instead.
    """
    if scheduler is not None:
        from dfopt.compare.cluster import performed_on_cluster

        yield from performed_on_cluster(jobs, scheduler)
        return
    processes = workers or available_processors()
    work = sum(len(job.windows.cpu) for job in jobs)
    if processes > 1 and len(jobs) > 1 and work > WORTH_PROCESSES:
        from dfopt.compare.processes import performed_in_processes

        yield from performed_in_processes(jobs, processes)
        return
    for job in jobs:
        yield job, perform(job)
