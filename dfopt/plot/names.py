"""Names in pictures: shortened, wrapped, and in legends below the axes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dfopt.plot.colours import PAPER, Colour
from dfopt.plot.picture import POINTS_PER_INCH, lay_out, root_figure

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

MARK = 5.5
STEP = 4.0
LETTER = 0.58
"""Half the height of a mark and the width of a line in points, with some room around them, and the
mean width of a letter in letter heights."""

Position = tuple[float, float]
"""Horizontally and vertically."""

Box = tuple[float, float, float, float]
"""Left, lower, right and upper end, in points."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBeside:
    """A text that stands beside a point, in the units of the axes."""

    point: Position
    text: str
    colour: Colour


def add_labels_beside(
    ax: Axes,
    labels: Sequence[LabelBeside],
    lines: Sequence[Sequence[Position]],
    *,
    font_size: float,
) -> None:
    """Write texts beside points, on lines only where there is no other room.

    A text that would stand on another one or on a point, or nearer to another point than to its
    own, is left out.

    Parameters
    ----------
    ax
        The axes, with everything else drawn already.
    labels
        The texts, the most important ones first.
    lines
        The corners of lines.
    font_size
        Of the texts, in points.
    """
    from matplotlib.patheffects import withStroke

    lay_out(ax)
    scale = POINTS_PER_INCH / root_figure(ax).dpi

    def shown(point: Position) -> Position:
        x, y = ax.transData.transform(point)
        return scale * x, scale * y

    (least, _), (most, _) = scale * ax.get_window_extent().get_points()
    points = [shown(label.point) for label in labels]
    taken = [around(point, MARK) for point in points]
    crossed = [
        around(position, STEP / 2)
        for line in lines
        for start, end in pairwise(map(shown, line))
        for position in between(start, end)
    ]
    for label, point in zip(labels, points, strict=True):
        x, y = point
        width = LETTER * font_size * len(label.text)
        boxes = [
            (left, low, left + width, low + font_size)
            for left, low in (
                (x + MARK, y + MARK - 2),
                (x + MARK, y - MARK - font_size + 2),
                (x + MARK, y - font_size / 2),
                (x - MARK - width, y - MARK - font_size + 2),
                (x - MARK - width, y + MARK - 2),
                (x - MARK - width, y - font_size / 2),
                (x - width / 3, y + 2 * MARK),
                (x - width / 3, y - 2 * MARK - font_size),
            )
            if least < left < most - width
        ]
        free = [
            box
            for box in boxes
            if not overlaps(box, taken)
            and distance(box, point) <= min(distance(box, other) for other in points)
        ]
        if not free:
            continue
        box = next((box for box in free if not overlaps(box, crossed)), free[0])
        taken.append(box)
        ax.annotate(
            label.text,
            label.point,
            xytext=(box[0] - x, box[1] - y + 1),
            textcoords="offset points",
            fontsize=font_size,
            color=label.colour,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.0, foreground=PAPER)],
            zorder=5,
        )


def between(start: Position, end: Position) -> Iterator[Position]:
    """Yield positions on a line from its start to its end, a step apart."""
    steps = 1 + int(math.dist(start, end) / STEP)
    for step in range(steps + 1):
        part = step / steps
        yield start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


def around(point: Position, distance: float) -> Box:
    """Return the square around a point."""
    x, y = point
    return x - distance, y - distance, x + distance, y + distance


def distance(box: Box, point: Position) -> float:
    """Return how far a point is from the nearest part of a box."""
    left, low, right, high = box
    return math.dist(point, (min(max(point[0], left), right), min(max(point[1], low), high)))


def overlaps(box: Box, others: Iterable[Box]) -> bool:
    """Return whether a box has a part in common with one of the others."""
    return any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for other in others
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
