"""What traces paid by cause, beside what was possible with look-ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import Cause
from dfopt.compare.written_times import Window, WindowKind, parse_window
from dfopt.errors import DfoptError
from dfopt.plot.compared import cost_label, cost_ticks, names_of, scale_costs
from dfopt.plot.style import (
    GREY,
    INK,
    SMALL,
    add_legend,
    begin_axes,
    group_colours,
    ink_on,
    line_style,
    new_axes,
    new_figure,
    styled,
)
from dfopt.problem.instance import Objective
from dfopt.time_units import full_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = (6.6, 5.4)
"""Widths of the two panels, in inches."""

ROW_HEIGHT = 0.46
MARGINS = 2.0
LOWEST = 4.0
"""Height of a row, margins, and least height of a figure, in inches."""

NAME_WIDTH = 28
"""Characters of a name on one line beside a bar."""

BAR_HEIGHT = 0.42
THIN_HEIGHT = 0.15
"""Heights of bars, as parts of a row."""

NARROWEST_SHARE = 0.08
"""A part of a bar has room for its share from this part of the longest bar on."""

SHADING = 0.16
"""Opacity of the area between rolling schedule and bound."""

MOST_LEVEL = 8
"""With more windows than this their names stand upright, so that all have room."""

LARGE = 100
"""Ratios from here on have no decimal places."""

CAUSES = (*(cause for cause in Cause if cause is not Cause.WRITE_BACK), Cause.WRITE_BACK)
"""The causes in the order of the bars: what happened, and then the write-backs that followed."""

LEGEND = {Cause.WRITE_BACK: "changed data written back"}
"""Legends have room for more than the words of documents."""


@styled
def plot_foresight(comparisons: Sequence[Comparison]) -> Axes:
    """Draw what traces paid, and what was possible for the dispatches of each with look-ahead.

    All costs are sums, because traces that run the same threads do the same work in different
    numbers of dispatches. On the left each trace has a bar of what it paid, by cause; below it
    stand the rolling schedule and the bound of its last window, and its ratio at its end. On the
    right are the lines of :func:`plot_look_ahead`; this side is missing if no comparison has
    several windows.

    Parameters
    ----------
    comparisons
        One for each trace, the first one on top.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the bars, in a figure of their own; the others are the figure's second ones.

    Raises
    ------
    DfoptError
        When there is nothing to draw, or lengths in dispatches and in time are mixed.
    """
    windows_of(comparisons)
    has_ladder = any(len(comparison.windows) > 1 for comparison in comparisons)
    height = max(LOWEST, MARGINS + ROW_HEIGHT * len(comparisons))
    widths = WIDTHS if has_ladder else WIDTHS[:1]
    figure = new_figure(sum(widths), height)
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    draw_bars(begin_axes(axes[0], grid="x"), comparisons)
    if has_ladder:
        plot_look_ahead(comparisons, ax=axes[1])
    bars: Axes = axes[0]
    return bars


@styled
def plot_look_ahead(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw costs against the length of windows within which dispatches may run in any order.

    The line of a trace begins with what it paid as it ran; its other points are rolling schedules,
    which look one window ahead. Below each line lies the area down to the bound: there is the best
    that was possible.

    Parameters
    ----------
    comparisons
        One for each trace.
    ax
        Where to draw; a figure of its own if None. The legend stands outside all axes of the
        figure, and needs a constrained layout.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When there is nothing to draw, or lengths in dispatches and in time are mixed.
    """
    from matplotlib.patches import Patch

    windows = windows_of(comparisons)
    axes = begin_axes(new_axes(WIDTHS[1], LOWEST) if ax is None else ax)
    places = {window: place for place, window in enumerate(windows, 1)}
    signs, costs = {}, []
    for number, (comparison, name) in enumerate(
        zip(comparisons, names_of(comparisons), strict=True)
    ):
        points = sorted(
            (places[parse_window(each.window)], each.rolling, each.bound)
            for each in comparison.windows
        )
        across, rolling, bound = zip(*points, strict=True)
        paid = [comparison.windows[0].realised, *rolling]
        look = line_style(number)
        axes.plot([0, *across], paid, clip_on=False, zorder=3, **look)
        axes.fill_between(across, bound, rolling, color=look["color"], alpha=SHADING, linewidth=0)
        signs[name] = look
        costs += [*paid, *bound]
    names = [
        full_time(window.length, "ns") if window.kind is WindowKind.TIME else window.label
        for window in windows
    ]
    axes.set_xticks(range(len(names) + 1), ["as it ran", *names])
    if len(names) > MOST_LEVEL:
        axes.tick_params(axis="x", rotation=90)
    is_counted = any(window.kind is WindowKind.DISPATCHES for window in windows)
    unit = " in managed dispatches" if is_counted else ""
    axes.set_xlabel(f"look-ahead: length of the window{unit}")
    axes.set_title("as it ran, and rolling schedules with look-ahead")
    scale_costs(axes, comparisons, costs)
    area = "down to the bound (weak for short windows): the best possible"
    add_legend(axes, signs | {area: Patch(color=GREY, alpha=SHADING)})
    return axes


