"""Sheets: a picture for each job of several models, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError
from dfopt.plot.names import shown_name
from dfopt_models.plot.style import LONGEST_TITLE, begin_axes, room_below
from dfopt_models.response_time.model import ResponseModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (4.6, 3.3)
"""Width and height of a picture in a sheet, in inches."""

MOST_COLUMNS = 3
"""At most this many pictures stand side by side."""

LONGEST_MODEL = 32
"""At most this many characters of a model's name stand in a title."""

Draw = Callable[[int, ResponseModel, str, "Axes"], Any]
"""Draws a job of the model of this number on axes."""


def plot_jobs(plot: Callable[..., Axes], models: Sequence[ResponseModel]) -> Figure:
    """Draw a picture for each job of several models, side by side.

    Parameters
    ----------
    plot
        Draws a picture of a job, such as :func:`.plot_crossover_plane`.
    models
        One or more models.

    Raises
    ------
    DfoptError
        When there is nothing to draw.
    """
    return draw_sheet(models, lambda _, model, job, ax: plot(model, job, ax=ax))


def draw_sheet(models: Sequence[ResponseModel], draw: Draw) -> Figure:
    """Return a sheet with a titled picture for each job of the models.

    Raises
    ------
    DfoptError
        When there is no model.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = [
        (number, model, job.name) for number, model in enumerate(models) for job in model.jobs
    ]
    if not panels:
        raise DfoptError("there is no model to draw; name one")
    columns = min(MOST_COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = Figure(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    axes = [figure.add_subplot(lines, columns, position + 1) for position in range(len(panels))]
    below = 0.0
    for position, ((number, model, job), ax) in enumerate(zip(panels, axes, strict=True)):
        begin_axes(ax, "")
        draw(number, model, job, ax)
        title = f"{shown_name(model.name, longest=LONGEST_MODEL)}: {job}"
        begin_axes(ax, title, longest=LONGEST_TITLE)
        legend = ax.get_legend()
        if legend is not None:
            below = max(below, room_below([text.get_text() for text in legend.get_texts()]))
        if position < len(panels) - columns:
            ax.set_xlabel("")
    figure.set_size_inches(PANEL[0] * columns, (PANEL[1] + below) * lines)
    return figure
