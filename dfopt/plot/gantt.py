"""A schedule as a Gantt chart: one row a CPU, tasks in the colour of their fragment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt.plot.colours import INK, PAPER, group_colours, mixed
from dfopt.plot.gantt_bars import HATCHES, Brush, amount_text, draw_rows, text_width
from dfopt.plot.names import add_legend_below, shown_name
from dfopt.plot.picture import POINTS_PER_INCH, lay_out, new_axes
from dfopt.problem.cache_state import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.schedule import Schedule
from dfopt.problem.timeline import (
    ChargeKind,
    CpuTimeline,
    group_of,
    is_to_scale,
    nominal_width,
    timeline,
)
from dfopt.problem.unit_text import unit_text
from dfopt.time_units import NANOSECONDS, full_time, time_scale

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

WIDTH = 10.0
"""Width of a figure, in inches."""

LARGEST_FONT = 9.0
FONT_PER_ROW = 0.42
"""Font size as a part of the height of a row."""

MOST_IN_LEGEND = 12
"""With more fragments than this the bars name them, and not the legend."""

MOST_TICKS = 64

TITLE: dict[str, Any] = {"fontsize": 11.0, "parse_math": False}


def plot_schedule(instance: Instance, schedule: Schedule, *, ax: Axes | None = None) -> Axes:
    """Draw a schedule as a Gantt chart.

    CPUs are rows, CPU 0 on top. Tasks have the colour of their fragment (with a switch table, of
    their type). Penalties are hatched in the colour of the fragment that is written back or read
    and carry their amount; where a CPU waits nothing is drawn. The cost of each CPU stands at
    the end of its row. A line marks the most expensive CPU, which is the objective (except under
    ``total-penalty``).

    Under ``makespan`` the horizontal axis is time. The other objectives do not count execution
    times, so there every task is drawn equally wide, and only penalties are to scale.

    Parameters
    ----------
    instance, schedule
        A schedule and the instance it belongs to.
    ax
        Where to draw; a figure of its own if None, of a height that fits the number of CPUs.

    Returns
    -------
    matplotlib.axes.Axes
        Where the schedule has been drawn.

    Raises
    ------
    DfoptError
        When the schedule does not belong to the instance, or its costs are wrong.
    """
    task_width = None if is_to_scale(instance) else nominal_width(schedule)
    rows = timeline(instance, schedule, task_width=task_width)
    axes = new_axes(WIDTH, figure_height(len(rows))) if ax is None else ax
    font_size = font_size_of(axes, len(rows))
    label_axes(axes, instance, schedule, task_width)
    label_rows(axes, instance, font_size)
    if ax is None:
        lay_out(axes)  # how much room the bars have depends on the labels
    brush = prepared(axes, instance, rows, font_size)
    draw_rows(brush, rows)
    draw_costs(brush, instance, rows, across=task_width is None)
    add_legend(brush, rows)
    return axes


def figure_height(rows: int) -> float:
    """Return a height in inches: rows are lower where there are many of them."""
    for most, pitch in ((6, 0.55), (20, 0.38), (64, 0.25)):
        if rows <= most:
            return 1.6 + rows * pitch
    return min(40.0, 1.6 + rows * 0.16)


def font_size_of(ax: Axes, rows: int) -> float:
    """Return the size of letters that fit on bars, in points."""
    return min(LARGEST_FONT, FONT_PER_ROW * size_in_points(ax)[1] / rows)


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes, in points."""
    points_per_pixel = POINTS_PER_INCH / ax.figure.dpi
    return ax.bbox.width * points_per_pixel, ax.bbox.height * points_per_pixel


