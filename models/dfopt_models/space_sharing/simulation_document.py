"""The figures of a simulation as the document ``dfopt-simulation/1``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfopt.files.formats import Format
from dfopt.simulate.statistics import CONFIDENCE
from dfopt_models.space_sharing.mix import Mix
from dfopt_models.space_sharing.simulation import JobSummary, PolicySummary


def simulation_document(
    mix: Mix, summaries: Sequence[PolicySummary], *, seed: int
) -> dict[str, Any]:
    """Return the figures as a document ``dfopt-simulation/1``.

    Parameters
    ----------
    mix
        The simulated mix.
    summaries
        The figures, one summary for each policy.
    seed
        The seed of the first replication.
    """
    return {
        "format": Format.SIMULATION,
        "mix": mix.name,
        "seed": seed,
        "confidence": CONFIDENCE,
        "policies": [
            {
                "policy": summary.policy,
                "replications": summary.replications,
                "events": summary.events,
                "simulated_s": summary.duration,
                "jobs": [_job(job) for job in summary.jobs],
            }
            for summary in summaries
        ],
    }


def _job(job: JobSummary) -> dict[str, Any]:
    return {
        "application": job.application,
        "ended": job.ended,
        **{
            name: {"mean": interval.mean, "half_width": interval.half_width}
            for name, interval in job.figures.items()
        },
    }
