"""Work on a Dask cluster that others run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from dfopt._version import __version__
from dfopt.errors import DfoptError
from dfopt.parallel.child import Work

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE_S = 10
"""Seconds that a scheduler has to answer."""

QUESTIONS = 10
"""A scheduler without a worker is asked at most this often whether it has one, once a second."""

AHEAD = 2
"""Pieces of work under way for each thread of the cluster, so that no worker waits for the next."""

AnswerT = TypeVar("AnswerT")


def performed_on_cluster(
    tasks: Iterable[Work[AnswerT]],
    address: str,
    *,
    remedy: str,
    when_workers_died: Callable[[Work[AnswerT], str], AnswerT] | None = None,
) -> Generator[tuple[Work[AnswerT], AnswerT], None, None]:
    """Yield pieces of work with their answers as the workers finish them.

    Parameters
    ----------
    tasks
        The work to do. It is drawn as workers get free, so that the scheduler never holds all of
        it.
    address
        Of the scheduler, such as ``tcp://host:8786``.
    remedy
        What the user can do when the scheduler goes away.
    when_workers_died
        Returns the answer for a piece of work, and a reason, when the workers that tried it
        died; by default that ends all.

    Raises
    ------
    DfoptError
        When the scheduler goes away, a worker has no dfopt of this version, or a piece of work
        raises one.
    """
    from distributed import Client, as_completed

    waiting = iter(tasks)
    under_way: dict[Any, Work[AnswerT]] = {}
    with _silent_log(), Client(address, timeout=PATIENCE_S, set_as_default=False) as client:
        finished = as_completed(loop=client.loop)
        while True:
            with _connected(client, address, remedy):
                # At least one: if every worker has gone, it waits for the next one to come.
                room = max(AHEAD * sum(client.nthreads().values()), 1) - len(under_way)
                for _, task in zip(range(room), waiting, strict=False):
                    future = client.submit(_performed, task, pure=False)
                    under_way[future.key] = task
                    finished.add(future)
                if not under_way:
                    return
                future = next(finished)
                task = under_way.pop(future.key)
                answer = answer_of(future, task, address, remedy, when_workers_died)
            yield task, answer


def _performed(task: Work[AnswerT]) -> tuple[str, AnswerT]:
    """Return the version of a worker and its answer."""
    return __version__, task.perform()


def answer_of(
    future: Future,
    task: Work[AnswerT],
    address: str,
    remedy: str,
    when_workers_died: Callable[[Work[AnswerT], str], AnswerT] | None = None,
) -> AnswerT:
    """Return what a worker answered.

    Raises
    ------
    DfoptError
        When a piece of work raises one, or something is wrong with the cluster.
    """
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    place = f"scheduler {address!r}"
    try:
        version, answer = future.result()
    except DfoptError:
        raise
    except (CancelledError, CommClosedError):
        raise _gone(address, remedy) from None
    except KilledWorker:
        reason = "the Dask workers that tried it died; was there enough memory?"
        if when_workers_died is None:
            raise DfoptError(reason, place=place) from None
        return when_workers_died(task, reason)
    except Exception as error:
        raise DfoptError(
            f"a worker cannot do its work ({error}); install dfopt {__version__} there",
            place=place,
        ) from error
    if version != __version__:
        raise DfoptError(f"a worker has dfopt {version}; install {__version__} there", place=place)
    return answer  # type: ignore[no-any-return]


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
            "needs the package distributed; type 'make venv' in a checkout, or "
            "python -m pip install 'dfopt[cluster]' in dfopt's environment",
            place=place,
        ) from None
    # In a thread, because the caller may run in an event loop, as in a notebook.
    with ThreadPoolExecutor(1) as thread:
        try:
            identity = thread.submit(asyncio.run, _identity_at(address)).result()
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


async def _identity_at(address: str) -> dict[str, Any]:
    """Return what the Dask server at an address says of itself, once it has workers if it can."""
    from distributed import Security
    from distributed.core import rpc

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=PATIENCE_S, connection_args=arguments) as server:
        async with asyncio.timeout(PATIENCE_S):
            identity: dict[str, Any] = await server.identity()
        for _ in range(QUESTIONS):
            if identity.get("workers", True):
                break
            await asyncio.sleep(1)
            identity = await server.identity()
        return identity


@contextmanager
def _connected(client: Client, address: str, remedy: str) -> Iterator[None]:
    """Raise one error for a lost connection, which causes many different ones."""
    try:
        yield
    except Exception as error:
        # The client may not have noticed yet that its connection is closed (an OSError).
        if client.status == "running" and not isinstance(error, OSError):
            raise
        raise _gone(address, remedy) from error


def _gone(address: str, remedy: str) -> DfoptError:
    """Return the error that says that the scheduler is no longer there."""
    return DfoptError(f"has gone away; {remedy}", place=f"scheduler {address!r}")


@contextmanager
def _silent_log() -> Iterator[None]:
    """Silence the log of the connection: what ends it is raised as an error."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
