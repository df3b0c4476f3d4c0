"""The policies of Vaswani and Zahorjan, and how a policy is found by its name.

Equipartition changes its equal shares only when a job arrives or ends. Dynamic follows the jobs'
needs at every moment. Dyn-Aff makes the decisions of Dynamic, each made cheap by affinity where
that is possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from dfopt import user_code
from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import ParallelJob, Worker
from dfopt_models.space_sharing.mix import AllocationParameters, TieBreak


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


class Dynamic(AllocationPolicy):
    """Rules D.1 to D.3, with adaptive priorities: credit for using few processors.

    A request stands: a job that wants more than it has is served when a processor becomes
    available, and its request is reviewed every ``review_interval``.

    The credit of each job is in processor-seconds, and buys more than the fair share. With the fair
    share ``fair`` = processors / jobs, the credit c of a job with ``alloc`` processors follows
    dc/dt = fair − alloc − c / ``credit_decay``. It begins at 0.
    """

    name = "dynamic"

    def __init__(self, parameters: AllocationParameters) -> None:
        super().__init__(parameters)
        self._credit: dict[ParallelJob, float] = {}
        self._settled = 0.0
        self._fair = 0.0
        self._reviewing = False

    # When the policy is called.

    def arrived(self, engine: Engine, job: ParallelJob) -> None:
        """Serve the new job."""
        self.settle(engine)
        self._credit[job] = 0.0
        self._fair = engine.machine.processors / len(engine.jobs)
        self._hand_out(engine)
        self.wants(engine, job)
        if not self._reviewing and self.parameters.review_interval:
            self._reviewing = True
            engine.call_after(self.parameters.review_interval, lambda: self._review(engine))

    def ended(self, engine: Engine, job: ParallelJob) -> None:
        """Hand out what the job had (D.1)."""
        self.settle(engine)
        del self._credit[job]
        self._fair = engine.machine.processors / max(1, len(engine.jobs))
        self._hand_out(engine)

    def wants(self, engine: Engine, job: ParallelJob) -> None:
        """Serve a request with the least valuable processors.

        That is an unallocated one (D.1), one that its job is willing to yield (D.2), or one that is
        preempted (D.3).
        """
        self.settle(engine)
        while job.wants:
            processor = self.chosen(engine, job, engine.free)
            if processor is None:
                processor = self.chosen(engine, job, self.yielded(engine, job))
            if processor is None:
                processor = self.preempted(engine, job)
            if processor is None:
                return
            engine.give(processor, job)

    def yields(self, engine: Engine, job: ParallelJob, processor: int) -> None:
        """Give an idle processor to a job that has a use for it (D.2)."""
        self.settle(engine)
        self.available(engine, processor)

    def _hand_out(self, engine: Engine) -> None:
        for processor in tuple(engine.free):
            self.available(engine, processor)

    def _review(self, engine: Engine) -> None:
        self.settle(engine)
        for job in sorted(engine.jobs, key=self.priority, reverse=True):
            if job.wants:
                self.wants(engine, job)
        engine.call_after(self.parameters.review_interval, lambda: self._review(engine))

    # Priorities.

    def settle(self, engine: Engine) -> None:
        """Bring all credits up to now; called before any allocation changes."""
        elapsed = engine.now - self._settled
        if elapsed:
            decay = self.parameters.credit_decay
            kept = math.exp(-elapsed / decay)
            for job, credit in self._credit.items():
                limit = decay * (self._fair - job.allocation)
                self._credit[job] = limit + (credit - limit) * kept
            self._settled = engine.now

    def priority(self, job: ParallelJob) -> float:
        """Return by how many processors a job's entitlement exceeds its allocation.

        It is entitled to its fair share and to what its credit buys, which may be negative.
        """
        credit = self._credit.get(job, 0.0)  # the successor of a job is there before it arrives
        return self._fair + credit / self.parameters.credit_per_processor - job.allocation

    # The rules of the paper.

    def chosen(self, engine: Engine, job: ParallelJob, available: Iterable[int]) -> int | None:
        """Return one of the processors that are available for a job; None if there is none."""
        return next(iter(available), None)

    def preempted(self, engine: Engine, job: ParallelJob) -> int | None:
        """Rule D.3: a processor of the job with the largest allocation, where equity is served.

        That is where the requester's priority exceeds the other's by more than the one processor
        that moves and ``preemption_margin``.
        """
        victims = [other for other in engine.jobs if other is not job and other.held]
        if not victims:
            return None
        victim = max(victims, key=lambda other: (other.allocation, -self.priority(other)))
        gain = self.priority(job) - self.priority(victim)
        if gain <= 1 + self.parameters.preemption_margin:
            return None
        held = tuple(victim.held)
        match self.parameters.victim:
            case TieBreak.RANDOM:
                return engine.random.choice(held)
            case TieBreak.LATEST:
                return held[-1]
            case TieBreak.EARLIEST:
                return held[0]
            case TieBreak.LOWEST:
                return min(held)

    def available(self, engine: Engine, processor: int) -> None:
        """Give an available processor to the requester of highest priority, if there is any."""
        requester = self.first_requester(engine)
        if requester is not None:
            engine.give(processor, requester)

    # Questions of the rules.

    def yielded(self, engine: Engine, job: ParallelJob) -> Iterator[int]:
        """Yield the processors that other jobs are willing to yield."""
        for other in engine.jobs:
            if other is not job:
                for processor, since in other.idle.items():
                    if since + self.yield_delay <= engine.now:  # added as the engine adds it
                        yield processor

    def first_requester(self, engine: Engine) -> ParallelJob | None:
        """Return the requesting job of highest priority."""
        requesters = [job for job in engine.jobs if job.wants]
        return max(requesters, key=self.priority, default=None)


class DynAff(Dynamic):
    """Dynamic with the rules A.1 and A.2; histories of one processor and one task (T = P = 1)."""

    name = "dyn-aff"

    def available(self, engine: Engine, processor: int) -> None:
        """Rule A.1: the last task on the processor gets it back, if its job's priority allows."""
        last = engine.last[processor]
        if (
            last is not None
            and last in last.job.inactive
            and last.job.wants > 0
            and self.outranks(engine, last.job)
        ):
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
        return first is None or self.priority(job) >= self.priority(first)

    def chosen(self, engine: Engine, job: ParallelJob, available: Iterable[int]) -> int | None:
        """Rule A.2: of the available processors, the one where the most critical task ran last.

        If that one is not available it is that of the next critical task, and so on; if none is,
        it is the first available one.
        """
        processors = list(available)
        if not processors:
            return None
        for worker in self._by_criticality(engine, job):
            if worker.last_processor in processors:
                return worker.last_processor
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


GUIDE = "docs/how-to/space-sharing-policy.md"

POLICIES: dict[str, type[AllocationPolicy]] = {
    policy.name: policy for policy in (Equipartition, Dynamic, DynAff, DynAffNoPri, DynAffDelay)
}
"""By the name that files and the command line use."""


def policy_named(source: str) -> type[AllocationPolicy]:
    """Return a policy.

    Parameters
    ----------
    source
        The name of one of :data:`POLICIES`; or ``module:Class``, where the module is imported as
        from the current folder; or ``file.py``, which must define one policy, or
        ``file.py:Class``.

    Raises
    ------
    DfoptError
        When there is no such policy, or its code cannot be loaded.
    """
    return user_code.policy_named(source, base=AllocationPolicy, policies=POLICIES, guide=GUIDE)
