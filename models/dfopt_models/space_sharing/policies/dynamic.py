"""Dynamic: processors follow the jobs' needs at every moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import ParallelJob
from dfopt_models.space_sharing.mix import AllocationParameters, TieBreak


class Credits:
    """Adaptive priorities: credit for using few processors, spent on more than the fair share.

    The credit of each job is in processor-seconds.
    With the fair share ``fair`` = processors / jobs, the credit c of a job with ``alloc``
    processors follows dc/dt = fair − alloc − c / ``credit_decay``. It begins at 0.
    """

    def __init__(self, parameters: AllocationParameters) -> None:
        self._decay = parameters.credit_decay
        self._per_processor = parameters.credit_per_processor
        self._credit: dict[ParallelJob, float] = {}
        self._settled = 0.0
        self._fair = 0.0

    def settle(self, engine: Engine) -> None:
        """Bring all credits up to now; called before any allocation changes."""
        elapsed = engine.now - self._settled
        if elapsed:
            kept = math.exp(-elapsed / self._decay)
            for job, credit in self._credit.items():
                limit = self._decay * (self._fair - job.allocation)
                self._credit[job] = limit + (credit - limit) * kept
            self._settled = engine.now

    def arrived(self, engine: Engine, job: ParallelJob) -> None:
        """Begin an account."""
        self._credit[job] = 0.0
        self._fair = engine.machine.processors / len(engine.jobs)

    def ended(self, engine: Engine, job: ParallelJob) -> None:
        """Close an account."""
        del self._credit[job]
        self._fair = engine.machine.processors / max(1, len(engine.jobs))

    def priority(self, job: ParallelJob) -> float:
        """Return by how many processors a job's entitlement exceeds its allocation.

        It is entitled to its fair share and to what its credit buys, which may be negative.
        """
        credit = self._credit.get(job, 0.0)  # the successor of a job is there before it arrives
        return self._fair + credit / self._per_processor - job.allocation


class Dynamic(AllocationPolicy):
    """Rules D.1 to D.3, with adaptive priorities.

    A request stands: a job that wants more than it has is served when a processor becomes
    available, and its request is reviewed every ``review_interval``.
    """

    name = "dynamic"

    def __init__(self, parameters: AllocationParameters) -> None:
        super().__init__(parameters)
        self.credits = Credits(parameters)
        self._reviewing = False

    # When the policy is called.

    def arrived(self, engine: Engine, job: ParallelJob) -> None:
        """Serve the new job."""
        self.credits.settle(engine)
        self.credits.arrived(engine, job)
        self._hand_out(engine)
        self.wants(engine, job)
        if not self._reviewing and self.parameters.review_interval:
            self._reviewing = True
            engine.call_after(self.parameters.review_interval, lambda: self._review(engine))

    def ended(self, engine: Engine, job: ParallelJob) -> None:
        """Hand out what the job had (D.1)."""
        self.credits.settle(engine)
        self.credits.ended(engine, job)
        self._hand_out(engine)

    def wants(self, engine: Engine, job: ParallelJob) -> None:
        """Serve a request with the least valuable processors: D.1, D.2, D.3."""
        self.credits.settle(engine)
        while job.wants:
            processor = self.unallocated(engine, job)
            if processor is None:
                processor = self.willing_to_yield(engine, job)
            if processor is None:
                processor = self.preempted(engine, job)
            if processor is None:
                return
            engine.give(processor, job)

    def yields(self, engine: Engine, job: ParallelJob, processor: int) -> None:
        """Give an idle processor to a job that has a use for it (D.2)."""
        self.credits.settle(engine)
        self.available(engine, processor)

    def _hand_out(self, engine: Engine) -> None:
        for processor in tuple(engine.free):
            self.available(engine, processor)

    def _review(self, engine: Engine) -> None:
        for job in sorted(engine.jobs, key=self.credits_now(engine), reverse=True):
            if job.wants:
                self.wants(engine, job)
        engine.call_after(self.parameters.review_interval, lambda: self._review(engine))

    def credits_now(self, engine: Engine) -> Callable[[ParallelJob], float]:
        """Return the priorities of this moment."""
        self.credits.settle(engine)
        return self.credits.priority

    # The rules of the paper.

    def unallocated(self, engine: Engine, job: ParallelJob) -> int | None:
        """Rule D.1: an unallocated processor."""
        return next(iter(engine.free), None)

    def willing_to_yield(self, engine: Engine, job: ParallelJob) -> int | None:
        """Rule D.2: a processor that its job is willing to yield."""
        return next(self.yielded(engine, job), None)

    def preempted(self, engine: Engine, job: ParallelJob) -> int | None:
        """Rule D.3: a processor of the job with the largest allocation, where equity is served.

        That is where the requester's priority exceeds the other's by more than the one processor
        that moves and ``preemption_margin``.
        """
        victims = [other for other in engine.jobs if other is not job and other.held]
        if not victims:
            return None
        priority = self.credits.priority
        victim = max(victims, key=lambda other: (other.allocation, -priority(other)))
        if priority(job) - priority(victim) <= 1 + self.parameters.preemption_margin:
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
        return max(requesters, key=self.credits.priority, default=None)
