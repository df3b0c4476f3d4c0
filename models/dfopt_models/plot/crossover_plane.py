"""The plane of speed and cache: the curves on which policies are as fast as the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.colours import INK, PAPER, mixed
from dfopt.plot.names import shown_name
from dfopt_models.plot.style import (
    FONT_SIZE,
    LINE_WIDTH,
    LONGEST_NAME,
    POINTS,
    add_legend,
    begin,
    label,
    legend_key,
    product_axis,
    shown_policy,
)
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import relative_response_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 1e4
"""Both axes end here."""

PRODUCTS = (10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7)
"""Products whose machines are joined by lines."""

STYLES = ("-", "--", "-.", ":")
GUIDE = mixed(INK, PAPER, 0.7)


def plot_crossover_plane(
    model: ResponseModel, job: str | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw on which machines policies are as fast as the baseline: speed across, cache up.

    Below and left of its curve a policy is on the side where today's machine lies. Thin straight
    lines join machines with one product of speed and cache; if only the product mattered, the
    curves would be such lines.

    Parameters
    ----------
    model
        The model.
    job
        The job; may be left out if there is only one.
    ax
        Where to draw; a figure of its own if None.

    Returns
    -------
    matplotlib.axes.Axes
        Where it has been drawn.

    Raises
    ------
    DfoptError
        When there is no such job, several to choose from, or nothing to compare.
    """
    axes, compared = begin(model, job, ax)
    product_axis(axes.xaxis, today=True)
    product_axis(axes.yaxis, today=True)
    growth = np.geomspace(1.0, LARGEST, POINTS)
    speeds, caches = np.meshgrid(growth, growth)
    axes.grid(visible=False)
    for product in PRODUCTS:
        axes.plot(growth, product / growth, color=GUIDE, linewidth=0.6, zorder=1)
    axes.plot(growth, growth, color=GUIDE, linewidth=0.6, linestyle=(0, (1, 3)), zorder=1)
    keys, names = [], []
    for number, (comparison, colour) in enumerate(compared):
        relative = relative_response_time(comparison, speeds, caches)
        style = STYLES[number % len(STYLES)]
        crosses = relative.min() < 1 < relative.max()
        if crosses:
            curve = axes.contour(speeds, caches, relative, levels=[1.0], colors=[colour], zorder=3)
            curve.set(linewidth=LINE_WIDTH, linestyle=style)
        keys.append(legend_key(colour, linestyle=style))
        names.append(shown_policy(comparison.policy) + ("" if crosses else ": no crossover here"))
    keys.append(legend_key(GUIDE))
    keys[-1].set_linewidth(0.6)
    names.append("one product; dotted: equal")
    axes.set_xlim(1.0, LARGEST)
    axes.set_ylim(1.0, LARGEST)
    label(axes, "speed, relative to today", "cache, relative to today")
    heading = shown_name(f"as fast as {model.baseline}", longest=LONGEST_NAME)
    add_legend(axes, keys, names, loc="upper right", title=heading, title_fontsize=FONT_SIZE)
    return axes
