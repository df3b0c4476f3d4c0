"""What the pictures of the models have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed
from dfopt_models.response_time.model import ResponseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

    from dfopt_models.response_time.numeric import Numbers

FONT_SIZE = 9.0
SIZE = (7.0, 4.2)
"""Of a figure with one picture, in inches."""

LINE_WIDTH = 1.6
SHADING = 0.28
"""Opacity of what ranges allow."""

POINTS = 401
"""On a curve."""

GRID = mixed(INK, PAPER, 0.85)
LARGE, HUGE = 1000, 10**9
SIGNIFICANT = 4


def line_colour(colour: Colour) -> Colour:
    """Return a colour dark enough for lines on white."""
    return mixed(colour, INK, 0.35)


def policy_colours(models: Iterable[ResponseModel]) -> dict[str, Colour]:
    """Return a colour for each policy but the baselines, the same in every picture of a sheet."""
    names = {
        policy: None
        for model in models
        for job in model.jobs
        for policy in job.policies
        if policy != model.baseline
    }
    return group_colours(names)


def prepare(ax: Axes) -> None:
    """Give axes their grid and take their frame away."""
    ax.tick_params(labelsize=FONT_SIZE)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def label(ax: Axes, across: str, up: str) -> None:
    """Name both axes; names of policies may hold any character."""
    ax.set_xlabel(across, fontsize=FONT_SIZE, parse_math=False)
    ax.set_ylabel(up, fontsize=FONT_SIZE, parse_math=False)


def products_up_to(largest: float) -> Numbers:
    """Return products of speed and cache from today's on, evenly spaced on a logarithmic axis."""
    import numpy as np

    return np.geomspace(1.0, largest, POINTS)


def product_axis(axis: Axis) -> None:
    """Write out the products on a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda product, _: decade_text(product)))


def decade_text(product: float) -> str:
    """Return a power of ten, as such where it is long."""
    return f"{product:g}" if product <= LARGE else f"$10^{{{math.log10(product):.0f}}}$"


def product_text(product: float) -> str:
    """Return a product of speed and cache in four significant digits."""
    shown = f"{product:.{SIGNIFICANT}g}"
    return f"{float(shown):,.0f}" if LARGE <= product < HUGE else shown


def key(colour: Colour, **style: Any) -> Line2D:
    """Return what stands for a curve in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=LINE_WIDTH, **style)


def add_legend(
    ax: Axes, keys: Sequence[Line2D], names: Sequence[str], *, place: Any = "best", **more: Any
) -> None:
    """Say what curves mean; in names ``$`` is no formula, and a leading ``_`` no secret."""
    legend = ax.legend(
        keys,
        [""] * len(names),
        loc=place,
        fontsize=FONT_SIZE,
        framealpha=0.6,
        edgecolor="none",
        **more,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
