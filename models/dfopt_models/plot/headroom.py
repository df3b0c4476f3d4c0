"""The distance of each policy from the ideal as machines grow, and what affinity could save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfopt_models.growth import GrowthPath
from dfopt_models.plot.style import (
    BESIDE,
    LINE_WIDTH,
    begin,
    explain,
    label,
    product_axis,
    products_up_to,
)
from dfopt_models.response_time.bounds import bounds
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import machines_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 1e4
ROUNDING = 1e-12
"""An excess below this counts as none."""

STYLES = {"response_time": "-", "perfect_affinity": "--", "zero_yield": ":"}
NONE = "no waste (the same)"
"""What the legend says where the dotted curves hide behind the solid ones."""

MEANINGS = {"-": "as it is", "--": "perfect affinity", ":": "no waste"}


def plot_headroom(
    model: ResponseModel,
    job: str | None = None,
    *,
    path: GrowthPath = GrowthPath.EQUAL,
    ax: Axes | None = None,
) -> Axes:
    """Draw by how much response times exceed the ideal, which has no waste and no reallocation.

    Parameters
    ----------
    model
        The model.
    job
        The job; may be left out if there is only one.
    path
        How speed and cache grow together; not ``limit``, where bounds have no meaning.
    ax
        Where to draw; a figure of its own if None.

    Returns
    -------
    matplotlib.axes.Axes
        Where it has been drawn.

    Raises
    ------
    DfoptError
        When there is no such job, several to choose from, nothing to compare, or no machine along
        the path.
    """
    axes, compared = begin(model, job, ax)
    axes.set_yscale("log")
    product_axis(axes.xaxis, today=True)
    products = products_up_to(LARGEST)
    for comparison, colour in compared:
        possible = bounds(comparison.case, *machines_along(path, products))
        for bound, style in STYLES.items():
            excess = getattr(possible, bound) / possible.ideal - 1
            visible = np.where(excess > ROUNDING, excess, np.nan)
            axes.plot(products, visible, style, color=colour, linewidth=LINE_WIDTH)
    axes.set_xlim(1.0, LARGEST)
    label(axes, f"speed × cache, {path.meaning}", "response time ÷ ideal − 1")
    hidden = all(comparison.case.waste == 0 for comparison, _ in compared)
    explain(axes, compared, MEANINGS | ({":": NONE} if hidden else {}), **BESIDE)
    return axes
