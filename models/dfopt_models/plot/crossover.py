"""Relative response time against speed × cache: where a policy and the baseline change places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dfopt.plot.colours import INK, Colour
from dfopt.plot.names import shown_name
from dfopt_models.growth import GrowthPath, growth_text
from dfopt_models.plot.style import (
    LINE_WIDTH,
    LONGEST_NAME,
    SHADING,
    add_legend,
    begun,
    chosen_job,
    key,
    label,
    line_colour,
    look_of,
    policy_colours,
    product_axis,
    products_up_to,
)
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import relative_along
from dfopt_models.response_time.ranges import relative_range_along
from dfopt_models.response_time.table import CrossoverRow, crossover_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORTEST, LONGEST = 1e3, 1e7
"""How far the axis of products goes at least and at most."""

BEYOND = 3.0
"""How far it goes beyond the last crossover, as a factor."""

ABOVE = 1.5
"""How much room there is above the baseline, as a multiple of that below."""
LEAST_ROOM = 0.04
IN_VIEW = 1.2
"""How much more room a curve gets that is above the baseline everywhere."""
EARLY = 0.55
"""As a share of the logarithmic axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What is alike in several pictures.

    Parameters
    ----------
    colours
        A colour for every policy.
    largest
        How far the axis of products goes.
    """

    colours: Mapping[str, Colour]
    largest: float


def plot_crossover(
    model: ResponseModel,
    job: str | None = None,
    *,
    path: GrowthPath = GrowthPath.EQUAL,
    sheet: Sheet | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw response times relative to the baseline as machines grow.

    Every policy has a curve; below 1 it is faster than the baseline. Marks stand at the crossovers,
    and the legend gives their products, or says that there is none. What the ranges of the
    parameters allow is shaded.

    Parameters
    ----------
    model
        The model.
    job
        The job; may be left out if there is only one.
    path
        How speed and cache grow together.
    sheet
        What is alike in several pictures; this one stands alone if None.
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
    rows = [row for row in crossover_table(model, path) if row.job == name]
    alike = sheet_of([model], rows) if sheet is None else sheet
    end, palette = alike.largest, alike.colours
    axes = begun(ax, name)
    axes.set_xscale("log")
    product_axis(axes.xaxis)
    lowest, least_high, risen, lines = 1.0, 1.0, 1.0, []
    products = products_up_to(end)
    for row in rows:
        comparison = model.comparison(row.job, row.policy)
        colour, look = line_colour(palette[row.policy]), look_of(row.policy, palette)
        curve = relative_along(comparison, products, path)
        axes.plot(products, curve, color=colour, linewidth=LINE_WIDTH, linestyle=look["linestyle"])
        lines.append(key(colour, **look))
        lowest = min(lowest, float(curve.min()))
        least_high = max(least_high, float(curve.min()))
        risen = max(risen, float(products[curve >= 1.0].min(initial=end)))
        if comparison.has_ranges:
            low, high = relative_range_along(comparison, products, path)
            ground = palette[row.policy]
            axes.fill_between(products, low, high, color=ground, alpha=SHADING, linewidth=0)
            lowest = min(lowest, float(low.min()))
        marks = [crossing.product for crossing in row.crossovers if crossing.product <= end]
        if marks:  # an empty line would confuse the layout
            dots = look | {"linestyle": ""}
            axes.plot(marks, [1.0] * len(marks), color=colour, zorder=4, clip_on=False, **dots)
    axes.axhline(1.0, color=INK, linewidth=1.0, zorder=1)
    axes.set_xlim(1.0, end)
    room = max(LEAST_ROOM, 1.0 - lowest)
    above = max(room, IN_VIEW * (least_high - 1.0))
    axes.set_ylim(1.0 - 1.1 * room, 1.0 + ABOVE * above)
    label(axes, f"speed × cache, {path.meaning}", f"response time ÷ {model.baseline}")
    add_legend(
        axes,
        lines,
        [f"{shown_name(row.policy, longest=LONGEST_NAME)}: {crossovers_text(row)}" for row in rows],
        # Curves that rise early leave room behind them, the others above them.
        place="lower right" if risen < end**EARLY else "upper left",
    )
    return axes


def sheet_of(models: Sequence[ResponseModel], rows: Sequence[CrossoverRow]) -> Sheet:
    """Return what is alike in the pictures of these models with these crossovers."""
    return Sheet(colours=policy_colours(models), largest=largest_product(rows))


def largest_product(rows: Sequence[CrossoverRow]) -> float:
    """Return how far an axis of products goes so that it has the crossovers on it."""
    products = [crossing.product for row in rows for crossing in row.crossovers]
    furthest = BEYOND * max(products, default=1.0)
    return float(10 ** math.ceil(math.log10(min(max(furthest, SHORTEST), LONGEST))))


def crossovers_text(row: CrossoverRow) -> str:
    """Return the crossovers of a policy, or that there is none."""
    if not row.crossovers:
        return "no crossover"
    return ", ".join(growth_text(crossing.product) for crossing in row.crossovers)
