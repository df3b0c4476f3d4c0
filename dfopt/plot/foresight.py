"""What traces paid by cause, beside what was possible with look-ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dfopt.compare.comparison import Comparison, policies_of
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
from dfopt.plot.colours import INK, PAPER, Colour, mixed, parsed
from dfopt.plot.costs import cost_label, scale_costs
from dfopt.plot.look_ahead import WHOLE_AT, LookAheadAxis, draw_break, label_look_ahead
from dfopt.plot.picture import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

WIDTHS = (6.6, 5.4)
"""Widths of the two panels, in inches."""

ROW_HEIGHT = 0.46
MARGINS = 1.9
LOWEST = 4.0
"""Height of a row, margins, and least height of a figure, in inches."""

BAR_HEIGHT = 0.42
THIN_HEIGHT = 0.17
"""Heights of bars, as parts of a row."""

ROOM_FOR_RATIOS = 1.36
NARROWEST_SHARE = 0.08
"""Room for ratios, and width that is enough for a percentage, as parts of the longest bar."""

ALONE = 8.6
"""Width of the bars without the second panel, in inches."""

KEY = (-0.075, -0.015)
"""Where the line of a trace is shown beside its bar, as parts of the panel's width."""

KEY_ROOM = 38.0
"""Room for this line, in points."""

MOST_TICKS, MOST_WIDE_TICKS = 6, 4
WIDE = 400_000_000
"""Costs from here on are long, so that fewer of them have room side by side."""

MOST_LENGTHS = 6
"""At most this many lengths of windows have room for their names."""

NEAR = 0.16
"""The name of a window has no room nearer than this to the end, as a part of the axis."""

SHADING = 0.16
"""Opacity of the area between rolling schedule and bound."""

ROLLING: Colour = mixed(INK, PAPER, 0.35)
BOUND: Colour = INK

