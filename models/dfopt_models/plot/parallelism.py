"""How many threads of each application run when it is alone: shares of its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dfopt.plot.style import INK, LINES, begin_axes, new_figure, styled
from dfopt_models.space_sharing.alone import Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = (3.4, 2.6)
"""Width and height of a picture of an application, in inches."""


@styled
def plot_parallelism(profiles: Sequence[Profile]) -> Figure:
    """Draw for each application the share of its time at each level of parallelism, as bars.

    A dashed line marks the average number of processors that run its threads.

    Parameters
    ----------
    profiles
        What :func:`.profiles` returns.
    """
    figure = new_figure(PANEL[0] * len(profiles), PANEL[1])
    panels = figure.subplots(1, len(profiles), sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, profiles, strict=True):
        shares = [100 * share for share in one.shares]
        begin_axes(axes).bar(range(1, len(shares) + 1), shares, color=LINES[0])
        axes.axvline(one.demand, color=INK, linestyle="--", linewidth=1.0)
        axes.locator_params("x", integer=True)
        axes.set_xlim(0.4, len(shares) + 0.6)
        axes.set_title(f"{one.application}: {one.elapsed:,.1f} s, {one.demand:.1f} processors")
        axes.set_xlabel("processors that run its threads")
    panels[0].set_ylabel("% of its time")
    return figure
