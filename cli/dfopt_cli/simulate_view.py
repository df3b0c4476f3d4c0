"""Tables of the figures of simulations: of run queues, and of space sharing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dfopt.render import printable
from dfopt_cli.tables import counted, duration, pairs, plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dfopt.simulate.run_queue.scenario import Scenario
    from dfopt.simulate.run_queue.simulation import Run
    from dfopt.simulate.statistics import Interval
    from dfopt_models.space_sharing import Mix, PolicySummary, Profile

NANOSECONDS = "ns"
SCALES = ((1_000_000, "ms"), (1_000, "µs"))
"""Units for times in nanoseconds: the first one that is not longer than the simulation."""

Figure = Callable[["Run"], float | None]
Column = tuple[Figure, Callable[[Sequence[float]], str]]
"""A figure of a run, None where it is not known, and how its replications are shown."""

LARGE, SMALL = 1000, 10
"""A figure has no decimal places from the first value on, and one from the second on."""

UNKNOWN = "–"
"""Stands where a figure is not known."""

PENALTY_NOTE = "penalty: of all dispatches, and of each on average"
CROSSINGS = "cross-\nings"
CROSSINGS_NOTE = "crossings: migrations from one cache domain to another"
RESPONSE_NOTE = "response: from woken up to blocked again; its mean is of all threads"
CPU_NOTE = "idle: share of the CPUs' time in which nothing ran; end: when the last thread ended"
SERVICE_NOTES = (
    "latency: from woken up to running; wait: the same, and after preemptions",
    "fairness: Jain's index of running / (running + waiting) by what is due to weights",
    "tables after the first count dispatches with a fragment, or all if none has one",
)


def run_queue_tables(scenarios: Sequence[Scenario], runs: Sequence[Run]) -> list[RenderableType]:
    """Return what to print: for each scenario its policies side by side."""
    tables: list[RenderableType] = []
    notes = [CPU_NOTE, RESPONSE_NOTE, *SERVICE_NOTES]
    for scenario in scenarios:
        own = [run for run in runs if run.scenario == scenario.name]
        if own:
            tables += [*scenario_tables(scenario, own), ""]
            if not counts_switches_only(scenario):
                notes = [PENALTY_NOTE, CPU_NOTE, RESPONSE_NOTE, *SERVICE_NOTES]
    if any(run.counters.far_migrations is not None for run in runs):
        notes.insert(0, CROSSINGS_NOTE)
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
    costs = cost_columns(runs, only_switches=counts_switches_only(scenario))
    return [
        pairs(rows),
        "",
        policies_table(runs, costs),
        "",
        policies_table(runs, service_columns(runs)),
        "",
        policies_table(runs, response_columns(runs)),
    ]


def counts_switches_only(scenario: Scenario) -> bool:
    """Return whether every change of fragment costs 1; then costs only count the changes."""
    from dfopt.compare.cost_model import COUNTING

    return scenario.penalty == COUNTING and scenario.caches is None


def policies_table(runs: Sequence[Run], columns: Mapping[str, Column]) -> RenderableType:
    """Return one row a policy, each figure as a mean over the replications.

    A dash stands for a figure that is not known of all of them.
    """
    table = plain_table()
    table.add_column("policy", overflow="fold")
    for heading in columns:
        table.add_column(heading, justify="right")
    for policy in dict.fromkeys(run.policy for run in runs):
        own = [run for run in runs if run.policy == policy]
        cells = []
        for figure, shown in columns.values():
            known = [value for value in map(figure, own) if value is not None]
            cells.append(shown(known) if len(known) == len(own) else UNKNOWN)
        table.add_row(printable(policy), *cells)
    return table


def cost_columns(runs: Sequence[Run], *, only_switches: bool) -> dict[str, Column]:
    """Return the figures about costs and work by heading, of two lines."""
    unit, end = runs[0].time_unit, max(run.counters.end for run in runs)
    scales = SCALES if unit == NANOSECONDS else ()
    scale, shown = next((scale for scale in scales if end >= scale[0]), (1, printable(unit)))
    costs: dict[str, Figure] = {
        f"penalty\n{shown}": lambda run: run.penalty / scale,
        f"each\n{printable(unit)}": lambda run: run.penalty_per_dispatch,
    }
    figures: dict[str, Figure] = {
        "migrations": lambda run: run.counters.migrations,
        CROSSINGS: lambda run: run.counters.far_migrations,
        "fragment\nswitches": lambda run: run.counters.fragment_switches,
        "idle\n%": lambda run: 100 * run.idle_share,
        f"response\n{shown}": lambda run: run.mean_response / scale,
        f"end\n{shown}": lambda run: run.counters.end / scale,
    }
    if runs[0].counters.far_migrations is None:
        del figures[CROSSINGS]
    chosen = figures if only_switches else costs | figures
    return {heading: (figure, replicated) for heading, figure in chosen.items()}


def time_columns(runs: Sequence[Run], figures: Sequence[tuple[str, str]]) -> dict[str, Column]:
    """Return by heading the times of threads; each is an attribute of a service, and of its waits.

    In a heading a wake-up latency is a latency.
    """
    times = partial(replicated_time, unit=runs[0].time_unit)

    def column(waits: str, name: str) -> Column:
        def of(run: Run) -> float | None:
            found = getattr(run.service, waits, None)
            return None if found is None else float(getattr(found, name))

        return of, times

    return {
        f"{waits.removeprefix('wakeup_')}\n{name}": column(waits, name) for waits, name in figures
    }


def service_columns(runs: Sequence[Run]) -> dict[str, Column]:
    """Return by heading for how long threads waited, and how evenly."""
    latency = [("wakeup_latency", "p50"), ("wakeup_latency", "p99")]
    columns = time_columns(runs, [*latency, ("wait", "mean"), ("wait", "p99")])
    columns["fairness"] = (fairness_of, replicated)
    if any(map(waiting_of, runs)):
        columns["still\nwaiting"] = (waiting_of, replicated)
    return columns


def response_columns(runs: Sequence[Run]) -> dict[str, Column]:
    """Return by heading in which time half of the responses came, and nearly all of them."""
    return time_columns(runs, [("response", "p50"), ("response", "p99")])


def waiting_of(run: Run) -> int:
    """Return the number of threads that still waited at the end."""
    return 0 if run.service is None else run.service.still_waiting


def fairness_of(run: Run) -> float | None:
    """Return Jain's index, or None."""
    return None if run.service is None else run.service.fairness


def replicated_time(values: Sequence[float], *, unit: str) -> str:
    """Return the mean of a time over the replications, with its confidence interval."""
    from dfopt.simulate.statistics import confidence_interval

    interval = confidence_interval(values)
    shown = printable(duration(interval.mean, unit))
    if interval.half_width is None:
        return shown
    return f"{shown}\n±{printable(duration(interval.half_width, unit))}"


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


def profile_table(profiles: Sequence[Profile]) -> RenderableType:
    """Return one column an application, and one row a number of processors."""
    table = plain_table()
    table.add_column("alone", overflow="fold")
    for one in profiles:
        table.add_column(printable(one.application), justify="right")
    table.add_row("elapsed, s", *(f"{one.elapsed:,.2f}" for one in profiles))
    table.add_row("average demand", *(f"{one.demand:.2f}" for one in profiles))
    for level, shares in enumerate(zip(*(one.shares for one in profiles), strict=True), start=1):
        heading = f"share at {counted(level, 'processor')}"
        table.add_row(heading, *(f"{share:.1%}" for share in shares))
    return table


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
