"""The parts of a comparison that can be worked on apart from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dfopt.compare.windows.bound_and_roll import (
    RollingCosts,
    WindowBounds,
    bounds_of,
    rolling_costs,
)
from dfopt.compare.windows.cutting import WindowConditions, WindowedDispatches
from dfopt.compare.windows.window_solver import WindowSolver

Answer = WindowBounds | RollingCosts

FEW_WINDOWS = 100
"""The slower solvers are asked only if there are at most 100 windows."""

DISPATCHES_A_JOB = 200_000
"""A job has about this number of dispatches; it takes longer than starting a process."""

WORTH_PROCESSES = 500_000
"""With fewer dispatches in all jobs together, starting processes takes longer than the work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowJob:
    """Bounds or a rolling schedule for some windows.

    Parameters
    ----------
    key
        The index of the length of window, and the name of the answer.
    wanted
        The answer that is wanted.
    windows, conditions
        The windows, and the conditions under which they are scheduled.
    seconds
        Seconds that solvers may search.
    thorough
        Whether the slower solvers are asked too.
    """

    key: tuple[int, str]
    wanted: Literal["bound", "rolling"]
    windows: WindowedDispatches
    conditions: WindowConditions
    seconds: float
    thorough: bool

    def perform(self) -> Answer:
        """Return what the job asks for."""
        windows = self.windows
        solver = WindowSolver(
            leaves_differ=windows.leaves_differ,
            types=windows.types,
            seconds=self.seconds,
            thorough=self.thorough,
        )
        answer = bounds_of if self.wanted == "bound" else rolling_costs
        return answer(windows, self.conditions, solver)


def jobs_of(
    key: tuple[int, str],
    wanted: Literal["bound", "rolling"],
    windows: WindowedDispatches,
    conditions: WindowConditions,
    seconds: float,
) -> list[WindowJob]:
    """Return the jobs for windows; the bounds of windows do not depend on each other."""
    count = len(windows)
    jobs = max(1, len(windows.cpu) // DISPATCHES_A_JOB) if wanted == "bound" else 1
    size = -(-count // jobs)
    return [
        WindowJob(
            key=key,
            wanted=wanted,
            windows=windows.part(first, min(first + size, count)),
            conditions=replace(
                conditions,
                begins_empty=conditions.begins_empty and first == 0,
                ends_written=conditions.ends_written and first + size >= count,
            ),
            seconds=seconds * min(size, count - first) / count,
            thorough=count <= FEW_WINDOWS,
        )
        for first in range(0, count, size)
    ]


def are_worth_processes(jobs: Sequence[WindowJob]) -> bool:
    """Return whether jobs take longer than starting processes for them."""
    return sum(len(job.windows.cpu) for job in jobs) > WORTH_PROCESSES
