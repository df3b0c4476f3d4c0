"""Axes of costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dfopt.compare.comparison import Comparison
from dfopt.problem.instance import Objective
from dfopt.time_units import NANOSECONDS, readable_time, time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

WIDE = 50
"""Costs that differ by more than this factor need a logarithmic axis."""

LONG = 100_000_000_000
"""Costs from here on are too long to be written out beside each other."""

WHOSE = {
    Objective.TOTAL_PENALTY: "all CPUs",
    Objective.MAX_PENALTY: "the most expensive CPU",
}


def cost_label(comparisons: Sequence[Comparison]) -> str:
    """Return the label of costs: their CPUs, and their unit if all comparisons agree on it."""
    objectives = {comparison.model.objective for comparison in comparisons}
    whose = f" on {WHOSE[objectives.pop()]}" if len(objectives) == 1 else ""
    if all(comparison.model.counts_switches for comparison in comparisons):
        return f"changes of fragment{whose}"
    units = {comparison.cost_unit for comparison in comparisons}
    unit = f" ({cost_scale(comparisons)[1]})" if len(units) == 1 else ""
    return f"penalty{whose}{unit}"


def cost_scale(comparisons: Sequence[Comparison]) -> tuple[float, str]:
    """Return the unit in which the costs of comparisons are read best: its length, and name.

    Where they have several units it is none of them.
    """
    units = {comparison.cost_unit for comparison in comparisons}
    if len(units) != 1:
        return 1, ""
    return time_scale(max(each.realised.total for each in comparisons), units.pop())


def short_cost(cost: int, comparison: Comparison) -> str:
    """Return a cost of a comparison as text: a time with three digits, other costs as they are."""
    unit = comparison.cost_unit
    return readable_time(cost, unit) if unit in NANOSECONDS else f"{cost:,}"


def cost_ticks(axis: Axis, comparisons: Sequence[Comparison], *, most: int = 6) -> None:
    """Write costs as numbers with commas, if they are not too long for that."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    size, _ = cost_scale(comparisons)
    axis.set_major_locator(MaxNLocator(nbins=most, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda cost, _: cost_text(cost / size)))


def cost_text(cost: float) -> str:
    """Return a cost as text for an axis."""
    return f"{cost:,.11g}" if cost < LONG else f"{cost:.3g}"


def scale_costs(ax: Axes, comparisons: Sequence[Comparison], costs: Iterable[int]) -> None:
    """Scale the vertical axis so that the smallest costs can be told apart, and 0 has a place.

    Parameters
    ----------
    ax
        Where costs are drawn.
    comparisons, costs
        Whose costs, and all of them.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    paid = {cost for cost in costs if cost}
    if not paid or max(paid) < WIDE * min(paid):
        cost_ticks(ax.yaxis, comparisons)
        ax.set_ylim(bottom=0)
        if not paid:
            ax.set_ylim(top=1)
        return
    least = 10 ** int(math.log10(min(paid)))
    ax.set_yscale("symlog", linthresh=least, linscale=0.4)
    cost_ticks(ax.yaxis, comparisons)
    powers = range(int(math.log10(least)), math.ceil(math.log10(max(paid))) + 1)
    ax.yaxis.set_major_locator(FixedLocator([0, *(10**power for power in powers)]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0, 1.6 * max(paid))
