"""What was attainable: a bar for each way to schedule a trace, beside what is proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison
from dfopt.compare.part_tables import row_name
from dfopt.errors import DfoptError
from dfopt.plot.compared import cost_label, cost_ticks, names_of, short_cost
from dfopt.plot.frontier import FEWEST_ROWS, STYLES, refuse, style_of
from dfopt.plot.picture import new_axes
from dfopt.plot.style import GREY, INK, PAPER, add_legend, begin_axes, styled
from dfopt.time_units import readable_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 9.0
ROW_HEIGHT = 0.46
MARGINS = 1.6
"""Width, height of a row, and margins of a figure, in inches."""

BAR_HEIGHT = 0.62
PALE = 0.65
"""Opacity of what is not proven."""

HATCHED: dict[str, Any] = {"hatch": "///", "edgecolor": PAPER, "linewidth": 0}
"""How the part of a bar looks that nobody can save."""

BOUND: dict[str, Any] = {"marker": "^", "linestyle": "", "color": INK, "markersize": 7.0}
"""How the bound is marked that holds whatever the lengths of the dispatches are."""

BESIDE_NAMES = {
    Scheduling.SAME_MEAN_WAIT: ";\nsome may wait longer",
    Scheduling.PATIENCE: ", knows no\nfuture; some may wait longer",
}

NO_DELAY = "schedules chosen as if switches delayed nothing; waits are those with their time"
"""What stands below the axis where switches take time that the schedules leave out."""


@styled
def plot_attainable(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw what each way to schedule a trace costs, and what nobody can pay less than.

    Each schedule of the frontier has a bar, the recorded one on top. A part of it is hatched if it
    is proven that no schedule with the same limit costs less than this part, with dispatches as
    long as recorded. A triangle marks the bound that holds whatever their lengths are. The mean
    wait of a dispatch stands beside the cost.

    Parameters
    ----------
    comparisons
        One or more traces with a frontier; the first one comes on top.
    ax
        Where to draw; a figure of its own if None, of a height that fits the number of bars. The
        legend stands outside all axes of the figure, and needs a constrained layout.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When a comparison has no frontier, or none of its schedules.
    """
    from matplotlib.patches import Patch

    if not comparisons:
        raise DfoptError("there is no trace to draw; name one")
    for comparison in comparisons:
        check_bars(comparison)
    shown = [shown_rows(comparison) for comparison in comparisons]
    height = MARGINS + ROW_HEIGHT * sum(len(rows) + 1 for rows in shown)
    axes = begin_axes(new_axes(WIDTH, height) if ax is None else ax, grid="x")
    places: list[int] = []
    for comparison, rows, name in zip(comparisons, shown, names_of(comparisons), strict=True):
        first = places[-1] + 2 if places else 1
        # The name of a trace stands above its bars, beside the axis and not on it.
        axes.annotate(
            name, (0, first - 1), (4, 0), textcoords="offset points", weight="bold", va="center"
        )
        draw_bars(axes, comparison, rows, first)
        places += range(first, first + len(rows))
    labels = [
        row_label(row, comparison)
        for comparison, rows in zip(comparisons, shown, strict=True)
        for row in rows
    ]
    axes.set_yticks(places, labels)
    axes.set_ylim(places[-1] + 0.6, -0.6)
    axes.set_xlim(left=0)
    cost_ticks(axes.xaxis, comparisons)
    timed = any(row.with_switches for rows in shown for row in rows)
    axes.set_xlabel(cost_label(comparisons) + (f"\n{NO_DELAY}" if timed else ""))
    axes.tick_params(axis="y", length=0)
    signs: dict[str, Any] = {
        "what the schedule pays": Patch(color=GREY, alpha=PALE),
        "proven: nobody with this limit pays less, with recorded lengths": Patch(
            facecolor=GREY, **HATCHED
        ),
        "the same at any lengths of the dispatches": BOUND,
    }
    add_legend(axes, signs, side="upper left")
    return axes


def check_bars(comparison: Comparison) -> None:
    """Refuse a comparison without a schedule to draw; bars need no waits."""
    refuse(comparison, "schedules", unless=lambda found: len(shown_rows(found)) >= FEWEST_ROWS)


def shown_rows(comparison: Comparison) -> list[FrontierRow]:
    """Return the rows that get a bar, in the order of the tables."""
    assert comparison.frontier is not None
    return [row for row in comparison.frontier.rows if style_of(row) in STYLES]


def draw_bars(ax: Axes, comparison: Comparison, rows: Sequence[FrontierRow], first: int) -> None:
    """Draw the bars of a trace, what is proven about them, their costs and waits."""
    places = range(first, first + len(rows))
    colours = [STYLES[style_of(row)]["color"] for row in rows]
    costs = [row.cost for row in rows]
    proven = [max(row.bound or 0, row.bound_with_lengths or 0) for row in rows]
    paid = ax.barh(places, costs, BAR_HEIGHT, color=colours, alpha=PALE)
    ax.barh(places, proven, BAR_HEIGHT, color=colours)
    ax.barh(places, proven, BAR_HEIGHT, facecolor="none", **HATCHED)
    bounds = [
        (row.bound, place + BAR_HEIGHT / 2)
        for row, place in zip(rows, places, strict=True)
        if row.bound
    ]
    if bounds:
        ax.plot(*zip(*bounds, strict=True), zorder=3, **BOUND)
    unit = comparison.time_unit
    texts = [f"{short_cost(row.cost, comparison)}   {mean_wait_text(row, unit)}" for row in rows]
    ax.bar_label(paid, texts, padding=5)


def mean_wait_text(row: FrontierRow, unit: str | None) -> str:
    """Return the mean wait of a row; nothing where it is unknown.

    Where switches take time, it is the wait with their time, and late starts are counted.
    """
    timed, wait = row.with_switches, row.mean_wait
    if timed is not None:
        wait = timed.mean_wait
    if wait is None:
        return ""
    said = f"mean wait {readable_time(wait, unit)}"
    return f"{said}, {timed.later:,} start later" if timed is not None and timed.later else said


def row_label(row: FrontierRow, comparison: Comparison) -> str:
    """Return what stands in front of a bar: the name of its schedule, as in tables."""
    name = row_name(row, comparison.time_unit, comparison.assumed)
    return name + BESIDE_NAMES.get(row.scheduling, "")
