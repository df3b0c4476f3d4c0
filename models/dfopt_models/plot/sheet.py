"""What pictures of the response-time model share: sheets, looks of policies, growth on axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dfopt.errors import DfoptError
from dfopt.plot.picture import new_figure
from dfopt.plot.style import add_legend, line_style, shown_name
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.table import CrossoverRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MOST_COLUMNS = 3
"""At most this many pictures stand side by side."""

LONGEST = 32
"""At most this many characters of a name are shown."""

LARGEST_WRITTEN_OUT = 1.1e5
"""On axes that end here or before, powers of ten are written without exponents."""

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

Looks = Mapping[str, dict[str, Any]]
"""How the line of each policy looks."""


def looks_of(models: Iterable[ResponseModel]) -> dict[str, dict[str, Any]]:
    """Return how the line of each policy but the baselines looks, the same all over a sheet."""
    names = dict.fromkeys(
        policy
        for model in models
        for job in model.jobs
        for policy in job.policies
        if policy != model.baseline
    )
    return {name: line_style(number) for number, name in enumerate(names)}


def draw_sheet(
    models: Sequence[ResponseModel],
    draw: Callable[[int, str, Axes], Any],
    *,
    panel: tuple[float, float],
) -> Figure:
    """Return a sheet with a titled picture for each job of the models.

    Parameters
    ----------
    models
        One or more models.
    draw
        Draws a job of the model of a number on axes.
    panel
        Width and height of a picture, in inches.

    Raises
    ------
    DfoptError
        When there is no model.
    """
    panels = [(number, job.name) for number, model in enumerate(models) for job in model.jobs]
    if not panels:
        raise DfoptError("there is no model to draw; name one")
    columns = min(MOST_COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = new_figure(panel[0] * columns, panel[1] * lines)
    for position, (number, job) in enumerate(panels, 1):
        ax = figure.add_subplot(lines, columns, position)
        draw(number, job, ax)
        ax.set_title(f"{shown_name(models[number].name, longest=LONGEST)}: {shown_name(job)}")
        if position <= len(panels) - columns:
            ax.set_xlabel("")
    for legend in figure.legends:
        height = legend.get_window_extent().height / figure.dpi
        figure.set_figheight(figure.get_figheight() + height)
    return figure


def growth_axis(axis: Axis, *, today: bool = True) -> None:
    """Write the powers of ten on a logarithmic axis of growth, all in one way.

    Parameters
    ----------
    axis
        The axis.
    today
        Whether 1 is today's machine, and is called so.
    """
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        lambda growth, _: (
            "today" if today and growth == 1 else decade_text(growth, max(axis.get_view_interval()))
        )
    )


def decade_text(growth: float, largest: float) -> str:
    """Return a power of ten; with its exponent if the largest one of the axis is long."""
    if largest <= LARGEST_WRITTEN_OUT:
        return f"{growth:,g}" if growth < 1 else f"{growth:,.0f}"
    return "10" + f"{math.log10(growth):.0f}".translate(SUPERSCRIPTS)


def explain(
    ax: Axes, looks: Looks, rows: Sequence[CrossoverRow], more: dict[str, dict[str, Any]]
) -> None:
    """Say in the legend which line is which policy, what ``~`` means, and more."""
    from matplotlib.lines import Line2D

    signs = {shown_name(row.policy, longest=LONGEST): looks[row.policy] for row in rows} | more
    if any(row.assumptions and row.crossovers for row in rows):
        signs["~: rests on assumptions"] = {"linestyle": ""}
    add_legend(ax, {name: Line2D([], [], **look) for name, look in signs.items()})
