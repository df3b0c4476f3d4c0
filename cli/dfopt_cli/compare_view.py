"""The view of a comparison: what it comes to, then tables of how that was found."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from dfopt.compare.comparison import Comparison
from dfopt.render import TerminalTable
from dfopt_cli.conclusion_view import conclusion_rows
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

MORE = "-v shows what the columns mean and assume, how tasks were served, and each CPU."


def report(
    comparison: Comparison, *, with_windows: bool = False, verbose: bool = False
) -> list[RenderableType]:
    """Return what a terminal shows of one trace, from top to bottom.

    What it comes to stands first. Schedules that do without the order or the waits say nothing
    about what a scheduler could attain: beside that they have a place only if someone asked
    ``with_windows``.
    """
    frontier = comparison.frontier
    has_rows = frontier is not None and bool(frontier.rows)
    with_windows = with_windows or not has_rows
    subject = subject_rows(comparison, with_windows=with_windows)
    if not verbose:
        subject = {name: subject[name] for name in ("trace", "dispatches", "costs")}
    first = {"trace": subject.pop("trace"), **conclusion_rows(comparison)}
    losses: list[Sequence[RenderableType]] = [
        [TerminalTable(causes_table(comparison))] if any(comparison.causes.values()) else [],
        [TerminalTable(fragments_table(comparison))],
        [TerminalTable(cpus_table(comparison))] if verbose else [],
    ]
    windows: list[Sequence[RenderableType]] = []
    if with_windows:
        windows = [
            [Text(ORDER_FREE)] if has_rows else [],
            order_kept_tables(comparison, verbose=verbose),
            [windows_table(comparison)],
            [explanation_table(comparison)] if verbose else [],
        ]
    parts: list[Sequence[RenderableType]] = [
        [pairs(first | subject)],
        [] if frontier is None else frontier_tables(comparison, verbose=verbose),
        *([*losses, *windows] if has_rows else [*windows, *losses]),
    ]
    parts.append(domains_tables([comparison.name], [comparison], "trace", verbose=verbose))
    parts.append([] if verbose else [Text(MORE, style="dim")])
    shown: list[RenderableType] = []
    for part in parts:
        # Some parts end with an empty line of their own.
        ended = not shown or str(shown[-1]) == ""
        shown += [*([] if ended or not part else [Text("")]), *part]
    return shown
