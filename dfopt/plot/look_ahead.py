"""The axis of look-ahead: lengths of windows, with the whole trace at its right end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dfopt.compare.comparison import Comparison
from dfopt.compare.window_length import WindowKind, parse_window
from dfopt.errors import DfoptError
from dfopt.plot.colours import INK, PAPER, mixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHOLE_AT = 2.2
"""How far right of the longest window the whole trace stands, as a factor. What needs no look-ahead
stands as far left of the shortest one."""

TIME_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAheadAxis:
    """A logarithmic axis on which the windows of all comparisons fit.

    Parameters
    ----------
    unit
        What windows are measured in.
    whole
        The position of the whole trace.
    lengths
        The lengths of the other windows, which are their positions too.
    """

    unit: WindowKind
    whole: float
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, comparisons: Sequence[Comparison]) -> LookAheadAxis:
        """Return the axis for the windows of these comparisons.

        Raises
        ------
        DfoptError
            When there is no window, or lengths in dispatches and in time are mixed.
        """
        windows = [
            parse_window(window.window)
            for comparison in comparisons
            for window in comparison.windows
        ]
        if not windows:
            raise DfoptError("there is no window to draw; compare under some (`windows`)")
        units = {window.kind for window in windows} - {WindowKind.WHOLE}
        if len(units) > 1:
            raise DfoptError(
                "windows in dispatches and windows in time share no axis; draw them one by one"
            )
        lengths = sorted(
            {window.length for window in windows if window.kind is not WindowKind.WHOLE}
        )
        return cls(
            unit=units.pop() if units else WindowKind.WHOLE,
            whole=WHOLE_AT * lengths[-1] if lengths else 1.0,
            lengths=tuple(lengths),
        )

    @property
    def none(self) -> float:
        """The position of what needs no look-ahead: left of the shortest window."""
        return (self.lengths[0] if self.lengths else self.whole) / WHOLE_AT

    def position(self, window: str) -> float:
        """Return the position of a window, given as the user wrote it."""
        parsed = parse_window(window)
        return self.whole if parsed.kind is WindowKind.WHOLE else float(parsed.length)

    def ticks(self, lengths: Sequence[int]) -> dict[float, str]:
        """Return positions and labels of these lengths and of the whole trace."""
        labels = {float(length): length_text(length, self.unit) for length in lengths}
        return labels | {self.whole: "whole"}


def label_look_ahead(
    ax: Axes, axis: LookAheadAxis, ticks: Mapping[float, str], *, font_size: float
) -> None:
    """Label the horizontal axis; a thin line sets the whole trace apart."""
    from matplotlib.ticker import NullFormatter, NullLocator

    ax.set_xscale("log")
    ax.set_xticks([*ticks], [*ticks.values()])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    if axis.lengths:
        draw_break(ax, axis.whole / WHOLE_AT**0.5)
    unit = " in managed dispatches" if axis.unit is WindowKind.DISPATCHES else ""
    ax.set_xlabel(f"look-ahead: length of the window{unit}", fontsize=font_size)


def draw_break(ax: Axes, position: float) -> None:
    """Draw the thin line beside which the scale of lengths ends."""
    ax.axvline(position, color=mixed(INK, PAPER, 0.7), linewidth=0.6)


def length_text(length: int, unit: WindowKind) -> str:
    """Return a length in a unit that keeps it short."""
    if unit is not WindowKind.TIME:
        return f"{length:,}"
    size, name = next((size, name) for size, name in TIME_UNITS if length >= size)
    return f"{length / size:,.6g} {name}"
