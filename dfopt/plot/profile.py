"""Performance profiles of methods, after Dolan and Moré."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError
from dfopt.plot.style import add_legend, begin_axes, line_style, new_axes, shown_name, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.6, 4.0)
"""Width and height of a figure, in inches."""

LEAST_FACTOR = 2.0
"""At least so far goes the axis of factors."""

BEYOND = 1.2
"""The axis ends at 1.2 times the largest ratio. So the last steps can be seen."""


@styled
def plot_profile(ratios: Mapping[str, Sequence[float]], *, ax: Axes | None = None) -> Axes:
    """Draw performance profiles: the share of instances that a method solves within a factor.

    The line of a method begins with the share of instances on which it is the fastest, and ends
    with the share that it solves at all. The higher line is the better method.

    Parameters
    ----------
    ratios
        By method its time as a multiple of the fastest method's, for each instance, as
        :func:`dfopt.bench.performance_ratios` returns them; infinite where it solved nothing.
    ax
        Where to draw; a figure of its own if None. The legend stands outside all axes of the
        figure, and needs a constrained layout.

    Returns
    -------
    matplotlib.axes.Axes
        Where they have been drawn.

    Raises
    ------
    DfoptError
        When there are fewer than two methods, or no instance that all of them were run on.
    """
    from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

    if len(ratios) <= 1 or not all(ratios.values()):
        raise DfoptError(
            "a profile needs two methods and an instance that both were run on; run another "
            "method on the same instances"
        )
    axes = begin_axes(new_axes(*SIZE) if ax is None else ax)
    solved = [ratio for own in ratios.values() for ratio in own if ratio < math.inf]
    end = BEYOND * max([LEAST_FACTOR, *solved])
    signs = {}
    for number, (method, own) in enumerate(ratios.items()):
        look = line_style(number) | {"marker": ""}
        finite = sorted(ratio for ratio in own if ratio < math.inf)
        factors = sorted({1.0, *finite})
        shares = [bisect_right(finite, factor) / len(own) for factor in factors]
        axes.step([*factors, end], [*shares, shares[-1]], where="post", clip_on=False, **look)
        signs[shown_name(method)] = look
    axes.set_xscale("log")
    axes.set_xlim(1, end)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda factor, _: f"{factor:,.4g}×")
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_xlabel("time, as a multiple of the fastest method's")
    axes.set_ylabel("instances solved within it")
    add_legend(axes, signs)
    return axes
