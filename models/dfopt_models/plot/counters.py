"""Speed after each predecessor, and how threads warm up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.colours import group_colours
from dfopt.plot.gantt_bars import shade
from dfopt.plot.names import shown_name
from dfopt.plot.picture import new_axes
from dfopt_models.counters.model import CountersModel, WarmUpPoints
from dfopt_models.counters.warm_up import CURVES
from dfopt_models.parameter_fields import is_assumed
from dfopt_models.plot.style import (
    LINE_WIDTH,
    LONGEST_NAME,
    add_legend,
    begin_axes,
    label,
    legend_key,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, BAR_HEIGHT, FRAME = 7.0, 0.26, 1.3
"""The width of a picture, and the heights of a bar and of what is around all bars, in inches."""

WARM_UP_HEIGHT = 3.4

BAR = 0.8
"""The part of a bar's place that it fills."""

PERCENT = 100


def plot_counters(model: CountersModel, *, ax: Axes | None = None) -> Axes:
    """Draw how fast each task type is after each other one, as a share of its best speed.

    Bars of assumed values are hatched; thin lines show standard errors.

    Parameters
    ----------
    model
        The model.
    ax
        Where to draw; a figure of its own if None.
    """
    names = [task_type.name for task_type in model.types]
    colours = group_colours(dict.fromkeys(names))
    bars = [(task_type, cell) for task_type in model.types for cell in task_type.after]
    height = BAR_HEIGHT * (len(bars) + len(names)) + FRAME
    axes = begin_axes(
        new_axes(WIDTH, height) if ax is None else ax, f"{model.name}: speed by what ran before"
    )
    position, ticks = 0.0, []
    for task_type in model.types:
        for cell in task_type.after:
            share = PERCENT * cell.ipc / task_type.best_ipc
            error = PERCENT * (cell.standard_error or 0) / task_type.best_ipc
            axes.barh(
                position,
                share,
                height=BAR,
                color=shade(colours[cell.type]),
                xerr=error or None,
                hatch="//" if is_assumed(cell.sources.get("ipc")) else None,
                edgecolor="white",
                error_kw={"elinewidth": 1.0},
            )
            ticks.append((position, f"{task_type.name} after {cell.type}"))
            position += 1
        position += 1
    axes.set_yticks(
        [place for place, _ in ticks],
        [shown_name(name, longest=LONGEST_NAME) for _, name in ticks],
        parse_math=False,
    )
    axes.invert_yaxis()
    axes.set_xlim(0, PERCENT * 1.02)
    axes.grid(visible=False, axis="y")
    hatched = any(is_assumed(cell.sources.get("ipc")) for _, cell in bars)
    label(
        axes,
        "instructions per cycle, % of the best" + (" (hatched: assumed)" if hatched else ""),
        "",
    )
    return axes


def plot_warm_up(points: WarmUpPoints, *, ax: Axes | None = None) -> Axes:
    """Draw the points of a warm-up curve and the curve nearest to them.

    Parameters
    ----------
    points
        The points, and how they are read.
    ax
        Where to draw; a figure of its own if None.
    """
    curve = points.curve
    axes = begin_axes(
        new_axes(WIDTH, WARM_UP_HEIGHT) if ax is None else ax, f"Warm-up of {points.type}"
    )
    ends = [point.end for point in points.points if np.isfinite(point.end)]
    times = np.linspace(0, 2 * max(ends, default=curve.time_constant), 400)
    colour = shade(group_colours({points.type: None})[points.type])
    values = CURVES[points.reading](times, curve.limit, curve.deficit, curve.time_constant)
    axes.plot(times, values, color=colour, linewidth=LINE_WIDTH)
    for point in points.points:
        if np.isinf(point.end):
            axes.axhline(point.ipc, color=colour, linestyle=":", linewidth=1.0)
        elif point.begin == point.end:
            axes.plot([point.begin], [point.ipc], "o", color=colour)
        else:
            axes.plot(
                [point.begin, point.end], [point.ipc] * 2, color=colour, linewidth=4, alpha=0.5
            )
    axes.set_xlim(0, times[-1])
    axes.set_ylim(0, None)
    label(axes, "time since the dispatch, ms", "instructions per cycle, relative")
    keys = {
        f"IPC(t), time constant {curve.time_constant:.2g} ms": legend_key(colour),
        "given: mean of a range": legend_key(colour, alpha=0.5),
        "given: at a time": legend_key(colour, linestyle="", marker="o"),
        "given: the limit": legend_key(colour, linestyle=":"),
    }
    add_legend(axes, list(keys.values()), list(keys), loc="lower right")
    return axes
