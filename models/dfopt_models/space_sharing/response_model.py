"""Figures of a simulation as a response-time model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dfopt_models.response_time import JobParameters, PolicyParameters, ResponseModel
from dfopt_models.space_sharing.mix import Mix
from dfopt_models.space_sharing.simulation import JobSummary, PolicySummary

BASELINE = "equipartition"
FIGURES = ("work", "waste", "reallocations", "affinity", "allocation")

ROUNDING = 1e-9
"""A range counts as one value if its width, relative to this value, is less."""


def response_model(mix: Mix, summaries: Sequence[PolicySummary]) -> ResponseModel:
    """Return the model whose parameters a simulation has measured.

    The baseline is Equipartition, or the first policy where that was not simulated.

    Parameters
    ----------
    mix
        The simulated mix.
    summaries
        The figures of each policy.
    """
    names = [summary.policy for summary in summaries]
    applications = {entry.application.name: entry.application for entry in mix.jobs}
    return ResponseModel(
        name=mix.name,
        baseline=BASELINE if BASELINE in names else names[0],
        reallocation_time=mix.machine.path_length,
        jobs=tuple(
            _job(name, application.penalties.no_affinity, summaries)
            for name, application in applications.items()
        ),
    )


def _job(name: str, no_affinity: float, summaries: Sequence[PolicySummary]) -> JobParameters:
    jobs = {summary.policy: summary.job(name) for summary in summaries}
    means = {
        policy: {figure: interval.mean for figure, interval in job.figures.items()}
        for policy, job in jobs.items()
    }
    # The cost of a reallocation with affinity depends on the job that ran there in between, and
    # so a little on the policy; the model has one number for all.
    returning = {
        policy: (mean["affinity_penalty"], mean["affinity"] * mean["reallocations"])
        for policy, mean in means.items()
        if mean["affinity_penalty"] > 0
    }
    weight = sum(count for _, count in returning.values())
    total = sum(penalty * count for penalty, count in returning.values())
    mean_penalty = total / weight if weight else 0.0
    seen = [penalty for penalty, _ in returning.values()] or [0.0]
    return JobParameters(
        name=name,
        penalty_affinity=mean_penalty,
        penalty_no_affinity=no_affinity,
        ranges=_real({"penalty_affinity": (min(*seen, mean_penalty), max(*seen, mean_penalty))}),
        policies={policy: _parameters(job) for policy, job in jobs.items()},
    )


def _parameters(job: JobSummary) -> PolicyParameters:
    mean = {figure: interval.mean for figure, interval in job.figures.items()}
    ranges = {}
    for figure in FIGURES:
        width = job.figures[figure].half_width or 0.0
        most = 1.0 if figure == "affinity" else math.inf
        ranges[figure] = (max(0.0, mean[figure] - width), min(mean[figure] + width, most))
    return PolicyParameters(
        work=mean["work"],
        waste=mean["waste"],
        reallocations=mean["reallocations"],
        affinity=mean["affinity"],
        allocation=mean["allocation"],
        ranges=_real(ranges),
    )


def _real(ranges: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the ranges that are wider than rounding."""
    return {
        name: (least, most)
        for name, (least, most) in ranges.items()
        if most - least > ROUNDING * most
    }
