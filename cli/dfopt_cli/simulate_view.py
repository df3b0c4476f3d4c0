"""Tables of the figures of simulations: of run queues, and of space sharing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dfopt_cli.printing import printable
from dfopt_cli.tables import counted, pairs, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dfopt.simulate.run_queue.scenario import Scenario
    from dfopt.simulate.run_queue.simulation import Run
    from dfopt.simulate.statistics import Interval
    from dfopt_models.space_sharing import Mix, PolicySummary

NANOSECONDS = "ns"
SCALES = ((1_000_000, "ms"), (1_000, "µs"))
"""Units for times in nanoseconds: the first one that is not longer than the simulation."""

Figure = Callable[["Run"], float]

LARGE, SMALL = 1000, 10
"""A figure has no decimal places from the first value on, and one from the second on."""

PENALTY_NOTE = "penalty: of all dispatches, and of each on average"
RESPONSE_NOTE = "response: mean time from woken up to blocked again"


def run_queue_tables(scenarios: Sequence[Scenario], runs: Sequence[Run]) -> list[RenderableType]:
    """Return what to print: for each scenario its policies side by side."""
    tables: list[RenderableType] = []
    notes = [RESPONSE_NOTE]
    for scenario in scenarios:
        own = [run for run in runs if run.scenario == scenario.name]
        if own:
            tables += [*scenario_tables(scenario, own), ""]
            if not counts_switches_only(scenario):
                notes = [PENALTY_NOTE, RESPONSE_NOTE]
    return [*tables, *notes]


def scenario_tables(scenario: Scenario, runs: Sequence[Run]) -> list[RenderableType]:
    """Return what was simulated, and one row a policy."""
    seeds = dict.fromkeys(run.seed for run in runs)
    rows = {
        "scenario": printable(scenario.name),
        "workload": f"{scenario.workload.name} on {counted(runs[0].cpus, 'CPU')}",
    }
    if len(seeds) > 1:
        rows["replications"] = f"{len(seeds)}; ± 95 % confidence"
    return [pairs(rows), "", policies_table(runs, only_switches=counts_switches_only(scenario))]


def counts_switches_only(scenario: Scenario) -> bool:
    """Return whether every change of fragment costs 1; then costs only count the changes."""
    from dfopt.compare.cost_model import COUNTING

    return scenario.penalty == COUNTING and scenario.caches is None


def policies_table(runs: Sequence[Run], *, only_switches: bool) -> RenderableType:
    """Return one row a policy, each figure as a mean over the replications."""
    table = plain_table()
    table.add_column("policy", overflow="fold")
    end = max(run.counters.end for run in runs)
    columns = columns_of(runs[0].time_unit, end, only_switches=only_switches)
    for heading in columns:
        table.add_column(heading, justify="right")
    for policy in dict.fromkeys(run.policy for run in runs):
        own = [run for run in runs if run.policy == policy]
        table.add_row(
            printable(policy),
            *(replicated([figure(run) for run in own]) for figure in columns.values()),
        )
    return table


def columns_of(unit: str, end: int, *, only_switches: bool) -> dict[str, Figure]:
    """Return the figures by heading, of two lines, for simulations that end by then."""
    scales = SCALES if unit == NANOSECONDS else ()
    scale, shown = next((scale for scale in scales if end >= scale[0]), (1, printable(unit)))
    costs: dict[str, Figure] = {
        f"penalty\n{shown}": lambda run: run.penalty / scale,
        f"each\n{printable(unit)}": lambda run: run.penalty_per_dispatch,
    }
    figures: dict[str, Figure] = {
        "migrations": lambda run: run.counters.migrations,
        "fragment\nswitches": lambda run: run.counters.fragment_switches,
        "idle\n%": lambda run: 100 * run.idle_share,
        f"response\n{shown}": lambda run: run.mean_response / scale,
        f"end\n{shown}": lambda run: run.counters.end / scale,
    }
    return figures if only_switches else costs | figures


def replicated(values: Sequence[float]) -> str:
    """Return the mean of a figure over the replications, with its confidence interval."""
    from dfopt.simulate.statistics import confidence_interval

    interval = confidence_interval(values)
    is_count = len(values) == 1 and isinstance(values[0], int)
    places = 0 if is_count or interval.mean >= LARGE else 1 if interval.mean >= SMALL else 2
    return with_half_width(interval, places)


def with_half_width(interval: Interval, places: int) -> str:
    """Return a mean, and on a second line half the width of its interval if that is known."""
    shown = f"{interval.mean:,.{places}f}"
    if interval.half_width is None:
        return shown
    return f"{shown}\n±{interval.half_width:,.{places}f}"


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
    events = sum(summary.events for summary in summaries)
    seconds = sum(summary.duration for summary in summaries)
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
        tables += ["", application_table(job.application, summaries)]
    tables += ["", "work, waste and overhead in processor-seconds; ± 95 % confidence"]
    return tables


def application_table(application: str, summaries: Sequence[PolicySummary]) -> RenderableType:
    """Return one row a policy for the jobs of one application."""
    table = plain_table()
    table.add_column(printable(application), overflow="fold")
    for heading, _ in COLUMNS.values():
        table.add_column(heading, justify="right")
    table.add_column("affinity", justify="right")
    for summary in summaries:
        figures = summary.job(application).figures
        table.add_row(
            printable(summary.policy),
            *(with_half_width(figures[name], places) for name, (_, places) in COLUMNS.items()),
            f"{figures['affinity'].mean:.0%}",
        )
    return table
