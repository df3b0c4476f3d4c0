"""Jobs on a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from dfopt.compare.jobs import Answer, Job
from dfopt.parallel.dask_cluster import check_scheduler
from dfopt.parallel.dask_cluster import performed_on_cluster as performed

REMEDY = "compare again, on another one or without a scheduler (--scheduler)"


def performed_on_cluster(
    jobs: Sequence[Job], address: str
) -> Generator[tuple[Job, Answer], None, None]:
    """Yield jobs with their answers as the workers finish them."""
    check_scheduler(address)
    for job, answer in performed(jobs, address, remedy=REMEDY):
        assert isinstance(job, Job)
        yield job, answer
