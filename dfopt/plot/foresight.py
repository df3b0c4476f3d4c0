"""The foresight curve: the cost of a trace, and the least possible cost by look-ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.compare.comparison import Comparison, WindowResult, policies_of
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed
from dfopt.plot.costs import cost_label, scale_costs
from dfopt.plot.look_ahead import WHOLE_AT, LookAheadAxis, draw_break, label_look_ahead
from dfopt.plot.names import add_legend_below, height_below, shown_name
from dfopt.plot.picture import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (8.0, 5.0)
"""Width and height of a figure, in inches; more than a few names make it higher."""

ROOM_FOR_NAMES = 0.7
"""Height for the names within a figure, in inches."""

FONT_SIZE = 9.0

LONGEST_NAME = 80
"""Names of traces have at most this number of characters."""

SHADING = 0.35
"""Opacity of the area between bound and rolling schedule."""

STYLES: dict[str, dict[str, Any]] = {
    "realised": {"linestyle": (0, (4, 2)), "linewidth": 1.6},
    "rolling": {"linestyle": "-", "marker": "o", "markersize": 5.0, "linewidth": 1.4},
    "bound": {"linestyle": "-", "marker": "^", "markersize": 5.5, "linewidth": 1.4},
}
"""The styles by which the three curves differ, in any colour."""

MEANINGS = {
    "realised": "realised",
    "rolling": "rolling schedule: looks ahead",
    "bound": "bound",
}
ORDER_KEPT: dict[str, dict[str, Any]] = {
    "online": {"linestyle": "", "marker": "D", "markersize": 5.5},
    "best": {"linestyle": "", "marker": "s", "markersize": 5.5, "fillstyle": "none"},
}
"""The styles of points at look-ahead 0: only the CPUs are chosen."""

ORDER_KEPT_MEANINGS = {"online": "order kept, online", "best": "order kept, best"}

WEAK = "bounds of short windows are weak, since each may begin with any caches"
"""Why the bound may rise where one may look further ahead."""

BETWEEN = "between them: the best possible"


def plot_foresight(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw costs against how far a scheduler may look ahead.

    Each trace has a colour. A dashed line shows what it paid. Below it, against the length of
    the window on a logarithmic axis, stand the cost of the rolling schedule and the bound; the
    best possible lies in the shaded area between them. The whole trace stands at the right end. At
    the left end, at look-ahead 0, stands what other CPUs alone would have saved with the dispatches
    in their order: by the rule that takes the least recently used CPU, and at best. Costs that
    differ much stand on a logarithmic axis too, with a place for 0.

    Parameters
    ----------
    comparisons
        One or more traces.
    ax
        Where to draw; a figure of its own if None.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When there is nothing to draw, or lengths in dispatches and in time are mixed.
    """
    look_ahead = LookAheadAxis.of(comparisons)
    called = policies_of(comparisons) if len(comparisons) > 1 else None
    called = called or [comparison.name for comparison in comparisons]
    names = [shown_name(name, longest=LONGEST_NAME) for name in called]
    more = max(0.0, height_below(names, FONT_SIZE) - ROOM_FOR_NAMES)
    axes = new_axes(SIZE[0], SIZE[1] + more) if ax is None else ax
    colours = list(group_colours(str(number) for number in range(len(names))).values())
    for comparison, colour in zip(comparisons, colours, strict=True):
        draw_curves(axes, comparison, look_ahead, colour)
    has_order_kept = any(comparison.order_kept for comparison in comparisons)
    ticks = look_ahead.ticks(look_ahead.lengths)
    if has_order_kept:
        ticks[look_ahead.none] = "0"
        draw_break(axes, look_ahead.none * WHOLE_AT**0.5)
    label_look_ahead(axes, look_ahead, ticks, font_size=FONT_SIZE)
    if len(names) == 1:  # the names of several stand there
        axes.set_xlabel(f"{axes.get_xlabel()}\n{WEAK}", fontsize=FONT_SIZE)
    costs = (cost for comparison in comparisons for cost in drawn_costs(comparison))
    scale_costs(axes, comparisons, costs)
    axes.set_ylabel(cost_label(comparisons), fontsize=FONT_SIZE, parse_math=False)
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(axis="y", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(axes, names, colours, has_order_kept=has_order_kept)
    return axes


def draw_curves(
    ax: Axes, comparison: Comparison, look_ahead: LookAheadAxis, colour: Colour
) -> None:
    """Draw what a trace paid, the rolling schedules, the bounds, and what lies between."""
    points: list[tuple[float, WindowResult]] = sorted(
        ((look_ahead.position(window.window), window) for window in comparison.windows),
        key=lambda point: point[0],
    )
    positions = [position for position, _ in points]
    line = line_colour(colour)
    for name, style in STYLES.items():
        costs = [getattr(window, name) for _, window in points]
        if name == "realised":
            ax.axhline(costs[0], color=line, **style)
        else:
            ax.plot(positions, costs, color=line, markeredgecolor=PAPER, **style)
    bound = [window.bound for _, window in points]
    rolling = [window.rolling for _, window in points]
    for name, cost in order_kept_costs(comparison).items():
        ax.plot(look_ahead.none, cost, color=line, **ORDER_KEPT[name])
    ax.fill_between(positions, bound, rolling, color=colour, alpha=SHADING, linewidth=0)


def drawn_costs(comparison: Comparison) -> Iterator[int]:
    """Yield what the curves of a trace show."""
    for window in comparison.windows:
        yield from (getattr(window, name) for name in STYLES)
    yield from order_kept_costs(comparison).values()


def order_kept_costs(comparison: Comparison) -> dict[str, int]:
    """Return the costs at look-ahead 0, as far as they are known."""
    costs = {name: getattr(comparison.order_kept, name, None) for name in ORDER_KEPT}
    return {name: cost for name, cost in costs.items() if cost is not None}


def line_colour(colour: Colour) -> Colour:
    """Return a colour dark enough for lines on white."""
    return mixed(colour, INK, 0.35)


def add_legend(
    ax: Axes, names: Sequence[str], colours: Sequence[Colour], *, has_order_kept: bool
) -> None:
    """Say above the axes what the curves mean, and below them which colour is which trace."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    alone = len(names) == 1
    ink = line_colour(colours[0]) if alone else INK
    handles: list[Any] = [
        Line2D([], [], color=ink, markeredgecolor=PAPER, label=meaning, **STYLES[name])
        for name, meaning in MEANINGS.items()
    ]
    ground = colours[0] if alone else mixed(INK, PAPER, 0.4)
    handles.append(Patch(facecolor=ground, alpha=SHADING, label=BETWEEN))
    columns = len(handles)
    if has_order_kept:
        handles += [
            Line2D([], [], color=ink, label=ORDER_KEPT_MEANINGS[name], **style)
            for name, style in ORDER_KEPT.items()
        ]
        columns = 3
    add_legends(ax, handles, names, colours, columns=columns)


def add_legends(
    ax: Axes,
    handles: Sequence[Any],
    names: Sequence[str],
    colours: Sequence[Colour],
    *,
    columns: int,
) -> None:
    """Say above the axes what lines mean, and below them which colour is which trace.

    The name of a single trace stands above all.
    """
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=FONT_SIZE,
        columnspacing=1.4,
    )
    if len(names) == 1:
        legend.set_title(names[0])
        legend.get_title().set(fontsize=FONT_SIZE + 2, parse_math=False)
        legend.set_alignment("left")
    else:
        legend.set_clip_on(False)  # else the layout would leave no room for it
        ax.add_artist(legend)
        add_names(ax, names, colours)


def add_names(ax: Axes, names: Sequence[str], colours: Sequence[Colour]) -> None:
    """Say below the axes which colour is which trace."""
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=mixed(colour, PAPER, 0.3), edgecolor=line_colour(colour))
        for colour in colours
    ]
    add_legend_below(ax, patches, names, font_size=FONT_SIZE)
