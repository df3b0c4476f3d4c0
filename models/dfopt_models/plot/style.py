"""Axes, curves and legends of all pictures of the models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed
from dfopt.plot.gantt_bars import shade
from dfopt.plot.names import (
    add_legend_below,
    columns_of,
    height_below,
    shown_name,
    write_names,
)
from dfopt.plot.picture import new_axes, root_figure
from dfopt_models.response_time.comparison import PolicyComparison
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

FONT_SIZE = 9.0
SIZE = (7.0, 4.2)
"""Width and height of a figure with one picture, in inches."""

LONGEST_TITLE, LONGEST_NAME, HALF_A_LINE = 64, 40, 22
"""At most this many characters in titles, in names, and in names that share a line."""

MOST_INSIDE, LONGEST_INSIDE = 8, 34
"""At most this many names, of at most this many characters, stand beside the curves."""

LINE_WIDTH = 1.6

LARGEST_WRITTEN_OUT = 1.1e5
"""On axes that end here or before, powers of ten are written without exponents."""

POINTS = 401
"""Points on a curve."""

GRID = mixed(INK, PAPER, 0.85)


def begin(
    model: ResponseModel, job: str | None, ax: Axes | None
) -> tuple[Axes, list[tuple[PolicyComparison, Colour]]]:
    """Return the axes of a job's picture, and what is compared in it with the colours of lines.

    Parameters
    ----------
    model
        The model.
    job
        The job; may be left out if there is only one.
    ax
        Where to draw; a figure of its own if None.

    Raises
    ------
    DfoptError
        When there is no such job, several to choose from, or nothing to compare.
    """
    name = job_named(model, job)
    colours = policy_colours([model])
    compared = [
        (comparison, shade(colours[comparison.policy]))
        for comparison in model.comparisons()
        if comparison.job == name
    ]
    return begin_axes(ax, name), compared


def job_named(model: ResponseModel, job: str | None) -> str:
    """Return the name of a job of the model, or of its only one."""
    if job is not None:
        return model.job(job).name
    if len(model.jobs) > 1:
        names = ", ".join(repr(each.name) for each in model.jobs)
        raise DfoptError(f"there are several jobs, {names}; name the one to draw")
    return model.jobs[0].name


def begin_axes(ax: Axes | None, title: str, *, longest: int = LONGEST_TITLE) -> Axes:
    """Return axes with a title, a grid and no frame; those of a figure of their own if None."""
    axes = new_axes(*SIZE) if ax is None else ax
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    shown = shown_name(title, longest=longest)
    axes.set_title(shown, loc="left", fontsize=FONT_SIZE + 2, parse_math=False)
    return axes


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


def label(ax: Axes, across: str, up: str) -> None:
    """Name both axes; names of policies may hold any character."""
    for write, text in ((ax.set_xlabel, across), (ax.set_ylabel, up)):
        write(shown_name(text, longest=LONGEST_TITLE), fontsize=FONT_SIZE, parse_math=False)


def products_up_to(largest: float) -> Numbers:
    """Return products of speed and cache from today's on, evenly spaced on a logarithmic axis."""
    return np.geomspace(1.0, largest, POINTS)


def product_axis(axis: Axis, *, today: bool = False) -> None:
    """Make an axis of products: logarithmic, with all products written in one way.

    Parameters
    ----------
    axis
        The axis.
    today
        Whether the product 1 is today's machine, and is called so.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]
    axis.set_major_locator(LogLocator(numticks=12))
    axis.set_minor_locator(NullLocator())

    def text(product: float, _: object) -> str:
        if today and product == 1:
            return "today"
        return decade_text(product, max(axis.get_view_interval()))

    axis.set_major_formatter(FuncFormatter(text))


def decade_text(product: float, largest: float) -> str:
    """Return a power of ten; with its exponent if the largest one of the axis is long."""
    if largest <= LARGEST_WRITTEN_OUT:
        return f"{product:,g}" if product < 1 else f"{product:,.0f}"
    return f"$10^{{{math.log10(product):.0f}}}$"


def legend_key(colour: Colour, **style: Any) -> Line2D:
    """Return the sign of a curve in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=LINE_WIDTH, **style)


def add_legend(
    ax: Axes, keys: Sequence[Line2D], names: Sequence[str], *, loc: Any = "best", **more: Any
) -> None:
    """Add a legend; in its names ``$`` begins no formula, and a leading ``_`` hides nothing.

    A legend that would hide the curves stands below the axes. A figure with one picture grows by
    its height.
    """
    below = room_below(names)
    if below:
        figure = root_figure(ax)
        if len(figure.axes) == 1:
            width, height = figure.get_size_inches()
            figure.set_size_inches(width, height + below)
        columns = columns_of(names, HALF_A_LINE)
        add_legend_below(ax, keys, names, font_size=FONT_SIZE, ncols=columns)
        return
    look = {"fontsize": FONT_SIZE, "framealpha": 0.6, "edgecolor": "none"}
    write_names(ax.legend(keys, [""] * len(names), loc=loc, **look, **more), names)


def shown_policy(policy: str) -> str:
    """Return the name of a policy as legends show it."""
    return shown_name(policy, longest=LONGEST_NAME)


def room_below(names: Sequence[str]) -> float:
    """Return the height of a legend below its axes, in inches; 0 if it stands beside curves."""
    if len(names) <= MOST_INSIDE and max(map(len, names)) <= LONGEST_INSIDE:
        return 0.0
    return height_below(names, FONT_SIZE, half=HALF_A_LINE)
