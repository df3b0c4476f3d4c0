"""The contract of space-sharing policies: a handful of callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from dfopt_models.space_sharing.parameters import Choice, PolicyParameters

if TYPE_CHECKING:
    from dfopt_models.space_sharing.engine import Engine
    from dfopt_models.space_sharing.job import Job, Worker


class Policy:
    """Decides which job gets which processor; by itself it decides nothing.

    Every callback may look at everything the engine has, give processors with
    :meth:`~Engine.give`, take them with :meth:`~Engine.take`, and ask to be called later with
    :meth:`~Engine.call_after`. What a job has no work for, it keeps until it is taken away.

    Parameters
    ----------
    parameters
        The mix's numbers and tie-breaks.
    """

    name: ClassVar[str]
    """What it is called on the command line and in files."""

    def __init__(self, parameters: PolicyParameters) -> None:
        self.parameters = parameters

    @property
    def yield_delay(self) -> float:
        """Seconds that a processor is idle before :meth:`yields` is called."""
        return 0.0

    def arrived(self, engine: Engine, job: Job) -> None:
        """Act on the arrival of a job; others that arrive at the same time are there already."""

    def ended(self, engine: Engine, job: Job) -> None:
        """Act on the end of a job, whose processors are now unallocated.

        A job that takes its place is there already, and arrives next.
        """

    def wants(self, engine: Engine, job: Job) -> None:
        """Act on the request of a job that could use more processors."""

    def yields(self, engine: Engine, job: Job, processor: int) -> None:
        """Act on an idle processor, which its job is willing to yield."""

    def worker(self, engine: Engine, job: Job, processor: int) -> Worker:
        """Return the inactive worker that a job activates on a processor it is given."""
        return chosen(engine, list(job.inactive), self.parameters.worker)


def chosen(engine: Engine, workers: list[Worker], choice: Choice) -> Worker:
    """Return one of several inactive workers, given in the order in which they stopped."""
    match choice:
        case Choice.LATEST:
            # Those that never ran have not stopped; the first of them is as good as any.
            ran = (worker for worker in reversed(workers) if worker.last_processor is not None)
            return next(ran, workers[0])
        case Choice.EARLIEST:
            return workers[0]
        case Choice.LOWEST:
            return min(workers, key=lambda worker: worker.number)
        case Choice.RANDOM:
            return engine.random.choice(workers)
