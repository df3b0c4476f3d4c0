"""The Gantt chart of a trace that readers zoom, as a document of Bokeh's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dfopt.plot.style import group_colours
from dfopt.structs import Record
from dfopt.time_units import time_scale
from dfopt.trace.events import Integers
from dfopt.trace.trace import UNMANAGED, Trace

MOST_BARS = 40_000
"""At most this many bars are drawn, so that a report of a long trace can be sent around."""

MOST_GROUPS = 16
"""At most this many fragments have a colour of their own."""

OTHERS = "other fragments"
NO_FRAGMENT = "no fragment"
GREYS = {OTHERS: "#8c8c8c", NO_FRAGMENT: "#b8b8b8"}

BAR_HEIGHT = 0.8

ROW_HEIGHT, AROUND_ROWS, LEAST_HEIGHT = 26, 70, 170
"""Heights in pixels."""


class GanttBars(Record):
    """What a chart shows.

    Parameters
    ----------
    bars
        For each name in the legend the columns of its bars: where each begins and ends (``left``,
        ``right``, in the trace's unit from its beginning on; ``low``, ``high``: CPU 0 lies around
        0, CPU 1 around -1), its ``cpu``, and in words what ran there (``task``).
    length
        Of the trace, in its unit.
    column
        The width of a column in the same unit; None: every dispatch has a bar of its own.
    """

    bars: dict[str, dict[str, Any]]
    length: int
    column: float | None


def gantt_chart(
    trace: Trace, titles: Mapping[str, str], *, name: str, most: int = MOST_BARS
) -> tuple[dict[str, Any], list[tuple[str, str]], str]:
    """Return the chart of a trace, the colours of its legend, and what a bar is.

    Parameters
    ----------
    trace
        The trace.
    titles
        What each fragment is called, those first that are to have colours.
    name
        Of the figure.
    most
        At most this many bars are drawn.
    """
    from bokeh.embed import json_item
    from bokeh.models import ColumnDataSource, HoverTool, PlainText, Range1d, WheelZoomTool
    from bokeh.plotting import figure

    shown = gantt_bars(trace, list(titles), most=most)
    scale, unit = time_scale(shown.length, trace.header.time_unit)
    # A trace may last no time at all; a range must.
    span = max(shown.length, 1) / scale
    chart = figure(
        name=name,
        height=max(LEAST_HEIGHT, AROUND_ROWS + ROW_HEIGHT * trace.cpus),
        x_range=Range1d(0, span, bounds=(0, span)),
        y_range=Range1d(-trace.cpus + 0.5, 0.5),
        # Dollars in a unit are no formula.
        x_axis_label=PlainText(
            text=with_unit("time since the trace begins" if unit else "time", unit)
        ),
        tools="xpan,reset",
        active_drag="xpan",
        sizing_mode="stretch_width",
        toolbar_location=None,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
    )
    chart.axis.axis_label_text_font_size = chart.axis.major_label_text_font_size = "13px"
    chart.axis.axis_label_text_font_style = "normal"
    chart.ygrid.visible = False
    chart.yaxis.ticker = [-cpu for cpu in range(trace.cpus)]
    chart.yaxis.major_label_overrides = {-cpu: f"CPU {cpu}" for cpu in range(trace.cpus)}
    # Two fingers zoom on a phone. The wheel zooms with Ctrl only: else it scrolls the page.
    zoom = WheelZoomTool(dimensions="width", modifiers="ctrl")
    chart.add_tools(zoom)
    chart.toolbar.active_scroll = zoom
    colours = {
        fragment: "rgb({:.0f}, {:.0f}, {:.0f})".format(*(255 * part for part in colour))
        for fragment, colour in group_colours(
            name for name in shown.bars if name not in GREYS
        ).items()
    } | GREYS
    legend = []
    for fragment, bars in shown.bars.items():
        title, colour = titles.get(fragment, fragment), colours[fragment]
        legend.append((title, colour))
        times = {side: bars[side] / scale for side in ("left", "right")}
        chart.quad(
            left="left", right="right", bottom="low", top="high", name=title,
            source=ColumnDataSource(bars | times), fill_color=colour, line_color=None,
        )  # fmt: skip
    chart.add_tools(
        HoverTool(
            tooltips=[
                ("fragment", "$name"), ("runs", "@task"), ("CPU", "@cpu"),
                (with_unit("from", unit), "@left{0.[000000]}"),
                (with_unit("to", unit), "@right{0.[000000]}"),
            ]
        )
    )  # fmt: skip
    what = "Each bar is a dispatch."
    if shown.column is not None:
        width = f"{shown.column / scale:.3g} {unit}".rstrip()
        what = (
            f"There are {len(trace):,} dispatches, too many for a bar each: every column stands "
            f"for {width}, and the height of a colour is its share of this time."
        )
    item: dict[str, Any] = json_item(chart)
    return item, legend, what


def with_unit(name: str, unit: str) -> str:
    """Return a name with the unit of its values behind it, if they have one.

    Units come from files. In names that is harmless; in what a tooltip says of a value, Bokeh takes
    everything around the value for HTML.
    """
    return f"{name} ({unit})" if unit else name


def gantt_bars(trace: Trace, fragments: Sequence[str], *, most: int = MOST_BARS) -> GanttBars:
    """Return the bars of a trace.

    Parameters
    ----------
    trace
        The trace.
    fragments
        Its fragments, those first that are to have colours.
    most
        At most this many bars are returned.

    Returns
    -------
    GanttBars
        If there are more dispatches than ``most``, narrow columns show how a CPU spent its time.
    """
    coloured = fragments if len(fragments) <= MOST_GROUPS else fragments[: MOST_GROUPS - 1]
    # A fragment may have the name of a grey group, and is shown with it.
    names = list(dict.fromkeys([*coloured, OTHERS, NO_FRAGMENT]))
    group_of = np.full(len(trace.fragments) + 1, names.index(OTHERS), np.int64)
    for number, name in enumerate(trace.fragments):
        if name in coloured:
            group_of[number] = names.index(name)
    group_of[UNMANAGED] = names.index(NO_FRAGMENT)  # UNMANAGED, which is -1, means the last
    group = group_of[trace.fragment]
    origin = int(trace.start.min()) if len(trace) else 0
    length = int(trace.end.max()) - origin if len(trace) else 0
    column = None
    if len(trace) <= most:
        cpu: Any = trace.cpu
        left, right = trace.start - origin, trace.end - origin
        low = -cpu - BAR_HEIGHT / 2
        high = low + BAR_HEIGHT
        task = [name_of(trace, row) for row in range(len(trace))]
    else:
        # A column may hold several colours: fewer columns are taken until all bars have room.
        columns = max(1, min(most // trace.cpus, length))
        while True:
            # Products of long times and many columns are beyond 64 bits: Python's own integers.
            ends = [length * number // columns for number in range(columns + 1)]
            edges = np.array(ends, np.int64)
            shares = shares_of(trace, group, len(names), edges + origin)
            if columns == 1 or np.count_nonzero(shares) <= most:
                break
            columns = max(1, columns * 3 // 4)
        column = length / columns
        cpu, group, own = shown = np.nonzero(shares)
        left, right, part = edges[own], edges[own + 1], shares[shown]
        high = (BAR_HEIGHT * np.cumsum(shares, axis=1))[shown] - cpu - BAR_HEIGHT / 2
        low = high - BAR_HEIGHT * part
        task = [f"{share:.0%} of this time" for share in part.tolist()]
    bars = {
        name: {
            "left": left[of_name],
            "right": right[of_name],
            "low": low[of_name],
            "high": high[of_name],
            "cpu": cpu[of_name].astype(float),  # browsers have no integers of 64 bits
            "task": np.array(task, object)[of_name],
        }
        for number, name in enumerate(names)
        if (of_name := group == number).any()
    }
    return GanttBars(bars=bars, length=length, column=column)


def shares_of(trace: Trace, group: Integers, groups: int, edges: Integers) -> Any:
    """Return which share of each column each group ran, by CPU, group and column."""
    shares = np.zeros((trace.cpus, groups, len(edges) - 1))
    width = np.maximum(np.diff(edges), 1)
    for cpu in range(trace.cpus):
        for number in range(groups):
            own = np.flatnonzero((trace.cpu == cpu) & (group == number))
            if not len(own):
                continue
            start, end = trace.start[own], trace.end[own]
            # How long the group has run until each edge.
            last = np.maximum(np.searchsorted(start, edges, "right") - 1, 0)
            before = np.cumsum(end - start)[last] - (end - start)[last]
            ran = before + np.clip(edges, start[last], end[last]) - start[last]
            shares[cpu, number] = np.diff(ran) / width
    return shares


def name_of(trace: Trace, row: int) -> str:
    """Return the name of the thread of a dispatch: its comm if the trace has comms."""
    if trace.comm is not None and trace.comm[row] >= 0:
        return trace.comms[int(trace.comm[row])]
    return trace.tasks[int(trace.task[row])].name
