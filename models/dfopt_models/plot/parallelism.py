"""How many threads of each application run when it is alone: shares of its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.plot.colours import group_colours
from dfopt.plot.gantt_bars import shade
from dfopt_models.plot.style import begin_axes, label
from dfopt_models.space_sharing.alone import Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = (3.4, 2.6)
"""Width and height of a picture of an application, in inches."""


def plot_parallelism(profiles: Sequence[Profile]) -> Figure:
    """Draw for each application the share of its time at each level of parallelism, as bars.

    A dashed line marks the average number of processors that run its threads.

    Parameters
    ----------
    profiles
        What :func:`.profiles` returns.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import MaxNLocator

    figure = Figure(
        figsize=(PANEL[0] * len(profiles), PANEL[1]), layout=ConstrainedLayoutEngine(w_pad=0.1)
    )
    colours = group_colours({one.application: None for one in profiles})
    first = None
    for position, one in enumerate(profiles):
        first = axes = figure.add_subplot(1, len(profiles), position + 1, sharey=first)
        begin_axes(axes, f"{one.application}: {one.elapsed:,.1f} s, {one.demand:.1f} processors")
        levels = range(1, len(one.shares) + 1)
        axes.bar(
            levels, [100 * share for share in one.shares], color=shade(colours[one.application])
        )
        axes.axvline(one.demand, color="black", linestyle="--", linewidth=1.0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0.4, len(one.shares) + 0.6)
        label(axes, "processors that run its threads", "" if position else "% of its time")
    return figure
