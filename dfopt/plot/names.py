"""Names in pictures: shortened, wrapped, and in legends below the axes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dfopt.plot.colours import PAPER, Colour
from dfopt.plot.picture import POINTS_PER_INCH, lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox

LONGEST_NAME = 24
NAME_WIDTH = 28
"""Characters of a name on one line beside a bar."""

HALF_A_LINE = 40
"""Characters of a name. Two names of at most this length have room beside each other."""

LINE = 1.7
"""Distance between two lines of a legend, and between an axis and its legend, in letter heights."""
DROP = 4

BESIDE = 6.0
"""How far across and up a text stands from its point, in points; marks are less high."""

SIDES = ((1, 1), (1, -1), (1, 0), (-1, -1), (-1, 1), (-1, 0), (0, 1), (0, -1))
"""Where a text may stand, across and up from its point; the first one that has room is taken."""

ALIGNED = {1: ("left", "bottom"), 0: ("center", "center"), -1: ("right", "top")}

Position = tuple[float, float]
"""Horizontally and vertically."""


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
    """Return the height that a legend below the axes takes, in inches."""
    lines = math.ceil(len(names) / columns_of(names, half))
    return LINE * lines * font_size / POINTS_PER_INCH


def columns_of(names: Sequence[str], half: int = HALF_A_LINE) -> int:
    """Return in how many columns names stand, of which two of ``half`` a line have room."""
    return 2 if max(map(len, names)) <= half else 1


def add_legend_below(
    ax: Axes,
    keys: Sequence[Any],
    names: Sequence[str],
    *,
    font_size: float,
    drop: float = DROP,
    **options: Any,
) -> None:
    """Add a legend below the axes and below the label of the horizontal axis.

    Parameters
    ----------
    ax
        The axes.
    keys
        The line or patch that stands for each name.
    names
        The names, shown as they are.
    font_size
        Of the names, in points.
    drop
        How far below the axes, in letter heights.
    options
        More of Matplotlib's options.
    """
    legend = ax.legend(
        keys,
        [""] * len(names),
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=drop,
        frameon=False,
        fontsize=font_size,
        **{"ncols": columns_of(names)} | options,
    )
    write_names(legend, names)


def write_names(legend: Legend, names: Sequence[str]) -> None:
    """Write names into a legend of empty texts, so that they are shown as they are.

    A legend drops names that begin with an underscore, and reads $ as the beginning of a formula.
    """
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def add_labels_beside(
    ax: Axes, labels: Sequence[tuple[Position, str, Colour]], *, font_size: float
) -> None:
    """Write texts beside points, on lines only where there is no other room.

    A text that would stand on another one, or nearer to another point than to its own, is left out.

    Parameters
    ----------
    ax
        The axes, with everything else drawn already.
    labels
        Points in the units of the axes, with their texts and the colours of these; the most
        important ones come first.
    font_size
        Of the texts, in points.
    """
    from matplotlib.patheffects import withStroke

    lay_out(ax)
    places = ax.transData.transform([point for point, _, _ in labels])
    # Texts are a little wider at other resolutions.
    room = ax.bbox.padded(-font_size)
    taken: list[Bbox] = []
    lines = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    for (point, text, colour), place in zip(labels, places, strict=True):
        tried = [
            ax.annotate(
                text,
                point,
                xytext=(across * BESIDE, up * BESIDE),
                textcoords="offset points",
                ha=ALIGNED[across][0],
                va=ALIGNED[up][1],
                fontsize=font_size,
                color=colour,
                parse_math=False,
                path_effects=[withStroke(linewidth=2.0, foreground=PAPER)],
                zorder=5,
            )
            for across, up in SIDES
        ]
        boxes = [each.get_window_extent() for each in tried]
        free = [
            side
            for side, box in enumerate(boxes)
            if room.x0 < box.x0 < box.x1 < room.x1
            and not box.count_overlaps(taken)
            and distance(place, box) <= min(distance(other, box) for other in places)
        ]
        crossing = [any(line.intersects_bbox(box, filled=False) for line in lines) for box in boxes]
        chosen = min(free, key=crossing.__getitem__, default=None)
        for side, each in enumerate(tried):
            if side != chosen:
                each.remove()
        if chosen is not None:
            taken.append(boxes[chosen])


def distance(point: Any, box: Bbox) -> float:
    """Return how far a point is from the nearest part of a box."""
    return float(np.hypot(*(point - np.clip(point, box.min, box.max))))
