"""The gap: what traces cost by cause, beside the least possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt.compare.comparison import Comparison, WindowResult
from dfopt.errors import DfoptError
from dfopt.plot.cause_bars import (
    FONT_SIZE,
    cause_patches,
    causes_paid,
    draw_causes,
    label_bars,
    least_costs,
    ratio_text,
)
from dfopt.plot.colours import INK, PAPER
from dfopt.plot.picture import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 9.0
ROW_HEIGHT = 0.6
MARGINS = 1.7
"""Width, height of a row, and margins of a figure, in inches."""

BAR_HEIGHT = 0.56
NARROWEST_SHARE = 0.06
"""A part of the longest bar that is wide enough for a percentage."""

ROOM_FOR_RATIOS = 1.32
"""How far the axis goes beyond the longest bar, as a factor."""

MARK: dict[str, Any] = {"markersize": 7.0, "markeredgecolor": PAPER, "clip_on": False}
MARK_ENDS = 0.45
"""Marks end this far from the middle of their bar, because shares are written there."""

ANY_ORDER = "bound and rolling: as if a dispatch could run before its task was woken"
"""What stands below the axis: no scheduler can do what these schedules may do."""


def plot_gap(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw what traces paid by cause, and how far that is from the least possible.

    Each trace has a bar, the first one on top; under ``max-penalty`` it shows the most expensive
    CPU. A triangle below the bar marks the bound and one above it the rolling schedule, both for
    the trace's last window; the ratios of what was paid to both stand at the end of the bar. Both
    are for the trace's own dispatches. So the ratios of two traces say nothing about which of them
    paid less.

    Parameters
    ----------
    comparisons
        One or more traces.
    ax
        Where to draw; a figure of its own if None, of a height that fits the number of traces.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    from matplotlib.lines import Line2D

    if not all(comparison.windows for comparison in comparisons) or not comparisons:
        raise DfoptError("there is no window to draw; compare under one (`windows=whole`)")
    count = len(comparisons)
    axes = new_axes(WIDTH, MARGINS + ROW_HEIGHT * count) if ax is None else ax
    paid = [causes_paid(comparison) for comparison in comparisons]
    longest = max(1, *(sum(causes.values()) for causes in paid))
    for row, (comparison, causes) in enumerate(zip(comparisons, paid, strict=True)):
        draw_causes(axes, row, causes, height=BAR_HEIGHT, least_labelled=NARROWEST_SHARE * longest)
        window = comparison.windows[-1]
        draw_marks(axes, row, window)
        axes.text(
            sum(causes.values()) + 0.012 * longest,
            row,
            f"{ratio_text(window.rolling_ratio)} its rolling\n{ratio_text(window.ratio)} its bound",
            va="center",
            fontsize=FONT_SIZE,
            color=INK,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "linewidth": 0},
        )
    axes.set_xlim(0, ROOM_FOR_RATIOS * longest)
    axes.set_ylim(count - 0.4, -0.6)
    label_bars(axes, [comparison.name for comparison in comparisons], comparisons)
    axes.set_xlabel(f"{axes.get_xlabel()}\n{ANY_ORDER}", fontsize=FONT_SIZE, parse_math=False)
    marks = [
        Line2D(
            [], [], color=INK, marker=marker, linewidth=0,
            label=name, **MARK,
        )
        for marker, name in zip("v^", least_costs(comparisons), strict=True)
    ]  # fmt: skip
    axes.legend(
        handles=[*cause_patches(paid), *marks],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        frameon=False,
        fontsize=FONT_SIZE,
    )
    return axes


def draw_marks(ax: Axes, row: int, window: WindowResult) -> None:
    """Mark bound and rolling schedule on the edges of a bar, so that they hide no share."""
    edge = BAR_HEIGHT / 2
    for cost, marker, inward in ((window.rolling, "v", -1), (window.bound, "^", 1)):
        ends = [row + inward * edge, row + inward * edge * MARK_ENDS]
        ax.plot([cost, cost], ends, color=INK, linewidth=1.4)
        ax.plot([cost], ends[:1], marker=marker, color=INK, **MARK)
