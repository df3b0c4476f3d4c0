"""The gap: what traces cost by cause, beside the least possible."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.compare.comparison import Cause, Comparison, WindowResult
from dfopt.errors import DfoptError
from dfopt.plot.bars import shown_name
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, ink_on, mixed
from dfopt.plot.costs import cost_label, cost_ticks
from dfopt.plot.picture import new_axes
from dfopt.problem.instance import Objective

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 9.0
ROW_HEIGHT = 0.6
MARGINS = 1.7
"""Of a figure, in inches."""

FONT_SIZE = 9.0
BAR_HEIGHT = 0.56
NARROWEST_SHARE = 0.06
"""A part of the longest bar that is wide enough for a percentage."""

ROOM_FOR_RATIOS = 1.32
"""How far the axis goes beyond the longest bar, as a factor."""


NAME_WIDTH = 28
"""Characters of a trace's name on a line."""

LARGE = 100
"""From here on ratios have no decimal places."""

MARK: dict[str, Any] = {"markersize": 7.0, "markeredgecolor": PAPER, "clip_on": False}
MARK_ENDS = 0.45
"""How near to the middle of its bar a mark reaches, where the shares are written."""


def plot_gap(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw what traces paid by cause, and how far that is from the least possible.

    Each trace has a bar, the first one on top; under ``max-penalty`` it shows the dearest CPU. A
    triangle below the bar marks the bound and one above it the rolling schedule, both for the
    trace's last window; the ratios of what was paid to both stand at the end of the bar.

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
    if not all(comparison.windows for comparison in comparisons) or not comparisons:
        raise DfoptError("there is no window to draw; compare under one (--window whole)")
    count = len(comparisons)
    axes = new_axes(WIDTH, MARGINS + ROW_HEIGHT * count) if ax is None else ax
    colours = group_colours(map(str, Cause))
    paid = [causes_paid(comparison) for comparison in comparisons]
    longest = max(1, *(sum(causes.values()) for causes in paid))
    for row, (comparison, causes) in enumerate(zip(comparisons, paid, strict=True)):
        draw_bar(axes, row, causes, colours, longest)
        draw_marks(axes, row, comparison.windows[-1])
        axes.text(
            sum(causes.values()) + 0.012 * longest,
            row,
            ratios_text(comparison.windows[-1]),
            va="center",
            fontsize=FONT_SIZE,
            color=INK,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "linewidth": 0},
        )
    axes.set_xlim(0, ROOM_FOR_RATIOS * longest)
    axes.set_ylim(count - 0.4, -0.6)
    names = [name_in_lines(comparison.name) for comparison in comparisons]
    axes.set_yticks(range(count), names, fontsize=FONT_SIZE)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=FONT_SIZE)
    cost_ticks(axes.xaxis)
    axes.set_xlabel(cost_label(comparisons), fontsize=FONT_SIZE, parse_math=False)
    axes.grid(axis="x", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    add_legend(axes, comparisons, [cause for cause in Cause if any(one[cause] for one in paid)])
    return axes


def name_in_lines(name: str) -> str:
    """Return a name that leaves room for the bars, on two or three lines if need be."""
    lines = textwrap.wrap(
        shown_name(name, longest=2 * NAME_WIDTH), NAME_WIDTH, break_on_hyphens=False, max_lines=3
    )
    return "\n".join(lines)


def causes_paid(comparison: Comparison) -> dict[Cause, int]:
    """Return what the objective counts, by cause: of all CPUs, or of the dearest one."""
    causes: Mapping[Cause, int] = comparison.causes
    if comparison.model.objective is Objective.MAX_PENALTY and comparison.cpus:
        causes = max(comparison.cpus, key=lambda cpu: cpu.cost).causes
    return {cause: causes.get(cause, 0) for cause in Cause}


def draw_bar(
    ax: Axes, row: int, causes: Mapping[Cause, int], colours: Mapping[str, Colour], longest: int
) -> None:
    """Draw what one trace paid, with the share of every cause that has room for it."""
    total = sum(causes.values())
    left = 0
    for cause, cost in causes.items():
        colour = colours[str(cause)]
        ax.barh(row, cost, left=left, height=BAR_HEIGHT, color=colour, linewidth=0)
        if cost >= NARROWEST_SHARE * longest:
            ax.text(
                left + cost / 2,
                row,
                f"{cost / total:.0%}",
                ha="center",
                va="center_baseline",
                fontsize=FONT_SIZE,
                color=ink_on(colour),
            )
        left += cost


def draw_marks(ax: Axes, row: int, window: WindowResult) -> None:
    """Mark bound and rolling schedule on the edges of a bar, so that they hide no share."""
    edge = BAR_HEIGHT / 2
    for cost, marker, inward in ((window.rolling, "v", -1), (window.bound, "^", 1)):
        ends = [row + inward * edge, row + inward * edge * MARK_ENDS]
        ax.plot([cost, cost], ends, color=INK, linewidth=1.4)
        ax.plot([cost], ends[:1], marker=marker, color=INK, **MARK)


def ratios_text(window: WindowResult) -> str:
    """Return how many times bound and rolling cost were paid."""
    return f"{times(window.rolling_ratio)} rolling\n{times(window.ratio)} bound"


def times(ratio: float | None) -> str:
    """Return a ratio; where only the bound is 0 there is none."""
    if ratio is None:
        return "∞ ×"
    return f"{ratio:.2f} ×" if ratio < LARGE else f"{ratio:,.0f} ×"


def add_legend(ax: Axes, comparisons: Sequence[Comparison], causes: Sequence[Cause]) -> None:
    """Say above the picture what colours and marks mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colours = group_colours(map(str, Cause))
    windows = dict.fromkeys(comparison.windows[-1].window for comparison in comparisons)
    length = f" (window: {', '.join(windows)})"
    marks = [
        Line2D(
            [], [], color=INK, marker=marker, linewidth=0, label=f"{name}{length}", **MARK
        )
        for marker, name in (("v", "rolling schedule"), ("^", "bound"))
    ]  # fmt: skip
    ax.legend(
        handles=[*(Patch(color=colours[str(cause)], label=str(cause)) for cause in causes), *marks],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        frameon=False,
        fontsize=FONT_SIZE,
    )
