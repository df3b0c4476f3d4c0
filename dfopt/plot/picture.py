"""Figures made without pyplot's global state, and written the same way every time."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfopt.errors import FileError
from dfopt.files.storage import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
