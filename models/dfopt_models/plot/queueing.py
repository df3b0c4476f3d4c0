"""Response times against load: the ideal, partitions, and a global queue with reloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.style import (
    INK,
    SMALL,
    add_legend,
    begin_axes,
    line_style,
    new_figure,
    shown_name,
    styled,
)
from dfopt_models.queueing import QueueingModel, crossings, queue_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOADS = np.linspace(0.0, 0.995, 200)
WIDTH, HEIGHT = 4.4, 4.4
"""Width of the picture of each machine, and height, in inches."""

HIGHEST = 12.0
"""Response times over the service time are shown up to here."""

COLUMNS = {"ideal": "ideal", "partitions": "partition", "global queue": "shared"}
"""The column of each line."""

LOOKS = {name: line_style(number) | {"marker": ""} for number, name in enumerate(COLUMNS)}

BETWEEN = "the best policy lies here"
SHADING = 0.18


@styled
def plot_queueing(model: QueueingModel) -> Axes:
    """Draw mean response times, over the service time, against the load: a picture a machine.

    Below the ideal no policy comes; partitions and a global queue are policies, so the best one
    lies in the shaded area. Circles stand where partitions and the global queue cross.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the first machine.
    """
    from matplotlib.patches import Patch

    figure = new_figure(WIDTH * len(model.cpus), HEIGHT)
    panels = figure.subplots(1, len(model.cpus), squeeze=False)[0]
    for ax, cpus in zip(panels, model.cpus, strict=True):
        draw_machine(begin_axes(ax), model, cpus)
    first: Axes = panels[0]
    add_legend(first, LOOKS | {BETWEEN: Patch(color=INK, alpha=SHADING)})
    return first


def draw_machine(ax: Axes, model: QueueingModel, cpus: int) -> None:
    """Draw one machine."""
    rows = [row for row in queue_rows(model, LOADS.tolist()) if row.cpus == cpus]
    times = {
        name: np.array([getattr(row, column) for row in rows]) / model.service
        for name, column in COLUMNS.items()
    }
    for name, look in LOOKS.items():
        times[name][np.isinf(times[name])] = np.nan
        ax.plot(LOADS, times[name], **look)
    best = np.fmin(times["partitions"], times["global queue"])
    ax.fill_between(LOADS, times["ideal"], best, color=INK, alpha=SHADING, linewidth=0)
    for load in crossings(model.service, model.reload, cpus) or ():
        point = (load, 1 / (1 - load))
        ax.plot(*point, "o", color=INK, markersize=5, fillstyle="none")
        ax.annotate(
            f"{load:.2f}", point, (-6, 4), textcoords="offset points", ha="right", fontsize=SMALL
        )
    ax.set(
        title=shown_name(f"{model.name}, {cpus} {'CPU' if cpus == 1 else 'CPUs'}", longest=40),
        xlabel="load without reloads",
        ylabel="response time ÷ service time",
        xlim=(0.0, 1.0),
        ylim=(1.0, HIGHEST),
        yscale="log",
    )
    ticks = (1, 2, 3, 5, 10)
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
