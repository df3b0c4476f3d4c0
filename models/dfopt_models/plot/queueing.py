"""Response times against load: the ideal, partitions, and a global queue with reloads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.colours import INK, Colour, group_colours
from dfopt.plot.gantt_bars import shade
from dfopt.plot.picture import new_figure
from dfopt_models.plot.style import LINE_WIDTH, add_legend, begin_axes, label, legend_key
from dfopt_models.queueing import QueueingModel, crossings, queue_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOADS = np.linspace(0.0, 0.995, 200)
WIDTH, HEIGHT = 4.4, 4.2
"""Width of the picture of each machine, and height, in inches."""

HIGHEST = 12.0
"""Response times over the service time are shown up to here."""

NAMES = ("ideal", "partitions", "global queue")
BETWEEN = "the best policy lies here"
SHADING = 0.18


def plot_queueing(model: QueueingModel) -> Axes:
    """Draw mean response times, over the service time, against the load: a picture a machine.

    Below the ideal no policy comes; partitions and a global queue are policies, so the best one
    lies in the shaded area. Circles stand where partitions and the global queue cross.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the first machine.
    """
    figure = new_figure(WIDTH * len(model.cpus), HEIGHT)
    panels = figure.subplots(1, len(model.cpus), squeeze=False)[0]
    colours = {name: shade(colour) for name, colour in group_colours(NAMES).items()}
    for ax, cpus in zip(panels, model.cpus, strict=True):
        _draw(ax, model, cpus, colours)
    keys = [legend_key(colours[name]) for name in NAMES]
    from matplotlib.patches import Patch

    add_legend(panels[0], [*keys, Patch(color=INK, alpha=SHADING)], [*NAMES, BETWEEN])  # type: ignore[list-item]
    first: Axes = panels[0]
    return first


def _draw(ax: Axes, model: QueueingModel, cpus: int, colours: Mapping[str, Colour]) -> None:
    """Draw one machine."""
    rows = [row for row in queue_rows(model, LOADS.tolist()) if row.cpus == cpus]
    plural = "CPU" if cpus == 1 else "CPUs"
    begin_axes(ax, f"{model.name}, {cpus} {plural}", longest=40)
    over = {
        name: np.array([_shown(getattr(row, column) / model.service) for row in rows])
        for name, column in zip(NAMES, ("ideal", "partition", "shared"), strict=True)
    }
    ax.fill_between(
        LOADS,
        over["ideal"],
        np.fmin(over["partitions"], over["global queue"]),
        color=INK,
        alpha=SHADING,
        linewidth=0,
    )
    for name in NAMES:
        ax.plot(LOADS, over[name], color=colours[name], linewidth=LINE_WIDTH)
    found = crossings(model.service, model.reload, cpus)
    for load in found or ():
        height = 1 / (1 - load)
        if height <= HIGHEST:
            ax.plot(load, height, "o", color=INK, markersize=5, fillstyle="none")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(1.0, HIGHEST)
    ax.set_yscale("log")
    ticks = (1, 2, 3, 5, 10)
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    label(ax, "load without reloads", "response time ÷ service time")


def _shown(ratio: float) -> float:
    return ratio if math.isfinite(ratio) else math.nan
