"""A Dask cluster that others run: whether it answers, and what it looks like when it is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE_S = 10
"""Seconds that a scheduler has to answer."""

QUESTIONS = 10
"""So often, a second apart, a scheduler without a worker is asked again whether it has one."""


@contextmanager
def connected(client: Client, address: str, remedy: str) -> Iterator[None]:
    """Raise a lost connection, which shows itself in many ways, as an error that says so."""
    try:
        yield
    except Exception as error:
        if client.status == "running":
            raise
        raise gone(address, remedy) from error


def gone(address: str, remedy: str) -> DfoptError:
    """Return the error that says that the scheduler is no longer there."""
    return DfoptError(f"has gone away; {remedy}", place=f"scheduler {address!r}")


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
        for _ in range(QUESTIONS):
            if identity.get("workers", True):
                break
            await asyncio.sleep(1)
            identity = await server.identity()
        return identity
