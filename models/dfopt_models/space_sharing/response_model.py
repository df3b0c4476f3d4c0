"""Figures of a simulation as a response-time model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dfopt_models.response_time import (
    LEAST_REPLICATIONS,
    POLICY_NUMBERS,
    JobParameters,
    PolicyParameters,
    ResponseModel,
)
from dfopt_models.space_sharing.mix import Mix
from dfopt_models.space_sharing.simulation import JobSummary, PolicySummary

BASELINE = "equipartition"

FIGURES = {name: name for name in POLICY_NUMBERS} | {"penalty_affinity": "affinity_penalty"}
"""What a replication says of a policy: the model's name of each figure, and the simulation's."""


def response_model(mix: Mix, summaries: Sequence[PolicySummary]) -> ResponseModel:
    """Return the model whose parameters a simulation has measured.

    The baseline is Equipartition, or the first policy where that was not simulated. A replication
    with one seed has the same threads under every policy, so that the replications of policies are
    pairs.

    Parameters
    ----------
    mix
        The simulated mix.
    summaries
        The figures of each policy.
    """
    names = [summary.policy for summary in summaries]
    entries = [entry.application for entry in mix.jobs]
    applications = {application.name: application for application in entries}
    copies: Counter[str] = Counter()
    for entry in mix.jobs:
        copies[entry.application.name] += entry.copies
    return ResponseModel(
        name=mix.name,
        baseline=BASELINE if BASELINE in names else names[0],
        reallocation_time=mix.machine.path_length,
        # Work is conserved by the machine as a whole if each job that ends is replaced.
        processors=mix.machine.processors if mix.restart else None,
        jobs=tuple(
            _job(name, application.penalties.no_affinity, summaries, copies[name])
            for name, application in applications.items()
        ),
    )


def _job(
    name: str, no_affinity: float, summaries: Sequence[PolicySummary], copies: int
) -> JobParameters:
    jobs = {summary.policy: summary.job(name) for summary in summaries}
    means: dict[str, dict[str, Any]] = {
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
    seeds = [
        seed
        for seed in next(iter(jobs.values())).by_seed
        if all(seed in job.by_seed for job in jobs.values())
    ]
    return JobParameters(
        name=name,
        penalty_affinity=mean_penalty,
        penalty_no_affinity=no_affinity,
        copies=copies,
        policies={
            policy: PolicyParameters(
                **{number: means[policy][number] for number in POLICY_NUMBERS},
                replications=_replications(job, seeds, mean_penalty),
            )
            for policy, job in jobs.items()
        },
    )


def _replications(
    job: JobSummary, seeds: Sequence[int], mean_penalty: float
) -> dict[str, tuple[float, ...]]:
    """Return the figures of replications; none if there are too few of them."""
    if len(seeds) < LEAST_REPLICATIONS:
        return {}
    return {
        figure: tuple(
            mean_penalty if (mean := job.by_seed[seed][name]) is None else mean for seed in seeds
        )
        for figure, name in FIGURES.items()
    }
