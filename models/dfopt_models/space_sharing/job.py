"""Jobs and their workers, as policies see them, and the account of a job that must balance."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from dfopt.errors import DfoptError
from dfopt.structs import Record
from dfopt_models.space_sharing.programs import Thread, ThreadProgram
from dfopt_models.space_sharing.structures import Application

ROUNDING = 1e-9
"""The largest relative error that the sum of a million floats may have."""


class ConservationError(RuntimeError):
    """The simulator has lost or invented time: a defect of dfopt or of a job's structure."""


@dataclass(slots=True, eq=False, repr=False)
class Worker:
    """A kernel task of a job, which runs the job's threads one after another.

    Attributes
    ----------
    job
        The job that it belongs to.
    number
        Its number within the job.
    processor
        Where it is active; None while it is not.
    last_processor
        Where it was active last (its history, P = 1); None if it has never been active.
    """

    job: ParallelJob
    number: int
    processor: int | None = None
    last_processor: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class ParallelJob:
    """One run of an application.

    Attributes
    ----------
    name
        The entry of the mix, and the number of the run.
    entry
        Number of the entry and copy in the mix: the same for all runs of a restarted job.
    application
        What it runs.
    most_parallel
        The most processors that it can use at any point of its computation.
    held
        The processors it holds, in the order in which it got them.
    idle
        The held processors that are idle, with the time since when.
    starting
        How many held processors do not run a thread yet since they were given to the job.
    ready
        Threads that could run at once; the last one is next.
    inactive
        Workers without a processor, in the order in which they stopped.
    """

    name: str
    entry: int
    application: Application
    program: ThreadProgram
    processors: InitVar[int]
    most_parallel: int = 0
    held: dict[int, None] = field(default_factory=dict)
    idle: dict[int, float] = field(default_factory=dict)
    starting: int = 0
    ready: list[Thread] = field(default_factory=list)
    inactive: dict[Worker, None] = field(default_factory=dict)
    # The account, in processor-seconds.
    arrival: float = 0.0
    changed: float = 0.0
    end: float | None = None
    work: float = 0.0
    waste: float = 0.0
    overhead: float = 0.0
    processor_time: float = 0.0
    reallocations: int = 0
    affine: int = 0
    returning: float = 0.0  # penalties of the reallocations with affinity

    def __post_init__(self, processors: int) -> None:
        self.most_parallel = min(processors, self.application.structure.most_parallel)
        self.ready = self.program.begin()
        self.inactive = {Worker(self, number): None for number in range(self.most_parallel)}

    @property
    def allocation(self) -> int:
        """Number of processors that it holds."""
        return len(self.held)

    @property
    def wants(self) -> int:
        """Number of additional processors that it could use now."""
        return max(0, min(len(self.ready) - self.starting, len(self.inactive)))

    def settle(self, now: float) -> None:
        """Count the time of its processors until now; called before their number changes."""
        self.processor_time += len(self.held) * (now - self.changed)
        self.changed = now


class EndedJob(Record):
    """A run of a job that has ended, and what it cost.

    Parameters
    ----------
    application
        What it ran.
    entry
        Number of the entry and copy in the mix.
    arrival, end
        When, in seconds.
    response_time
        Seconds from arrival to end.
    work
        Processor-seconds that its threads ran.
    waste
        Processor-seconds that it held a processor without running anything on it: idle, or
        waiting for a reallocation to begin.
    overhead
        Processor-seconds of path length and cache penalties.
    reallocations
        Number of times that it was given a processor.
    affinity
        Share of these that returned a worker to the processor where it ran last; 1 where there
        were none.
    allocation
        Average number of processors.
    affinity_penalty
        Mean cache penalty of a reallocation with affinity, in seconds; 0 where there were none.
    """

    application: str
    entry: int
    arrival: float
    end: float
    response_time: float
    work: float
    waste: float
    overhead: float
    reallocations: float
    affinity: float
    allocation: float
    affinity_penalty: float


def figures_of(job: ParallelJob) -> EndedJob:
    """Return the figures of a job that has ended.

    Raises
    ------
    ConservationError
        When the account does not balance, or other work was done than was given.
    DfoptError
        When it took no time at all.
    """
    check_conservation(job)
    assert job.end is not None
    given = job.program.work
    if abs(job.work - given) > ROUNDING * max(1.0, given):
        raise ConservationError(f"{job.name}: work {job.work!r} done, {given!r} given")
    response_time = job.end - job.arrival
    if not response_time:
        raise DfoptError(
            f"{job.name} arrives and ends at {job.end:g} s, so that it has no figures; give its "
            "application more work or less variation"
        )
    return EndedJob(
        application=job.application.name,
        entry=job.entry,
        arrival=job.arrival,
        end=job.end,
        response_time=response_time,
        work=job.work,
        waste=job.waste,
        overhead=job.overhead,
        reallocations=job.reallocations,
        affinity=job.affine / job.reallocations if job.reallocations else 1.0,
        allocation=job.processor_time / response_time,
        affinity_penalty=job.returning / job.affine if job.affine else 0.0,
    )


def check_conservation(job: ParallelJob) -> None:
    """Refuse a job that holds no processor now and whose account does not balance.

    allocation · time = work + waste + overhead. The left side is counted when the number of its
    processors changes, the right side thread by thread and reallocation by reallocation.

    Raises
    ------
    ConservationError
        When the two differ by more than rounding.
    """
    spent = job.work + job.waste + job.overhead
    # One side consists of differences of times, and late times are coarse.
    if abs(job.processor_time - spent) > ROUNDING * max(1.0, spent, job.changed):
        raise ConservationError(
            f"{job.name}: {job.processor_time!r} processor-seconds held, but work {job.work!r} + "
            f"waste {job.waste!r} + overhead {job.overhead!r} = {spent!r}"
        )
