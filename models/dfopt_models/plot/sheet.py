"""Small multiples: one picture for every job of every model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError
from dfopt_models.growth import GrowthPath
from dfopt_models.plot.crossover import plot_crossover, sheet_of
from dfopt_models.plot.style import FONT_SIZE
from dfopt_models.response_time.crossover import crossover_table
from dfopt_models.response_time.model import ResponseModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = (4.6, 3.3)
"""Of one picture, in inches."""

MOST_COLUMNS = 3


def plot_crossovers(
    models: Sequence[ResponseModel], *, path: GrowthPath = GrowthPath.EQUAL
) -> Figure:
    """Draw the crossovers of several models, one picture a job, on one axis of products.

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
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = [(model, job.name) for model in models for job in model.jobs]
    if not panels:
        raise DfoptError("there is no model to draw; name one")
    sheet = sheet_of(models, [row for model in models for row in crossover_table(model, path)])
    columns = min(MOST_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(
        figsize=(PANEL[0] * columns, PANEL[1] * rows),
        layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1),
    )
    for number, (model, job) in enumerate(panels, start=1):
        ax = figure.add_subplot(rows, columns, number)
        plot_crossover(model, job, path=path, sheet=sheet, ax=ax)
        ax.set_title(f"{model.name}: {job}", loc="left", fontsize=FONT_SIZE + 1, parse_math=False)
        if number <= len(panels) - columns:
            ax.set_xlabel("")
    return figure
