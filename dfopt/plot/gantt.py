"""A schedule as a Gantt chart: one row a CPU, tasks in the colour of their fragment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING

from dfopt.plot.style import (
    GREY,
    INK,
    PAPER,
    POINTS_PER_INCH,
    Colour,
    add_legend,
    begin_axes,
    group_colours,
    ink_on,
    lay_out,
    mixed,
    new_axes,
    shade,
    shown_name,
    styled,
)
from dfopt.problem.cache import CacheState
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
from dfopt.time_units import NANOSECONDS, full_time, time_scale, unit_text

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

WIDTH = 10.0
MARGINS = 1.6
MOST_HEIGHT = 40.0
"""Width of a figure, height of what is around its rows, and its largest height, in inches."""

ROWS_HEIGHT = 7.5
LOWEST_ROW, HIGHEST_ROW = 0.16, 0.55
"""Height that rows share as long as none becomes lower or higher than this, in inches."""

LARGEST_FONT, SMALLEST_FONT = 9.0, 5.0
FONT_PER_ROW = 0.42
"""Font size as a part of the height of a row."""

CHARACTER_WIDTH, AROUND = 0.64, 0.8
"""Width of a character, on the wide side, as a part of the font size; room around a text, in
characters."""

BAR_HEIGHT = 0.72
"""Part of a row's height that its bar takes."""

NARROWEST_TASK = 1 / 200
"""Tasks narrower than this part of the chart are not cut off from each other."""

MOST_IN_LEGEND = 12
"""With more fragments than this the bars name them, and not the legend."""

MOST_TICKS = 64

HATCHES = {ChargeKind.READING: "////", ChargeKind.WRITE_BACK: "xxxx", ChargeKind.SWITCH: "////"}

Label = tuple[str, float, Colour]
"""A text, where its middle stands, and the colour of its ground."""


@styled
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
        Where to draw; a figure of its own if None, of a height that fits the number of CPUs. The
        legend stands outside all axes of the figure, and needs a constrained layout.

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
    height = min(HIGHEST_ROW, max(LOWEST_ROW, ROWS_HEIGHT / len(rows)))
    if ax is None:
        ax = new_axes(WIDTH, min(MOST_HEIGHT, MARGINS + height * len(rows)))
    begin_axes(ax, grid="x").spines["left"].set_visible(False)
    label_axes(ax, instance, schedule, task_width)
    ax.set_xlim(0, max(row.end for row in rows) or 1)
    colours = colours_of(instance)
    for number, row in enumerate(rows):
        draw_row(ax, number, row, colours)
    draw_costs(ax, instance, rows, across=task_width is None)
    names_groups = len(colours) > MOST_IN_LEGEND
    add_legend(ax, signs_of(rows, {} if names_groups else colours))
    lay_out(ax)  # how much room labels have depends on everything else
    points = POINTS_PER_INCH / ax.figure.dpi
    font_size = min(LARGEST_FONT, FONT_PER_ROW * ax.bbox.height * points / len(rows))
    ax.tick_params(axis="y", labelsize=max(SMALLEST_FONT, font_size))
    if font_size >= SMALLEST_FONT:
        characters = ax.bbox.width * points / ax.get_xlim()[1] / (CHARACTER_WIDTH * font_size)
        for number, row in enumerate(rows):
            for text, middle, ground in labels_of(
                row, colours, characters, names_groups, instance.time_unit
            ):
                ax.text(
                    middle,
                    number,
                    text,
                    color=ink_on(ground),
                    fontsize=font_size,
                    ha="center",
                    va="center_baseline",
                    # A ground keeps cuts and hatching off the text.
                    bbox={"boxstyle": "round,pad=0.1", "facecolor": ground, "linewidth": 0},
                    in_layout=False,  # it lies on its bar, and measuring all of them takes long
                )
    return ax


