"""Adaptive priorities: credit for using few processors, spent on more than the fair share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dfopt_models.space_sharing.parameters import PolicyParameters

if TYPE_CHECKING:
    from dfopt_models.space_sharing.engine import Engine
    from dfopt_models.space_sharing.job import Job


class Credits:
    """The credit of each job, in processor-seconds, and the priority that it makes.

    With the fair share ``fair`` = processors / jobs, the credit c of a job with ``alloc``
    processors follows dc/dt = fair − alloc − c / ``credit_decay``. It begins at 0.
    """

    def __init__(self, parameters: PolicyParameters) -> None:
        self._decay = parameters.credit_decay
        self._per_processor = parameters.credit_per_processor
        self._credit: dict[Job, float] = {}
        self._settled = 0.0
        self._fair = 0.0

    def settle(self, engine: Engine) -> None:
        """Bring all credits up to now; due before any allocation changes."""
        elapsed = engine.now - self._settled
        if elapsed:
            kept = math.exp(-elapsed / self._decay)
            for job, credit in self._credit.items():
                limit = self._decay * (self._fair - job.allocation)
                self._credit[job] = limit + (credit - limit) * kept
            self._settled = engine.now

    def arrived(self, engine: Engine, job: Job) -> None:
        """Begin an account."""
        self._credit[job] = 0.0
        self._fair = engine.machine.processors / len(engine.jobs)

    def ended(self, engine: Engine, job: Job) -> None:
        """Close an account."""
        del self._credit[job]
        self._fair = engine.machine.processors / max(1, len(engine.jobs))

    def priority(self, job: Job) -> float:
        """Return by how many processors a job's entitlement exceeds its allocation.

        It is entitled to its fair share and to what its credit buys, which may be negative.
        """
        credit = self._credit.get(job, 0.0)  # a job that is there before it has arrived
        return self._fair + credit / self._per_processor - job.allocation
