"""Jobs on a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from dfopt._version import __version__
from dfopt.compare.jobs import Answer, Job
from dfopt.errors import DfoptError
from dfopt.parallel.cluster import PATIENCE_S, check_scheduler, connected, gone, silent_log

REMEDY = "compare again, on another one or without a scheduler (--scheduler)"


def performed_on_cluster(
    jobs: Sequence[Job], address: str
) -> Generator[tuple[Job, Answer], None, None]:
    """Yield jobs with their answers as the workers finish them.

    Parameters
    ----------
    jobs
        What is to be done.
    address
        Of the scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    DfoptError
        When nothing answers there, it goes away, or a worker cannot do its work.
    """
    check_scheduler(address)
    from distributed import Client, as_completed

    asked: dict[Any, Job] = {}
    with silent_log(), Client(address, timeout=PATIENCE_S, set_as_default=False) as client:
        finished = as_completed(loop=client.loop)
        with connected(client, address, REMEDY):
            for job in jobs:
                future = client.submit(Job.perform, job, pure=False)
                asked[future.key] = job
                finished.add(future)
        while asked:
            with connected(client, address, REMEDY):
                future = next(finished)
            yield asked.pop(future.key), _answer(future, address)


def _answer(future: Any, address: str) -> Answer:
    try:
        answer: Answer = future.result()
    except DfoptError:
        raise
    except (CancelledError, OSError):  # a job itself reads and writes nothing
        raise gone(address, REMEDY) from None
    except Exception as error:
        raise DfoptError(
            f"a worker cannot do its work ({error}); install dfopt {__version__} there",
            place=f"scheduler {address!r}",
        ) from error
    return answer
