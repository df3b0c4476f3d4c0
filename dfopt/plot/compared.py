"""What all pictures of comparisons share: names of traces, and axes of costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dfopt.compare.comparison import Comparison, policies_of
from dfopt.plot.style import shown_name
from dfopt.problem.instance import Objective
from dfopt.time_units import NANOSECONDS, readable_time, time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

WIDE = 50
"""Costs that differ by more than this factor need a logarithmic axis."""

LONGEST_NAME = 60

WHOSE = {
    Objective.TOTAL_PENALTY: "all CPUs",
    Objective.MAX_PENALTY: "the most expensive CPU",
}


def names_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what traces are called: by their policies where these differ, else by their names."""
    names = policies_of(comparisons) if len(comparisons) > 1 else None
    names = names or [comparison.name for comparison in comparisons]
    return [shown_name(name, longest=LONGEST_NAME) for name in names]


def cost_label(comparisons: Sequence[Comparison]) -> str:
    """Return the label of costs: their CPUs, and their unit if all comparisons agree on it."""
    objectives = {comparison.model.objective for comparison in comparisons}
    whose = f" on {WHOSE[objectives.pop()]}" if len(objectives) == 1 else ""
    if all(comparison.model.counts_switches for comparison in comparisons):
        return f"changes of fragment{whose}"
    _, unit = cost_scale(comparisons)
    return f"penalty{whose}" + (f" ({unit})" if unit else "")


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


def cost_ticks(axis: Axis, comparisons: Sequence[Comparison]) -> None:
    """Write costs as numbers with commas, in the unit that the label names."""
    size, _ = cost_scale(comparisons)
    axis.set_major_formatter(lambda cost, _: f"{cost / size:,.11g}")


def scale_costs(ax: Axes, comparisons: Sequence[Comparison], costs: Iterable[int]) -> None:
    """Scale the vertical axis so that the smallest of these costs can be told apart.

    Where they differ much the axis is logarithmic, but for a place of 0 below the smallest cost.
    """
    paid = {cost for cost in costs if cost}
    if paid and max(paid) > WIDE * min(paid):
        least = 10 ** int(math.log10(min(paid)))
        ax.set_yscale("symlog", linthresh=least, linscale=0.4)
        ax.set_ylim(0, 1.6 * max(paid))
    else:
        ax.locator_params("y", nbins=6, integer=True)
        ax.set_ylim(bottom=0, top=None if paid else 1)
    cost_ticks(ax.yaxis, comparisons)
    ax.set_ylabel(cost_label(comparisons))
