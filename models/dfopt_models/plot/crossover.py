"""Relative response time against speed × cache: where a policy is as fast as the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.plot.colours import INK, Colour
from dfopt.plot.foresight import line_style
from dfopt.plot.gantt_bars import shade
from dfopt_models.growth import GrowthPath, growth_text
from dfopt_models.plot.sheet import draw_sheet
from dfopt_models.plot.style import (
    LINE_WIDTH,
    add_legend,
    begin_axes,
    job_named,
    label,
    legend_key,
    policy_colours,
    product_axis,
    products_up_to,
    shown_policy,
)
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import Numbers, relative_along
from dfopt_models.response_time.ranges import relative_range_along
from dfopt_models.response_time.table import CrossoverRow, crossover_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

FAR = 5.0
"""A curve this many times further from the baseline than those that cross it is out of view."""

BAR_WIDTH, BAR_STEP = 3.0, 0.035
"""Width of a bar in points, and the distance of two bars as a share of the axis."""

EARLY = 0.55
"""If all curves rise above the baseline within this share of the axis, the legend is below."""

SHADING = 0.13
"""Opacity of the shading of ranges."""

EDGE_WIDTH = 0.7
"""Width of the lines that end a shaded band, in points."""

RANGES = "shading and bars: what the ranges allow"
REPLICATIONS = "shading and bars: 95 % confidence intervals"
"""What the legend says of the shaded bands, and of the bars for the crossovers."""

SAME = 0.006
"""Curves coincide if they differ by at most this share of the axis."""


def plot_crossover(
    model: ResponseModel,
    job: str | None = None,
    *,
    path: GrowthPath = GrowthPath.EQUAL,
    ax: Axes | None = None,
) -> Axes:
    """Draw response times relative to the baseline as machines grow.

    Every policy has a curve; below 1 it is faster than the baseline. Marks stand at the crossovers,
    and the legend gives their products, or says that there is none. Shading shows which response
    times the ranges of the parameters allow, or the confidence intervals of replications. Bars
    show where the crossovers may lie: a band may be narrow at its crossover although this one is
    hardly known, since parameters that move the whole curve do not move it there.

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
    tables = {
        (number, job.name): [row for row in table if row.job == job.name]
        for number, model in enumerate(models)
        for table in (crossover_table(model, path),)
        for job in model.jobs
    }
    colours = policy_colours(models)
    largest = largest_product([row for rows in tables.values() for row in rows])

    def draw(number: int, model: ResponseModel, job: str, ax: Axes) -> None:
        draw_crossovers(ax, model, tables[number, job], path, colours, largest)

    return draw_sheet(models, draw)


def draw_crossovers(  # noqa: PLR0913, PLR0917 - a picture, and what is alike in several
    axes: Axes,
    model: ResponseModel,
    rows: Sequence[CrossoverRow],
    path: GrowthPath,
    colours: Mapping[str, Colour],
    largest: float,
) -> list[str]:
    """Draw the curves of a job up to the largest product, and return what the legend says."""
    product_axis(axes.xaxis, today=path is not GrowthPath.LIMIT)
    products = products_up_to(largest)
    curves, bands, said = [], [], ""
    for row in rows:
        comparison = model.comparison(row.job, row.policy)
        ground, look = colours[row.policy], look_of(row.policy, colours)
        line: dict[str, Any] = {"color": shade(ground), "ls": look["linestyle"]}
        curves.append(relative_along(comparison, products, path))
        bands.append(curves[-1])
        axes.plot(products, curves[-1], linewidth=LINE_WIDTH, **line)
        if comparison.has_ranges:
            said = REPLICATIONS if comparison.replications else RANGES
            low, high = relative_range_along(comparison, products, path)
            axes.fill_between(products, low, high, color=ground, alpha=SHADING, linewidth=0)
            for edge in (low, high):
                axes.plot(products, edge, linewidth=EDGE_WIDTH, zorder=1.5, **line)
            bands[-1] = low
        marks = [crossing.product for crossing in row.crossovers if crossing.product <= largest]
        if marks:  # an empty line would confuse the layout
            dots = look | {"linestyle": "", "color": shade(ground)}
            axes.plot(marks, [1.0] * len(marks), zorder=4, clip_on=False, **dots)
    axes.axhline(1.0, color=INK, linewidth=1.0, zorder=1)
    axes.set_xlim(1.0, largest)
    bars = [(row.policy, row.possible) for row in rows if row.possible]
    draw_bars(axes, bars, largest, colours)
    crossing = [bool(row.crossovers) for row in rows]
    bottom, top = height_of(curves, bands, crossing)
    view = (bottom - BAR_STEP * len(bars) * (top - bottom), top)
    axes.set_ylim(*view)
    label(axes, f"speed × cache, {path.meaning}", f"response time ÷ {model.baseline}")
    twins = coinciding([row.policy for row in rows], curves, view)
    names = []
    for row, curve in zip(rows, curves, strict=True):
        outside = curve.min() > top or curve.max() < bottom
        hidden = f" ({row.today:.2f}, out of view)" if outside else twins[row.policy]
        names.append(f"{shown_policy(row.policy)}: {crossovers_text(row)}{hidden}")
    keys = [legend_key(shade(colours[row.policy]), **look_of(row.policy, colours)) for row in rows]
    if said:
        keys.append(legend_key(INK, alpha=0.6))
        keys[-1].set_linewidth(BAR_WIDTH)
        names.append(said)
    # Below curves that rise early there is room for the legend, and above the others.
    rises = [float(products[curve >= 1.0].min(initial=largest)) for curve in curves]
    early = max([1.0, *rises]) < largest**EARLY
    add_legend(axes, keys, names, loc="lower right" if early else "upper left")
    return names


