"""How the figures of run-queue simulations are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dfopt_cli.common import printable
from dfopt_cli.tables import counted, pairs, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dfopt.simulate.run_queue.figures import Run
    from dfopt.simulate.run_queue.scenario import Scenario

NANOSECONDS = "ns"
SCALES = ((1_000_000, "ms"), (1_000, "µs"))
"""Nanoseconds are too fine to be read, unless all ends within the first few."""

Figure = Callable[["Run"], float]

LARGE, SMALL = 1000, 10
"""From here on nobody wants decimal places, and below there that one is enough."""

PENALTY_NOTE = "penalty: of all dispatches, and of each on average"
RESPONSE_NOTE = "response: mean time from woken up to blocked again"


def run_queue_tables(scenarios: Sequence[Scenario], runs: Sequence[Run]) -> list[RenderableType]:
    """Return what to print: for each scenario its policies side by side."""
    tables: list[RenderableType] = []
    notes = [RESPONSE_NOTE]
    for scenario in scenarios:
        own = [run for run in runs if run.scenario == scenario.name]
        if own:
            tables += [*_scenario_tables(scenario, own), ""]
            if not _counts_switches(scenario):
                notes = [PENALTY_NOTE, RESPONSE_NOTE]
    return [*tables, *notes]


def _scenario_tables(scenario: Scenario, runs: Sequence[Run]) -> list[RenderableType]:
    seeds = dict.fromkeys(run.seed for run in runs)
    rows = {
        "scenario": printable(scenario.name),
        "workload": f"{scenario.workload.name} on {counted(runs[0].cpus, 'CPU')}",
    }
    if len(seeds) > 1:
        rows["replications"] = f"{len(seeds)}; ± 95 % confidence"
    return [pairs(rows), "", _table(runs, counts_switches=_counts_switches(scenario))]


def _counts_switches(scenario: Scenario) -> bool:
    """Whether every change of fragment costs 1, which says no more than how many there are."""
    from dfopt.compare.model import COUNTING

    return scenario.penalty == COUNTING and scenario.caches is None


def _table(runs: Sequence[Run], *, counts_switches: bool) -> RenderableType:
    table = plain_table()
    table.add_column("policy", overflow="fold")
    end = max(run.counters.end for run in runs)
    columns = _columns(runs[0].time_unit, end, counts_switches=counts_switches)
    for heading in columns:
        table.add_column(heading, justify="right")
    for policy in dict.fromkeys(run.policy for run in runs):
        own = [run for run in runs if run.policy == policy]
        table.add_row(
            printable(policy),
            *(_shown([figure(run) for run in own]) for figure in columns.values()),
        )
    return table


def _columns(unit: str, end: int, *, counts_switches: bool) -> dict[str, Figure]:
    """Return the figures by heading, of two lines, for simulations that end by then."""
    scales = SCALES if unit == NANOSECONDS else ()
    scale, shown = next((one for one in scales if end >= one[0]), (1, printable(unit)))
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
    return figures if counts_switches else costs | figures


def _shown(values: Sequence[float]) -> str:
    from dfopt.simulate.statistics import confidence_interval

    interval = confidence_interval(values)
    whole = all(isinstance(value, int) for value in values) and len(values) == 1
    places = 0 if whole or interval.mean >= LARGE else 1 if interval.mean >= SMALL else 2
    shown = f"{interval.mean:,.{places}f}"
    if interval.half_width is None:
        return shown
    return f"{shown}\n±{interval.half_width:,.{places}f}"
