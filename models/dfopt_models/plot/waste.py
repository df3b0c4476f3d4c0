"""The crossover at which a policy falls behind, as a function of the baseline's waste."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfopt_models.growth import GrowthPath
from dfopt_models.plot.style import (
    LINE_WIDTH,
    POINTS,
    begin,
    explain,
    label,
    product_axis,
)
from dfopt_models.response_time.crossover import crossovers_against_waste
from dfopt_models.response_time.model import ResponseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WASTE_SHARE = 0.1
"""The largest waste that is drawn if it has no range, as a share of the baseline's work."""


def plot_crossover_against_waste(
    model: ResponseModel,
    job: str | None = None,
    *,
    path: GrowthPath = GrowthPath.EQUAL,
    ax: Axes | None = None,
) -> Axes:
    """Draw the product of speed and cache at which each policy falls behind the baseline.

    Parameters
    ----------
    model
        The model. The axis shows the range of the baseline's waste, or up to a tenth of its work.
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
    axes, compared = begin(model, job, ax)
    product_axis(axes.yaxis)
    for comparison, colour in compared:
        otherwise = (0.0, WASTE_SHARE * comparison.baseline.work)
        wastes = np.linspace(*comparison.baseline_ranges.get("waste", otherwise), POINTS)
        crossovers = crossovers_against_waste(comparison, wastes, path)
        axes.plot(wastes, crossovers, color=colour, linewidth=LINE_WIDTH)
    label(axes, f"waste of {model.baseline}, processor-seconds", "speed × cache at the crossover")
    explain(axes, compared, {})
    return axes
