"""How far relative response times depend on more than the product of speed and cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.plot.colours import INK, PAPER, mixed
from dfopt.plot.picture import new_axes
from dfopt_models.plot.crossover import chosen_job
from dfopt_models.plot.style import (
    LINE_WIDTH,
    SIZE,
    add_legend,
    key,
    label,
    line_colour,
    policy_colours,
    prepare,
    product_axis,
    products_up_to,
)
from dfopt_models.response_time.claim import Region, product_spread
from dfopt_models.response_time.model import ResponseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {Region.GROWING: "--", Region.GROWING_LARGE_CACHE: "-"}
MEANINGS = {
    Region.GROWING: "any s, c ≥ 1",
    Region.GROWING_LARGE_CACHE: "c ≥ s ≥ 1",
}
THRESHOLD = 1e-3
"""Above this the third digit after the point is no longer the same."""

LARGEST, LEAST = 1e4, 1e-5


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
    name = chosen_job(model, job)
    axes = new_axes(*SIZE) if ax is None else ax
    colours = policy_colours([model])
    prepare(axes)
    products = products_up_to(LARGEST)
    handles, names = [], []
    for comparison in model.comparisons():
        if comparison.job != name:
            continue
        colour = line_colour(colours[comparison.policy])
        for region, style in STYLES.items():
            spread = product_spread(comparison, products, region)
            axes.plot(products, spread, style, color=colour, linewidth=LINE_WIDTH)
        handles.append(key(colour))
        names.append(comparison.policy)
    for region, style in STYLES.items():
        handles.append(key(INK, linestyle=style))
        names.append(MEANINGS[region])
    axes.axhline(THRESHOLD, color=mixed(INK, PAPER, 0.4), linewidth=1.0, linestyle=":")
    axes.set_xscale("log")
    product_axis(axes.xaxis)
    axes.set_yscale("log")
    axes.set_ylim(bottom=LEAST)
    axes.set_xlim(1.0, LARGEST)
    axes.set_title(name, loc="left", parse_math=False)
    label(axes, "speed × cache", "spread of the relative response time")
    add_legend(axes, handles, names)
    return axes
