"""Relative response time against speed × cache: where a policy is as fast as the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, Colour
from dfopt.plot.gantt_bars import shade
from dfopt.plot.names import shown_name
from dfopt.plot.policies import line_style
from dfopt_models.growth import GrowthPath, growth_text
from dfopt_models.plot.style import (
    LINE_WIDTH,
    LONGEST_NAME,
    LONGEST_TITLE,
    add_legend,
    begin_axes,
    job_named,
    label,
    legend_key,
    policy_colours,
    product_axis,
    products_up_to,
    room_below,
)
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import Numbers, relative_along
from dfopt_models.response_time.ranges import relative_range_along
from dfopt_models.response_time.table import CrossoverRow, crossover_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (4.6, 3.3)
"""Width and height of a picture in a sheet, in inches."""

MOST_COLUMNS = 3
"""At most this many pictures stand side by side."""

LONGEST_MODEL = 32
"""At most this many characters of a model's name stand in a title."""

SHORTEST, LONGEST = 1e3, 1e7
"""The axis of products ends at least at the first and at most at the second."""

BEYOND = 3.0
"""The axis ends at least at the last crossover times this."""

ABOVE = 1.5
"""Room above the baseline, as a multiple of the room below it."""

LEAST_ROOM = 0.04
"""The least room below the baseline."""

IN_VIEW = 1.2
"""Room above the baseline, as a multiple of the height of the lowest point of every curve."""

EARLY = 0.55
"""If all curves rise above the baseline within this share of the axis, the legend is below."""

SHADING = 0.28
"""Opacity of the shading of ranges."""


def plot_crossover(
    model: ResponseModel,
    job: str | None = None,
    *,
    path: GrowthPath = GrowthPath.EQUAL,
    ax: Axes | None = None,
) -> Axes:
    """Draw response times relative to the baseline as machines grow.

    Every policy has a curve; below 1 it is faster than the baseline. Marks stand at the crossovers,
    and the legend gives their products, or says that there is none. The shading shows what the
    ranges of the parameters allow.

    Parameters
    ----------
    model
        The model.
    job
        The job; may be left out if there is only one.
    path
        How speed and cache grow together.
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
    name = job_named(model, job)
    rows = [row for row in crossover_table(model, path) if row.job == name]
    axes = begin_axes(ax, name)
    draw_crossovers(axes, model, rows, path, policy_colours([model]), largest_product(rows))
    return axes


def plot_crossovers(
    models: Sequence[ResponseModel], *, path: GrowthPath = GrowthPath.EQUAL
) -> Figure:
    """Draw the crossovers of several models, one picture for each job, on one axis of products.

    Parameters
    ----------
    models
        One or more models.
    path
        How speed and cache grow together.

    Returns
    -------
    matplotlib.figure.Figure
        The sheet; policies have the same colours all over it.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = [
        (model, job, [row for row in table if row.job == job.name])
        for model in models
        for table in (crossover_table(model, path),)
        for job in model.jobs
    ]
    if not panels:
        raise DfoptError("there is no model to draw; name one")
    colours = policy_colours(models)
    largest = largest_product([row for _, _, rows in panels for row in rows])
    columns = min(MOST_COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = Figure(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    below = 0.0
    for position, (model, job, rows) in enumerate(panels, start=1):
        title = f"{shown_name(model.name, longest=LONGEST_MODEL)}: {job.name}"
        ax = figure.add_subplot(lines, columns, position)
        begin_axes(ax, title, longest=LONGEST_TITLE)
        names = draw_crossovers(ax, model, rows, path, colours, largest)
        below = max(below, room_below(names))
        if position <= len(panels) - columns:
            ax.set_xlabel("")
    figure.set_size_inches(PANEL[0] * columns, (PANEL[1] + below) * lines)
    return figure


def draw_crossovers(  # noqa: PLR0913, PLR0917 - a picture, and what is alike in several
    axes: Axes,
    model: ResponseModel,
    rows: Sequence[CrossoverRow],
    path: GrowthPath,
    colours: Mapping[str, Colour],
    largest: float,
) -> list[str]:
    """Draw the curves of a job up to the largest product, and return what the legend says."""
    product_axis(axes.xaxis)
    products = products_up_to(largest)
    curves, bands = [], []
    for row in rows:
        comparison = model.comparison(row.job, row.policy)
        ground, look = colours[row.policy], look_of(row.policy, colours)
        curves.append(relative_along(comparison, products, path))
        axes.plot(
            products, curves[-1], color=shade(ground), linewidth=LINE_WIDTH, ls=look["linestyle"]
        )
        if comparison.has_ranges:
            low, high = relative_range_along(comparison, products, path)
            axes.fill_between(products, low, high, color=ground, alpha=SHADING, linewidth=0)
            bands.append(low)
        marks = [crossing.product for crossing in row.crossovers if crossing.product <= largest]
        if marks:  # an empty line would confuse the layout
            dots = look | {"linestyle": "", "color": shade(ground)}
            axes.plot(marks, [1.0] * len(marks), zorder=4, clip_on=False, **dots)
    axes.axhline(1.0, color=INK, linewidth=1.0, zorder=1)
    axes.set_xlim(1.0, largest)
    axes.set_ylim(*height_of(curves, bands))
    label(axes, f"speed × cache, {path.meaning}", f"response time ÷ {model.baseline}")
    names = [
        f"{shown_name(row.policy, longest=LONGEST_NAME)}: {crossovers_text(row)}" for row in rows
    ]
    keys = [legend_key(shade(colours[row.policy]), **look_of(row.policy, colours)) for row in rows]
    # Below curves that rise early there is room for the legend, and above the others.
    rises = [float(products[curve >= 1.0].min(initial=largest)) for curve in curves]
    early = max([1.0, *rises]) < largest**EARLY
    add_legend(axes, keys, names, loc="lower right" if early else "upper left")
    return names


def height_of(curves: Sequence[Numbers], bands: Sequence[Numbers]) -> tuple[float, float]:
    """Return the ends of the axis of relative response times: room on both sides of 1."""
    lows = [float(curve.min()) for curve in curves]
    room = max(LEAST_ROOM, 1.0 - min([1.0, *lows, *(float(band.min()) for band in bands)]))
    above = max(room, IN_VIEW * (max([1.0, *lows]) - 1.0))
    return 1.0 - 1.1 * room, 1.0 + ABOVE * above


def look_of(policy: str, colours: Mapping[str, Colour]) -> dict[str, Any]:
    """Return marks and dashes of a policy, for readers who cannot tell its colour from others."""
    look = line_style(list(colours).index(policy))
    return {
        "marker": look["marker"],
        "linestyle": look["linestyle"],
        "markersize": 9.0 if look["marker"] == "*" else 6.0,
        "markeredgecolor": look["markeredgecolor"],
    }


def largest_product(rows: Sequence[CrossoverRow]) -> float:
    """Return the end of an axis of products that shows the crossovers."""
    products = [crossing.product for row in rows for crossing in row.crossovers]
    furthest = BEYOND * max(products, default=1.0)
    return float(10 ** math.ceil(math.log10(min(max(furthest, SHORTEST), LONGEST))))


def crossovers_text(row: CrossoverRow) -> str:
    """Return the crossovers of a policy, or that there is none."""
    if not row.crossovers:
        return "no crossover"
    return ", ".join(growth_text(crossing.product) for crossing in row.crossovers)
