"""Figures, and how all of them look: colours, lines, letters, legends, and names that fit."""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from dfopt.errors import FileError
from dfopt.files.storage import replacing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox


# Nothing in a picture may depend on when and with which version it was drawn.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "dfopt"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": "dfopt", "Producer": None},
}

POINTS_PER_INCH = 72

RESOLUTION = 150
"""Dots per inch of a PNG."""


def new_axes(width: float, height: float) -> Axes:
    """Return the Axes of a new figure of this size in inches."""
    return new_figure(width, height).add_subplot()


def new_figure(width: float, height: float) -> Figure:
    """Return a new figure of this size in inches."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05))


def lay_out(ax: Axes) -> None:
    """Let a figure made by :func:`new_axes` find the place of its axes now."""
    with without_glyph_warnings():
        root_figure(ax).draw_without_rendering()


def root_figure(ax: Axes) -> Figure:
    """Return the figure that axes belong to, through nested ones."""
    return ax.figure.figure


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Silence the warnings about characters that the font lacks: they are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def check_picture_name(path: str | Path) -> str:
    """Return the ending that tells the format of a picture.

    Raises
    ------
    FileError
        When there is no such format; the message names those there are.
    """
    ending = Path(path).suffix.lower()
    if ending not in METADATA:
        raise FileError(
            "is no picture format that dfopt writes; end the name in .svg, .png or .pdf",
            file=str(path) or "''",
        )
    return ending


def save_picture(ax: Axes, path: str | Path) -> None:
    """Write the figure of these axes as SVG, PNG or PDF, by the ending of the name.

    The file is written as a whole or not at all; the same figure gives the same bytes.

    Raises
    ------
    FileError
        When there is no such format, or the file cannot be written.
    """
    # Drawn in memory first: an error of Matplotlib's is no error of the file's.
    drawn = _drawn(ax, check_picture_name(path))
    with replacing(path) as stream:
        stream.write(drawn)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that notebooks show.

    Parameters
    ----------
    svg
        The picture itself.
    alt
        What it shows, for those who cannot see it.
    """

    svg: str = field(repr=False)
    alt: str = "picture"

    def _repr_html_(self) -> str:
        """Return an image that shrinks with the page, instead of being cut off at its edge."""
        data = base64.b64encode(self.svg.encode()).decode()
        source = f"data:image/svg+xml;base64,{data}"
        return f'<img alt="{escape(self.alt)}" style="max-width: 100%" src="{source}">'


def picture_of(ax: Axes, alt: str = "picture") -> Picture:
    """Return the figure of these axes as a picture, for the last line of a notebook's cell.

    ``alt`` says in words what it shows.
    """
    return Picture(_drawn(ax, ".svg").decode(), alt)


def _drawn(ax: Axes, ending: str) -> bytes:
    """Return the figure of these axes in the format of an ending."""
    from matplotlib import rc_context

    drawn = io.BytesIO()
    with rc_context({"svg.hashsalt": "dfopt"}), without_glyph_warnings():
        root_figure(ax).savefig(drawn, format=ending[1:], dpi=RESOLUTION, metadata=METADATA[ending])
    return drawn.getvalue()


Colour = tuple[float, float, float]
Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn")

FONT_SIZE = 9.0
SMALL = 7.5

STYLE: Any = {
    "font.size": FONT_SIZE,
    "text.parse_math": False,  # names come from files: a $ in them begins no formula
    "axes.titlelocation": "left",
    "axes.titlesize": FONT_SIZE + 2,
    "legend.frameon": False,
    "legend.borderaxespad": 0.2,
    "hatch.linewidth": 0.7,
}
"""Settings of Matplotlib under which pictures are drawn."""

BASE = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#BBCC33", "#99DDFF", "#AAAA00")
"""The light scheme of Paul Tol, made for cells that carry a label, without its grey."""

