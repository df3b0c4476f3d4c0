"""A response-time model from the runs of jobs under several policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dfopt_models.errors import ModelError
from dfopt_models.measure.job_runs import JobRun
from dfopt_models.measure.penalties import MeasuredPenalties
from dfopt_models.response_time import (
    MEASURED_NUMBERS,
    JobParameters,
    Measured,
    PenaltiesOfQuantum,
    PolicyParameters,
    ResponseModel,
)

PENALTIES = ("penalty_affinity", "penalty_no_affinity")


def costs_of(table: tuple[PenaltiesOfQuantum, ...]) -> dict[str, Any]:
    """Return what a reallocation costs a job: two numbers, or a table by quantum."""
    if len(table) > 1:
        return dict.fromkeys(PENALTIES) | {"penalties": table}
    (entry,) = table
    return dict(
        zip((*PENALTIES, "penalties"), (entry.affinity, entry.no_affinity, None), strict=True)
    )


def model_from_runs(
    runs: Mapping[str, Sequence[JobRun]],
    *,
    baseline: str,
    penalties: MeasuredPenalties,
    name: str,
    processors: int | None = None,
) -> ResponseModel:
    """Return the model whose parameters were measured in traces.

    Parameters
    ----------
    runs
        By policy: the runs of its jobs. Several runs of one job count with their mean, and have
        the least and the greatest of them as their range.
    baseline
        The policy that all others are compared with.
    penalties
        What a reallocation costs.
    name
        The name of the model.
    processors
        Processors of the machine, if they are known.

    Raises
    ------
    ModelError
        When there is no such baseline, or a job ran under some policies only.
    """
    if baseline not in runs:
        raise ModelError(
            f"there is no policy {baseline!r} to compare with; the traces have {', '.join(runs)}"
        )
    by_policy = {policy: _by_job(found) for policy, found in runs.items()}
    jobs = dict.fromkeys(job for found in by_policy.values() for job in found)
    for policy, found in by_policy.items():
        missing = [job for job in jobs if job not in found]
        if missing:
            raise ModelError(
                f"job {missing[0]!r} does not run under {policy!r}; label the traces alike, or "
                "leave it out of the labels"
            )
    return ResponseModel(
        name=name,
        baseline=baseline,
        reallocation_time=penalties.reallocation_time,
        jobs=tuple(
            _job(job, {policy: found[job] for policy, found in by_policy.items()}, penalties)
            for job in jobs
        ),
        sources=_source(penalties, "reallocation_time"),
        processors=processors,
    )


def _by_job(runs: Sequence[JobRun]) -> dict[str, list[JobRun]]:
    found: dict[str, list[JobRun]] = {}
    for run in runs:
        found.setdefault(run.job, []).append(run)
    return found


def _job(
    name: str, policies: Mapping[str, Sequence[JobRun]], penalties: MeasuredPenalties
) -> JobParameters:
    table = penalties.of(name)
    source = penalties.sources.get("penalties")
    keys = ("penalties",) if len(table) > 1 else PENALTIES
    return JobParameters(
        name=name,
        **costs_of(table),
        sources=dict.fromkeys(keys, source) if source else {},
        policies={policy: _policy(found) for policy, found in policies.items()},
    )


def _policy(runs: Sequence[JobRun]) -> PolicyParameters:
    def mean(value: Callable[[JobRun], float]) -> float:
        return sum(map(value, runs)) / len(runs)

    reallocations = mean(lambda run: run.reallocations)
    processor_time = mean(lambda run: run.processor_time)
    response_time = mean(lambda run: run.response_time)
    if not reallocations:
        return PolicyParameters(
            work=processor_time,
            waste=0.0,
            reallocations=0.0,
            affinity=1.0,
            allocation=processor_time / response_time,
        )
    measured = Measured(
        affinity=mean(lambda run: run.returning) / reallocations,
        reallocations=reallocations,
        interval=processor_time / reallocations,
        response_time=response_time,
    )
    return PolicyParameters(
        measured=measured,
        ranges=_ranges(runs, measured),
        sources=dict.fromkeys(MEASURED_NUMBERS, f"measured: {len(runs)} runs in traces")
        if len(runs) > 1
        else dict.fromkeys(MEASURED_NUMBERS, "measured: one run in a trace"),
    )


def _ranges(runs: Sequence[JobRun], measured: Measured) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest value of each measurement, where runs differ."""
    counting = [run for run in runs if run.reallocations]
    ranges = {}
    for name in MEASURED_NUMBERS:
        values = [getattr(run, name) for run in counting] + [getattr(measured, name)]
        if min(values) < max(values):
            ranges[name] = min(values), max(values)
    return ranges


def _source(penalties: MeasuredPenalties, name: str) -> dict[str, str]:
    return {name: penalties.sources[name]} if name in penalties.sources else {}
