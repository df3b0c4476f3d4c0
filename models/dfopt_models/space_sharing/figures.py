"""What a job got and spent, and the account that must balance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError

if TYPE_CHECKING:
    from dfopt_models.space_sharing.job import Job

ROUNDING = 1e-9
"""Relative error that sums of a million floats may have."""


class ConservationError(RuntimeError):
    """The simulator has lost or invented time: a defect of dfopt or of a job's structure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One run of a job, or the mean of several.

    Parameters
    ----------
    response_time
        Seconds from arrival to end.
    work
        Processor-seconds that its threads ran.
    waste
        Processor-seconds that it held a processor without running anything on it: idle, or
        waiting for a reallocation to begin.
    overhead
        Processor-seconds of path length and cache penalties.
    reallocations
        Number of times that it was given a processor.
    affinity
        Share of these that returned a worker to the processor where it ran last; 1 where there
        were none.
    allocation
        Average number of processors.
    affinity_penalty
        Mean cache penalty of a reallocation with affinity, in seconds; 0 where there were none.
    """

    response_time: float
    work: float
    waste: float
    overhead: float
    reallocations: float
    affinity: float
    allocation: float
    affinity_penalty: float


def figures_of(job: Job) -> Figures:
    """Return the figures of a job that has ended.

    Raises
    ------
    ConservationError
        When the account does not balance, or other work was done than was given.
    DfoptError
        When it took no time at all.
    """
    check_conservation(job)
    assert job.end is not None
    given = job.program.work
    if abs(job.work - given) > ROUNDING * max(1.0, given):
        raise ConservationError(f"{job.name}: work {job.work!r} done, {given!r} given")
    response_time = job.end - job.arrival
    if not response_time:
        raise DfoptError(
            f"{job.name} arrives and ends at {job.end:g} s, so that it has no figures; give its "
            "application more work or less variation"
        )
    return Figures(
        response_time=response_time,
        work=job.work,
        waste=job.waste,
        overhead=job.overhead,
        reallocations=job.reallocations,
        affinity=job.affine / job.reallocations if job.reallocations else 1.0,
        allocation=job.processor_time / response_time,
        affinity_penalty=job.returning / job.affine if job.affine else 0.0,
    )


def check_conservation(job: Job) -> None:
    """Refuse a job that holds no processor now and whose account does not balance.

    allocation · time = work + waste + overhead. The left side is counted when the number of its
    processors changes, the right side thread by thread and reallocation by reallocation.

    Raises
    ------
    ConservationError
        When the two differ by more than rounding.
    """
    spent = job.work + job.waste + job.overhead
    # One side consists of differences of times, which late ones make coarse.
    if abs(job.processor_time - spent) > ROUNDING * max(1.0, spent, job.changed):
        raise ConservationError(
            f"{job.name}: {job.processor_time!r} processor-seconds held, but work {job.work!r} + "
            f"waste {job.waste!r} + overhead {job.overhead!r} = {spent!r}"
        )
