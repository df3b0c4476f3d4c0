"""Legends below axes, for more names than have room on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt.plot.picture import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALF_A_LINE = 40
"""Of names, in characters."""

LINE = 1.7
"""From one line to the next, and between an axis and what stands below its name, in heights of
letters."""
DROP = 4


def height_below(names: Sequence[str], font_size: float, *, half: int = HALF_A_LINE) -> float:
    """Return how much room :func:`add_legend_below` takes, in inches."""
    lines = math.ceil(len(names) / _columns(names, half))
    return LINE * lines * font_size / POINTS_PER_INCH


def add_legend_below(
    ax: Axes,
    keys: Sequence[Any],
    names: Sequence[str],
    *,
    font_size: float,
    half: int = HALF_A_LINE,
) -> None:
    """Say below the axes, and below the name of the horizontal one, what is what.

    Parameters
    ----------
    ax
        The axes.
    keys
        What stands for each name.
    names
        The names; in them ``$`` is no formula, and a leading ``_`` no secret.
    font_size
        Of the names, in points.
    half
        So long are names of which two have room beside each other, in characters.
    """
    from matplotlib.transforms import ScaledTranslation

    drop = ScaledTranslation(0, -DROP * font_size / POINTS_PER_INCH, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        keys,
        [""] * len(names),
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + drop,
        ncols=_columns(names, half),
        frameon=False,
        fontsize=font_size,
        borderaxespad=0,
    )
    # Only now: a legend leaves out names that begin with an underscore, and reads $ as formula.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _columns(names: Sequence[str], half: int) -> int:
    return 2 if max(map(len, names)) <= half else 1
