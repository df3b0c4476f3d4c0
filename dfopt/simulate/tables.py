"""Tables of simulations: the policies of each scenario side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from dfopt.compare.cost_model import COUNTING
from dfopt.confidence import confidence_interval
from dfopt.simulate.scenario import Scenario
from dfopt.simulate.simulation import Run
from dfopt.structs import replace
from dfopt.table import Table, Uncertain, Value, columns, facts

SCALES = ((1_000_000, "ms"), (1_000, "µs"))
"""Units for times in nanoseconds: the first one that is not longer than the simulation."""

COSTS = {"penalty.total": "penalty [{scaled}]", "penalty_per_dispatch": "each [{unit}]"}
COUNTS = {
    "migrations": "migrations",
    "far_migrations": "crossings",
    "fragment_switches": "fragment switches",
    "idle_share": "idle [%]",
    "response.mean": "response [{scaled}]",
    "end": "end [{scaled}]",
}
SERVICE = {
    "service.wakeup_latency.p50": "latency p50 [{unit}] :time",
    "service.wakeup_latency.p99": "latency p99 [{unit}] :time",
    "service.wait.mean": "wait mean [{unit}] :time",
    "service.wait.p99": "wait p99 [{unit}] :time",
    "service.fairness": "fairness",
    "service.still_waiting": "still waiting",
}
RESPONSE = {
    "service.response.p50": "response p50 [{unit}] :time",
    "service.response.p99": "response p99 [{unit}] :time",
}

LARGE, SMALL = 1000, 10
"""A figure has no decimal places from the first value on, and one from the second on."""


def run_tables(scenarios: Sequence[Scenario], runs: Sequence[Run]) -> list[Table]:
    """Return for each scenario its policies side by side, means over the replications."""
    tables: list[Table] = []
    with_costs = False
    for scenario in scenarios:
        own = [run for run in runs if run.scenario == scenario.name]
        if own:
            # Where every change of fragment costs 1, costs only count the changes.
            counts_only = scenario.penalty == COUNTING and scenario.caches is None
            with_costs |= not counts_only
            tables += _scenario_tables(scenario, own, COUNTS if counts_only else COSTS | COUNTS)
    notes = [
        *["crossings: migrations from one cache domain to another"]
        * any(run.far_migrations is not None for run in runs),
        *["penalty: of all dispatches, and of each on average"] * with_costs,
        "idle: share of the CPUs' time in which nothing ran; end: when the last thread ended",
        "response: from woken up to blocked again; its mean is of all threads",
        "latency: from woken up to running; wait: the same, and after preemptions",
        "fairness: Jain's index of running / (running + waiting) by what is due to weights",
        "tables after the first count dispatches with a fragment, or all if none has one",
    ]
    return [*tables, Table("", notes=notes)]


def _scenario_tables(
    scenario: Scenario, runs: Sequence[Run], figures: Mapping[str, str]
) -> list[Table]:
    seeds = {run.seed for run in runs}
    cpus = runs[0].cpus
    known: dict[str, Value] = {
        "workload": f"{scenario.workload.name} on {cpus:,} CPU{'s' if cpus > 1 else ''}",
        "replications": f"{len(seeds)}; ± 95 % confidence" if len(seeds) > 1 else None,
    }
    service = dict(SERVICE)
    if not any(_figure(run, "service.still_waiting") for run in runs):
        del service["service.still_waiting"]
    parts = (figures, service, RESPONSE)
    return [facts(known, scenario.name), *(_policies_table(runs, part) for part in parts)]


def _policies_table(runs: Sequence[Run], figures: Mapping[str, str]) -> Table:
    """Return one row a policy; a figure that is not known of all replications is None."""
    unit, end = runs[0].time_unit, max(run.end for run in runs)
    scales = SCALES if unit == "ns" else ()
    scale, name = next((scale for scale in scales if end >= scale[0]), (1, unit))
    shown = columns(*(each.format(unit=unit, scaled=name) for each in figures.values()))
    rows: list[list[Value]] = []
    for policy in dict.fromkeys(run.policy for run in runs):
        rows.append([policy])
        for figure, written in figures.items():
            factor = scale if "{scaled}" in written else 0.01 if "%" in written else 1
            values = [_figure(run, figure) for run in runs if run.policy == policy]
            rows[-1].append(_mean(values, factor))
    formats = (replace(each, format=each.format or _places) for each in shown)
    return Table("", (*columns("policy"), *formats), rows)


def _places(figure: float) -> str:
    if isinstance(figure, int) or figure >= LARGE:
        return ",.0f"
    return ",.1f" if figure >= SMALL else ",.2f"


def _figure(run: Run, path: str) -> float | None:
    return reduce(lambda found, name: getattr(found, name, None), path.split("."), run)  # type: ignore[arg-type, return-value]


def _mean(values: Sequence[float | None], factor: float) -> Value:
    known = [value if factor == 1 else value / factor for value in values if value is not None]
    if len(known) < len(values):
        return None
    if len(known) == 1:
        return known[0]
    interval = confidence_interval(known)
    return Uncertain(interval.mean, interval.half_width)
