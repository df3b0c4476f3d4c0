"""How the figures of run-queue simulations are printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dfopt_cli.common import printable
from dfopt_cli.tables import counted, pairs, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dfopt.simulate.run_queue.figures import Run
    from dfopt.simulate.run_queue.scenario import Scenario

NANOSECONDS = "ns"
MILLISECOND = 1_000_000

Figure = Callable[["Run"], float]

COUNTS: dict[str, Figure] = {
    "migrations": lambda run: run.counters.migrations,
    "fragment switches": lambda run: run.counters.fragment_switches,
}

TIMES: dict[str, tuple[Figure, int]] = {
    "response": (lambda run: run.mean_response, 3),
    "end": (lambda run: run.counters.end, 1),
}
"""By heading: the figure, and how many decimal places it has in milliseconds."""

NOTE = (
    "penalty of all dispatches, and of each on average; response: mean time from woken up to "
    "blocked again"
)


def run_queue_tables(scenarios: Sequence[Scenario], runs: Sequence[Run]) -> list[RenderableType]:
    """Return what to print: for each scenario its policies side by side."""
    tables: list[RenderableType] = []
    for scenario in scenarios:
        own = [run for run in runs if run.scenario == scenario.name]
        if own:
            tables += [*_scenario_tables(scenario, own), ""]
    return [*tables, NOTE]


def _scenario_tables(scenario: Scenario, runs: Sequence[Run]) -> list[RenderableType]:
    seeds = dict.fromkeys(run.seed for run in runs)
    rows = {
        "scenario": printable(scenario.name),
        "workload": f"{scenario.workload.name} on {counted(runs[0].cpus, 'CPU')}",
    }
    if len(seeds) > 1:
        rows["replications"] = f"{len(seeds)}; ± 95 % confidence"
    return [pairs(rows), "", _table(runs)]


def _table(runs: Sequence[Run]) -> RenderableType:
    table = plain_table()
    table.add_column("policy", no_wrap=True)
    columns = _columns(runs[0].time_unit)
    for heading in columns:
        table.add_column(heading, justify="right")
    for policy in dict.fromkeys(run.policy for run in runs):
        own = [run for run in runs if run.policy == policy]
        table.add_row(
            printable(policy),
            *(_shown([figure(run) for run in own], places) for figure, places in columns.values()),
        )
    return table


def _columns(unit: str) -> dict[str, tuple[Figure, int]]:
    """Return by heading the figure and how many decimal places it has."""
    return {
        **_times({"penalty": (lambda run: run.penalty, 2)}, unit),
        f"each, {unit}": (lambda run: run.penalty_per_dispatch, 1),
        **{heading: (figure, 0) for heading, figure in COUNTS.items()},
        "idle, %": (lambda run: 100 * run.idle_share, 1),
        **_times(TIMES, unit),
    }


def _times(figures: Mapping[str, tuple[Figure, int]], unit: str) -> dict[str, tuple[Figure, int]]:
    """Return times by heading; where nanoseconds are too fine to be read, in milliseconds."""
    if unit != NANOSECONDS:
        return {f"{heading}, {unit}": (figure, 1) for heading, (figure, _) in figures.items()}
    return {
        f"{heading}, ms": (_in_milliseconds(figure), places)
        for heading, (figure, places) in figures.items()
    }


def _in_milliseconds(figure: Figure) -> Figure:
    return lambda run: figure(run) / MILLISECOND


def _shown(values: Sequence[float], places: int) -> str:
    from dfopt.simulate.statistics import confidence_interval

    interval = confidence_interval(values)
    shown = f"{interval.mean:,.{places}f}"
    if interval.half_width is None:
        return shown
    return f"{shown} ±{interval.half_width:,.{places}f}"
