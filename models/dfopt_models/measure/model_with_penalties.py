"""Response-time models with other penalties: those of a file, or of a measured machine."""

from __future__ import annotations

from typing import Any

from dfopt.errors import FileError
from dfopt.structs import replace
from dfopt_models.measure.machine_document import MachineCosts
from dfopt_models.measure.penalties import ANY_JOB, MeasuredPenalties
from dfopt_models.response_time import JobParameters, PenaltiesOfQuantum, ResponseModel

PICOSECOND = 1e-12
"""In seconds."""

PENALTIES = ("penalty_affinity", "penalty_no_affinity")


def with_penalties(model: ResponseModel, penalties: MeasuredPenalties) -> ResponseModel:
    """Return a model whose reallocations cost what was measured.

    What policies did to jobs stays. Where this follows from measured response times, work is
    derived anew, so that the response times stay.

    Parameters
    ----------
    model
        The model.
    penalties
        They have a table for each job, or one for all.

    Raises
    ------
    ModelError
        When a job has no table, or reallocations would take all of its time.
    """
    name = "reallocation_time"
    sources, ranges = dict(model.sources), dict(model.ranges)
    if penalties.reallocation_time != model.reallocation_time or name in penalties.sources:
        sources.pop(name, None)
        ranges.pop(name, None)
    return replace(
        model,
        reallocation_time=penalties.reallocation_time,
        jobs=tuple(_job(job, penalties) for job in model.jobs),
        ranges=ranges,
        sources=sources | ({name: penalties.sources[name]} if name in penalties.sources else {}),
    )


def penalties_of_machine(costs: MachineCosts, *, reallocation_time: float) -> MeasuredPenalties:
    """Return the penalties that follow from a machine's costs, for all jobs.

    Without affinity the whole cache is read anew and written back. That affinity costs nothing is
    an assumption, and so is the size of the jobs' data.

    Parameters
    ----------
    costs
        What the machine costs.
    reallocation_time
        Seconds.
    """
    seconds = (costs.read_line * costs.lines + costs.write_back) * PICOSECOND
    return MeasuredPenalties(
        reallocation_time=reallocation_time,
        jobs={
            ANY_JOB: (PenaltiesOfQuantum(quantum=1.0, affinity=0.0, no_affinity=seconds),),
        },
        sources={
            "penalties": "assumed: without affinity a job reads the whole cache anew, whose lines "
            "were measured; with affinity it loses nothing"
        },
    )


def time_to_fill(penalties: MeasuredPenalties, job: str | None) -> int:
    """Return the nanoseconds that a task pays which finds none of its data: path length and P^NA.

    Parameters
    ----------
    penalties
        The penalties; of a job's table the last entry counts, after the longest quantum.
    job
        Whose; it may be left out where the file has one job alone.

    Raises
    ------
    FileError, ModelError
        When there is no such job, or none is named and there are several.
    """
    if job is None:
        if len(penalties.jobs) > 1:
            raise FileError(
                f"has the jobs {', '.join(penalties.jobs)}; say which: JOB=FILE", place="job"
            )
        (job,) = penalties.jobs
    last = penalties.of(job)[-1]
    return round((penalties.reallocation_time + last.no_affinity) * 1e9)


def _costs_of(table: tuple[PenaltiesOfQuantum, ...]) -> dict[str, Any]:
    """Return what a reallocation costs a job: two numbers, or a table by quantum."""
    if len(table) > 1:
        return dict.fromkeys(PENALTIES) | {"penalties": table}
    (entry,) = table
    return dict(
        zip((*PENALTIES, "penalties"), (entry.affinity, entry.no_affinity, None), strict=True)
    )


def _job(job: JobParameters, penalties: MeasuredPenalties) -> JobParameters:
    table = penalties.of(job.name)
    replaced = {"penalties", *PENALTIES}
    sources = {key: source for key, source in job.sources.items() if key not in replaced}
    if "penalties" in penalties.sources:
        keys = ("penalties",) if len(table) > 1 else PENALTIES
        sources |= dict.fromkeys(keys, penalties.sources["penalties"])
    return replace(
        job,
        **_costs_of(table),
        ranges={key: limits for key, limits in job.ranges.items() if key not in replaced},
        sources=sources,
        policies={
            name: replace(
                policy,
                replications={
                    key: values
                    for key, values in policy.replications.items()
                    if key not in PENALTIES
                },
            )
            for name, policy in job.policies.items()
        },
    )
