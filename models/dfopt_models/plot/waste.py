"""Where a policy falls behind, as a function of how much the baseline wastes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.plot.picture import new_axes
from dfopt_models.growth import GrowthPath
from dfopt_models.plot.crossover import chosen_job
from dfopt_models.plot.style import (
    LINE_WIDTH,
    POINTS,
    SIZE,
    add_legend,
    label,
    line_colour,
    policy_colours,
    prepare,
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
    axes = new_axes(*SIZE) if ax is None else ax
    colours = policy_colours([model])
    prepare(axes)
    axes.set_yscale("log")
    product_axis(axes.yaxis)
    comparisons = [one for one in model.comparisons() if one.job == name]
    lines = []
    for comparison in comparisons:
        baseline = comparison.baseline
        otherwise = (0.0, WASTE_SHARE * baseline.work)
        wastes = np.linspace(*comparison.baseline_ranges.get("waste", otherwise), POINTS)
        lines += axes.plot(
            wastes,
            crossovers_against_waste(comparison, wastes, path),
            color=line_colour(colours[comparison.policy]),
            linewidth=LINE_WIDTH,
        )
    axes.set_title(name, loc="left", parse_math=False)
    label(axes, f"waste of {model.baseline}, processor-seconds", "speed × cache at the crossover")
    add_legend(axes, lines, [comparison.policy for comparison in comparisons])
    return axes
