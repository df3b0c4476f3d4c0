"""Small multiples: one picture for every job of every model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError
from dfopt.plot.names import shown_name
from dfopt_models.growth import GrowthPath
from dfopt_models.plot.crossover import plot_crossover, sheet_of
from dfopt_models.plot.style import room_below, set_title
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.table import crossover_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (4.6, 3.3)
"""Of one picture, in inches."""

MOST_COLUMNS = 3

LONGEST_TITLE = 32
"""Of the model's part of a title, in characters."""


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
    figure = Figure(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    below = 0.0
    for number, (model, job) in enumerate(panels, start=1):
        ax = figure.add_subplot(rows, columns, number)
        plot_crossover(model, job, path=path, sheet=sheet, ax=ax)
        title = f"{shown_name(model.name, longest=LONGEST_TITLE)}: {job}"
        set_title(ax, title, longest=2 * LONGEST_TITLE)
        below = max(below, room_below(entries(ax)))
        if number <= len(panels) - columns:
            ax.set_xlabel("")
    figure.set_size_inches(PANEL[0] * columns, (PANEL[1] + below) * rows)
    return figure


def entries(ax: Axes) -> list[str]:
    """Return what the legend of a picture says."""
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]
