"""How the figures of a simulation are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt_cli.common import printable
from dfopt_cli.tables import counted, pairs, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dfopt.simulate.statistics import Interval
    from dfopt_models.space_sharing import JobSummary, Mix, PolicySummary

FORMAT = "dfopt-simulation/1"

COLUMNS = {
    "response_time": ("response\ntime, s", 2),
    "work": ("work", 1),
    "waste": ("waste", 1),
    "overhead": ("overhead", 2),
    "reallocations": ("reallo-\ncations", 0),
    "allocation": ("allo-\ncation", 2),
}
"""By figure: its heading and how many decimal places it has."""


def simulation_tables(mix: Mix, summaries: Sequence[PolicySummary]) -> list[RenderableType]:
    """Return what to print: the mix, and a table for each application."""
    events = sum(one.events for one in summaries)
    seconds = sum(one.duration for one in summaries)
    tables: list[RenderableType] = [
        pairs(
            {
                "mix": printable(mix.name),
                "machine": counted(mix.machine.processors, "processor"),
                "simulated": f"{seconds:,.0f} s, {counted(events, 'event')}",
            }
        )
    ]
    for job in summaries[0].jobs:
        tables += ["", _table(job.application, summaries)]
    tables += ["", "work, waste and overhead in processor-seconds; ± 95 % confidence"]
    return tables


def _table(application: str, summaries: Sequence[PolicySummary]) -> RenderableType:
    table = plain_table()
    table.add_column(printable(application), overflow="fold")
    for heading, _ in COLUMNS.values():
        table.add_column(heading, justify="right")
    table.add_column("affinity", justify="right")
    for summary in summaries:
        figures = summary.job(application).figures
        table.add_row(
            printable(summary.policy),
            *(_shown(figures[name], places) for name, (_, places) in COLUMNS.items()),
            f"{figures['affinity'].mean:.0%}",
        )
    return table


def _shown(interval: Interval, places: int) -> str:
    shown = f"{interval.mean:,.{places}f}"
    if interval.half_width is None:
        return shown
    return f"{shown}\n±{interval.half_width:,.{places}f}"


def simulation_document(
    mix: Mix, summaries: Sequence[PolicySummary], *, seed: int
) -> dict[str, Any]:
    """Return the figures as a document ``dfopt-simulation/1``."""
    from dfopt.simulate.statistics import CONFIDENCE

    return {
        "format": FORMAT,
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
