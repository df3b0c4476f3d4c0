"""Policies side by side: what each paid, and what was possible with look-ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dfopt.compare.comparison import Cause, Comparison, policies_of
from dfopt.compare.windows import WindowKind, parse_window
from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, ink_on, mixed, parsed
from dfopt.plot.costs import cost_label, cost_ticks, scale_costs
from dfopt.plot.foresight import WHOLE_AT, Scale, length_text, scale_of
from dfopt.plot.gap import causes_paid, name_in_lines, times
from dfopt.plot.picture import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = (6.6, 5.4)
"""Of the two panels, in inches."""

ROW_HEIGHT = 0.46
MARGINS = 1.9
LOWEST = 4.0
"""Of a figure, in inches."""

FONT_SIZE = 9.0
BAR_HEIGHT = 0.42
THIN_HEIGHT = 0.17
"""Of a row."""

ROOM_FOR_RATIOS = 1.3
NARROWEST_SHARE = 0.08
"""Parts of the longest bar."""

ALONE = 8.6
"""Width of the bars without the second panel, in inches."""

KEY = (-0.075, -0.015)
"""Where the line of a policy is shown beside its bar, as parts of the panel's width."""

KEY_ROOM = 38.0
"""For that, in points."""

MOST_TICKS, MOST_WIDE_TICKS = 6, 4
WIDE = 400_000_000
"""From here on costs are so long that few of them have room side by side."""

MOST_LENGTHS = 6
"""So many lengths of windows have room for their names."""

NEAR = 0.16
"""Names of windows this part of the axis away from its end have no room."""

ROLLING: Colour = mixed(INK, PAPER, 0.35)
BOUND: Colour = INK

