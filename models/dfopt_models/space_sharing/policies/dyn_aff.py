"""Dyn-Aff: the decisions of Dynamic, each made cheap by affinity where that is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt_models.space_sharing.parameters import Choice
from dfopt_models.space_sharing.policies.dynamic import Dynamic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dfopt_models.space_sharing.engine import Engine
    from dfopt_models.space_sharing.job import Job, Worker


class DynAff(Dynamic):
    """Dynamic with the rules A.1 and A.2; histories of one processor and one task (T = P = 1)."""

    name = "dyn-aff"

    def unallocated(self, engine: Engine, job: Job) -> int | None:
        """D.1, the desired processor first (A.2)."""
        return self._desired(engine, job, engine.free)

    def willing_to_yield(self, engine: Engine, job: Job) -> int | None:
        """D.2, the desired processor first (A.2)."""
        return self._desired(engine, job, self.yielded(engine, job))

    def available(self, engine: Engine, processor: int) -> None:
        """A.1: the last task on the processor gets it back, if its job's priority allows."""
        last = engine.last[processor]
        if last is not None and self._may_return(engine, last):
            engine.give(processor, last.job, last)
        else:
            super().available(engine, processor)

    def worker(self, engine: Engine, job: Job, processor: int) -> Worker:
        """Return the worker that ran there last, if the job has one."""
        if self.parameters.match:
            for worker in reversed(job.inactive):
                if worker.last_processor == processor:
                    return worker
        return super().worker(engine, job, processor)

    def outranks(self, engine: Engine, job: Job) -> bool:
        """A.1: whether the job's priority is as high as that of any requester."""
        first = self.first_requester(engine)
        return first is None or self.credits.priority(job) >= self.credits.priority(first)

    def _may_return(self, engine: Engine, last: Worker) -> bool:
        """Whether a processor's last task is inactive, has work to do, and has the priority."""
        job = last.job
        return last in job.inactive and job.wants > 0 and self.outranks(engine, job)

    def _desired(self, engine: Engine, job: Job, available: Iterable[int]) -> int | None:
        """A.2: of the available processors, that where the most critical task ran last.

        If that one is not among them it is that of the next critical task, and so on; if none is,
        it is the first.
        """
        processors = list(available)
        if not processors:
            return None
        for worker in self._by_criticality(engine, job):
            desired = worker.last_processor
            if desired is not None and desired in processors:
                return desired
        return processors[0]

    def _by_criticality(self, engine: Engine, job: Job) -> Iterable[Worker]:
        match self.parameters.worker:
            case Choice.LATEST:
                return reversed(job.inactive)
            case Choice.EARLIEST:
                return job.inactive
            case Choice.LOWEST:
                return sorted(job.inactive, key=lambda worker: worker.number)
            case Choice.RANDOM:
                return engine.random.sample(list(job.inactive), len(job.inactive))
