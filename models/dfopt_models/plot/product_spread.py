"""Relative response times of machines with one product of speed and cache: how they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.plot.colours import INK, PAPER, mixed
from dfopt_models.plot.style import (
    BESIDE,
    LINE_WIDTH,
    begin,
    explain,
    label,
    product_axis,
    products_up_to,
)
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.product_spread import Region, product_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {Region.GROWING: "--", Region.GROWING_LARGE_CACHE: "-"}
MEANINGS = {"--": "any machine", "-": "cache ≥ speed", ":": "a thousandth"}
THRESHOLD = 1e-3
"""A spread above this changes the third digit after the point."""

LARGEST, LEAST = 1e4, 1e-6


def plot_product_spread(
    model: ResponseModel, job: str | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how much relative response times differ among machines of one product.

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
    products = products_up_to(LARGEST)
    for comparison, colour in compared:
        for region, style in STYLES.items():
            spread = product_spread(comparison, products, region)
            axes.plot(products, spread, style, color=colour, linewidth=LINE_WIDTH)
    axes.axhline(THRESHOLD, color=mixed(INK, PAPER, 0.4), linewidth=1.0, linestyle=":")
    product_axis(axes.xaxis, today=True)
    axes.set_yscale("log")
    axes.set_ylim(bottom=LEAST)
    axes.set_xlim(1.0, LARGEST)
    label(axes, "speed × cache", "spread of the relative response time")
    explain(axes, compared, MEANINGS, **BESIDE)
    return axes