def windows_of(comparisons: Sequence[Comparison]) -> list[Window]:
    """Return the windows of comparisons, the shortest first, if they share an axis."""
    if not comparisons or not all(comparison.windows for comparison in comparisons):
        raise DfoptError("there is no window to draw; compare under one (`windows=whole`)")
    windows = {
        parse_window(window.window) for comparison in comparisons for window in comparison.windows
    }
    if len({window.kind for window in windows} - {WindowKind.WHOLE}) > 1:
        raise DfoptError(
            "windows in dispatches and windows in time share no axis; draw them one by one"
        )
    return sorted(windows, key=lambda window: (window.kind is WindowKind.WHOLE, window.length))


def draw_bars(ax: Axes, comparisons: Sequence[Comparison]) -> None:
    """Draw what each trace paid by cause, the rolling schedule and the bound."""
    from matplotlib.patches import Patch

    paid = [causes_paid(comparison) for comparison in comparisons]
    last = [comparison.windows[-1] for comparison in comparisons]
    totals = [sum(causes.values()) for causes in paid]
    longest = max(*totals, *(window.rolling for window in last)) or 1
    rows = range(len(comparisons))
    signs = {}
    before = [0] * len(comparisons)
    colours = group_colours(map(str, Cause))
    for cause in CAUSES:
        colour = colours[cause]
        costs = [causes[cause] for causes in paid]
        bars = ax.barh(rows, costs, BAR_HEIGHT, left=before, color=colour)
        shares = [
            f"{cost / total:.0%}" if cost >= NARROWEST_SHARE * longest else ""
            for cost, total in zip(costs, totals, strict=True)
        ]
        ax.bar_label(bars, shares, label_type="center", fontsize=SMALL, color=ink_on(colour))
        before = [start + cost for start, cost in zip(before, costs, strict=True)]
        if any(costs):
            signs[LEGEND.get(cause, str(cause))] = Patch(color=colour)
    ax.bar_label(bars, [f"{ratio_text(window.ratio)} its bound" for window in last], padding=5)
    windows = ", ".join(dict.fromkeys(window.window for window in last))
    for line, (name, costs, colour) in enumerate(
        (
            ("rolling schedule", [window.rolling for window in last], GREY),
            ("bound", [window.bound for window in last], INK),
        )
    ):
        below = BAR_HEIGHT / 2 + (line + 0.5) * THIN_HEIGHT
        ax.barh([row + below for row in rows], costs, 0.9 * THIN_HEIGHT, color=colour)
        signs[f"{name} of its own dispatches (window: {windows})"] = Patch(color=colour)
    ax.set_yticks(rows, [fill(name, NAME_WIDTH) for name in names_of(comparisons)])
    ax.set_ylim(len(rows) - 0.35, -0.5)
    ax.set_xlim(left=0)
    ax.tick_params(axis="y", length=0)
    ax.locator_params("x", nbins=4, integer=True)
    cost_ticks(ax.xaxis, comparisons)
    ax.set_xlabel(cost_label(comparisons))
    add_legend(ax, signs, side="upper left")


def causes_paid(comparison: Comparison) -> dict[Cause, int]:
    """Return what the objective counts, by cause: of all CPUs, or of the most expensive one."""
    causes: Mapping[Cause, int] = comparison.causes
    if comparison.model.objective is Objective.MAX_PENALTY and comparison.cpus:
        causes = max(comparison.cpus, key=lambda cpu: cpu.cost).causes
    return {cause: causes.get(cause, 0) for cause in CAUSES}


def ratio_text(ratio: float | None) -> str:
    """Return a ratio with a times sign; None stands for the ratio to a bound of 0."""
    if ratio is None:
        return "∞ ×"
    return f"{ratio:.2f} ×" if ratio < LARGE else f"{ratio:,.0f} ×"
