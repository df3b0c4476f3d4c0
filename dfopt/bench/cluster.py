"""The same work on a Dask cluster; documents and rows travel by value."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from dfopt._version import __version__
from dfopt.bench.attempt import Job, Outcome, failed, perform
from dfopt.bench.row import RowStatus
from dfopt.errors import DfoptError
from dfopt.parallel.cluster import PATIENCE_S, connected, gone, silent_log

if TYPE_CHECKING:
    from distributed import Future

REMEDY = "go on with --resume"

AHEAD = 2
"""Jobs on their way for each that can be at work, so that no worker waits for the next one."""


def perform_on_cluster(jobs: Iterator[Job], address: str) -> Generator[Outcome, None, None]:
    """Yield the outcomes of jobs in the order in which the workers finish them.

    Parameters
    ----------
    jobs
        The jobs. They are drawn as workers get free, so that the scheduler never holds them all.
    address
        Of the scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    DfoptError
        When the scheduler goes away, or a worker has no dfopt of this version.
    """
    from distributed import Client, as_completed

    under_way: dict[Any, Job] = {}
    with silent_log(), Client(address, timeout=PATIENCE_S, set_as_default=False) as client:
        finished = as_completed(loop=client.loop)
        while True:
            with connected(client, address, REMEDY):
                # One at least: should every worker be gone, it waits for the next to come.
                room = max(AHEAD * sum(client.nthreads().values()), 1) - len(under_way)
                for _, job in zip(range(room), jobs, strict=False):
                    future = client.submit(perform, job, pure=False)
                    under_way[future.key] = job
                    finished.add(future)
                if not under_way:
                    return
                future = next(finished)
                outcome = outcome_of(future, under_way.pop(future.key), address)
            yield outcome


def outcome_of(future: Future, job: Job, address: str) -> Outcome:
    """Return what a worker made of a job.

    Raises
    ------
    DfoptError
        When that says nothing about the job, but about the cluster.
    """
    from distributed import KilledWorker

    place = f"scheduler {address!r}"
    try:
        outcome: Outcome = future.result()
    except KilledWorker:
        reason = "the Dask workers that tried it died; was there enough memory?"
        return failed(job, RowStatus.ERROR, reason, 0)
    except CancelledError:
        raise gone(address, REMEDY) from None
    except Exception as error:
        raise DfoptError(
            f"a worker cannot do its work ({error}); install dfopt {__version__} there",
            place=place,
        ) from error
    if outcome.row.dfopt_version != __version__:
        raise DfoptError(
            f"a worker has dfopt {outcome.row.dfopt_version}; install {__version__} there",
            place=place,
        )
    return outcome
