"""The figures of a simulation as the document ``dfopt-simulation/1``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfopt.files.formats import Format
from dfopt.simulate.statistics import CONFIDENCE
from dfopt.table import Table, TableColumn, Uncertain, columns, facts, table_of
from dfopt_models.space_sharing.alone import Profile
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


COLUMNS = {
    "response_time": "response time [s] :,.2f",
    "work": "work :,.1f",
    "waste": "waste :,.1f",
    "overhead": "overhead :,.2f",
    "reallocations": "reallocated :,.0f",
    "allocation": "allocation :,.2f",
}
"""How the figures are shown."""


def simulation_tables(mix: Mix, summaries: Sequence[PolicySummary]) -> list[Table]:
    """Return the figures as tables, one for each application."""
    simulated = facts(
        {
            "processors": mix.machine.processors,
            "simulated [s]": round(sum(summary.duration for summary in summaries)),
            "events": sum(summary.events for summary in summaries),
        },
        mix.name,
    )
    tables = [
        Table(
            job.application,
            columns("policy", *COLUMNS.values(), "affinity :.0%"),
            [
                (
                    summary.policy,
                    *(Uncertain(figures[name].mean, figures[name].half_width) for name in COLUMNS),
                    figures["affinity"].mean,
                )
                for summary in summaries
                for figures in [summary.job(job.application).figures]
            ],
        )
        for job in summaries[0].jobs
    ]
    note = "work, waste and overhead in processor-seconds; ± 95 % confidence"
    return [simulated, *tables, Table("", notes=[note])]


def profile_tables(profiles: Sequence[Profile]) -> list[Table]:
    """Return what applications do alone: elapsed time, demand, and shares by processors."""
    levels = zip(*(one.shares for one in profiles), strict=True)
    applications = (TableColumn(one.application, format=".1%") for one in profiles)
    return [
        table_of(
            "alone",
            profiles,
            {
                "application": "application",
                "elapsed": "elapsed [s] :,.2f",
                "demand": "average demand :.2f",
            },
        ),
        Table(
            "share of the time in which this number of processors runs its threads",
            (*columns("processors"), *applications),
            [(level, *shares) for level, shares in enumerate(levels, start=1)],
        ),
    ]
