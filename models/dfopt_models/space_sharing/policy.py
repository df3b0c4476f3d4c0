"""The contract of allocation policies: what they see, what they may do, when they are called."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import ClassVar, Protocol

from dfopt_models.space_sharing.job import ParallelJob, Worker
from dfopt_models.space_sharing.mix import AllocationParameters, Multiprocessor, TieBreak


class EngineView(Protocol):
    """The simulation as an allocation policy sees it, with the actions that it may take.

    Attributes
    ----------
    machine
        The machine of the mix.
    now
        Seconds since the beginning.
    jobs
        The jobs that have arrived and have not ended, in the order of their arrival.
    free
        Unallocated processors, in the order in which they became so.
    last
        By processor: the worker that left it last (its history, T = 1).
    random
        For random choices: the same seed gives the same run.
    """

    machine: Multiprocessor
    now: float
    jobs: dict[ParallelJob, None]
    free: dict[int, None]
    last: list[Worker | None]
    random: random.Random

    def owner(self, processor: int) -> ParallelJob | None:
        """Return the job that holds a processor, or None."""

    def give(self, processor: int, job: ParallelJob, worker: Worker | None = None) -> None:
        """Give a processor to a job: a reallocation.

        A job that holds the processor loses it. A thread that runs there waits for another
        processor of its job.

        Parameters
        ----------
        processor
            Free, or another job's.
        job
            A job with an inactive worker.
        worker
            One of its inactive workers; if None, the policy's :meth:`~AllocationPolicy.worker`
            chooses.

        Raises
        ------
        DfoptError
            When there is no such processor; the job has ended, holds the processor already, or
            has no inactive worker; or the worker is none of these.
        """

    def take(self, processor: int) -> None:
        """Take a processor from its job, so that it is unallocated.

        Raises
        ------
        DfoptError
            When there is no such processor, or no job holds it.
        """

    def call_after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call a function some seconds from now.

        Raises
        ------
        DfoptError
            When the seconds are negative.
        """


class AllocationPolicy:
    """Decides which job gets which processor; this base class gives no job any.

    Every callback may look at the engine, give processors with :meth:`~EngineView.give`, take
    them with :meth:`~EngineView.take`, and ask to be called later with
    :meth:`~EngineView.call_after`. A job keeps an idle processor until the policy takes it
    away.

    Parameters
    ----------
    parameters
        The mix's numbers and tie-breaks.
    """

    name: ClassVar[str]
    """The policy's name on the command line and in files."""

    def __init__(self, parameters: AllocationParameters) -> None:
        self.parameters = parameters

    @property
    def yield_delay(self) -> float:
        """Seconds that a processor is idle before :meth:`yields` is called."""
        return 0.0

    def arrived(self, engine: EngineView, job: ParallelJob) -> None:
        """Act on the arrival of a job; others that arrive at the same time are there already."""

    def ended(self, engine: EngineView, job: ParallelJob) -> None:
        """Act on the end of a job, whose processors are now unallocated.

        A job that takes its place is there already, and arrives next.
        """

    def wants(self, engine: EngineView, job: ParallelJob) -> None:
        """Act on the request of a job that could use more processors."""

    def yields(self, engine: EngineView, job: ParallelJob, processor: int) -> None:
        """Act on an idle processor, which its job is willing to yield."""

    def worker(self, engine: EngineView, job: ParallelJob, processor: int) -> Worker:
        """Return the inactive worker that a job activates on a processor it is given."""
        return chosen_worker(engine, list(job.inactive), self.parameters.worker)


def chosen_worker(engine: EngineView, workers: list[Worker], tie_break: TieBreak) -> Worker:
    """Return one of several inactive workers, given in the order in which they stopped."""
    match tie_break:
        case TieBreak.LATEST:
            # Workers that never ran have not stopped; the first of them is as good as any.
            ran = (worker for worker in reversed(workers) if worker.last_processor is not None)
            return next(ran, workers[0])
        case TieBreak.EARLIEST:
            return workers[0]
        case TieBreak.LOWEST:
            return min(workers, key=lambda worker: worker.number)
        case TieBreak.RANDOM:
            return engine.random.choice(workers)
