"""What was attainable: a bar for each way to schedule a trace, beside what is proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison, policies_of
from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, mixed, parsed
from dfopt.plot.costs import cost_label, cost_ticks, short_cost
from dfopt.plot.frontier import COLOURS, MARK, refuse_few, wait_text
from dfopt.plot.names import shown_name
from dfopt.plot.picture import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 9.0
ROW_HEIGHT = 0.46
MARGINS = 1.6
"""Width, height of a row, and margins of a figure, in inches."""

BAR_HEIGHT = 0.62
ROOM_FOR_WAITS = 1.28
"""How far the axis goes beyond the longest bar, as a factor."""

GAP_BETWEEN_TRACES = 0.8
"""Rows left empty between two traces; the name of the lower one stands there."""

FONT_SIZE = 9.0
LONGEST_NAME = 60

COLOUR_OF = {
    Scheduling.RECORDED: "recorded",
    Scheduling.SAME_TIMELINE: "same timeline",
    Scheduling.NOBODY_LATER: "attained",
    Scheduling.LONGEST_WAIT: "attained",
    Scheduling.SAME_MEAN_WAIT: "same mean wait",
    Scheduling.PATIENCE: "patience",
}
"""The colour of each bar, as on the frontier."""

FADED = 0.35
"""How much of the paper is mixed into the colour of a bar."""

IMPOSSIBLE: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": PAPER,
    "hatch": "///",
    "linewidth": 0,
}
"""How the part of a bar is drawn that nobody can save."""

NO_DELAY = "schedules chosen as if switches delayed nothing; waits are those with their time"
"""What stands below the axis where switches take time that the schedules leave out."""

BOUND: dict[str, Any] = {"marker": "^", "linestyle": "", "color": INK, "markersize": 7.0, **MARK}
"""How the bound is marked that holds whatever the lengths of the dispatches are."""


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
        Where to draw; a figure of its own if None, of a height that fits the number of bars.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When a comparison has no frontier, or none of its schedules.
    """
    if not comparisons:
        raise DfoptError("there is no trace to draw; name one")
    for comparison in comparisons:
        check_bars(comparison)
    rows = [shown_rows(comparison) for comparison in comparisons]
    names = policies_of(comparisons) or [comparison.name for comparison in comparisons]
    height = sum(map(len, rows)) + GAP_BETWEEN_TRACES * len(rows)
    axes = new_axes(WIDTH, MARGINS + ROW_HEIGHT * height) if ax is None else ax
    labels: dict[float, str] = {}
    top = 0.0
    for comparison, shown, name in zip(comparisons, rows, names, strict=True):
        title = shown_name(name, longest=LONGEST_NAME)
        axes.annotate(
            title,
            (0, top),
            (4, 0),  # beside the axis, not on it
            textcoords="offset points",
            fontsize=FONT_SIZE,
            weight="bold",
            va="center",
            parse_math=False,
        )
        for number, row in enumerate(shown):
            middle = top + GAP_BETWEEN_TRACES + number
            draw_row(axes, row, middle, comparison)
            is_assumed = row.scheduling is Scheduling.RECORDED and comparison.assumed is not None
            labels[middle] = "assumed" if is_assumed else row_label(row, comparison.time_unit)
        top += len(shown) + GAP_BETWEEN_TRACES
    axes.set_yticks(list(labels), list(labels.values()), fontsize=FONT_SIZE, parse_math=False)
    axes.set_ylim(top - 0.4, -0.6)
    longest = max((row.cost for shown in rows for row in shown), default=0)
    axes.set_xlim(0, ROOM_FOR_WAITS * max(longest, 1))
    cost_ticks(axes.xaxis, comparisons)
    label = cost_label(comparisons)
    if any(row.with_switches for shown in rows for row in shown):
        label = f"{label}\n{NO_DELAY}"
    axes.set_xlabel(label, fontsize=FONT_SIZE, parse_math=False)
    axes.tick_params(labelsize=FONT_SIZE, left=False)
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(axes)
    return axes


def check_bars(comparison: Comparison) -> None:
    """Refuse a comparison without a schedule to draw; bars need no waits."""
    refuse_few(comparison, shown_rows, "schedules")


def shown_rows(comparison: Comparison) -> list[FrontierRow]:
    """Return the rows that get a bar, in the order of the tables."""
    assert comparison.frontier is not None
    return [row for row in comparison.frontier.rows if row.scheduling in COLOUR_OF]


def draw_row(ax: Axes, row: FrontierRow, middle: float, comparison: Comparison) -> None:
    """Draw the bar of a schedule, what is proven about it, its cost and its wait."""
    colour = parsed(COLOURS[COLOUR_OF[row.scheduling]])
    ax.barh(middle, row.cost, BAR_HEIGHT, color=mixed(colour, PAPER, FADED))
    proven = max(row.bound or 0, row.bound_with_lengths or 0)
    if proven:
        ax.barh(middle, proven, BAR_HEIGHT, color=colour)
        ax.barh(middle, proven, BAR_HEIGHT, **IMPOSSIBLE)
    if row.bound:
        ax.plot([row.bound], [middle + BAR_HEIGHT / 2], zorder=3, **BOUND)
    ax.annotate(
        f"{short_cost(row.cost, comparison)}   {mean_wait_text(row, comparison.time_unit)}",
        (row.cost, middle),
        xytext=(5, 0),
        textcoords="offset points",
        fontsize=FONT_SIZE,
        va="center",
        parse_math=False,
    )


def mean_wait_text(row: FrontierRow, unit: str | None) -> str:
    """Return the mean wait of a row, with three digits; nothing where it is unknown.

    Where switches take time, it is the wait with their time, and late starts are counted.
    """
    timed, wait = row.with_switches, row.mean_wait
    if timed is not None:
        wait = row.mean_wait_with_switches
    if wait is None:
        return ""
    said = f"mean wait {wait_text(float(f'{wait:.3g}'), unit)}"
    return f"{said}, {timed.later:,} start later" if timed is not None and timed.later else said


def row_label(row: FrontierRow, unit: str | None) -> str:
    """Return what stands in front of a bar: the name of its schedule, as in tables."""
    match row.scheduling:
        case Scheduling.LONGEST_WAIT:
            return f"{row.scheduling} {wait_text(row.wait or 0, unit)}"
        case Scheduling.SAME_MEAN_WAIT:
            return f"{row.scheduling};\nsome may wait longer"
        case Scheduling.PATIENCE:
            patience = wait_text(row.patience or 0, unit)
            return f"{row.scheduling} {patience}, knows no\nfuture; some may wait longer"
    return str(row.scheduling)


def add_legend(ax: Axes) -> None:
    """Say above the bars what their parts mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    ground = mixed(INK, PAPER, 0.7)
    ax.legend(
        handles=[
            Patch(facecolor=mixed(ground, PAPER, FADED), label="what the schedule pays"),
            Patch(
                facecolor=ground,
                edgecolor=PAPER,
                hatch="///",
                label="proven: nobody with this limit pays less, with recorded lengths",
            ),
            Line2D([], [], label="the same at any lengths of the dispatches", **BOUND),
        ],
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        frameon=False,
        fontsize=FONT_SIZE,
        handletextpad=0.5,
        labelspacing=0.35,
    )
