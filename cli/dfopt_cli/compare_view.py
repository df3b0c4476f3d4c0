"""The view of a comparison: tables, from the trace and its costs to where they were lost."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from dfopt.compare.comparison import Comparison
from dfopt_cli.conclusion_view import conclusion_tables
from dfopt_cli.domains_view import domains_tables
from dfopt_cli.frontier_view import frontier_tables
from dfopt_cli.losses_view import causes_table, cpus_table, fragments_table
from dfopt_cli.order_free_view import (
    ORDER_FREE,
    explanation_table,
    order_kept_tables,
    windows_table,
)
from dfopt_cli.subject_view import subject_rows
from dfopt_cli.tables import pairs


def report(comparison: Comparison, *, with_windows: bool = False) -> list[Table | Text]:
    """Return what a terminal shows of one trace, from top to bottom.

    What a scheduler could attain stands before the rest, and again in a few words at the end,
    which is what a terminal shows last. Schedules that do without the order or the waits say
    nothing about that: beside it they have a place only if someone asked ``with_windows``.
    """
    frontier = comparison.frontier
    with_windows = with_windows or frontier is None or not frontier.rows
    blank = Text("")
    order_free: list[Table | Text] = [
        *order_kept_tables(comparison),
        *([] if frontier is None else [Text(ORDER_FREE), blank]),
        windows_table(comparison),
        blank,
        explanation_table(comparison),
        blank,
    ]
    losses: list[Table | Text] = [
        causes_table(comparison),
        blank,
        fragments_table(comparison),
        blank,
        cpus_table(comparison),
    ]
    subject = pairs(subject_rows(comparison, with_windows=with_windows))
    in_domains = domains_tables([comparison.name], [comparison], "trace")
    if frontier is None:
        return [subject, blank, *order_free, *in_domains, *losses]
    conclusion = conclusion_tables(comparison)
    return [
        subject,
        blank,
        *frontier_tables(comparison),
        blank,
        *losses,
        *([blank, *order_free[:-1]] if with_windows else []),
        *([blank, *in_domains[:-1]] if in_domains else []),
        *([blank, *conclusion] if conclusion else []),
    ]