def draw_bars(
    axes: Axes,
    bars: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    largest: float,
    colours: Mapping[str, Colour],
) -> None:
    """Draw where each policy's crossover may lie, a line of bars for each from the bottom up."""
    for number, (policy, intervals) in enumerate(reversed(bars)):
        height = BAR_STEP * (number + 0.6)
        for least, most in intervals:
            if least < largest:
                axes.plot(
                    [least, min(most, largest)],
                    [height, height],
                    transform=axes.get_xaxis_transform(),
                    color=shade(colours[policy]),
                    linewidth=BAR_WIDTH,
                    solid_capstyle="butt",
                )


def coinciding(
    policies: Sequence[str], curves: Sequence[Numbers], view: tuple[float, float]
) -> dict[str, str]:
    """Return for each policy what the legend says if its curve hides behind an earlier one."""
    low, high = view
    said = dict.fromkeys(policies, "")
    for number, curve in enumerate(curves):
        for before, other in zip(policies[:number], curves[:number], strict=True):
            seen = (np.minimum(curve, other) <= high) & (np.maximum(curve, other) >= low)
            apart = np.abs(curve - other)[seen].max(initial=0.0)
            if seen.any() and apart <= SAME * (high - low):
                said[policies[number]] = f" (as {shown_policy(before)})"
                break
    return said


def height_of(
    curves: Sequence[Numbers], bands: Sequence[Numbers], crossing: Sequence[bool]
) -> tuple[float, float]:
    """Return the ends of the axis of relative response times: room on both sides of 1.

    Curves that cross the baseline rule; others are in view too, unless they are far away.
    """
    lows = [float(curve.min()) for curve in curves]
    depths = [1.0 - float(band.min()) for band in bands]

    def room_of(chosen: Sequence[bool]) -> float:
        return max([LEAST_ROOM, *(d for d, is_in in zip(depths, chosen, strict=True) if is_in)])

    reach = FAR * room_of(crossing) if any(crossing) else math.inf
    near = [does or abs(low - 1.0) <= reach for low, does in zip(lows, crossing, strict=True)]
    room = room_of(near)
    highest = max([0.0, *(low - 1.0 for low, is_in in zip(lows, near, strict=True) if is_in)])
    return 1.0 - 1.1 * room, 1.0 + ABOVE * max(room, IN_VIEW * highest)


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
    """Return the crossovers of a policy, or that there is none; ``~`` marks assumptions."""
    if not row.crossovers:
        return "no crossover"
    mark = "~" if row.assumptions else ""
    return ", ".join(
        f"{mark}{growth_text(crossing.product, row.digits)}" for crossing in row.crossovers
    )
