"""What was attainable, beside what was recorded: cost against waiting, and a bar for each way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison
from dfopt.compare.part_tables import row_name
from dfopt.errors import DfoptError
from dfopt.plot.compared import cost_label, cost_ticks, names_of, scale_costs, short_cost
from dfopt.plot.style import (
    FAINT,
    GREY,
    INK,
    PAPER,
    add_legend,
    begin_axes,
    label_points,
    line_style,
    new_axes,
    styled,
)
from dfopt.time_units import readable_time, time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SIZE = (8.0, 5.2)
"""Width and height of a figure, in inches."""

SHADING = 0.3
"""Opacity of the area between bound and attained cost."""

WIDE = 8
"""Waits that differ by more than this factor need a logarithmic axis."""

NARROW = 2
"""Waits that differ by less than this factor stand on an axis that does not begin at 0."""

FEWEST_ROWS = 2
"""The recorded run alone shows nothing that was attainable, so it is not drawn."""

MARK: dict[str, Any] = {"markeredgecolor": PAPER, "markeredgewidth": 0.7}

STYLES: dict[str, dict[str, Any]] = {
    "recorded": {"color": "#CC3311", "ls": "", "marker": "D", "ms": 9.0, **MARK},
    "same timeline": {
        "color": "#CC3311", "ls": "", "marker": "D", "ms": 6.0, "markerfacecolor": PAPER,
        "markeredgewidth": 1.4,
    },
    "same mean wait": {"color": "#AA4499", "ls": "", "marker": "s", "ms": 7.0, **MARK},
    "attained": {"color": "#4477AA", "ls": "-", "marker": "o", "ms": 6.5, "lw": 1.8, **MARK},
    "bound": {"color": "#225588", "ls": "-", "marker": "^", "ms": 5.5, "lw": 1.2, **MARK},
    "patience": {
        "color": "#117733", "ls": (0, (1.2, 1.2)), "marker": "x", "ms": 5.0, "lw": 1.4,
        "markeredgewidth": 1.3,
    },
}  # fmt: skip
"""How points and curves look, the most important first; several traces have colours instead."""

MEANINGS = {
    "attained": "nobody later, or longest wait",
    "bound": "bound within the same limit",
    "patience": "patience: an online rule",
}
"""What the legend says of a style where its name is too short for that."""


@styled
def plot_frontier(comparisons: Sequence[Comparison], *, ax: Axes | None = None) -> Axes:
    """Draw costs against the mean wait.

    A diamond shows what was recorded; what is cheaper lies below it, and what waits less lies to
    its left. Schedules in which no dispatch waits longer than permitted stand on a curve, from
    "nobody later than recorded" on; below it lies the bound for each of them, and the cheapest
    schedule with this limit costs something in the shaded area between the two. A dotted curve
    shows an online rule, which knows no future, for a range of patience. Several traces differ by
    their colours.

    Parameters
    ----------
    comparisons
        One or more traces with a frontier.
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
        When a comparison has no frontier, or their times have different units.
    """
    from matplotlib.patches import Patch

    if not comparisons:
        raise DfoptError("there is no trace to draw; name one")
    for comparison in comparisons:
        check_rows(comparison)
    if len({comparison.time_unit for comparison in comparisons}) > 1:
        raise DfoptError("traces with different units of time share no axis; draw them one by one")
    axes = begin_axes(new_axes(*SIZE) if ax is None else ax)
    is_alone = len(comparisons) == 1
    colours = [
        {} if is_alone else {"color": line_style(n)["color"]} for n in range(len(comparisons))
    ]
    for comparison, colour in zip(comparisons, colours, strict=True):
        draw_curves(axes, comparison, colour)
    every = [curves_of(comparison) for comparison in comparisons]
    rows = [row for curves in every for curve in curves.values() for row in curve]
    scale_waits(axes, [row.mean_wait or 0 for row in rows], comparisons[0].time_unit)
    if any(row.with_switches for row in rows):
        axes.set_xlabel(f"{axes.get_xlabel()}, as if switches delayed nothing")
    bounds = [row.bound or 0 for curves in every for row in curves["bound"]]
    scale_costs(axes, comparisons, [row.cost for row in rows] + bounds)
    ink = {} if is_alone else {"color": INK}
    signs = {
        MEANINGS.get(name, name): STYLES[name] | ink
        for name in STYLES
        if any(curves[name] for curves in every)
    }
    add_legend(axes, signs, side="upper center")
    names = names_of(comparisons)
    if is_alone:
        axes.set_title(names[0])
        label_curves(axes, comparisons[0])
    else:
        patches = [Patch(**colour) for colour in colours]
        add_legend(axes, dict(zip(names, patches, strict=True)))
    return axes


def is_drawable(comparison: Comparison) -> bool:
    """Return whether a comparison has more to draw than the recorded run."""
    return comparison.frontier is not None and (
        sum(map(len, curves_of(comparison).values())) >= FEWEST_ROWS
    )


def check_rows(comparison: Comparison) -> None:
    """Refuse a comparison without rows to draw."""
    refuse(comparison, "frontier", unless=is_drawable)


def refuse(comparison: Comparison, name: str, *, unless: Callable[[Comparison], bool]) -> None:
    """Refuse a comparison that shows nothing; ``name`` is what it would show."""
    frontier = comparison.frontier
    if frontier is None:
        raise DfoptError("has no frontier; compare it again with one", file=comparison.name)
    if not unless(comparison):
        reason = frontier.left_out or "an interrupt came first"
        raise DfoptError(f"has no {name} to draw: {reason}", file=comparison.name)


def style_of(row: FrontierRow) -> str:
    """Return the style in which the cost of a row is drawn."""
    is_limited = row.scheduling in (Scheduling.NOBODY_LATER, Scheduling.LONGEST_WAIT)
    return "attained" if is_limited else str(row.scheduling)


def curves_of(comparison: Comparison) -> dict[str, list[FrontierRow]]:
    """Return the rows that are drawn in each style, in the order of their line."""
    assert comparison.frontier is not None
    curves: dict[str, list[FrontierRow]] = {name: [] for name in STYLES}
    for row in comparison.frontier.rows:
        if row.mean_wait is not None and row.scheduling is not Scheduling.LEAST_RECENTLY_USED:
            curves[style_of(row)].append(row)
    curves["attained"].sort(key=lambda row: row.wait or 0)
    curves["bound"] = [row for row in curves["attained"] if row.bound is not None]
    curves["patience"] = list(comparison.frontier.patience)
    return curves


def draw_curves(ax: Axes, comparison: Comparison, colour: dict[str, Any]) -> None:
    """Draw the points and curves of a trace, in one colour or in those of the styles."""
    curves = curves_of(comparison)
    between = sorted((row.mean_wait or 0, row.bound or 0, row.cost) for row in curves["bound"])
    if between:
        area = {"color": STYLES["attained"]["color"]} | colour
        waits, bounds, costs = zip(*between, strict=True)
        ax.fill_between(waits, bounds, costs, alpha=SHADING, linewidth=0, **area)
    for name, rows in reversed(curves.items()):  # what was recorded comes last, on top
        if rows:
            points = [
                (row.mean_wait or 0, (row.bound or 0) if name == "bound" else row.cost)
                for row in rows
            ]
            ax.plot(*zip(*points, strict=True), zorder=3, clip_on=False, **STYLES[name] | colour)


def label_curves(ax: Axes, comparison: Comparison) -> None:
    """Write beside the points of a trace what they are, as far as there is room.

    The ground of what is cheaper than recorded and waits no longer is grey.
    """
    curves = curves_of(comparison)
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())
    for row in curves["recorded"]:
        ends = [ax.get_xlim()[0], row.mean_wait or 0]
        ax.fill_between(ends, [row.cost] * 2, color=FAINT, alpha=0.3, linewidth=0, zorder=0)
    unit = comparison.time_unit
    labels = []
    for name, rows in curves.items():
        for row in rows if name != "bound" else ():
            name_of_row = row.limit(unit) or row.scheduling
            text = f"{name_of_row}: {short_cost(row.cost, comparison)}"
            labels.append(((row.mean_wait or 0, row.cost), text, STYLES[name]["color"]))
    label_points(ax, labels)


def scale_waits(ax: Axes, waits: Sequence[float], unit: str | None) -> None:
    """Scale and label the axis of mean waits."""
    from matplotlib.ticker import LogLocator, NullLocator

    least, most = min(waits), max(waits)
    usual = most
    ax.margins(x=0.2)
    if least > 0 and most > WIDE * least:
        usual = (least * most) ** 0.5
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_minor_locator(NullLocator())
    elif most >= NARROW * least:  # others would stand in a corner of an axis that begins at 0
        ax.set_xlim(left=0)
    size, name = time_scale(usual, unit)
    ax.xaxis.set_major_formatter(lambda wait, _: f"{wait / size:,.6g}")
    ax.set_xlabel("mean wait of a dispatch" + (f" ({name})" if name else ""))


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
