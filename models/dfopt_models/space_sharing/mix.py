"""Mixes: the machine, the applications, the policies' numbers and the jobs of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, field

from dfopt.errors import InstanceError
from dfopt.structs import Checked, DocumentPart
from dfopt_models.space_sharing.programs import Structure

ANY_OTHER = "*"
"""The key of the penalty that holds for every application that is not named."""


MOST_THREADS = 10**7
"""At most this many threads in a structure; the limit of every other count too."""

SHORTEST_REVIEW = 1e-6
"""Seconds; a shorter interval might be lost when it is added to the clock."""

LATEST_ARRIVAL = 1e9
"""Seconds; up to here the clock, a float, has steps of about a tenth of a microsecond."""

Count = Annotated[int, Meta(ge=1, le=MOST_THREADS)]
Seconds = Annotated[float, Meta(ge=0)]
PositiveSeconds = Annotated[float, Meta(gt=0)]
Arrival = Annotated[float, Meta(ge=0, le=LATEST_ARRIVAL)]


class TieBreak(StrEnum):
    """The rule by which a policy chooses among equal candidates."""

    RANDOM = "random"
    LATEST = "latest"
    EARLIEST = "earliest"
    LOWEST = "lowest"


class Multiprocessor(Checked):
    """Processors and what a reallocation costs.

    Parameters
    ----------
    processors
        Number of processors.
    path_length
        Seconds of overhead of each reallocation, whatever the caches hold.
    latency
        Seconds from the decision until the reallocation begins. The processor waits in this time,
        which counts as waste of the job that gets it.
    quantum
        Seconds. It selects the penalties that were measured with this quantum Q.
    """

    processors: Count = 16
    path_length: Seconds = 750e-6
    latency: Seconds = 0.0
    quantum: PositiveSeconds = 0.4


class Penalties(DocumentPart):
    """Seconds that a reallocation costs because the cache lacks data.

    Parameters
    ----------
    no_affinity
        P^NA: the task comes to a processor on which it did not run last.
    affinity
        P^A: the task returns to the processor on which it ran last. It depends on the application
        whose task ran there in between; ``*`` stands for all that are not named.
    """

    no_affinity: Seconds
    affinity: dict[str, Seconds]

    def returning_after(self, application: str) -> float | None:
        """Return P^A after a task of an application, or None if it is not known."""
        return self.affinity.get(application, self.affinity.get(ANY_OTHER))


class PenaltyRow(Penalties):
    """Penalties of an application, measured with one quantum.

    Parameters
    ----------
    quantum
        Seconds for which a task ran before it lost its processor.
    """

    quantum: PositiveSeconds


class ApplicationTable(Checked, tag_field="structure"):
    """A program that jobs run; its structure says how its threads depend on each other.

    Parameters
    ----------
    penalties
        Its penalties, a row for each quantum.
    """

    penalties: tuple[PenaltyRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A program that jobs run.

    Parameters
    ----------
    name
        Its name, unique in a mix.
    structure
        How its threads depend on each other.
    penalties
        Its penalties at the machine's quantum.
    """

    name: str
    structure: Structure
    penalties: Penalties


class AllocationParameters(Checked):
    """Numbers and tie-breaks of the policies; each policy uses those it knows.

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
        Seconds after which standing requests are reviewed (D.3).
    yield_delay
        Seconds for which Dyn-Aff-Delay lets a job keep an idle processor.
    victim
        Which processor of the job with the largest allocation is preempted (D.3): the one it got
        latest or earliest, a random one, or the one with the lowest number.
    worker
        Which of its workers a job activates if affinity does not decide: the one that stopped
        latest or earliest, a random one, or the one with the lowest number. It is also the order
        in which workers are critical to the job's progress (A.2).
    match
        Whether a job that is given a processor activates the worker that ran there last, if it
        has one. It matters under the affinity policies alone.
    """

    credit_decay: PositiveSeconds = 0.2
    credit_per_processor: PositiveSeconds = 0.1
    preemption_margin: Seconds = 0.0
    review_interval: Seconds = 0.02
    yield_delay: Seconds = 0.002
    victim: TieBreak = TieBreak.EARLIEST
    worker: TieBreak = TieBreak.LOWEST
    match: bool = True

    def __post_init__(self) -> None:
        """Refuse an interval that would be lost on the clock."""
        super().__post_init__()
        if 0 < self.review_interval < SHORTEST_REVIEW:
            raise InstanceError(
                f"must be 0, or at least {SHORTEST_REVIEW:g}, not {self.review_interval}",
                place="review_interval",
            )


class JobValues(DocumentPart):
    """What jobs in a mix and in the document that describes it have in common.

    Parameters
    ----------
    copies
        Number of jobs, all alike.
    arrival
        Seconds until the first one arrives.
    interarrival
        Mean seconds between the arrivals of the copies, exponentially distributed; at 0 they
        arrive together.
    """

    copies: Count = 1
    arrival: Arrival = 0.0
    interarrival: Arrival = 0.0


class JobEntry(JobValues):
    """Jobs of one application in a mix.

    Parameters
    ----------
    application
        The application that they run.
    """

    application: Application


class MixValues(DocumentPart):
    """What a mix and the document that describes it have in common.

    Parameters
    ----------
    name
        Its name; by default that of its file.
    restart
        Whether a new job like it replaces every job that ends, so that the mix stays constant.
    runs
        With ``restart``: at least this many runs of each job are measured.
    machine
        Processors and what a reallocation costs.
    policy
        Numbers and tie-breaks of the policies.
    """

    name: str | None = None
    restart: bool = True
    runs: Count = 1
    machine: Multiprocessor = field(default_factory=Multiprocessor)
    policy: AllocationParameters = field(default_factory=AllocationParameters)


class Mix(MixValues):
    """Jobs, the machine they share, and the parameters of policies.

    Parameters
    ----------
    jobs
        The jobs.

    Raises
    ------
    InstanceError
        When there is no job, or a penalty is not known.
    """

    name: str
    jobs: tuple[JobEntry, ...]

    def __post_init__(self) -> None:
        """Check that there are jobs, and what each of them costs after every other one."""
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