def label_axes(ax: Axes, instance: Instance, schedule: Schedule, task_width: float | None) -> None:
    """Write the name of the instance, the cost of the schedule, and the meaning of lengths."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    unit, value = instance.time_unit, schedule.value(instance.objective)
    worth = f"{instance.objective} {written(value, unit)}"
    ax.set_title(shown_name(instance.name or "", longest=60), loc="left", **TITLE)
    ax.set_title(worth, loc="right", **TITLE)
    if task_width is None:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        size, name = time_scale(value, unit)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda time, _: f"{time / size:,.10g}"))
        ax.grid(axis="x", color=mixed(INK, PAPER, 0.85), linewidth=0.6)
        ax.set_axisbelow(True)
        text = f"time ({unit_text(name).strip()})" if unit else "time"
    else:
        ax.set_xticks([])
        text = (
            "order of execution: penalties to scale, every task drawn as wide as a penalty of "
            f"{written(task_width, unit)}"
        )
    ax.set_xlabel(text, fontsize=LARGEST_FONT, parse_math=False)
    ax.tick_params(axis="x", labelsize=LARGEST_FONT)
    ax.spines[["top", "right", "left"]].set_visible(False)


def written(amount: float, unit: str | None) -> str:
    """Return an amount with its unit."""
    if unit in NANOSECONDS:
        return full_time(amount, unit)
    return f"{amount:,.15g}{unit_text(unit, amount)}"


def label_rows(ax: Axes, instance: Instance, font_size: float) -> None:
    """Name the CPUs, from top to bottom, with what their caches hold at the start."""
    names = [
        f"CPU {cpu}, holds {shown_name(group_of(instance.penalty, state))}"
        if isinstance(state, CacheState)
        else f"CPU {cpu}, cache unknown"
        if state == "unknown"
        else f"CPU {cpu}"
        for cpu, state in enumerate(instance.initial_states)
    ]
    name_rows(ax, names, font_size)


def name_rows(ax: Axes, names: Sequence[str], font_size: float) -> None:
    """Write the names of rows beside them, the first one on top; of many rows only some."""
    shown = range(0, len(names), -(-len(names) // MOST_TICKS))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(
        shown, labels=[names[cpu] for cpu in shown], fontsize=max(4, font_size), parse_math=False
    )
    ax.tick_params(axis="y", length=0)


def prepared(ax: Axes, instance: Instance, rows: Sequence[CpuTimeline], font_size: float) -> Brush:
    """Set the horizontal limits, leaving room for the costs, and return what to draw with."""
    width, _ = size_in_points(ax)
    margin = (
        max(text_width(amount_text(row.cost, instance.time_unit), font_size) for row in rows)
        + font_size
    )
    span = (max(row.end for row in rows) or 1) / max(0.5, 1 - margin / width)
    ax.set_xlim(0, span)
    holders: list[Task | CacheState] = list(instance.tasks)
    holders += [state for state in instance.initial_states if isinstance(state, CacheState)]
    groups = {group_of(instance.penalty, holder) for holder in holders}
    colours = group_colours(sorted(groups, key=as_people_sort))
    return Brush(
        ax=ax,
        points_per_unit=width / span,
        font_size=font_size,
        colours=colours,
        names_groups=len(colours) > MOST_IN_LEGEND,
        unit=instance.time_unit,
    )


def as_people_sort(name: str) -> list[tuple[int, int, str]]:
    """Return a sorting key that puts DF9 before DF10."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", name)
    return [(0, int(digits), "") if digits else (1, 0, text) for digits, text in parts]


def draw_costs(
    brush: Brush, instance: Instance, rows: Sequence[CpuTimeline], *, across: bool
) -> None:
    """Write each CPU's cost at the end of its row, and mark the most expensive CPU by a line."""
    worst = max(row.cost for row in rows)
    marks = instance.objective is not Objective.TOTAL_PENALTY and worst > 0
    for number, row in enumerate(rows):
        is_worst = marks and row.cost == worst
        brush.ax.annotate(
            amount_text(row.cost, instance.time_unit),
            (row.end, number),
            xytext=(0.6 * brush.font_size, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=brush.font_size,
            fontweight="bold" if is_worst else "normal",
            color=INK if is_worst else mixed(INK, PAPER, 0.3),
            bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "linewidth": 0},
            in_layout=False,
        )
        if is_worst:
            brush.ax.vlines(row.end, number - 0.5, number + 0.5, color=INK, linewidth=2)
    if across and marks:
        brush.ax.axvline(worst, color=INK, linewidth=0.8, linestyle="--", zorder=0.9)


def add_legend(brush: Brush, rows: Sequence[CpuTimeline]) -> None:
    """Add a legend below the axes: the kinds of penalty, and the groups if they are few."""
    from matplotlib.patches import Patch

    entries: list[tuple[str, Artist]] = []
    if not brush.names_groups:
        entries += [(shown_name(name), Patch(color=c)) for name, c in brush.colours.items()]
    present = {charge.kind for row in rows for charge in row.charges}
    grey = mixed(INK, PAPER, 0.25)
    entries += [
        (kind, Patch(facecolor=PAPER, edgecolor=grey, hatch=HATCHES[kind], linewidth=0))
        for kind in ChargeKind
        if kind in present
    ]
    draw_legend(brush, entries, has_ticks=bool(len(brush.ax.get_xticks())))


def draw_legend(brush: Brush, entries: Sequence[tuple[str, Artist]], *, has_ticks: bool) -> None:
    """Draw a legend of names and what stands for them below the axis and its label."""
    if not entries:
        return
    ax = brush.ax
    names, patches = zip(*entries, strict=True)
    column = max(text_width(name, LARGEST_FONT) for name in names) + 4.5 * LARGEST_FONT
    add_legend_below(
        ax,
        patches,
        names,
        font_size=LARGEST_FONT,
        drop=4 if has_ticks else 2.7,  # below the axis and its label
        ncols=max(1, min(len(names), int(size_in_points(ax)[0] / column))),
        borderpad=0,
        handlelength=1.8,
    )
