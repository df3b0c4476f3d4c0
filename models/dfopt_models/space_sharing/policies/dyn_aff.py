"""Dyn-Aff: the decisions of Dynamic, each made cheap by affinity where that is possible."""

from __future__ import annotations

from collections.abc import Iterable

from dfopt_models.space_sharing.engine import Engine
from dfopt_models.space_sharing.job import ParallelJob, Worker
from dfopt_models.space_sharing.mix import TieBreak
from dfopt_models.space_sharing.policies.dynamic import Dynamic


class DynAff(Dynamic):
    """Dynamic with the rules A.1 and A.2; histories of one processor and one task (T = P = 1)."""

    name = "dyn-aff"

    def unallocated(self, engine: Engine, job: ParallelJob) -> int | None:
        """Rule D.1, the desired processor first (A.2)."""
        return self._desired(engine, job, engine.free)

    def willing_to_yield(self, engine: Engine, job: ParallelJob) -> int | None:
        """Rule D.2, the desired processor first (A.2)."""
        return self._desired(engine, job, self.yielded(engine, job))

    def available(self, engine: Engine, processor: int) -> None:
        """Rule A.1: the last task on the processor gets it back, if its job's priority allows."""
        last = engine.last[processor]
        if last is not None and self._may_return(engine, last):
            engine.give(processor, last.job, last)
        else:
            super().available(engine, processor)

    def worker(self, engine: Engine, job: ParallelJob, processor: int) -> Worker:
        """Return the worker that ran there last, if the job has one."""
        if self.parameters.match:
            for worker in reversed(job.inactive):
                if worker.last_processor == processor:
                    return worker
        return super().worker(engine, job, processor)

    def outranks(self, engine: Engine, job: ParallelJob) -> bool:
        """Rule A.1: whether the job's priority is as high as that of any requester."""
        first = self.first_requester(engine)
        return first is None or self.credits.priority(job) >= self.credits.priority(first)

    def _may_return(self, engine: Engine, last: Worker) -> bool:
        """Return whether a processor's last task is inactive and has both work and priority."""
        job = last.job
        return last in job.inactive and job.wants > 0 and self.outranks(engine, job)

    def _desired(self, engine: Engine, job: ParallelJob, available: Iterable[int]) -> int | None:
        """Rule A.2: of the available processors, the one where the most critical task ran last.

        If that one is not available it is that of the next critical task, and so on; if none is,
        it is the first available one.
        """
        processors = list(available)
        if not processors:
            return None
        for worker in self._by_criticality(engine, job):
            desired = worker.last_processor
            if desired is not None and desired in processors:
                return desired
        return processors[0]

    def _by_criticality(self, engine: Engine, job: ParallelJob) -> Iterable[Worker]:
        match self.parameters.worker:
            case TieBreak.LATEST:
                return reversed(job.inactive)
            case TieBreak.EARLIEST:
                return job.inactive
            case TieBreak.LOWEST:
                return sorted(job.inactive, key=lambda worker: worker.number)
            case TieBreak.RANDOM:
                return engine.random.sample(list(job.inactive), len(job.inactive))


class DynAffDelay(DynAff):
    """Dyn-Aff with a yield delay: a little more waste for fewer reallocations.

    A job keeps an idle processor for a moment before it is willing to yield it.
    """

    name = "dyn-aff-delay"

    @property
    def yield_delay(self) -> float:
        """Seconds that a processor is idle before its job is willing to yield it."""
        return self.parameters.yield_delay


class DynAffNoPri(DynAff):
    """Dyn-Aff without fairness: affinity before priority.

    It is not meant for use; it bounds what affinity could give.
    """

    name = "dyn-aff-nopri"

    def preempted(self, engine: Engine, job: ParallelJob) -> int | None:
        """Return None: without rule D.3 no job is preempted."""
        return None

    def outranks(self, engine: Engine, job: ParallelJob) -> bool:
        """Rule A.1 without its condition: the last task may always return."""
        return True
