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
from dfopt.parallel.pool import performed as performed_here
from dfopt.solvers.facade import available_processors

Answer = WindowBounds | RollingCosts

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

    def perform(self) -> Answer:
        """Return what the job asks for."""
        if self.windows.types is not None:
            from dfopt.compare.matrix import MatrixWindows

            matrix = MatrixWindows(self.windows, self.rules, self.seconds, thorough=self.thorough)
            return matrix.bounds() if self.kind == "bound" else matrix.rolling()
        if self.windows.leaves is not None:
            from dfopt.compare.mixed import MixedWindows

            mixed = MixedWindows(self.windows, self.rules, self.seconds, thorough=self.thorough)
            return mixed.bounds() if self.kind == "bound" else mixed.rolling()
        best = BestPlacements(self.seconds, thorough=self.thorough)
        if self.kind == "bound":
            return bounds_of(self.windows, self.rules, best)
        return rolling_costs(self.windows, self.rules, best)


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
    work = sum(len(job.windows.cpu) for job in jobs)
    processes = workers or available_processors()
    for job, answer in performed_here(jobs, processes if work > WORTH_PROCESSES else 1):
        assert isinstance(job, Job)
        yield job, answer