LINES = ("#4477AA", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#AA4499", "#332288", "#999933")
"""Colours for lines that colour-blind readers tell apart, after his muted scheme."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (5, 1.5, 1, 1.5)), (0, (1.2, 1.2)))

INK: Colour = (0.13, 0.13, 0.13)
PAPER: Colour = (1.0, 1.0, 1.0)

SHADES: tuple[tuple[Colour, float], ...] = ((PAPER, 0.0), (INK, 0.55), (PAPER, 0.5))
"""The colour that is mixed into the base colours, and its share, for each round of them."""

LIGHT = 0.21
"""On colours of at least this luminance ink is easier to read than paper."""

SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0))
"""Where a text may stand, across and up from its point; the first one that has room is taken."""

BESIDE = 5.0
"""How far a text stands from its point, in points."""


def styled(draw: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """Let a function draw with the letters of all pictures."""

    @wraps(draw)
    def in_style(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Drawn:
        from matplotlib import rc_context

        with rc_context(STYLE):
            return draw(*args, **kwargs)

    return in_style


def mixed(colour: Colour, towards: Colour, share: float) -> Colour:
    """Return ``colour`` with this share of another one mixed in."""
    red, green, blue = (a + share * (b - a) for a, b in zip(colour, towards, strict=True))
    return red, green, blue


GREY = mixed(INK, PAPER, 0.4)
FAINT = mixed(INK, PAPER, 0.85)


def shade(colour: Colour) -> Colour:
    """Return a colour dark enough for lines on white."""
    return mixed(colour, INK, 0.35)


def group_colours(groups: Iterable[str]) -> dict[str, Colour]:
    """Return a colour for each group, in order; after three times eight they begin again."""
    colours = {}
    for number, group in enumerate(groups):
        code = BASE[number % len(BASE)]
        red, green, blue = (int(code[start : start + 2], 16) / 255 for start in (1, 3, 5))
        colours[group] = mixed((red, green, blue), *SHADES[number // len(BASE) % len(SHADES)])
    return colours


def ink_on(colour: Colour) -> Colour:
    """Return the text colour that is easier to read on ``colour``, after WCAG 2."""
    red, green, blue = (math.pow(part, 2.2) for part in colour)  # sRGB's curve, nearly
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue >= LIGHT else PAPER


def line_style(number: int) -> dict[str, Any]:
    """Return how a line looks: no two of the first 24 are alike, in colour or without."""
    turn, column = divmod(number, len(LINES))
    return {
        "color": LINES[column],
        "marker": MARKERS[column],
        "linestyle": DASHES[(column + turn) % len(DASHES)],
        "linewidth": 1.6,
        "markersize": 6.0,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.6,
    }


def begin_axes(ax: Axes, *, grid: Any = "both") -> Axes:
    """Return axes with a grid and without a frame; the grid has lines of this axis."""
    ax.tick_params(labelsize=FONT_SIZE)
    ax.grid(axis=grid, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def add_legend(
    ax: Axes, entries: Mapping[str, Artist | Mapping[str, Any]], *, side: str = "lower center"
) -> None:
    """Explain signs outside all axes, where they hide nothing; a constrained layout gives room.

    Pictures that stand in one figure share the legend of a side: each name occurs once. A sign is
    what was drawn, or how a line looks.
    """
    from matplotlib.lines import Line2D

    figure = ax.figure
    shared: dict[str, Artist] = {}
    for legend in [legend for legend in figure.legends if legend.get_label() == side]:
        names = (text.get_text() for text in legend.get_texts())
        shared |= zip(names, legend.legend_handles, strict=True)  # type: ignore[arg-type]
        legend.remove()
    shared |= {
        name: Line2D([], [], **sign) if isinstance(sign, Mapping) else sign
        for name, sign in entries.items()
    }
    width = figure.bbox.width * POINTS_PER_INCH / figure.dpi
    column = FONT_SIZE * (4.5 + 0.55 * max(map(len, shared), default=0))
    place: Any = f"outside {side}"
    legend = figure.legend(
        list(shared.values()),
        [""] * len(shared),  # Matplotlib drops names that begin with an underscore
        loc=place,
        ncols=max(1, min(len(shared), int(width / column))),
    )
    legend.set_label(side)
    for text, name in zip(legend.get_texts(), shared, strict=True):
        text.set_text(name)


def label_points(ax: Axes, labels: Sequence[tuple[tuple[float, float], str, Any]]) -> None:
    """Write texts beside points, the most important first; on lines where there is no other room.

    A text that would stand on another one, or nearer to another point than to its own, is left out.

    Parameters
    ----------
    ax
        The axes, with everything else drawn already.
    labels
        Points in the units of the axes, with their texts and colours.
    """
    lay_out(ax)
    places = ax.transData.transform([point for point, _, _ in labels])
    lines = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    room = ax.bbox.padded(-FONT_SIZE)  # texts are a little wider at other resolutions
    taken: list[Bbox] = []

    def has_room(box: Bbox, place: Any) -> bool:
        own, *others = (
            np.hypot(*(each - np.clip(each, box.min, box.max))) for each in (place, *places)
        )
        is_inside = room.x0 < box.x0 < box.x1 < room.x1
        return is_inside and own <= min(others) and not box.count_overlaps(taken)

    for place, (point, text, colour) in zip(places, labels, strict=True):
        notes = [
            ax.annotate(
                text,
                point,
                xytext=(across * BESIDE, up * BESIDE),
                textcoords="offset points",
                ha="left" if across > 0 else "right",
                va=("center", "bottom", "top")[up],
                fontsize=SMALL,
                color=colour,
                bbox={"pad": 0.5, "facecolor": PAPER, "alpha": 0.7, "linewidth": 0},
                zorder=5,
            )
            for across, up in SIDES
        ]
        boxes = [note.get_window_extent() for note in notes]
        free = [side for side, box in enumerate(boxes) if has_room(box, place)]
        crossed = [sum(line.intersects_bbox(box, filled=False) for line in lines) for box in boxes]
        chosen = min(free, key=crossed.__getitem__, default=None)
        for side, note in enumerate(notes):
            if side == chosen:
                taken.append(boxes[side])
            else:
                note.remove()


def shown_name(name: str, *, longest: int = 24) -> str:
    """Return a name that fits into a picture: one line of at most ``longest`` characters.

    A long name loses its middle, because names of files and threads often differ at their ends.
    """
    name = " ".join(name.split())
    if len(name) <= longest:
        return name
    end = (longest - 1) // 3
    return f"{name[: longest - 1 - end]}…{name[-end:]}"
