"""The view of schedules that keep the order and not the waits, or not even the order."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from dfopt.compare.comparison import Comparison, WindowResult, cost_ratio
from dfopt_cli.printing import printable
from dfopt_cli.tables import pairs, plain_table, share, times

EXPLANATION = {
    "bound": "no schedule that runs the same dispatches in the same windows costs less; weak "
    "for short windows, since every CPU may begin each window with any fragment in "
    "its cache",
    "rolling": "a real schedule that looks one window ahead; each window is the cheapest one "
    "after what the window before left in the caches",
    "balanced": "the bound if no CPU may run more than an even share of a window; the trace may "
    "have done so",
    "ignored": "dependences between tasks (a message is sent before it is received); the "
    "schedules of long windows may break them",
}

ORDER_KEPT = {
    "order kept": "dispatches start in the recorded order, and only their CPUs are chosen; where "
    "the CPU is busy, a dispatch waits, and all later ones wait, too",
    "online": "no look-ahead: the CPU that holds the fragment, else the least recently used one",
}

ALL_SAVED = "all saved"
"""Stands for the ratio to a schedule that costs nothing."""

NO_RATIO, NO_RATIO_MEANING = "–", "no ratio: the bound is 0, so it says nothing"

ORDER_FREE = "Order-free windows: as if a dispatch could run before its task was woken"
"""The heading of the windows where figures stand beside them that keep cause and effect."""


def windows_table(comparison: Comparison) -> Table:
    """Return one row a length of window; after an interrupt some are left out."""
    table = plain_table()
    table.add_column("window")
    rolling_first = shows_rolling_first([comparison])
    for heading in ("windows", *window_headings(rolling_first), "balanced", "proven"):
        table.add_column(heading, justify="right")
    for window in comparison.windows:
        table.add_row(
            printable(window.window),
            f"{window.count:,}",
            *window_cells(window, rolling_first),
            balanced_cell(window),
            share(window.closed, window.count),
        )
    if not comparison.is_complete:
        table.caption = "interrupted: other windows are left out"
        table.caption_justify = "left"
    return table


def balanced_cell(window: WindowResult) -> str:
    """Return the balanced optimum, or a bound of it where that is all that is known."""
    mark = "" if window.balanced_closed == window.count else "≥ "
    return f"{mark}{window.balanced:,}"


def order_kept_tables(comparison: Comparison) -> list[Table | Text]:
    """Return what choosing CPUs alone would have saved, at best and without look-ahead."""
    found = comparison.order_kept
    if found is None:
        return []
    rows = [("online", found.online, "")]
    if found.best is not None and found.bound is not None:
        unproven = "" if found.is_optimal else f" (bound {found.bound:,})"
        rows.insert(0, ("best", found.best, unproven))
    table = plain_table()
    table.add_column("order kept")
    for heading in ("cost", "ratio"):
        table.add_column(heading, justify="right")
    for name, cost, unproven in rows:
        ratio = cost_ratio(comparison.realised.total, cost)
        said = ALL_SAVED if ratio is None else times(ratio)
        table.add_row(name, f"{cost:,}{unproven}", Text(said, style="bold"))
    return [table, Text(""), pairs(ORDER_KEPT, style="dim"), Text("")]


def explanation_table(comparison: Comparison) -> Table:
    """Return what bound and rolling mean, and what both ignore."""
    said = dict(EXPLANATION)
    if shows_rolling_first([comparison]):
        said[NO_RATIO] = NO_RATIO_MEANING
    return pairs(said, style="dim")


def shows_rolling_first(comparisons: Sequence[Comparison]) -> bool:
    """Return whether some bound is 0, so that the ratio to it says nothing.

    Windows that are short beside the number of CPUs are like this. The rolling schedule is the
    first thing to look at then.
    """
    return any(window.ratio is None for found in comparisons for window in found.windows)


def window_headings(rolling_first: bool) -> list[str]:
    """Return the headings of :func:`window_cells`."""
    names = ("rolling", "bound") if rolling_first else ("bound", "rolling")
    return [heading for name in names for heading in (name, "ratio")]


def window_cells(window: WindowResult, rolling_first: bool) -> list[str | Text]:
    """Return bound and rolling cost, each with the ratio of what was paid to it."""
    bound: list[str | Text] = [f"{window.bound:,}", Text(times(window.ratio), style="bold")]
    rolling: list[str | Text] = [
        f"{window.rolling:,}",
        Text(times(window.rolling_ratio), style="bold"),
    ]
    return [*rolling, *bound] if rolling_first else [*bound, *rolling]
