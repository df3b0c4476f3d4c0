"""The view of what was paid: by cause, by fragment and by CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import Cause, CpuResult, FragmentResult
from dfopt.table import Table, Value, columns
from dfopt.trace.fragment_titles import title
from dfopt_cli.tables import counted, share

SHORT = {
    Cause.FIRST_LOAD: "first load",
    Cause.REVISITED: "revisited",
    Cause.SPLIT: "split",
    Cause.MIGRATION: "migration",
    Cause.UNMANAGED: "unmanaged",
    Cause.WRITE_BACK: "write-back",
    Cause.SAME_TYPE: "same type",
}
"""Short names of the causes, for narrow columns."""

COSTS = ("switches", "cost", "share :.1%", "mainly")
"""What stands in columns about fragments and about CPUs; see :func:`cost_cells`."""

MOST_FRAGMENTS = 10
MOST_CPUS = 16


def causes_table(comparison: Comparison) -> Table:
    """Return the cost of each cause."""
    rows = [
        (str(cause), cost, cost / comparison.realised.total)
        for cause, cost in (*by_size(comparison.causes), written_back(comparison.causes))
        if cost
    ]
    return Table("", columns("lost to", "cost", "share :.1%"), rows)


def by_size(causes: Mapping[Cause, int]) -> list[tuple[Cause, int]]:
    """Return what happened with what was paid for it, the largest first; write-backs are apart.

    A write-back follows from any change of fragment, so it says nothing about what happened.
    """
    happened = [item for item in causes.items() if item[0] is not Cause.WRITE_BACK]
    return sorted(happened, key=lambda item: -item[1])


def written_back(causes: Mapping[Cause, int]) -> tuple[Cause, int]:
    """Return what was paid for write-backs."""
    return Cause.WRITE_BACK, causes.get(Cause.WRITE_BACK, 0)


def fragments_table(comparison: Comparison) -> Table:
    """Return the costliest fragments."""
    fragments = comparison.fragments
    rest = fragments[MOST_FRAGMENTS:]
    rows: list[tuple[Value, ...]] = [
        (
            title(part.df, part.name, part.comms),
            *(part.dispatches, part.tasks, part.cpus),
            *cost_cells([part], fragments, comparison),
            main_cause(part.causes),
        )
        for part in fragments[:MOST_FRAGMENTS]
    ]
    if rest:
        dispatches = sum(part.dispatches for part in rest)
        costs = cost_cells(rest, fragments, comparison)
        rows.append((f"and {len(rest)} more", dispatches, None, None, *costs, ""))
    names = (counted(len(fragments), "fragment"), "dispatches", "tasks", "CPUs")
    return Table("", columns(*names, *COSTS), rows)


def cpus_table(comparison: Comparison) -> Table:
    """Return what each CPU did and paid; of many CPUs the most expensive ones."""
    cpus = comparison.cpus
    by_cost = sorted(cpus, key=lambda result: (-result.cost, result.cpu))
    shown = sorted(by_cost[:MOST_CPUS], key=lambda result: result.cpu)
    rows = [
        (
            *(part.cpu, part.dispatches, part.managed, part.fragments),
            *cost_cells([part], cpus, comparison),
            main_cause(part.causes),
        )
        for part in shown
    ]
    rest = by_cost[MOST_CPUS:]
    paid = sum(part.cost for part in rest)
    notes = [f"and {len(rest)} more, which paid {paid:,} in all"] if rest else []
    return Table("", columns("CPU", "dispatches", "managed", "fragments", *COSTS), rows, notes)


def cost_cells(
    parts: Sequence[FragmentResult | CpuResult],
    beside: Sequence[FragmentResult | CpuResult],
    comparison: Comparison,
) -> tuple[Value, ...]:
    """Return switches, cost and share of some parts; no cost where each switch costs 1."""
    cost, total = sum(part.cost for part in parts), comparison.realised.total
    same = all(part.switches == part.cost for part in beside)
    switches = sum(part.switches for part in parts)
    return switches, None if same else cost, cost / total if total else None


def main_cause(causes: Mapping[Cause, int], total: int | None = None) -> str:
    """Return what most was paid for, with its share of all costs if ``total`` is given.

    Write-backs are named only if nothing else was paid for.
    """
    cause, cost = by_size(causes)[0]
    if not cost:
        cause, cost = written_back(causes)
    if not cost:
        return ""
    return SHORT[cause] if total is None else f"{SHORT[cause]} {share(cost, total)}"
