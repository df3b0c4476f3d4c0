"""The view of schedules that keep the order and not the waits, or not even the order."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import WindowResult, cost_ratio
from dfopt.render import printable
from dfopt_cli.tables import pairs, plain_table, share, times

EXPLANATION = {
    "bound": "no schedule costs less that runs the same dispatches in the same windows, and on no "
    "CPU more of them than is assumed above; weak for short windows, since every CPU may begin "
    "each window with any fragment in its cache",
    "rolling": "a real schedule of this kind that looks one window ahead; each window is the "
    "cheapest one after what the window before left in the caches",
    "balanced": "the bound if no CPU may run more than an even share of a window; the trace may "
    "have done so",
    "ignored": "dependences between tasks (a message is sent before it is received); the "
    "schedules of long windows may break them",
}

ORDER_KEPT = {
    "order kept": "dispatches start in the recorded order, and only their CPUs are chosen; where "
    "the CPU is busy, a dispatch waits, and all later ones wait, too. A CPU may run any number, "
    "so the bounds of windows, which limit that, do not hold here",
    "online": "no look-ahead: the CPU that holds the fragment, else the least recently used one",
}

ALL_SAVED = "all saved"
"""Stands for the ratio to a schedule that costs nothing."""

NO_RATIO, NO_RATIO_MEANING = "–", "no ratio: the bound is 0, so it says nothing"

WINDOW_HEADINGS = ("bound", "ratio", "rolling", "ratio")
"""The headings of :func:`window_cells`."""

ORDER_FREE = "Order-free windows: as if a dispatch could run before its task was woken"
"""The heading of the windows where figures stand beside them that keep cause and effect."""


def windows_table(comparison: Comparison) -> Table:
    """Return one row a length of window; after an interrupt some are left out."""
    table = plain_table()
    table.add_column("window")
    for heading in ("windows", *WINDOW_HEADINGS, "balanced", "proven"):
        table.add_column(heading, justify="right")
    for window in comparison.windows:
        table.add_row(
            printable(window.window),
            f"{window.count:,}",
            *window_cells(window),
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


def order_kept_tables(comparison: Comparison, *, verbose: bool) -> list[Table | Text]:
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
    shown: list[Table | Text] = [table, Text("")]
    if verbose:
        shown += [pairs(ORDER_KEPT, style="dim"), Text("")]
    return shown


def explanation_table(comparison: Comparison) -> Table:
    """Return what bound and rolling mean, and what both ignore."""
    said = dict(EXPLANATION)
    if any(window.ratio is None for window in comparison.windows):
        said[NO_RATIO] = NO_RATIO_MEANING
    return pairs(said, style="dim")


def window_cells(window: WindowResult) -> list[str | Text]:
    """Return bound and rolling cost, each with the ratio of what was paid to it."""
    return [
        f"{window.bound:,}",
        Text(times(window.ratio), style="bold"),
        f"{window.rolling:,}",
        Text(times(window.rolling_ratio), style="bold"),
    ]
