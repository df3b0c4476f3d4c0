"""The work of a comparison in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeVar

from dfopt.parallel.child import Work
from dfopt.parallel.dask_cluster import check_scheduler, performed_on_cluster
from dfopt.parallel.pool import performed
from dfopt.solvers.facade import available_processors

REMEDY = "compare again, on another one or without a scheduler (`scheduler`)"

AnswerT = TypeVar("AnswerT")


def performed_anywhere(
    tasks: Sequence[Work[AnswerT]],
    *,
    workers: int | None,
    scheduler: str | None,
    worth_processes: bool,
) -> Generator[tuple[Work[AnswerT], AnswerT], None, None]:
    """Yield pieces of work of a comparison with their answers as these come in.

    Parameters
    ----------
    tasks
        The work to do.
    workers
        At most this number of processes work at once; None: one for each processor.
    scheduler
        Address of a Dask scheduler; its workers then do the work instead.
    worth_processes
        Whether the work takes longer than starting processes; otherwise this process does it.

    Raises
    ------
    DfoptError
        When a piece of work raises one, a process ends without an answer, or the cluster cannot be
        used.
    """
    if scheduler is None:
        processes = workers or available_processors()
        yield from performed(tasks, processes if worth_processes else 1)
    else:
        check_scheduler(scheduler)
        yield from performed_on_cluster(tasks, scheduler, remedy=REMEDY)
