"""The same work on a Dask cluster; documents and rows travel by value."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dfopt
from dfopt.bench.attempt import Job, Outcome, failed, perform
from dfopt.bench.row import RowStatus
from dfopt.errors import DfoptError

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE_S = 10
"""Seconds that a scheduler has to answer, and to have a worker."""

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
            with connected(client, address):
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


@contextmanager
def connected(client: Client, address: str) -> Iterator[None]:
    """Raise a lost connection, which shows itself in many ways, as an error that says so."""
    try:
        yield
    except Exception as error:
        if client.status == "running":
            raise
        raise gone(address) from error


def gone(address: str) -> DfoptError:
    """Return the error that says that the scheduler is no longer there."""
    return DfoptError("has gone away; go on with --resume", place=f"scheduler {address!r}")


@contextmanager
def silent_log() -> Iterator[None]:
    """Keep the log of the connection to ourselves: what ends it is raised as an error."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def check_scheduler(address: str) -> None:
    """Refuse an address at which no Dask scheduler with workers answers.

    Raises
    ------
    DfoptError
        With what was found there instead, or when the extra ``cluster`` is not installed.
    """
    place = f"scheduler {address!r}"
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise DfoptError(
            "needs the package distributed; install it with pip install 'dfopt[cluster]'",
            place=place,
        ) from None
    # In a thread, since the caller may be at home in an event loop, as in a notebook.
    with ThreadPoolExecutor(1) as thread:
        try:
            identity = thread.submit(asyncio.run, identity_at(address)).result()
        except Exception as error:  # whatever speaks there may answer anything
            reason = str(error) or f"silence for {PATIENCE_S} s"
            raise DfoptError(
                f"no Dask scheduler answers ({reason}); start one, or mend the address",
                place=place,
            ) from error
    if identity["type"] != "Scheduler":
        kind = identity["type"].lower()
        raise DfoptError(f"is a Dask {kind}; give the address of its scheduler", place=place)
    if not identity["workers"]:
        raise DfoptError(f"has no workers; start some with dask worker {address}", place=place)


async def identity_at(address: str) -> dict[str, Any]:
    """Return what the Dask server at an address says of itself, best when it has workers."""
    from distributed import Security
    from distributed.core import rpc

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=PATIENCE_S, connection_args=arguments) as server:
        async with asyncio.timeout(PATIENCE_S):
            identity: dict[str, Any] = await server.identity()
        for _ in range(PATIENCE_S):
            if identity.get("workers", True):
                break
            await asyncio.sleep(1)
            identity = await server.identity()
        return identity


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
        raise gone(address) from None
    except Exception as error:
        raise DfoptError(
            f"a worker cannot do its work ({error}); install dfopt {dfopt.__version__} there",
            place=place,
        ) from error
    if outcome.row.dfopt_version != dfopt.__version__:
        raise DfoptError(
            f"a worker has dfopt {outcome.row.dfopt_version}; install {dfopt.__version__} there",
            place=place,
        )
    return outcome
