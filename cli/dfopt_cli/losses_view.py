"""The view of what was paid: by cause, by fragment and by CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from dfopt.compare.comparison import Cause, Comparison, CpuResult, FragmentResult
from dfopt.render import printable
from dfopt.trace.fragment_titles import title
from dfopt_cli.tables import counted, plain_table, share

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

MOST_FRAGMENTS = 10
MOST_CPUS = 16


def causes_table(comparison: Comparison) -> Table:
    """Return the cost of each cause."""
    table = plain_table()
    table.add_column("lost to")
    table.add_column("cost", justify="right")
    table.add_column("share", justify="right")
    for cause, cost in (*by_size(comparison.causes), written_back(comparison.causes)):
        if cost:
            table.add_row(str(cause), f"{cost:,}", share(cost, comparison.realised.total))
    return table


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
    table = plain_table()
    table.add_column(counted(len(fragments), "fragment"), overflow="fold")
    headings = ("dispatches", "tasks", "CPUs", *cost_headings(fragments))
    for heading in (*headings, "share"):
        table.add_column(heading, justify="right")
    table.add_column("mainly")
    for fragment in fragments[:MOST_FRAGMENTS]:
        table.add_row(
            printable(title(fragment.df, fragment.name, fragment.comms)),
            f"{fragment.dispatches:,}",
            f"{fragment.tasks:,}",
            str(fragment.cpus),
            *cost_cells([fragment], headings),
            share(fragment.cost, comparison.realised.total),
            main_cause(fragment.causes),
        )
    rest = fragments[MOST_FRAGMENTS:]
    if rest:
        cost = sum(fragment.cost for fragment in rest)
        table.add_row(
            f"and {len(rest)} more",
            f"{sum(fragment.dispatches for fragment in rest):,}",
            "",
            "",
            *cost_cells(rest, headings),
            share(cost, comparison.realised.total),
            "",
        )
    return table


def cpus_table(comparison: Comparison) -> Table:
    """Return what each CPU did and paid; of many CPUs the most expensive ones."""
    cpus = comparison.cpus
    shown: Sequence[CpuResult] = cpus
    if len(cpus) > MOST_CPUS:
        by_cost = sorted(cpus, key=lambda result: (-result.cost, result.cpu))
        shown = sorted(by_cost[:MOST_CPUS], key=lambda result: result.cpu)
    table = plain_table()
    table.add_column("CPU", justify="right")
    headings = ("dispatches", "managed", "fragments", *cost_headings(cpus))
    for heading in (*headings, "share"):
        table.add_column(heading, justify="right")
    table.add_column("mainly")
    for cpu in shown:
        table.add_row(
            str(cpu.cpu),
            f"{cpu.dispatches:,}",
            f"{cpu.managed:,}",
            f"{cpu.fragments:,}",
            *cost_cells([cpu], headings),
            share(cpu.cost, comparison.realised.total),
            main_cause(cpu.causes),
        )
    if len(cpus) > len(shown):
        rest = sum(cpu.cost for cpu in cpus) - sum(cpu.cost for cpu in shown)
        left = len(cpus) - len(shown)
        table.caption = f"and {left} more, which paid {rest:,} in all"
        table.caption_justify = "left"
    return table


def cost_headings(parts: Sequence[FragmentResult | CpuResult]) -> tuple[str, ...]:
    """Return the headings of switches and cost; one of them where each switch costs 1."""
    same = all(part.switches == part.cost for part in parts)
    return ("switches",) if same else ("switches", "cost")


def cost_cells(
    parts: Sequence[FragmentResult | CpuResult], headings: Sequence[str]
) -> Iterator[str]:
    """Yield how many switches some parts had, and what they paid where that has a heading."""
    yield f"{sum(part.switches for part in parts):,}"
    if "cost" in headings:
        yield f"{sum(part.cost for part in parts):,}"


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
