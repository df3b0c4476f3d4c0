"""Axes of costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.compare.comparison import Comparison
from dfopt.instance import Objective

if TYPE_CHECKING:
    from matplotlib.axis import Axis

WHOSE = {
    Objective.TOTAL_PENALTY: "all CPUs",
    Objective.MAX_PENALTY: "the dearest CPU",
}


def cost_label(comparisons: Sequence[Comparison]) -> str:
    """Return what costs mean: whose they are, and their unit if all agree on it."""
    objectives = {comparison.model.objective for comparison in comparisons}
    whose = f" on {WHOSE[objectives.pop()]}" if len(objectives) == 1 else ""
    if all(comparison.model.counts_switches for comparison in comparisons):
        return f"changes of fragment{whose}"
    units = {comparison.cost_unit for comparison in comparisons}
    unit = f" ({units.pop()})" if len(units) == 1 else ""
    return f"penalty{whose}{unit}"


def cost_ticks(axis: Axis) -> None:
    """Write costs as whole numbers with commas."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:,.0f}"))
