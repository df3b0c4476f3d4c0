"""The workers of a Dask cluster, for the option ``--scheduler``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import dfopt
from dfopt.errors import DfoptError

PATIENCE_S = 10
"""Seconds that a scheduler and its first worker have to answer."""


@contextmanager
def cluster_at(address: str | None) -> Iterator[Executor | None]:
    """Give what lets the workers of a Dask scheduler do work; None without an address.

    Raises
    ------
    DfoptError
        When there is no such scheduler, or its workers have no dfopt of this version.
    """
    if address is None:
        yield None
        return
    place = f"scheduler {address!r}"
    try:
        from distributed import Client
    except ImportError:
        raise DfoptError(
            "needs the package distributed; type 'make venv' in a checkout, or "
            "python -m pip install 'dfopt[cluster]' in dfopt's environment",
            place=place,
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors say it all
    try:
        client = Client(address, timeout=PATIENCE_S, set_as_default=False)
        client.wait_for_workers(1, PATIENCE_S)
        versions = set(client.run(version).values())
    except Exception as error:  # whatever speaks there may answer anything
        raise DfoptError(
            f"no Dask workers with dfopt {dfopt.__version__} ({error})", place=place
        ) from error
    with client:
        if versions != {version()}:
            raise DfoptError(f"workers have dfopt {versions}; install {version()}", place=place)
        yield client.get_executor(pure=False)


def version() -> str:
    """Return the version of dfopt in the process that is asked."""
    return dfopt.__version__