LINES = ("#4477AA", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#AA4499", "#332288", "#999933")
"""Colours for lines that colour-blind readers tell apart, after Paul Tol's muted scheme."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.2)))
"""The second and the third eight lines are broken, and their marks go on by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLine:
    """A trace as it is drawn.

    Parameters
    ----------
    label
        What it is called.
    comparison
        What it paid.
    line
        How its line looks.
    """

    label: str
    comparison: Comparison
    line: dict[str, Any]


def plot_foresight(comparisons: Sequence[Comparison]) -> Axes:
    """Draw what traces paid, and what was possible for the dispatches of each with look-ahead.

    All costs are sums, because traces that run the same threads do the same work in different
    numbers of dispatches. On the left each trace has a bar of what it paid, by cause; below it
    stand the rolling schedule and the bound of its last window, and its ratio at its end. On the
    right its line shows the rolling schedule against the length of the window; the trace itself
    stands at the left end. Below each line lies the area down to the bound: there is the best that
    was possible. There is no right side if no comparison has several windows. Traces are called by
    their traces where these differ, else by their names.

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
    if not comparisons or not all(comparison.windows for comparison in comparisons):
        raise DfoptError("there is no window to draw; compare under one (`windows=whole`)")
    labels = policies_of(comparisons) or [comparison.name for comparison in comparisons]
    traces = [
        TraceLine(label=label, comparison=comparison, line=line_style(number))
        for number, (label, comparison) in enumerate(zip(labels, comparisons, strict=True))
    ]
    has_ladder = any(len(comparison.windows) > 1 for comparison in comparisons)
    height = max(LOWEST, MARGINS + ROW_HEIGHT * len(traces))
    figure = new_figure(sum(WIDTHS) if has_ladder else ALONE, height)
    if not has_ladder:
        alone: Axes = figure.add_subplot()
        draw_bars(alone, traces)
        return alone
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": WIDTHS})
    draw_bars(left, traces)
    left.tick_params(axis="y", pad=KEY_ROOM)
    draw_keys(left, traces)
    draw_ladders(right, traces)
    bars: Axes = left
    return bars


def line_style(number: int) -> dict[str, Any]:
    """Return how the line of a trace looks: no two of the first 24 are alike."""
    turn, column = divmod(number, len(LINES))
    marker = MARKERS[(column + turn) % len(MARKERS)]
    return {
        "color": parsed(LINES[column]),
        "marker": marker,
        "linestyle": DASHES[turn % len(DASHES)],
        "linewidth": 1.5,
        "markersize": 8.0 if marker == "*" else 5.5,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.6,
    }


def draw_bars(ax: Axes, traces: Sequence[TraceLine]) -> None:
    """Draw what each trace paid, the rolling schedule and the bound."""
    paid = [causes_paid(trace.comparison) for trace in traces]
    sums = [sum(causes.values()) for causes in paid]
    rolling = [trace.comparison.windows[-1].rolling for trace in traces]
    longest = max(*sums, *rolling) or 1
    for row, (trace, causes) in enumerate(zip(traces, paid, strict=True)):
        draw_causes(
            ax,
            row - 0.08,
            causes,
            height=BAR_HEIGHT,
            least_labelled=NARROWEST_SHARE * longest,
            font_size=FONT_SIZE - 1,
        )
        window = trace.comparison.windows[-1]
        for line, (cost, colour) in enumerate(((window.rolling, ROLLING), (window.bound, BOUND))):
            ax.barh(
                row + BAR_HEIGHT / 2 - 0.08 + (line + 0.5) * THIN_HEIGHT,
                cost,
                height=THIN_HEIGHT * 0.86,
                color=colour,
                linewidth=0,
            )
        ax.text(
            max(sums[row], rolling[row]) + 0.012 * longest,
            row - 0.08,
            f"{ratio_text(window.ratio)} its bound",
            va="center",
            fontsize=FONT_SIZE,
            color=INK,
        )
    ax.set_xlim(0, ROOM_FOR_RATIOS * longest)
    ax.set_ylim(len(traces) - 0.35, -0.5)
    comparisons = [trace.comparison for trace in traces]
    names = [trace.label for trace in traces]
    label_bars(ax, names, comparisons, most_ticks=MOST_TICKS if longest < WIDE else MOST_WIDE_TICKS)
    add_legend(ax, comparisons, cause_patches(paid))


def draw_keys(ax: Axes, traces: Sequence[TraceLine]) -> None:
    """Show each trace's line between its name and its bar."""
    for row, trace in enumerate(traces):
        first, last = KEY
        for positions, line in (
            ((first, last), {**trace.line, "marker": None}),
            (((first + last) / 2,), trace.line),
        ):
            ax.plot(
                positions,
                [row] * len(positions),
                transform=ax.get_yaxis_transform(),
                clip_on=False,
                **line,
            )


def add_legend(ax: Axes, comparisons: Sequence[Comparison], causes: Sequence[Patch]) -> None:
    """Say above the bars what their colours mean."""
    from matplotlib.patches import Patch

    rolling, bound = least_costs(comparisons)
    ax.legend(
        handles=[
            *causes,
            Patch(color=ROLLING, label=rolling),
            Patch(color=BOUND, label=bound),
        ],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        fontsize=FONT_SIZE,
        columnspacing=1.4,
    )


def draw_ladders(ax: Axes, traces: Sequence[TraceLine]) -> None:
    """Draw what each trace paid, and below it rolling schedules and bounds by their look-ahead."""
    look_ahead = LookAheadAxis.of([trace.comparison for trace in traces])
    costs = []
    for trace in traces:
        windows = trace.comparison.windows
        points = sorted(
            (look_ahead.position(window.window), window.rolling, window.bound) for window in windows
        )
        positions, rolling, bound = map(list, zip(*points, strict=True))
        paid = [windows[0].realised, *rolling]
        ax.plot([look_ahead.none, *positions], paid, clip_on=False, zorder=3, **trace.line)
        colour = trace.line["color"]
        ax.fill_between(positions, bound, rolling, color=colour, alpha=SHADING, linewidth=0)
        costs += [*paid, *bound]
    label_ladder(ax, look_ahead)
    comparisons = [trace.comparison for trace in traces]
    scale_costs(ax, comparisons, costs)
    label = cost_label(comparisons)
    ax.set_ylabel(label, fontsize=FONT_SIZE, parse_math=False)
    ax.set_title(
        "as it ran, and rolling schedules, which look ahead; below them,\n"
        "down to the bound (weak for short windows): the best possible",
        fontsize=FONT_SIZE,
        color=INK,
        loc="left",
    )
    ax.tick_params(labelsize=FONT_SIZE)
    ax.grid(axis="y", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def label_ladder(ax: Axes, look_ahead: LookAheadAxis) -> None:
    """Label the trace itself, some of the lengths, and the whole trace."""
    from matplotlib.ticker import FixedLocator

    shown = list(look_ahead.lengths)
    if len(shown) > MOST_LENGTHS:
        shown = [length for length in shown if str(length).strip("0") == "1"] or shown[:1]
    # The label of the longest window would stand on that of the whole trace.
    near = (look_ahead.whole / look_ahead.none) ** NEAR
    shown = [length for length in shown if look_ahead.whole / length > near]
    ticks = {look_ahead.none: "as it\nran", **look_ahead.ticks(shown)}
    label_look_ahead(ax, look_ahead, ticks, font_size=FONT_SIZE)
    ax.xaxis.set_minor_locator(FixedLocator([float(length) for length in look_ahead.lengths]))
    draw_break(ax, look_ahead.none * WHOLE_AT**0.5)
