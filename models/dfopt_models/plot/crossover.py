"""Relative response time against speed × cache: where a policy is as fast as the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.plot.style import GREY, INK, SMALL, begin_axes, shown_name, styled
from dfopt_models.growth import GrowthPath, growth_text
from dfopt_models.plot.sheet import Looks, draw_sheet, explain, growth_axis, looks_of
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import Numbers, relative_along
from dfopt_models.response_time.ranges import relative_range_along
from dfopt_models.response_time.table import CrossoverRow, crossover_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, ROW_HEIGHT = 4.6, 3.1, 0.17
"""Width and height of a picture, and height of a row of crossovers, in inches."""

SHORTEST, LONGEST = 1e3, 1e7
"""The axis of products ends at least at the first and at most at the second."""

POINTS = 401
"""Points on a curve."""

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

STEP, BAR_WIDTH = 0.065, 3.0
"""Distance of two rows of crossovers, as a part of the height of the curves; width of a bar, in
points."""

AT_THE_SIDE = 0.28
"""A text beside a bar has room where this part of the axis is free."""

SHADING, EDGE_WIDTH = 0.13, 0.7
"""Opacity of bands, and width of the lines that end them, in points."""

RANGES = "shading and bars: what the ranges allow"
REPLICATIONS = "shading and bars: 95 % confidence intervals"
"""What the legend says of the shaded bands, and of the bars for the crossovers."""


@styled
def plot_crossovers(
    models: Sequence[ResponseModel], *, path: GrowthPath = GrowthPath.EQUAL
) -> Figure:
    """Draw response times relative to the baseline as machines grow: a picture for each job.

    Every policy has a curve; below 1 it is faster than the baseline. Marks stand at the crossovers.
    Below the curves each policy has a row with its crossovers once more and their products, or that
    there is none. Shading shows which response times the ranges of the parameters allow, or the
    confidence intervals of replications. Bars show where the crossovers may lie: a band may be
    narrow at its crossover although this one is hardly known, since parameters that move the whole
    curve do not move it there.

    Parameters
    ----------
    models
        One or more models.
    path
        How speed and cache grow together.

    Returns
    -------
    matplotlib.figure.Figure
        The pictures, on one axis of products; policies look the same in all of them.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    tables = [crossover_table(model, path) for model in models]
    looks = looks_of(models)
    largest = largest_product([row for table in tables for row in table])

    def draw(number: int, job: str, ax: Axes) -> None:
        rows = [row for row in tables[number] if row.job == job]
        draw_crossovers(ax, models[number], rows, path, looks, largest)

    return draw_sheet(models, draw, panel=(WIDTH, HEIGHT + ROW_HEIGHT * len(looks)))


def draw_crossovers(  # noqa: PLR0913, PLR0917 - a picture, and what is alike in several
    axes: Axes,
    model: ResponseModel,
    rows: Sequence[CrossoverRow],
    path: GrowthPath,
    looks: Looks,
    largest: float,
) -> None:
    """Draw the curves of a job up to the largest product, and a row for each below them."""
    begin_axes(axes)
    axes.set(xscale="log", xlim=(1.0, largest))
    growth_axis(axes.xaxis, today=path is not GrowthPath.LIMIT)
    products = np.geomspace(1.0, largest, POINTS)
    curves, bands = [], []
    more: dict[str, dict[str, Any]] = {}
    for row in rows:
        comparison = model.comparison(row.job, row.policy)
        line = {name: looks[row.policy][name] for name in ("color", "linestyle")}
        curves.append(relative_along(comparison, products, path))
        bands.append(curves[-1])
        axes.plot(products, curves[-1], linewidth=looks[row.policy]["linewidth"], **line)
        if comparison.has_ranges:
            said = REPLICATIONS if comparison.replications else RANGES
            more[said] = {"color": GREY, "linewidth": BAR_WIDTH}
            low, high = relative_range_along(comparison, products, path)
            axes.fill_between(products, low, high, color=line["color"], alpha=SHADING, linewidth=0)
            axes.plot(products, np.transpose([low, high]), lw=EDGE_WIDTH, zorder=1.5, **line)
            bands[-1] = low
    bottom, top = height_of(curves, bands, [bool(row.crossovers) for row in rows])
    step = STEP * (top - bottom)
    axes.set_ylim(bottom - step * (len(rows) + 0.3), top)
    axes.set_yticks([tick for tick in axes.get_yticks() if bottom <= tick <= top])
    for height in (1.0, bottom):
        axes.axhline(height, color=INK, linewidth=1.0, zorder=1)
    for number, row in enumerate(rows):
        draw_row(axes, row, bottom - step * (number + 0.65), looks[row.policy])
    axes.set_xlabel(f"speed × cache, {path.meaning}")
    axes.set_ylabel(f"response time ÷ {model.baseline}")
    explain(axes, looks, rows, more)


def draw_row(axes: Axes, row: CrossoverRow, height: float, look: dict[str, Any]) -> None:
    """Draw where the crossovers of a policy are and may lie, and write their products beside."""
    largest = axes.get_xlim()[1]
    ends = []
    for least, most in row.possible or ():
        if least < largest:
            ends += [least, min(most, largest)]
            axes.plot(
                ends[-2:], [height] * 2, color=look["color"], lw=BAR_WIDTH, solid_capstyle="butt"
            )
    marks = [crossing.product for crossing in row.crossovers if crossing.product < largest]
    for mark in marks:
        dotted = {"linestyle": ":", "linewidth": EDGE_WIDTH, "zorder": 4, "clip_on": False}
        axes.plot([mark] * 2, [1.0, height], **look | dotted)
    # Right of all marks and bars, else left of them, else beside the first mark.
    ends += marks or [1.0]
    right, left = largest ** (1 - AT_THE_SIDE), largest**AT_THE_SIDE
    is_left = max(ends) > right and min(ends) > left
    place = min(ends) if is_left else max(ends)
    text = crossovers_text(row)
    if not marks:
        begin = "" if row.crossovers else f", begins at {row.today:.2f}"
        text = f"{shown_name(row.policy)}: {text}{begin}"
    axes.annotate(
        text,
        (place if is_left or place <= right else min(marks, default=1.0), height),
        xytext=(-6 if is_left else 6, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="center_baseline",
        fontsize=SMALL,
        zorder=5,
    )


def height_of(
    curves: Sequence[Numbers], bands: Sequence[Numbers], crossing: Sequence[bool]
) -> tuple[float, float]:
    """Return the ends of the axis of relative response times: room on both sides of 1.

    Curves that cross the baseline rule; others are in view too, unless they are far away.
    """
    lows = np.array([curve.min() for curve in curves])
    depths = 1 - np.array([band.min() for band in bands])
    near = np.array(crossing) | (not any(crossing))
    near |= np.abs(lows - 1) <= FAR * max(LEAST_ROOM, depths[near].max())
    room = max(LEAST_ROOM, float(depths[near].max()))
    return 1 - 1.1 * room, 1 + ABOVE * max(room, IN_VIEW * (float(lows[near].max()) - 1))


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
