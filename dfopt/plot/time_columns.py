"""Narrow columns that show shares of the time, where dispatches are too short to be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dfopt.plot.colours import INK, PAPER, Colour, mixed
from dfopt.plot.gantt import LARGEST_FONT
from dfopt.plot.gantt_bars import BAR_HEIGHT, Brush
from dfopt.plot.trace_window import TraceWindow
from dfopt.trace.events import Flags, Integers
from dfopt.trace.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SWITCHING: Colour = mixed(INK, PAPER, 0.25)

COLUMN = 1.6
"""Width in points of the columns into which a row is divided where its dispatches are short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeColumns:
    """The columns of a chart, and on which CPUs they are dense.

    Parameters
    ----------
    edges
        The time where each column begins, and where the last one ends.
    is_dense
        By CPU and column: whether several dispatches start there.
    """

    edges: Integers
    is_dense: Flags

    @classmethod
    def of(cls, brush: Brush, trace: Trace, window: TraceWindow) -> TimeColumns:
        """Return the columns of a window."""
        length = window.end - window.begin
        count = max(1, min(length, round(length * brush.points_per_unit / COLUMN)))
        edges = column_edges(window.begin, length, count)
        column = np.clip(np.searchsorted(edges, window.start, "right") - 1, 0, count - 1)
        starts = np.zeros((trace.cpus, count), np.int64)
        np.add.at(starts, (trace.cpu[window.rows], column), 1)
        return cls(edges=edges, is_dense=starts > 1)

    def plain_parts(self, cpu: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a stretch of time that lie outside of dense columns."""
        edges, dense = self.edges, self.is_dense[cpu]
        first = max(0, int(np.searchsorted(edges, start, "right")) - 1)
        last = min(len(dense), int(np.searchsorted(edges, stop, "left")))
        if not dense[first:last].any():
            yield start, stop
            return
        for column in range(first, last):
            if not dense[column]:
                yield max(start, int(edges[column])), min(stop, int(edges[column + 1]))


def column_edges(begin: int, length: int, count: int) -> Integers:
    """Return where columns begin that divide a length of time evenly, and where the last one ends.

    Products of long times and many columns are beyond 64 bits, so they are Python's own integers.
    """
    return np.array([begin + length * number // count for number in range(count + 1)], np.int64)


def draw_shares(brush: Brush, trace: Trace, window: TraceWindow, columns: TimeColumns) -> None:
    """Draw in each dense column the share of every group, and of switches, one above the other."""
    from matplotlib.collections import PolyCollection

    group = np.array(window.group)
    corners, colours = [], []
    for cpu in np.flatnonzero(columns.is_dense.any(axis=1)).tolist():
        dense = np.flatnonzero(columns.is_dense[cpu])
        left, right = columns.edges[dense], columns.edges[dense + 1]
        own = trace.cpu[window.rows] == cpu
        low = np.full(len(dense), cpu + BAR_HEIGHT / 2)  # rows grow downwards
        for name, colour in (*brush.colours.items(), (None, SWITCHING)):
            chosen = own if name is None else own & (group == name)
            begins = window.start if name is None else window.paid
            ends = window.paid if name is None else window.stop
            used = time_within(begins[chosen], ends[chosen], left, right)
            high = low - BAR_HEIGHT * used / np.maximum(right - left, 1)
            for number in np.flatnonzero(used).tolist():
                sides = (int(left[number]), int(right[number]))
                corners.append(
                    [
                        (sides[0], low[number]),
                        (sides[0], high[number]),
                        (sides[1], high[number]),
                        (sides[1], low[number]),
                    ]
                )
                colours.append(colour)
            low = high
    # Without smoothing, so that no white line stands between columns.
    brush.ax.add_collection(
        PolyCollection(corners, facecolors=colours, linewidths=0, antialiased=False)
    )


def time_within(begins: Integers, ends: Integers, left: Integers, right: Integers) -> Integers:
    """Return for how long stretches that do not overlap, in their order, cover each column."""
    if not len(begins):
        return np.zeros(len(left), np.int64)
    before = np.concatenate([[0], np.cumsum(ends - begins)])

    def covered(time: Integers) -> Integers:
        last = np.searchsorted(begins, time, "right") - 1
        inside = np.clip(time, begins[last], ends[last]) - begins[last]
        found: Integers = np.where(last < 0, 0, before[last] + inside)
        return found

    return covered(right) - covered(left)


def explain_columns(ax: Axes) -> None:
    """Say below the axis what the heights of colours mean."""
    ax.set_xlabel(
        f"{ax.get_xlabel()}; where dispatches are too short to be told apart, "
        "heights are shares of the time",
        fontsize=LARGEST_FONT,
        parse_math=False,
    )
