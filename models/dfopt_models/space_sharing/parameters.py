"""What a simulation is given: the machine, the applications, the policies' numbers, the jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dfopt.errors import InstanceError
from dfopt_models.space_sharing.threads import Structure

ANY_OTHER = "*"
"""Among the penalties: every application that has none of its own."""


class Choice(StrEnum):
    """Which of several equals a policy takes."""

    RANDOM = "random"
    LATEST = "latest"
    EARLIEST = "earliest"
    LOWEST = "lowest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Processors and what a reallocation costs.

    Parameters
    ----------
    processors
        How many.
    path_length
        Seconds of overhead of each reallocation, whatever the caches hold.
    latency
        Seconds from the decision until the reallocation begins, in which the processor waits;
        they count as waste of the job that gets it.
    quantum
        Which of the applications' penalties hold: those measured with this Q, in seconds.
    """

    processors: int = 16
    path_length: float = 750e-6
    latency: float = 0.0
    quantum: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalties:
    """Seconds that a reallocation costs because of what the cache lacks.

    Parameters
    ----------
    no_affinity
        P^NA: the task comes to a processor on which it did not run last.
    affinity
        P^A: it returns to the processor on which it ran last, by the application whose task ran
        there in between; ``*`` stands for all that are not named.
    """

    no_affinity: float
    affinity: Mapping[str, float]

    def returning_after(self, application: str) -> float | None:
        """Return P^A after a task of an application, or None if it is not known."""
        return self.affinity.get(application, self.affinity.get(ANY_OTHER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A kind of job.

    Parameters
    ----------
    name
        Unique.
    structure
        Of its threads.
    penalties
        At the machine's quantum.
    """

    name: str
    structure: Structure
    penalties: Penalties


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """Numbers and tie-breaks of the policies; each takes those it knows.

    Parameters
    ----------
    credit_decay
        Seconds in which credit falls to 1/e. Credit grows by a processor-second a second for
        every processor that a job has less than its fair share.
    credit_per_processor
        Processor-seconds of credit that are worth one processor more than the fair share.
    preemption_margin
        Processors by which a preemption must improve equity, beyond the one that moves (D.3).
    review_interval
        Seconds after which standing requests are looked at anew (D.3).
    yield_delay
        Seconds for which Dyn-Aff-Delay lets a job keep an idle processor.
    victim
        Which processor of the job with the largest allocation is preempted (D.3): the one it got
        latest or earliest, a random one, or that with the lowest number.
    worker
        Which of its workers a job activates where affinity does not say: the one that stopped
        latest or earliest, a random one, or that with the lowest number. It is also the order in
        which workers are critical to the job's progress (A.2).
    match
        Under the affinity policies: whether a job activates on a processor it is given the worker
        that ran there last, if it has one.
    """

    credit_decay: float = 0.2
    credit_per_processor: float = 0.1
    preemption_margin: float = 0.0
    review_interval: float = 0.02
    yield_delay: float = 0.002
    victim: Choice = Choice.EARLIEST
    worker: Choice = Choice.LOWEST
    match: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEntry:
    """Jobs of one application in a mix.

    Parameters
    ----------
    application
        What they run.
    copies
        How many, all alike.
    arrival
        Seconds until the first arrives.
    interarrival
        Mean seconds between the arrivals of the copies, exponentially distributed; at 0 they
        arrive together.
    """

    application: Application
    copies: int = 1
    arrival: float = 0.0
    interarrival: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """All that a simulation is given but the policy and the seed.

    Parameters
    ----------
    name
        Of the mix.
    machine
        On which it runs.
    policy
        Parameters of the policies.
    jobs
        What runs.
    restart
        Whether every job that ends is replaced by one alike, so that the mix stays constant.
    runs
        Where jobs are restarted: how many runs of each are measured at least.

    Raises
    ------
    InstanceError
        When there is no job, or a penalty is not known.
    """

    name: str
    machine: Machine = field(default_factory=Machine)
    policy: PolicyParameters = field(default_factory=PolicyParameters)
    jobs: tuple[JobEntry, ...]
    restart: bool = True
    runs: int = 1

    def __post_init__(self) -> None:
        if not any(entry.copies for entry in self.jobs):
            raise InstanceError("the mix has no job; give it one", place="job")
        applications = {entry.application.name: entry.application for entry in self.jobs}
        for application in applications.values():
            for other in applications:
                if application.penalties.returning_after(other) is None:
                    raise InstanceError(
                        f"says nothing of {other!r}, which runs in the same mix; "
                        f"add it, or {ANY_OTHER!r} for all others",
                        place=f"application.{application.name}.penalties.affinity",
                    )
