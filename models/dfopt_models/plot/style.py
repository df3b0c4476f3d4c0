"""What the pictures of the models have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed
from dfopt.plot.picture import new_axes
from dfopt_models.growth import LARGE
from dfopt_models.response_time.model import Comparison, ResponseModel

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


def compared_in(model: ResponseModel, job: str) -> list[tuple[Comparison, Colour]]:
    """Return what is compared in a job, and the colour of its lines."""
    colours = policy_colours([model])
    return [
        (one, line_colour(colours[one.policy])) for one in model.comparisons() if one.job == job
    ]


def chosen_job(model: ResponseModel, job: str | None) -> str:
    """Return the name of a job of the model, or of its only one."""
    if job is not None:
        return model.job(job).name
    if len(model.jobs) > 1:
        names = ", ".join(repr(one.name) for one in model.jobs)
        raise DfoptError(f"there are several jobs, {names}; name the one to draw")
    return model.jobs[0].name


def begun(ax: Axes | None, title: str) -> Axes:
    """Return axes with a grid and without a frame, those of a figure of their own if None."""
    axes = new_axes(*SIZE) if ax is None else ax
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, loc="left", fontsize=FONT_SIZE + 2, parse_math=False)
    return axes


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


def explain(
    ax: Axes,
    compared: Iterable[tuple[Comparison, Colour]],
    styles: Mapping[str, str],
    *,
    marker: str = "",
    **more: Any,
) -> None:
    """Say in a legend whose lines have which colour, and what the styles of lines mean."""
    policies = {one.policy: key(colour, marker=marker) for one, colour in compared}
    lines = [key(INK, linestyle=style) for style in styles]
    add_legend(ax, [*policies.values(), *lines], [*policies, *styles.values()], **more)
