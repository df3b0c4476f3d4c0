"""Equipartition: equal shares, changed only when a job arrives or ends."""

from __future__ import annotations

from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import ParallelJob


class Equipartition(AllocationPolicy):
    """Constant and equal allocations, as far as possible.

    The allocation numbers of all jobs begin at zero and are raised by one in turn. A job drops
    out when it has as many processors as it can use at any point. It ends when all have dropped
    out or the processors are used up.
    """

    name = "equipartition"

    def arrived(self, engine: Engine, job: ParallelJob) -> None:
        """Share the processors anew."""
        self._share(engine)

    def ended(self, engine: Engine, job: ParallelJob) -> None:
        """Share the processors anew."""
        self._share(engine)

    def _share(self, engine: Engine) -> None:
        numbers = allocation_numbers(list(engine.jobs), engine.machine.processors)
        for job, processors in numbers.items():
            for processor in tuple(job.held)[processors:]:
                engine.take(processor)
        for job, processors in numbers.items():
            while job.allocation < processors:
                engine.give(next(iter(engine.free)), job)


def allocation_numbers(jobs: list[ParallelJob], processors: int) -> dict[ParallelJob, int]:
    """Return how many processors each job gets."""
    numbers = dict.fromkeys(jobs, 0)
    left, raised = processors, True
    while left and raised:
        raised = False
        for job in jobs:
            if left and numbers[job] < job.most_parallel:
                numbers[job] += 1
                left -= 1
                raised = True
    return numbers
