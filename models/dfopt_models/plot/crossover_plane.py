"""The plane of speed and cache: the curves on which policies are as fast as the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.plot.style import GREY, PAPER, SMALL, begin_axes, shown_name, styled
from dfopt_models.plot.crossover import POINTS, crossovers_text
from dfopt_models.plot.sheet import Looks, draw_sheet, explain, growth_axis, looks_of
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import relative_response_time
from dfopt_models.response_time.table import CrossoverRow, crossover_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (4.4, 4.0)
"""Width and height of a picture, in inches."""

LARGEST = 1e4
"""Both axes end here."""

PRODUCTS = 10.0 ** np.arange(1, 8)
"""Products whose machines are joined by lines."""

GUIDE: dict[str, Any] = {"color": GREY, "linewidth": 0.6, "zorder": 1}
ALIKE = {**GUIDE, "linestyle": ":", "linewidth": 1.0}


@styled
def plot_crossover_planes(models: Sequence[ResponseModel]) -> Figure:
    """Draw on which machines policies are as fast as the baseline: a picture for each job.

    Speed grows across, the cache up. Below and left of its curve a policy is on the side where
    today's machine lies. Thin straight lines join machines with one product of speed and cache; if
    only the product mattered, the curves would be such lines. Where both grow alike the curves are
    marked, with the product.

    Parameters
    ----------
    models
        One or more models.

    Returns
    -------
    matplotlib.figure.Figure
        The pictures; policies look the same in all of them.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    looks = looks_of(models)
    return draw_sheet(
        models, lambda number, job, ax: draw_plane(ax, models[number], job, looks), panel=SIZE
    )


def draw_plane(axes: Axes, model: ResponseModel, job: str, looks: Looks) -> None:
    """Draw the curves of a job."""
    begin_axes(axes).grid(visible=False)
    growth = np.geomspace(1.0, LARGEST, POINTS)
    speeds, caches = np.meshgrid(growth, growth)
    axes.set(
        xlabel="speed, relative to today",
        ylabel="cache, relative to today",
        xlim=(1.0, LARGEST),
        ylim=(1.0, LARGEST),
        xscale="log",
        yscale="log",
        box_aspect=1,
    )
    for axis in (axes.xaxis, axes.yaxis):
        growth_axis(axis)
    for product in PRODUCTS:
        axes.plot(growth, product / growth, **GUIDE)
    axes.plot(growth, growth, **ALIKE)
    rows = [row for row in crossover_table(model) if row.job == job]
    missing = []
    for number, row in enumerate(rows):
        relative = relative_response_time(model.comparison(job, row.policy), speeds, caches)
        if relative.min() < 1 < relative.max():
            look = looks[row.policy]
            curve = axes.contour(speeds, caches, relative, levels=[1.0], colors=[look["color"]])
            curve.set(linewidth=look["linewidth"], linestyle=look["linestyle"], zorder=3)
            mark_crossovers(axes, row, look, side=(-1) ** number)
        else:
            missing.append(f"{row.policy}: no crossover here")
    axes.text(0.97, 0.97, "\n".join(missing), transform=axes.transAxes, ha="right", va="top")
    more: dict[str, dict[str, Any]] = {
        "one product of both": GUIDE,
        "both growing alike": ALIKE,
        f"curves: as fast as {shown_name(model.baseline)}": {"linestyle": ""},
    }
    explain(axes, looks, rows, more)


def mark_crossovers(axes: Axes, row: CrossoverRow, look: Any, *, side: int) -> None:
    """Mark where speed and cache grow alike; products stand right of the curve, or left of it."""
    places = [crossing.product**0.5 for crossing in row.crossovers]
    axes.plot(places, places, **{**look, "linestyle": "", "zorder": 4})
    if places:
        axes.annotate(
            crossovers_text(row),
            (places[0], places[0]),
            xytext=(7 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center_baseline",
            fontsize=SMALL,
            annotation_clip=True,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "linewidth": 0},
            zorder=3.5,
        )
