"""The view of several comparisons, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from dfopt.compare.comparison import Comparison, policies_of
from dfopt_cli.compare_view import (
    EXPLANATION,
    ORDER_FREE,
    costs,
    main_cause,
    unit_of,
    window_cells,
)
from dfopt_cli.frontier_view import explanation, frontiers_table
from dfopt_cli.printing import printable
from dfopt_cli.tables import LARGE, pairs, plain_table


def side_by_side(comparisons: Sequence[Comparison]) -> list[Table | Text]:
    """Return what a terminal shows of several traces: one row for each, or for every window.

    Where each trace names another policy they are called by these, and costs for each dispatch
    let runs of different length compare.
    """
    policies = policies_of(comparisons)
    names = list(map(printable, policies or [comparison.name for comparison in comparisons]))
    several = any(len(comparison.windows) > 1 for comparison in comparisons)
    apart = several or policies is not None
    table = plain_table()
    table.add_column("trace" if policies is None else "policy", overflow="fold")
    if several:
        table.add_column("window")
    for heading in ("realised", "bound", "ratio", "rolling", "ratio"):
        table.add_column(heading, justify="right")
    if not apart:
        add_loss_columns(table)
    for name, comparison in zip(names, comparisons, strict=True):
        first = name
        for window in comparison.windows:
            cells = [f"{window.realised:,}", *window_cells(window)]
            if several:
                cells = [printable(window.window), *cells]
            if not apart:
                cells += loss_cells(comparison)
            table.add_row(first, *cells)
            first = ""
    losses: list[Table | Text] = []
    if policies is not None:
        losses = [policies_table(names, comparisons), Text("")]
    elif several:
        losses = [losses_table(comparisons), Text("")]
    said = {name: EXPLANATION[name] for name in ("bound", "rolling", "ignored")}
    if policies is not None:
        said = {
            "traces": ", ".join(printable(comparison.name) for comparison in comparisons),
            **said,
        }
    order_free: list[Table | Text] = [
        table,
        Text(""),
        *losses,
        pairs({**models(comparisons), **said}, style="dim"),
    ]
    if not any(comparison.frontier for comparison in comparisons):
        return order_free
    return [
        frontiers_table(names, comparisons, "trace" if policies is None else "policy"),
        Text(""),
        explanation(comparisons),
        Text(""),
        Text(ORDER_FREE),
        Text(""),
        *order_free,
    ]


def policies_table(names: Sequence[str], comparisons: Sequence[Comparison]) -> Table:
    """Return one row a policy: its dispatches, what each paid on average, and why most."""
    table = plain_table()
    table.add_column("policy", overflow="fold")
    table.add_column("dispatches", justify="right")
    table.add_column("cost of each", justify="right")
    add_loss_columns(table)
    for name, comparison in zip(names, comparisons, strict=True):
        table.add_row(
            name,
            f"{comparison.managed:,}",
            average(comparison.realised.total / max(1, comparison.managed)),
            *loss_cells(comparison),
        )
    return table


def average(cost: float) -> str:
    """Return a mean cost."""
    return f"{cost:,.0f}" if cost >= LARGE else f"{cost:.3g}"


def losses_table(comparisons: Sequence[Comparison]) -> Table:
    """Return one row a trace: how often it changed fragments, and why most."""
    table = plain_table()
    table.add_column("trace", overflow="fold")
    add_loss_columns(table)
    for comparison in comparisons:
        table.add_row(printable(comparison.name), *loss_cells(comparison))
    return table


def add_loss_columns(table: Table) -> None:
    """Add the columns that :func:`loss_cells` fills."""
    table.add_column("switches", justify="right")
    table.add_column("mainly lost to")


def loss_cells(comparison: Comparison) -> tuple[str, str]:
    """Return the number of switches, and the main cause with its share."""
    total = comparison.realised.total
    return f"{comparison.realised.switches:,}", main_cause(comparison.causes, total)


def models(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return the costs that all traces were compared under, or those of each one."""
    said = {
        printable(comparison.name): (
            f"{costs(comparison.model)}; {comparison.model.objective}{unit_of(comparison)}"
        )
        for comparison in comparisons
    }
    return {"costs": next(iter(said.values()))} if len(set(said.values())) == 1 else said
