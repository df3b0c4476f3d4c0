"""Speed after each predecessor, and how threads warm up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.style import (
    LINES,
    add_legend,
    begin_axes,
    group_colours,
    new_axes,
    shade,
    shown_name,
    styled,
)
from dfopt_models.counters import CURVES, CountersModel, WarmUpPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, ROW_HEIGHT, FRAME = 7.0, 0.26, 1.3
"""The width of a picture, and the heights of a bar and of what is around all bars, in inches."""

WARM_UP_HEIGHT = 3.6
LONGEST = 40
PERCENT = 100


@styled
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
    colours = group_colours(task_type.name for task_type in model.types)
    bars = [(each, cell) for each in model.types for cell in each.after]
    # Between two types there is room for another bar.
    places = [row + model.types.index(each) for row, (each, _) in enumerate(bars)]
    axes = new_axes(WIDTH, FRAME + ROW_HEIGHT * (max(places) + 2)) if ax is None else ax
    hatches = ["//" * ("ipc" in cell.assumed) for _, cell in bars]
    begin_axes(axes, grid="x").barh(
        places,
        [PERCENT * cell.ipc / each.best_ipc for each, cell in bars],
        xerr=[PERCENT * (cell.standard_error or 0) / each.best_ipc for each, cell in bars],
        color=[shade(colours[cell.type]) for _, cell in bars],
        hatch=hatches,
        edgecolor="white",
    )
    names = [f"{each.name} after {cell.type}" for each, cell in bars]
    axes.set_yticks(places, [shown_name(name, longest=LONGEST) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, PERCENT * 1.02)
    axes.set_title(shown_name(f"{model.name}: speed by what ran before", longest=2 * LONGEST))
    said = " (hatched: assumed)" if any(hatches) else ""
    axes.set_xlabel(f"instructions per cycle, % of the best{said}")
    return axes


@styled
def plot_warm_up(points: WarmUpPoints, *, ax: Axes | None = None) -> Axes:
    """Draw the points of a warm-up curve and the curve nearest to them.

    Parameters
    ----------
    points
        The points, and how they are read.
    ax
        Where to draw; a figure of its own if None. The legend stands outside all axes of the
        figure, and needs a constrained layout.
    """
    curve = points.curve
    axes = begin_axes(new_axes(WIDTH, WARM_UP_HEIGHT) if ax is None else ax)
    ends = [point.end for point in points.points if np.isfinite(point.end)]
    times = np.linspace(0, 2 * max(ends, default=curve.time_constant), 400)
    values = CURVES[points.reading](times, curve.limit, curve.deficit, curve.time_constant)
    colour = LINES[0]
    (line,) = axes.plot(times, values, color=colour)
    signs = {f"IPC(t), time constant {curve.time_constant:.2g} ms": line}
    for point in points.points:
        if np.isinf(point.end):
            name = "given: the limit"
            signs[name] = axes.axhline(point.ipc, color=colour, linestyle=":", linewidth=1.0)
        elif point.begin == point.end:
            (signs["given: at a time"],) = axes.plot([point.begin], [point.ipc], "o", color=colour)
        else:
            (signs["given: mean of a range"],) = axes.plot(
                [point.begin, point.end], [point.ipc] * 2, color=colour, linewidth=4, alpha=0.5
            )
    axes.set(
        title=shown_name(f"Warm-up of {points.type}", longest=2 * LONGEST),
        xlabel="time since the dispatch, ms",
        ylabel="instructions per cycle, relative",
        xlim=(0, times[-1]),
        ylim=(0, None),
    )
    add_legend(axes, signs)
    return axes