def label_axes(ax: Axes, instance: Instance, schedule: Schedule, task_width: float | None) -> None:
    """Name the instance, its CPUs, the cost of the schedule, and the meaning of lengths."""
    unit, value = instance.time_unit, schedule.value(instance.objective)
    ax.set_title(shown_name(instance.name or "", longest=60))
    ax.set_title(f"{instance.objective} {written(value, unit)}", loc="right")
    if task_width is None:
        size, name = time_scale(value, unit)
        ax.locator_params("x", integer=True)
        ax.xaxis.set_major_formatter(lambda time, _: f"{time / size:,.10g}")
        ax.set_xlabel(f"time ({unit_text(name).strip()})" if unit else "time")
    else:
        ax.set_xticks([])
        ax.set_xlabel(
            "order of execution: penalties to scale, every task drawn as wide as a penalty of "
            f"{written(task_width, unit)}"
        )
    names = [
        f"CPU {cpu}, holds {shown_name(group_of(instance.penalty, state))}"
        if isinstance(state, CacheState)
        else f"CPU {cpu}, cache unknown"
        if state == "unknown"
        else f"CPU {cpu}"
        for cpu, state in enumerate(instance.initial_states)
    ]
    shown = range(0, len(names), -(-len(names) // MOST_TICKS))
    ax.set_yticks(shown, [names[cpu] for cpu in shown])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def written(amount: float, unit: str | None) -> str:
    """Return an amount with its unit."""
    if unit in NANOSECONDS:
        return full_time(amount, unit)
    return f"{amount:,.15g}{unit_text(unit, amount)}"


def amount_text(amount: int, unit: str | None) -> str:
    """Return an amount with all its digits: a time in a unit that is read well, else a number."""
    return full_time(amount, unit) if unit in NANOSECONDS else f"{amount:,}"


def colours_of(instance: Instance) -> dict[str, Colour]:
    """Return a colour for each fragment or type, in the order in which people sort them."""
    holders: list[Task | CacheState] = list(instance.tasks)
    holders += [state for state in instance.initial_states if isinstance(state, CacheState)]
    groups = {group_of(instance.penalty, holder) for holder in holders}
    return group_colours(sorted(groups, key=as_people_sort))


def as_people_sort(name: str) -> list[tuple[int, int, str]]:
    """Return a sorting key that puts DF9 before DF10."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", name)
    return [(0, int(digits), "") if digits else (1, 0, text) for digits, text in parts]


def draw_row(ax: Axes, number: int, row: CpuTimeline, colours: Mapping[str, Colour]) -> None:
    """Draw the tasks of a CPU, cut where these are wide enough, and its hatched penalties."""
    across = (number - BAR_HEIGHT / 2, BAR_HEIGHT)
    bars, grounds = [], []
    for run in row.runs:
        edges: Sequence[float] = run.edges
        if edges[-1] - edges[0] < NARROWEST_TASK * ax.get_xlim()[1] * len(run.names):
            edges = (edges[0], edges[-1])
        bars += [(left, right - left) for left, right in pairwise(edges)]
        grounds += [colours[run.group]] * (len(edges) - 1)
    ax.broken_barh(bars, across, facecolors=grounds, edgecolors=PAPER, linewidths=0.8)
    for charge in row.charges:
        ax.broken_barh(
            [(charge.start, charge.amount)],
            across,
            facecolor=mixed(colours[charge.group], PAPER, 0.8),
            edgecolor=shade(colours[charge.group]),
            hatch=HATCHES[charge.kind],
            linewidth=0,
        )


def draw_costs(ax: Axes, instance: Instance, rows: Sequence[CpuTimeline], *, across: bool) -> None:
    """Write each CPU's cost at the end of its row, and mark the most expensive CPU by a line."""
    worst = max(row.cost for row in rows)
    marks = instance.objective is not Objective.TOTAL_PENALTY and worst > 0
    for number, row in enumerate(rows):
        is_worst = marks and row.cost == worst
        ax.annotate(
            amount_text(row.cost, instance.time_unit),
            (row.end, number),
            xytext=(5, 0),
            textcoords="offset points",
            va="center_baseline",
            fontweight="bold" if is_worst else "normal",
            color=INK if is_worst else GREY,
        )
        if is_worst:
            ax.vlines(row.end, number - 0.5, number + 0.5, color=INK, linewidth=2, clip_on=False)
    if across and marks:
        ax.axvline(worst, color=INK, linewidth=0.8, linestyle="--", zorder=0.9)


def signs_of(rows: Sequence[CpuTimeline], colours: Mapping[str, Colour]) -> dict[str, Artist]:
    """Return what the legend explains: these groups, and the kinds of penalty that occur."""
    from matplotlib.patches import Patch

    signs: dict[str, Artist] = {
        shown_name(name): Patch(color=colour) for name, colour in colours.items()
    }
    present = {charge.kind for row in rows for charge in row.charges}
    return signs | {
        str(kind): Patch(facecolor=PAPER, edgecolor=GREY, hatch=hatch, linewidth=0)
        for kind, hatch in HATCHES.items()
        if kind in present
    }


def labels_of(
    row: CpuTimeline,
    colours: Mapping[str, Colour],
    characters: float,
    names_groups: bool,
    unit: str | None,
) -> Iterator[Label]:
    """Yield the labels of tasks and penalties that have room.

    Parameters
    ----------
    row, colours
        The CPU, and the colours of groups.
    characters
        How many of them stand on a unit of length.
    names_groups
        Whether labels must name the group, because no legend does.
    unit
        The unit of times.
    """

    def fitting(texts: Sequence[str], left: float, right: float) -> list[tuple[str, float]]:
        """Return the first text that has room between two places, and the middle of these."""
        room = (right - left) * characters - AROUND
        return [(text, (left + right) / 2) for text in texts if len(text) <= room][:1]

    def common(group: str, count: int, left: float, right: float) -> list[tuple[str, float]]:
        """Return a text that stands for tasks of a group, the longest that has room."""
        name = shown_name(group)
        short = name if names_groups else f"×{count}"
        texts = [f"{name} ×{count}", short] if count > 1 else [name] * names_groups
        return fitting(texts, left, right)

    crowded: list[tuple[float, float]] = []
    for group, members in groupby(row.runs, key=lambda run: run.group):
        visit = list(members)
        labels: list[tuple[str, float]] = []
        for run in visit:
            names = [[shown_name(name)] for name in run.names]
            spans = pairwise(run.edges)
            own = [fitting(name, *span) for name, span in zip(names, spans, strict=True)]
            # One text for each task, or one for all.
            if names_groups or not all(own):
                own = [common(group, len(names), run.edges[0], run.edges[-1])]
            labels += chain.from_iterable(own)
        start, end = visit[0].edges[0], visit[-1].edges[-1]
        # Where runs are too short for labels of their own, one stands across their penalties.
        if not labels:
            labels = common(group, sum(len(run.names) for run in visit), start, end)
            crowded += [(start, end)] * len(labels)
        for text, middle in labels:
            yield text, middle, colours[group]
    for charge in row.charges:
        amount = amount_text(charge.amount, unit)
        for text, middle in fitting([amount], charge.start, charge.start + charge.amount):
            if not any(left < middle < right for left, right in crowded):
                yield text, middle, mixed(colours[charge.group], PAPER, 0.8)
