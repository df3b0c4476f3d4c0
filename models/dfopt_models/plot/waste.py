"""Where a policy falls behind, as a function of how much the baseline wastes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt_models.growth import GrowthPath
from dfopt_models.plot.style import (
    LINE_WIDTH,
    POINTS,
    begun,
    chosen_job,
    compared_in,
    explain,
    label,
    product_axis,
)
from dfopt_models.response_time.crossover import crossovers_against_waste
from dfopt_models.response_time.model import ResponseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WASTE_SHARE = 0.1
"""How much waste is drawn without a range for it, as a share of the baseline's work."""


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
        The model; the range of the baseline's waste says what is drawn, or a tenth of its work.
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
    import numpy as np

    name = chosen_job(model, job)
    axes = begun(ax, name)
    axes.set_yscale("log")
    product_axis(axes.yaxis)
    compared = compared_in(model, name)
    for comparison, colour in compared:
        otherwise = (0.0, WASTE_SHARE * comparison.baseline.work)
        wastes = np.linspace(*comparison.baseline_ranges.get("waste", otherwise), POINTS)
        crossovers = crossovers_against_waste(comparison, wastes, path)
        axes.plot(wastes, crossovers, color=colour, linewidth=LINE_WIDTH)
    label(axes, f"waste of {model.baseline}, processor-seconds", "speed × cache at the crossover")
    explain(axes, compared, {})
    return axes
