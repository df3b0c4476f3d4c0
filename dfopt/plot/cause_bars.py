"""Bars of the costs of traces, divided by cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import Cause
from dfopt.plot.colours import INK, PAPER, group_colours, ink_on, mixed
from dfopt.plot.costs import cost_label, cost_ticks
from dfopt.plot.names import name_in_lines
from dfopt.problem.instance import Objective

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

FONT_SIZE = 9.0

SHOWN = (*(cause for cause in Cause if cause is not Cause.WRITE_BACK), Cause.WRITE_BACK)
"""The causes in the order of the bars: what happened, and then the write-backs that followed."""

LEGEND = {Cause.WRITE_BACK: "changed data written back"}
"""Legends have room for more than the words of documents."""

LARGE = 100
"""Ratios from 100 on have no decimal places."""


def causes_paid(comparison: Comparison) -> dict[Cause, int]:
    """Return what the objective counts, by cause: of all CPUs, or of the most expensive one."""
    causes: Mapping[Cause, int] = comparison.causes
    if comparison.model.objective is Objective.MAX_PENALTY and comparison.cpus:
        causes = max(comparison.cpus, key=lambda cpu: cpu.cost).causes
    return {cause: causes.get(cause, 0) for cause in SHOWN}


def draw_causes(  # noqa: PLR0913 - how a bar looks, by keyword
    ax: Axes,
    y: float,
    causes: Mapping[Cause, int],
    *,
    height: float,
    least_labelled: float,
    font_size: float = FONT_SIZE,
) -> None:
    """Draw one bar at height ``y``, with the share of every cause in it.

    Parameters
    ----------
    ax
        Where to draw.
    y
        The middle of the bar.
    causes
        What was paid, by cause.
    height
        The height of the bar, as a part of a row.
    least_labelled
        A cause that cost less than this has no room for its share.
    font_size
        Of the shares, in points.
    """
    colours = group_colours(map(str, Cause))
    total = sum(causes.values())
    left = 0
    for cause, cost in causes.items():
        colour = colours[str(cause)]
        ax.barh(y, cost, left=left, height=height, color=colour, linewidth=0)
        if cost >= least_labelled:
            ax.text(
                left + cost / 2,
                y,
                f"{cost / total:.0%}",
                ha="center",
                va="center_baseline",
                fontsize=font_size,
                color=ink_on(colour),
            )
        left += cost


def label_bars(
    ax: Axes, names: Sequence[str], comparisons: Sequence[Comparison], *, most_ticks: int = 6
) -> None:
    """Write the names beside the bars, and below them what the costs mean."""
    ax.set_yticks(range(len(names)), [name_in_lines(name) for name in names], fontsize=FONT_SIZE)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=FONT_SIZE)
    cost_ticks(ax.xaxis, comparisons, most=most_ticks)
    ax.set_xlabel(cost_label(comparisons), fontsize=FONT_SIZE, parse_math=False)
    ax.grid(axis="x", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)


def cause_patches(paid: Iterable[Mapping[Cause, int]]) -> list[Patch]:
    """Return the legend's entries for the causes that cost something."""
    from matplotlib.patches import Patch

    bars = list(paid)
    colours = group_colours(map(str, Cause))
    return [
        Patch(color=colours[str(cause)], label=LEGEND.get(cause, str(cause)))
        for cause in SHOWN
        if any(causes[cause] for causes in bars)
    ]


def least_costs(comparisons: Sequence[Comparison]) -> tuple[str, str]:
    """Return what rolling schedules and bounds are called in a legend, with their windows.

    Each of them is for the dispatches of its own trace.
    """
    windows = dict.fromkeys(comparison.windows[-1].window for comparison in comparisons)
    of = f"its own\ndispatches (window: {', '.join(windows)})"
    return f"rolling: looks ahead in {of}", f"bound of {of}"


def ratio_text(ratio: float | None) -> str:
    """Return a ratio with a times sign; None stands for the ratio to a bound of 0."""
    if ratio is None:
        return "∞ ×"
    return f"{ratio:.2f} ×" if ratio < LARGE else f"{ratio:,.0f} ×"
