"""Dynamic: processors follow the jobs' needs at every moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dfopt_models.space_sharing.parameters import Choice, PolicyParameters
from dfopt_models.space_sharing.policies.credits import Credits
from dfopt_models.space_sharing.policy import Policy

if TYPE_CHECKING:
    from dfopt_models.space_sharing.engine import Engine
    from dfopt_models.space_sharing.job import Job


class Dynamic(Policy):
    """Rules D.1 to D.3, with adaptive priorities.

    Requests are standing: a job that wants more than it has is served when a processor becomes
    available, and looked at anew every ``review_interval``.
    """

    name = "dynamic"

    def __init__(self, parameters: PolicyParameters) -> None:
        super().__init__(parameters)
        self.credits = Credits(parameters)
        self._reviewing = False

    # The occasions.

    def arrived(self, engine: Engine, job: Job) -> None:
        """Serve the new job."""
        self.credits.settle(engine)
        self.credits.arrived(engine, job)
        self._hand_out(engine)
        self.wants(engine, job)
        if not self._reviewing and self.parameters.review_interval:
            self._reviewing = True
            engine.call_after(self.parameters.review_interval, lambda: self._review(engine))

    def ended(self, engine: Engine, job: Job) -> None:
        """Hand out what the job had (D.1)."""
        self.credits.settle(engine)
        self.credits.ended(engine, job)
        self._hand_out(engine)

    def wants(self, engine: Engine, job: Job) -> None:
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

    def yields(self, engine: Engine, job: Job, processor: int) -> None:
        """Give an idle processor to whoever has a use for it (D.2)."""
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

    def credits_now(self, engine: Engine) -> Callable[[Job], float]:
        """Return the priorities of this moment."""
        self.credits.settle(engine)
        return self.credits.priority

    # The rules.

    def unallocated(self, engine: Engine, job: Job) -> int | None:
        """D.1: an unallocated processor."""
        return next(iter(engine.free), None)

    def willing_to_yield(self, engine: Engine, job: Job) -> int | None:
        """D.2: a processor that its job is willing to yield."""
        return next(self.yielded(engine, job), None)

    def preempted(self, engine: Engine, job: Job) -> int | None:
        """D.3: a processor of the job with the largest allocation, where equity is served.

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
            case Choice.RANDOM:
                return engine.random.choice(held)
            case Choice.LATEST:
                return held[-1]
            case Choice.EARLIEST:
                return held[0]
            case Choice.LOWEST:
                return min(held)

    def available(self, engine: Engine, processor: int) -> None:
        """Give an available processor to the requester of highest priority, if there is any."""
        requester = self.first_requester(engine)
        if requester is not None:
            engine.give(processor, requester)

    # What the rules ask.

    def yielded(self, engine: Engine, job: Job) -> Iterator[int]:
        """Yield the processors that other jobs are willing to yield."""
        for other in engine.jobs:
            if other is not job:
                for processor, since in other.idle.items():
                    if since + self.yield_delay <= engine.now:  # as the engine has added it
                        yield processor

    def first_requester(self, engine: Engine) -> Job | None:
        """Return the requesting job of highest priority."""
        requesters = [job for job in engine.jobs if job.wants]
        return max(requesters, key=self.credits.priority, default=None)
