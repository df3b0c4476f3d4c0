"""The gain of batches, and misses against waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.plot.colours import INK, group_colours
from dfopt.plot.gantt_bars import shade
from dfopt.plot.picture import new_figure
from dfopt_models.batching import BatchingModel, own_choice, pareto_table
from dfopt_models.plot.style import LINE_WIDTH, add_legend, begin_axes, label, legend_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 10.5, 4.4
"""Of the figure, in inches."""

MARKERS = ("o", "s", "^", "D", "v", "P")
MILLISECONDS = 1e-6
LONGEST = 512
"""Process lengths are drawn at least up to this."""


def plot_batching(model: BatchingModel) -> Figure:
    """Draw gains against process length on the left, misses against waiting on the right.

    Parameters
    ----------
    model
        The model; a curve for each of its granularities. Large marks on the right are its own
        MAXBSIZE and MAXBCOUNT.

    Returns
    -------
    matplotlib.figure.Figure
        With an axes for each picture.
    """
    figure = new_figure(WIDTH, HEIGHT)
    left, right = figure.subplots(1, 2)
    begin_axes(left, "Speed of batches over one queue")
    begin_axes(right, "Batches that no other ones beat")
    names = {granularity: f"GRANULARITY {granularity:,}" for granularity in model.granularities}
    colours = {name: shade(colour) for name, colour in group_colours(names.values()).items()}
    for position, (granularity, name) in enumerate(names.items()):
        look = {"color": colours[name], "linewidth": LINE_WIDTH, "marker": marker_at(position)}
        draw_gains(left, model, granularity, look)
        draw_curve(right, model, granularity, look)
    left.set_xscale("log", base=2)
    left.xaxis.set_major_formatter("{x:g}")
    right.set(xscale="log", yscale="log")
    label(left, "PROCESS_LENGTH (dotted: without end)", "gain")
    label(right, "wait for the next turn, ms", "missed lines a dispatch")
    keys = [
        legend_key(colours[name], marker=marker_at(position))
        for position, name in enumerate(names.values())
    ]
    add_legend(left, keys, list(names.values()), loc="upper left")
    own = f"MAXBSIZE {model.max_batch_size:,}, MAXBCOUNT {model.max_batch_count:,}"
    sign = legend_key(INK, linestyle="", marker="*", markersize=12)
    add_legend(right, [sign], [own], loc="upper right")
    return figure


def marker_at(position: int) -> str:
    """Return the marker of a granularity."""
    return MARKERS[position % len(MARKERS)]


def draw_gains(axes: Axes, model: BatchingModel, granularity: int, look: dict[str, Any]) -> None:
    """Draw gains at process lengths that are powers of two, and their limit."""
    most = max(LONGEST, *model.lengths)
    lengths = [2**power for power in range(most.bit_length())]
    gains = [model.gain(granularity, length) for length in lengths]
    axes.plot(lengths, gains, markersize=4, **look)
    axes.axhline(
        model.limit(granularity), color=look["color"], linewidth=LINE_WIDTH / 2, linestyle=":"
    )


def draw_curve(axes: Axes, model: BatchingModel, granularity: int, look: dict[str, Any]) -> None:
    """Draw the choices that no other one beats, and that of the model."""
    curve = [each for each in pareto_table(model, granularity) if each.misses > 0]
    waiting = np.array([each.waiting for each in curve]) * MILLISECONDS
    axes.plot(waiting, [each.misses for each in curve], markersize=4, **look)
    own = own_choice(model, granularity)
    if own.misses > 0 and own.waiting > 0:
        axes.plot(
            [own.waiting * MILLISECONDS], [own.misses], "*", color=look["color"], markersize=12
        )
