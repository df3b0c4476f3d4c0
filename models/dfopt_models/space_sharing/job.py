"""Jobs and their workers, as policies see them."""

from __future__ import annotations

from dfopt_models.space_sharing.parameters import Application
from dfopt_models.space_sharing.threads import Program, Thread


class Worker:
    """A kernel task of a job, which runs the job's threads one after another.

    Attributes
    ----------
    job, number
        Whose it is, and which.
    processor
        Where it is active; None while it is not.
    last_processor
        Where it was active last (its history, P = 1); None before it ever was.
    """

    __slots__ = ("job", "last_processor", "number", "processor")

    def __init__(self, job: Job, number: int) -> None:
        self.job = job
        self.number = number
        self.processor: int | None = None
        self.last_processor: int | None = None


class Job:
    """One run of an application.

    Attributes
    ----------
    name
        The entry of the mix, and which run of it.
    entry
        Number of the entry and copy in the mix: the same for all runs of a restarted job.
    application
        What it runs.
    most_parallel
        The most processors it can use at any point of its computation.
    held
        The processors it holds, in the order in which it got them.
    idle
        Those of them that are idle, with the time since when.
    starting
        How many of them have been given to it and do not run a thread yet.
    ready
        Threads that could run at once; the last one is next.
    inactive
        Workers without a processor, in the order in which they stopped.
    """

    __slots__ = (
        "affine",
        "application",
        "arrival",
        "changed",
        "end",
        "entry",
        "held",
        "idle",
        "inactive",
        "most_parallel",
        "name",
        "overhead",
        "processor_time",
        "program",
        "ready",
        "reallocations",
        "returning",
        "starting",
        "waste",
        "work",
    )

    def __init__(
        self,
        name: str,
        entry: int,
        application: Application,
        program: Program,
        *,
        processors: int,
    ) -> None:
        self.name = name
        self.entry = entry
        self.application = application
        self.program = program
        self.most_parallel = min(processors, application.structure.most_parallel)
        self.held: dict[int, None] = {}
        self.idle: dict[int, float] = {}
        self.starting = 0
        self.ready: list[Thread] = program.begin()
        self.inactive = {Worker(self, number): None for number in range(self.most_parallel)}
        # The accounts, in seconds of processors.
        self.arrival = self.changed = 0.0
        self.end: float | None = None
        self.work = self.waste = self.overhead = self.processor_time = 0.0
        self.reallocations = self.affine = 0
        self.returning = 0.0  # penalties of those with affinity

    @property
    def allocation(self) -> int:
        """Number of processors that it holds."""
        return len(self.held)

    @property
    def wants(self) -> int:
        """Number of additional processors that it could use now."""
        return max(0, min(len(self.ready) - self.starting, len(self.inactive)))

    def settle(self, now: float) -> None:
        """Count the time of its processors until now; due before their number changes."""
        self.processor_time += len(self.held) * (now - self.changed)
        self.changed = now
