"""What the pictures of the models have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, Colour, group_colours, mixed
from dfopt.plot.names import add_legend_below, height_below, shown_name
from dfopt.plot.picture import new_axes, root_figure
from dfopt.plot.policies import DASHES, MARKERS
from dfopt_models.growth import LARGE
from dfopt_models.response_time.model import PolicyComparison, ResponseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

    from dfopt_models.response_time.numeric import Numbers

FONT_SIZE = 9.0
SIZE = (7.0, 4.2)
"""Of a figure with one picture, in inches."""

LONGEST_TITLE, LONGEST_NAME, HALF_A_LINE = 64, 40, 22
"""In characters."""

MOST_INSIDE, LONGEST_INSIDE = 8, 34
"""So many names, of so many characters, have room on the curves' own axes."""

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


def look_of(policy: str, palette: Mapping[str, Colour]) -> dict[str, Any]:
    """Return marks and dashes of a policy, for readers who cannot tell its colour from others."""
    turn, place = divmod(list(palette).index(policy), len(MARKERS))
    marker = MARKERS[(place + turn) % len(MARKERS)]
    return {
        "marker": marker,
        "linestyle": DASHES[turn % len(DASHES)],
        "markersize": 9.0 if marker == "*" else 6.0,
        "markeredgecolor": PAPER,
    }


def compared_in(model: ResponseModel, job: str) -> list[tuple[PolicyComparison, Colour]]:
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
    set_title(axes, title)
    return axes


def set_title(ax: Axes, title: str, *, longest: int = LONGEST_TITLE) -> None:
    """Write a title that is no wider than its picture."""
    shown = shown_name(title, longest=longest)
    ax.set_title(shown, loc="left", fontsize=FONT_SIZE + 2, parse_math=False)


def label(ax: Axes, across: str, up: str) -> None:
    """Name both axes; names of policies may hold any character."""
    for write, text in ((ax.set_xlabel, across), (ax.set_ylabel, up)):
        write(shown_name(text, longest=LONGEST_TITLE), fontsize=FONT_SIZE, parse_math=False)


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
    """Say what curves mean; in names ``$`` is no formula, and a leading ``_`` no secret.

    What would hide the curves stands below the axes, and a figure that has no others grows by it.
    """
    below = room_below(names)
    if below:
        figure = root_figure(ax)
        if len(figure.axes) == 1:
            width, height = figure.get_size_inches()
            figure.set_size_inches(width, height + below)
        add_legend_below(ax, keys, names, font_size=FONT_SIZE, half=HALF_A_LINE)
        return
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


def room_below(names: Sequence[str]) -> float:
    """Return how much room a legend takes below its axes, in inches; 0 if it fits on them."""
    if len(names) <= MOST_INSIDE and max(map(len, names)) <= LONGEST_INSIDE:
        return 0.0
    return height_below(names, FONT_SIZE, half=HALF_A_LINE)


def explain(
    ax: Axes,
    compared: Iterable[tuple[PolicyComparison, Colour]],
    styles: Mapping[str, str],
    *,
    marker: str = "",
    **more: Any,
) -> None:
    """Say in a legend whose lines have which colour, and what the styles of lines mean."""
    policies = {one.policy: key(colour, marker=marker) for one, colour in compared}
    lines = [key(INK, linestyle=style) for style in styles]
    names = [shown_name(policy, longest=LONGEST_NAME) for policy in policies]
    add_legend(ax, [*policies.values(), *lines], [*names, *styles.values()], **more)
