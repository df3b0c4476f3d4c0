"""Names in pictures: shortened, wrapped, and in legends below the axes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dfopt.plot.picture import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 24
NAME_WIDTH = 28
"""Characters of a name on one line beside a bar."""

HALF_A_LINE = 40
"""Characters of a name. Two names of at most this length have room beside each other."""

LINE = 1.7
"""Distance between two lines of a legend, and between an axis and its legend, in letter heights."""
DROP = 4


def shown_name(name: str, *, longest: int = LONGEST_NAME) -> str:
    """Return a name that fits into a picture: one line of at most ``longest`` characters.

    A long name loses its middle, because names of files and threads often differ at their ends.
    """
    name = " ".join(name.split())
    if len(name) <= longest:
        return name
    end = (longest - 1) // 3
    return f"{name[: longest - 1 - end]}…{name[-end:]}"


def name_in_lines(name: str) -> str:
    """Return a name on two or three short lines, so that there is room for the bars."""
    lines = textwrap.wrap(
        shown_name(name, longest=2 * NAME_WIDTH), NAME_WIDTH, break_on_hyphens=False, max_lines=3
    )
    return "\n".join(lines)


def height_below(names: Sequence[str], font_size: float, *, half: int = HALF_A_LINE) -> float:
    """Return the height that :func:`add_legend_below` takes, in inches."""
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
    """Add a legend below the axes and below the label of the horizontal axis.

    Parameters
    ----------
    ax
        The axes.
    keys
        The line or patch that stands for each name.
    names
        The names, shown as they are: ``$`` starts no formula, a leading ``_`` hides nothing.
    font_size
        Of the names, in points.
    half
        Two names of at most this many characters have room beside each other.
    """
    set_plain_legend(
        ax, keys, names, drop=DROP * font_size, ncols=_columns(names, half), fontsize=font_size
    )


def set_plain_legend(
    ax: Axes, keys: Sequence[Any], names: Sequence[str], *, drop: float, **options: Any
) -> None:
    """Add a legend ``drop`` points below the axes, with names that are shown as they are."""
    from matplotlib.transforms import ScaledTranslation

    shift = ScaledTranslation(0, -drop / POINTS_PER_INCH, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        keys,
        [""] * len(names),
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + shift,
        frameon=False,
        borderaxespad=0,
        **options,
    )
    # The names come last: a legend drops names that begin with an underscore, and reads $ as the
    # beginning of a formula.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _columns(names: Sequence[str], half: int) -> int:
    return 2 if max(map(len, names)) <= half else 1
