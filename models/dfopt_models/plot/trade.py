"""The plane of reallocations and waste: what a policy can afford as machines grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.colours import PAPER
from dfopt_models.growth import GrowthPath, growth_text
from dfopt_models.plot.style import (
    BESIDE,
    LINE_WIDTH,
    begin,
    explain,
    label,
)
from dfopt_models.response_time.bounds import trade
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import machines_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PRODUCTS = (1.0, 100.0, 1000.0)
STYLES = ("-", "--", ":", "-.")
ROOM = 1.6
"""The axis of reallocations ends at the largest number of a policy times this."""


def plot_trade(
    model: ResponseModel,
    job: str | None = None,
    *,
    products: Sequence[float] = PRODUCTS,
    path: GrowthPath = GrowthPath.EQUAL,
    ax: Axes | None = None,
) -> Axes:
    """Draw every policy's waste against its reallocations, and what it can afford of both.

    All points of a line have the same response time. A policy with the affinity and the allocation
    of its colour is faster than the baseline below the line.

    Parameters
    ----------
    model
        The model.
    job
        The job; may be left out if there is only one.
    products
        At most four machines, by their speed times cache.
    path
        How speed and cache grow together; not ``limit``.
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
    cases = [comparison.case for comparison, _ in compared]
    right = ROOM * max(1.0, *(case.reallocations for case in cases))
    across = np.array([0.0, right])
    top = max(case.waste for case in cases)
    styles = dict(zip(STYLES, products, strict=False))
    for comparison, colour in compared:
        for style, product in styles.items():
            line = trade(comparison, *machines_along(path, product)).most_waste(across)
            axes.plot(across, line, style, color=colour, linewidth=LINE_WIDTH)
            top = max(top, float(line.max()))
        point = comparison.case.reallocations, comparison.case.waste
        axes.plot(*point, "o", color=colour, markeredgecolor=PAPER, clip_on=False, zorder=4)
    axes.set_xlim(0.0, right)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(0.0, 1.1 * top)
    label(axes, "reallocations", "waste, processor-seconds")
    meanings = {s: f"speed × cache = {growth_text(product)}" for s, product in styles.items()}
    explain(axes, compared, meanings, marker="o", **BESIDE)
    return axes