LINES = ("#4477AA", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#AA4499", "#332288", "#999933")
"""Colours for lines that colour-blind readers tell apart, after Paul Tol's muted scheme."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.2)))
"""The second and the third eight lines are broken, and their marks go on by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A comparison as it is drawn.

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


def plot_policies(comparisons: Sequence[Comparison]) -> Axes:
    """Draw what several policies paid, and what was possible for the dispatches of each.

    All costs are sums, because policies that run the same threads do the same work in different
    numbers of dispatches. On the left each policy has a bar of what it paid, by cause; below it
    stand the rolling schedule and the bound of its last window, and its ratio at its end. On the
    right its line shows the rolling schedule against the length of the window; the policy itself
    stands at the left end. There is no right side if no comparison has several windows. Where the
    traces do not tell their policies apart they are called by their names.

    Parameters
    ----------
    comparisons
        One for each policy, the first one on top.

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
        raise DfoptError("there is no window to draw; compare under one (--window whole)")
    labels = policies_of(comparisons) or [comparison.name for comparison in comparisons]
    policies = [
        Policy(label=label, comparison=comparison, line=line_style(number))
        for number, (label, comparison) in enumerate(zip(labels, comparisons, strict=True))
    ]
    has_ladder = any(len(comparison.windows) > 1 for comparison in comparisons)
    height = max(LOWEST, MARGINS + ROW_HEIGHT * len(policies))
    figure = new_figure(sum(WIDTHS) if has_ladder else ALONE, height)
    if not has_ladder:
        alone: Axes = figure.add_subplot()
        draw_bars(alone, policies)
        return alone
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": WIDTHS})
    draw_bars(left, policies)
    left.tick_params(axis="y", pad=KEY_ROOM)
    draw_keys(left, policies)
    draw_ladders(right, policies, scale_of(comparisons))
    bars: Axes = left
    return bars


def line_style(number: int) -> dict[str, Any]:
    """Return how the line of a policy looks: no two of the first 24 are alike."""
    turn, place = divmod(number, len(LINES))
    marker = MARKERS[(place + turn) % len(MARKERS)]
    return {
        "color": parsed(LINES[place]),
        "marker": marker,
        "linestyle": DASHES[turn % len(DASHES)],
        "linewidth": 1.5,
        "markersize": 8.0 if marker == "*" else 5.5,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.6,
    }


def draw_bars(ax: Axes, policies: Sequence[Policy]) -> None:
    """Draw what each policy paid, the rolling schedule and the bound."""
    paid = [causes_paid(policy.comparison) for policy in policies]
    sums = [sum(causes.values()) for causes in paid]
    rolling = [policy.comparison.windows[-1].rolling for policy in policies]
    longest = max(*sums, *rolling) or 1
    for row, policy in enumerate(policies):
        draw_paid(ax, row, policy, longest)
        window = policy.comparison.windows[-1]
        for place, (cost, colour) in enumerate(((window.rolling, ROLLING), (window.bound, BOUND))):
            ax.barh(
                row + BAR_HEIGHT / 2 - 0.08 + (place + 0.5) * THIN_HEIGHT,
                cost,
                height=THIN_HEIGHT * 0.86,
                color=colour,
                linewidth=0,
            )
        ax.text(
            max(sums[row], rolling[row]) + 0.012 * longest,
            row - 0.08,
            f"{times(window.ratio)} bound",
            va="center",
            fontsize=FONT_SIZE,
            color=INK,
        )
    ax.set_xlim(0, ROOM_FOR_RATIOS * longest)
    ax.set_ylim(len(policies) - 0.35, -0.5)
    ax.set_yticks(
        range(len(policies)),
        [name_in_lines(policy.label) for policy in policies],
        fontsize=FONT_SIZE,
    )
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=FONT_SIZE)
    cost_ticks(ax.xaxis, most=MOST_TICKS if longest < WIDE else MOST_WIDE_TICKS)
    ax.set_xlabel(label_of(policies), fontsize=FONT_SIZE, parse_math=False)
    ax.grid(axis="x", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    add_legend(ax, policies, [cause for cause in Cause if any(one[cause] for one in paid)])


def draw_paid(ax: Axes, row: int, policy: Policy, longest: int) -> None:
    """Draw what a policy paid, with the share of every cause that has room for it."""
    causes = causes_paid(policy.comparison)
    colours = group_colours(map(str, Cause))
    total = sum(causes.values())
    left = 0
    for cause, cost in causes.items():
        colour = colours[str(cause)]
        ax.barh(row - 0.08, cost, left=left, height=BAR_HEIGHT, color=colour, linewidth=0)
        if cost >= NARROWEST_SHARE * longest:
            ax.text(
                left + cost / 2,
                row - 0.08,
                f"{cost / total:.0%}",
                ha="center",
                va="center_baseline",
                fontsize=FONT_SIZE - 1,
                color=ink_on(colour),
            )
        left += cost


def draw_keys(ax: Axes, policies: Sequence[Policy]) -> None:
    """Show each policy's line between its name and its bar."""
    for row, policy in enumerate(policies):
        first, last = KEY
        for places, line in (
            ((first, last), {**policy.line, "marker": None}),
            (((first + last) / 2,), policy.line),
        ):
            ax.plot(
                places,
                [row] * len(places),
                transform=ax.get_yaxis_transform(),
                clip_on=False,
                **line,
            )


def label_of(policies: Sequence[Policy]) -> str:
    """Return what the costs mean."""
    return cost_label([policy.comparison for policy in policies])


def add_legend(ax: Axes, policies: Sequence[Policy], causes: Sequence[Cause]) -> None:
    """Say above the bars what their colours mean."""
    from matplotlib.patches import Patch

    colours = group_colours(map(str, Cause))
    windows = dict.fromkeys(policy.comparison.windows[-1].window for policy in policies)
    length = f" (window: {', '.join(windows)})"
    ax.legend(
        handles=[
            *(Patch(color=colours[str(cause)], label=str(cause)) for cause in causes),
            Patch(color=ROLLING, label=f"rolling schedule{length}"),
            Patch(color=BOUND, label=f"bound{length}"),
        ],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        fontsize=FONT_SIZE,
        columnspacing=1.4,
    )


def draw_ladders(ax: Axes, policies: Sequence[Policy], scale: Scale) -> None:
    """Draw what each policy paid, and what rolling schedules pay with how much look-ahead."""
    begin = (scale.lengths[0] if scale.lengths else scale.whole) / WHOLE_AT
    costs = []
    for policy in policies:
        windows = policy.comparison.windows
        points = sorted((scale.place(parse_window(one.window)), one.rolling) for one in windows)
        places = [begin, *(place for place, _ in points)]
        paid = [windows[0].realised, *(cost for _, cost in points)]
        ax.plot(places, paid, clip_on=False, zorder=3, **policy.line)
        costs += paid
    ax.set_xscale("log")
    label_ladder(ax, scale, begin)
    scale_costs(ax, costs)
    ax.set_ylabel(label_of(policies), fontsize=FONT_SIZE, parse_math=False)
    ax.set_title("as it ran, and rolling schedules", fontsize=FONT_SIZE, color=INK, loc="left")
    ax.tick_params(labelsize=FONT_SIZE)
    ax.grid(axis="y", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def label_ladder(ax: Axes, scale: Scale, begin: float) -> None:
    """Write below the axis where the trace itself stands, some lengths, and the whole trace."""
    from matplotlib.ticker import FixedLocator, NullFormatter

    shown = list(scale.lengths)
    if len(shown) > MOST_LENGTHS:
        shown = [one for one in shown if str(one).strip("0") == "1"] or shown[:1]
    # The name of the last one would stand on that of the whole trace.
    near = (scale.whole / begin) ** NEAR
    shown = [one for one in shown if scale.whole / one > near]
    ticks = {
        begin: "as it\nran",
        **{float(one): length_text(one, scale.kind) for one in shown},
        scale.whole: "whole",
    }
    ax.set_xticks([*ticks], [*ticks.values()])
    ax.xaxis.set_minor_locator(FixedLocator([float(one) for one in scale.lengths]))
    ax.xaxis.set_minor_formatter(NullFormatter())
    for place in (begin * WHOLE_AT**0.5, scale.whole / WHOLE_AT**0.5):
        ax.axvline(place, color=mixed(INK, PAPER, 0.7), linewidth=0.6)
    unit = " in managed dispatches" if scale.kind is WindowKind.DISPATCHES else ""
    ax.set_xlabel(f"look-ahead: length of the window{unit}", fontsize=FONT_SIZE)
