"""The frontier: what was attainable at which waiting, beside what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison, policies_of
from dfopt.compare.window_length import WindowKind
from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed, parsed
from dfopt.plot.costs import cost_label, scale_costs, short_cost
from dfopt.plot.look_ahead import TIME_UNITS, length_text
from dfopt.plot.names import add_labels_beside, add_legend_below, height_below, shown_name
from dfopt.plot.picture import new_axes
from dfopt.time_units import NANOSECONDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

SIZE = (8.0, 5.2)
"""Width and height of a figure, in inches; more than a few names make it higher."""

ROOM_FOR_NAMES = 0.7
"""Height for the names within a figure, in inches."""

FONT_SIZE = 9.0
SMALL = 7.5

LONGEST_NAME = 80
"""Names of traces have at most this number of characters."""

SHADING = 0.35
"""Opacity of the area between bound and attained cost."""

WIDE = 8
"""Waits that differ by more than this factor need a logarithmic axis."""

NARROW = 2
"""Waits that differ by less than this factor stand on an axis that does not begin at 0."""

ROOM, MARGIN = 1.12, 0.25
"""How far the axis of waits goes beyond the longest one, as a factor; how far it begins before the
shortest one, as a part of their range."""

FEWEST_ROWS = 2
"""The recorded run alone shows nothing that was attainable, so it is not drawn."""

MARK: dict[str, Any] = {"markeredgecolor": PAPER, "markeredgewidth": 0.7}

STYLES: dict[str, dict[str, Any]] = {
    "recorded": {"linestyle": "", "marker": "D", "markersize": 9.0, **MARK},
    "same timeline": {
        "linestyle": "", "marker": "D", "markersize": 6.0, "markerfacecolor": PAPER,
        "markeredgewidth": 1.4,
    },
    "attained": {"linestyle": "-", "marker": "o", "markersize": 6.5, "linewidth": 1.8, **MARK},
    "bound": {"linestyle": "-", "marker": "^", "markersize": 5.5, "linewidth": 1.2, **MARK},
    "same mean wait": {"linestyle": "", "marker": "s", "markersize": 7.0, **MARK},
    "patience": {
        "linestyle": (0, (1.2, 1.2)), "marker": "x", "markersize": 5.0, "linewidth": 1.4,
        "markeredgewidth": 1.3,
    },
}  # fmt: skip
"""The styles by which points and curves differ, in any colour."""

MEANINGS = {
    "recorded": "recorded",
    "same timeline": "same timeline",
    "attained": "nobody later, or longest wait",
    "bound": "bound within the same limit",
    "same mean wait": "same mean wait",
    "patience": "patience: an online rule",
}

COLOURS = {
    "recorded": "#CC3311", "same timeline": "#CC3311", "attained": "#4477AA", "bound": "#225588",
    "same mean wait": "#AA4499", "patience": "#117733",
}  # fmt: skip
"""The colours of points and curves if there is only one trace."""

BETTER: Colour = mixed(INK, PAPER, 0.955)
"""The ground of what is cheaper than recorded and waits no longer."""


def plot_frontier(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw costs against the mean wait.

    Each trace has a colour. A diamond shows what was recorded; what is cheaper lies below it, and
    what waits less lies to its left. Schedules in which no dispatch waits longer than permitted
    stand on a curve, from "nobody later than recorded" on; below it lies the bound for each of
    them, and the cheapest schedule with this limit costs something in the shaded area between the
    two. A dotted curve shows an online rule, which knows no future, for a range of patience.

    Parameters
    ----------
    comparisons
        One or more traces with a frontier.
    ax
        Where to draw; a figure of its own if None.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When a comparison has no frontier, or their times have different units.
    """
    check_drawable(comparisons)
    called = policies_of(comparisons) if len(comparisons) > 1 else None
    called = called or [comparison.name for comparison in comparisons]
    names = [shown_name(name, longest=LONGEST_NAME) for name in called]
    more = max(0.0, height_below(names, FONT_SIZE) - ROOM_FOR_NAMES)
    axes = new_axes(SIZE[0], SIZE[1] + more) if ax is None else ax
    colours = list(group_colours(str(number) for number in range(len(names))).values())
    for comparison, colour in zip(comparisons, colours, strict=True):
        alone = {name: parsed(code) for name, code in COLOURS.items()}
        inks = alone if len(comparisons) == 1 else dict.fromkeys(STYLES, line_colour(colour))
        draw_frontier(axes, comparison, inks)
    rows = [row for comparison in comparisons for row in drawn_rows(comparison)]
    scale_waits(axes, [mean_wait(row) for row in rows], comparisons[0].time_unit)
    if any(row.with_switches for row in rows):
        label = f"{axes.get_xlabel()}, as if switches delayed nothing"
        axes.set_xlabel(label, fontsize=FONT_SIZE, parse_math=False)
    scale_costs(axes, comparisons, drawn_costs(rows))
    axes.set_ylabel(cost_label(comparisons), fontsize=FONT_SIZE, parse_math=False)
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(color=mixed(INK, PAPER, 0.88), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(axes, names, colours, {name for row in rows for name in styles_of(row)})
    if len(comparisons) == 1:
        label_points(axes, comparisons[0])
    return axes


def check_drawable(comparisons: Sequence[Comparison]) -> None:
    """Refuse comparisons without rows, and times that share no axis."""
    if not comparisons:
        raise DfoptError("there is no trace to draw; name one")
    for comparison in comparisons:
        check_rows(comparison)
    if len({comparison.time_unit for comparison in comparisons}) > 1:
        raise DfoptError("traces with different units of time share no axis; draw them one by one")


def check_rows(comparison: Comparison) -> None:
    """Refuse a comparison without rows to draw."""
    refuse_few(comparison, drawn_rows, "frontier")


def refuse_few(
    comparison: Comparison, rows_of: Callable[[Comparison], Sequence[FrontierRow]], name: str
) -> None:
    """Refuse a comparison with too few rows to draw; ``name`` is what they would show."""
    frontier = comparison.frontier
    if frontier is None:
        raise DfoptError("has no frontier; compare it again with one", file=comparison.name)
    if len(rows_of(comparison)) < FEWEST_ROWS:
        reason = frontier.left_out or "an interrupt came first"
        raise DfoptError(f"has no {name} to draw: {reason}", file=comparison.name)


def drawn_rows(comparison: Comparison) -> list[FrontierRow]:
    """Return all rows that are drawn; those of the online rule come last."""
    assert comparison.frontier is not None
    rows = [
        row
        for row in comparison.frontier.rows
        if styles_of(row) and row.scheduling is not Scheduling.PATIENCE
    ]
    return [*rows, *comparison.frontier.patience]


def styles_of(row: FrontierRow) -> tuple[str, ...]:
    """Return the styles in which a row is drawn."""
    if row.mean_wait is None:
        return ()
    match row.scheduling:
        case Scheduling.LEAST_RECENTLY_USED:
            return ()
        case Scheduling.NOBODY_LATER | Scheduling.LONGEST_WAIT:
            return ("attained", *(["bound"] if row.bound is not None else []))
    return (str(row.scheduling),)


def mean_wait(row: FrontierRow) -> float:
    """Return the mean wait of a row that is drawn."""
    assert row.mean_wait is not None, "what has no waits is not drawn"
    return row.mean_wait


def drawn_costs(rows: Iterable[FrontierRow]) -> list[int]:
    """Return all costs and bounds that are drawn."""
    bounded = (Scheduling.NOBODY_LATER, Scheduling.LONGEST_WAIT, Scheduling.SAME_MEAN_WAIT)
    return [
        cost
        for row in rows
        for cost in (row.cost, row.bound if row.scheduling in bounded else None)
        if cost is not None
    ]


def rows_by_style(comparison: Comparison) -> dict[str, list[FrontierRow]]:
    """Return the rows that are drawn in each style, in the order of their line."""
    rows = drawn_rows(comparison)
    points = {name: [row for row in rows if name in styles_of(row)] for name in STYLES}
    for name in ("attained", "bound"):
        points[name].sort(key=lambda row: row.wait or 0)
    return points


def height_of(row: FrontierRow, name: str) -> int:
    """Return the cost at which a row is drawn in a style."""
    return (row.bound or 0) if name == "bound" else row.cost


def draw_frontier(ax: Axes, comparison: Comparison, inks: Mapping[str, Colour]) -> None:
    """Draw the points and curves of a trace, each in its colour."""
    points = rows_by_style(comparison)
    if len(points["bound"]) > 1:
        ax.add_patch(_band(points["bound"], inks["attained"]))
    for row in points["same mean wait"]:
        if row.bound is not None:
            ends = [row.bound, row.cost]
            ax.plot([mean_wait(row)] * 2, ends, color=inks["same mean wait"], linewidth=1.2)
            ax.plot([mean_wait(row)], ends[:1], color=inks["same mean wait"], marker="_", ms=10)
    for name, rows in reversed(points.items()):  # what was recorded comes last, on top
        costs = [height_of(row, name) for row in rows]
        waits = [mean_wait(row) for row in rows]
        ax.plot(waits, costs, color=inks[name], zorder=3, clip_on=False, **STYLES[name])


def _band(rows: Sequence[FrontierRow], ink: Colour) -> PathPatch:
    """Return the area between bounds and costs.

    A longer limit may lead to shorter waits in the mean, so pieces of the band can overlap. All of
    them go from left to right, so that an overlap is shaded as once.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    pieces = []
    for pair in pairwise(rows):
        left, right = sorted(pair, key=mean_wait)
        below = [(mean_wait(row), float(row.bound or 0)) for row in (left, right)]
        above = [(mean_wait(row), float(row.cost)) for row in (right, left)]
        pieces.append(Path([*below, *above, below[0]], closed=True))
    area = Path.make_compound_path(*pieces)
    return PathPatch(area, facecolor=ink, alpha=SHADING, linewidth=0)


def label_points(ax: Axes, comparison: Comparison) -> None:
    """Write beside the points of a trace what they are, as far as there is room."""
    points = rows_by_style(comparison)
    for recorded in points["recorded"]:
        (left, _), (bottom, _) = ax.get_xlim(), ax.get_ylim()
        sides = ([left, mean_wait(recorded)], [bottom] * 2, [recorded.cost] * 2)
        ax.fill_between(*sides, color=BETTER, linewidth=0, zorder=0)
    labels = [
        (
            (mean_wait(row), row.cost),
            f"{point_name(row, comparison.time_unit)}: {short_cost(row.cost, comparison)}",
            parsed(COLOURS[name]),
        )
        for name in ("recorded", "same timeline", "same mean wait", "attained", "patience")
        for row in points[name]
    ]
    add_labels_beside(ax, labels, font_size=SMALL)


def point_name(row: FrontierRow, unit: str | None) -> str:
    """Return what stands beside a point: its limit, or its rule."""
    match row.scheduling:
        case Scheduling.LONGEST_WAIT:
            return wait_text(row.wait or 0, unit)
        case Scheduling.PATIENCE:
            return wait_text(row.patience or 0, unit)
    return str(row.scheduling)


def wait_text(wait: float, unit: str | None) -> str:
    """Return a wait in a unit that keeps it short."""
    if unit not in NANOSECONDS or not wait:
        return f"{wait:,.6g}"
    return length_text(round(wait * NANOSECONDS[unit]), WindowKind.TIME)


def scale_waits(ax: Axes, waits: Sequence[float], unit: str | None) -> None:
    """Scale and label the axis of mean waits."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    least, most = min(waits), max(waits)
    if least > 0 and most > WIDE * least:
        ax.set_xscale("log")
        ax.set_xlim(least / ROOM, most * ROOM)
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda wait, _: wait_text(wait, unit)))
        named = unit if unit not in NANOSECONDS else None
    else:
        # Waits that differ little would stand in a corner of an axis that begins at 0.
        begin = least - MARGIN * (most - least) if 0 < least < most < NARROW * least else 0
        ax.set_xlim(begin, ROOM * most - (ROOM - 1) * begin or 1)
        ax.xaxis.set_major_locator(MaxNLocator(nbins=7))
        factor, named = 1.0, unit
        if unit in NANOSECONDS:
            sizes = ((size / NANOSECONDS[unit], name) for size, name in TIME_UNITS)
            factor, named = next(
                ((size, name) for size, name in sizes if most >= size), (1.0, unit)
            )
        ax.xaxis.set_major_formatter(FuncFormatter(lambda wait, _: f"{wait / factor:,.6g}"))
    of_unit = f" ({named})" if named else ""
    ax.set_xlabel(f"mean wait of a dispatch{of_unit}", fontsize=FONT_SIZE, parse_math=False)


def add_legend(ax: Axes, names: Sequence[str], colours: Sequence[Colour], drawn: set[str]) -> None:
    """Say above the axes what points and curves mean, and below them which colour is which."""
    from matplotlib.lines import Line2D

    alone = len(names) == 1
    handles: list[Any] = [
        Line2D([], [], color=COLOURS[name] if alone else INK, label=meaning, **STYLES[name])
        for name, meaning in MEANINGS.items()
        if name in drawn
    ]
    add_legends(ax, handles, names, colours, columns=3)


def line_colour(colour: Colour) -> Colour:
    """Return a colour dark enough for lines on white."""
    return mixed(colour, INK, 0.35)


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
