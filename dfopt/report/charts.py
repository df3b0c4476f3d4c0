"""The charts of a report, as Bokeh's documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dfopt.compare.attainable.frontier import Scheduling
from dfopt.plot.frontier import WIDE
from dfopt.report.gantt_columns import MOST_BARS, NO_FRAGMENT, OTHERS, gantt_bars
from dfopt.time_units import NANOSECONDS, time_scale
from dfopt.trace.trace import Trace

COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99",
    "#997700", "#99ddff", "#994455", "#bbcc33", "#ffaabb", "#6699cc", "#dd3d2d", "#a6be54",
)  # fmt: skip
"""After Paul Tol; all can be seen on white and on black."""

GREYS = {OTHERS: "#8c8c8c", NO_FRAGMENT: "#b8b8b8"}

FEWEST_POINTS = 2
"""A curve with fewer points is not drawn."""

ROW_HEIGHT, AROUND_ROWS, LEAST_HEIGHT = 26, 70, 170
CURVE_HEIGHT = 320
"""Heights in pixels."""

BELOW, ABOVE = 0.04, 1.1
"""How far an axis of costs goes below 0 and above the highest cost, as parts of that cost."""

AT_THE_SIDES = 0.15
"""Room left and right of the points, as a part of their range."""

NEAR = (0.3, 0.06)
"""Names of points overlap within these parts of the ranges of waits and costs."""

MILLISECOND = NANOSECONDS["ms"]


def gantt_chart(
    trace: Trace, titles: Mapping[str, str], *, name: str, most: int = MOST_BARS
) -> tuple[dict[str, Any], list[Any], str]:
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
    from bokeh.models import ColumnDataSource, HoverTool, Range1d, WheelZoomTool

    shown = gantt_bars(trace, list(titles), most=most)
    scale, unit = time_scale(shown.length, trace.header.time_unit)
    # A trace may last no time at all; a range must.
    span = max(shown.length, 1) / scale
    figure = new_figure(
        height=max(LEAST_HEIGHT, AROUND_ROWS + ROW_HEIGHT * trace.cpus),
        x_range=Range1d(0, span, bounds=(0, span)),
        y_range=Range1d(-trace.cpus + 0.5, 0.5),
        x_axis_label=with_unit("time since the trace begins" if unit else "time", unit),
        tools="xpan,reset",
        active_drag="xpan",
    )
    figure.name = name
    figure.ygrid.visible = False
    figure.yaxis.ticker = [-cpu for cpu in range(trace.cpus)]
    figure.yaxis.major_label_overrides = {-cpu: f"CPU {cpu}" for cpu in range(trace.cpus)}
    # Two fingers zoom on a phone. The wheel zooms with Ctrl only: else it scrolls the page.
    zoom = WheelZoomTool(dimensions="width", modifiers="ctrl")
    figure.add_tools(zoom)
    figure.toolbar.active_scroll = zoom
    colours = iter(COLOURS)
    legend = []
    for fragment, bars in shown.bars.items():
        colour = GREYS.get(fragment) or next(colours)
        title = titles.get(fragment, fragment)
        legend.append((title, colour))
        source = ColumnDataSource(
            {
                "left": floats(bars.left, 1 / scale),
                "right": floats(bars.right, 1 / scale),
                "low": floats(bars.low),
                "high": floats(bars.high),
                "cpu": bars.cpu,
                "task": bars.task,
            }
        )
        figure.quad(
            left="left", right="right", bottom="low", top="high", source=source, name=title,
            fill_color=colour, line_color=None,
        )  # fmt: skip
    figure.add_tools(
        HoverTool(
            tooltips=[
                ("fragment", "$name"), ("runs", "@task"), ("CPU", "@cpu"),
                (with_unit("from", unit), "@left{0.[000000]}"),
                (with_unit("to", unit), "@right{0.[000000]}"),
            ]
        )
    )  # fmt: skip
    if shown.column is None:
        what = "Each bar is a dispatch."
    else:
        width = f"{shown.column / scale:.3g} {unit}".rstrip()
        what = (
            f"There are {len(trace):,} dispatches, too many for a bar each: every column stands "
            f"for {width}, and the height of a colour is its share of this time."
        )
    return embedded(figure), legend, what


def floats(values: Sequence[float], factor: float = 1.0) -> Any:
    """Return numbers as an array, which takes less room in a file than text."""
    import numpy as np

    return np.asarray(values, np.float64) * factor


def foresight_chart(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return costs against look-ahead; None if there are too few windows."""
    windows = document["windows"]
    if len(windows) < FEWEST_POINTS:
        return None
    lengths = [window["window"] for window in windows]
    figure = new_figure(
        height=CURVE_HEIGHT,
        x_range=lengths,
        x_axis_label="look-ahead: length of a window",
        y_axis_label=with_unit("cost", document["cost_unit"]),
        tools="",
    )
    figure.y_range.start = 0
    figure.xaxis.major_label_orientation = 0.9
    paid = [document["realised"]["total"]] * len(windows)
    for name, costs, colour, dash in (
        ("paid", paid, COLOURS[1], "dashed"),
        ("rolling", [window["rolling"] for window in windows], COLOURS[0], "solid"),
        ("bound", [window["bound"] for window in windows], COLOURS[2], "dotted"),
    ):
        source = source_of(window=lengths, cost=costs, curve=[name] * len(costs))
        line = {"source": source, "color": colour, "legend_label": name}
        figure.line("window", "cost", line_width=2, line_dash=dash, **line)
        figure.scatter("window", "cost", size=7, **line)
    hover(figure, [("", "@curve"), ("window", "@window"), ("cost", "@cost{0,0}")])
    legend_above(figure)
    return embedded(figure)


def frontier_chart(
    document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return costs against waiting; None if there are too few rows whose waits are known.

    Parameters
    ----------
    document
        The comparison.
    rows
        Those of its frontier, each with its ``name``.
    """
    from bokeh.models import LabelSet, Range1d

    points = [row for row in rows if row["mean_wait"] is not None]
    if len(points) < FEWEST_POINTS:
        return None
    unit = document["time_unit"]
    scale = MILLISECOND / NANOSECONDS[unit] if unit in NANOSECONDS else 1
    shown = "ms" if unit in NANOSECONDS else unit or ""
    patience = document["frontier"]["patience"]
    waits = [row["mean_wait"] / scale for row in (*points, *patience)]
    least, most = min(waits), max(waits)
    is_wide = 0 < WIDE * least < most
    costs = [row["cost"] for row in (*points, *patience)]
    timed = any(row["with_switches"] for row in rows)
    label = "mean wait, as if switches delayed nothing" if timed else "mean wait"
    figure = new_figure(
        height=CURVE_HEIGHT,
        x_axis_label=with_unit(label, shown),
        y_axis_label=with_unit("cost", document["cost_unit"]),
        x_axis_type="log" if is_wide else "linear",
        y_range=Range1d(-BELOW * (max(costs) or 1), ABOVE * (max(costs) or 1)),
        tools="",
    )
    figure.x_range.range_padding = AT_THE_SIDES
    if patience:
        figure.line(
            [row["mean_wait"] / scale for row in patience],
            [row["cost"] for row in patience],
            line_width=2, color=COLOURS[0], legend_label="patient rule",
        )  # fmt: skip
    recorded = [row for row in points if row["scheduling"] == Scheduling.RECORDED]
    attained = [row for row in points if row["scheduling"] != Scheduling.RECORDED]
    bounded = [row for row in points if row["bound"] is not None]
    for label, chosen, key, marker, colour in (
        ("attained", attained, "cost", "circle", COLOURS[0]),
        ("bound", bounded, "bound", "dash", COLOURS[2]),
        ("recorded", recorded, "cost", "diamond", COLOURS[1]),
    ):
        if chosen:
            figure.scatter(
                "wait", "cost", size=12, marker=marker, color=colour, line_width=2,
                legend_label=label,
                source=source_of(
                    wait=[row["mean_wait"] / scale for row in chosen],
                    cost=[row[key] for row in chosen],
                    row=[f"{row['name']}: {label}" for row in chosen],
                ),
            )  # fmt: skip
    # Names stand on the side where there is room. A point beside one with a name has none.
    named: list[Mapping[str, Any]] = []
    for row in points:
        if not any(
            abs(row["mean_wait"] - other["mean_wait"]) <= NEAR[0] * (most - least) * scale
            and abs(row["cost"] - other["cost"]) <= NEAR[1] * max(costs)
            for other in named
        ):
            named.append(row)
    middle = (least * most) ** 0.5 if is_wide else (least + most) / 2
    for align, offset, is_right in (("left", 10, False), ("right", -10, True)):
        chosen = [row for row in named if (row["mean_wait"] / scale > middle) is is_right]
        if chosen:
            figure.add_layout(
                LabelSet(
                    x="wait", y="cost", text="row", text_align=align, x_offset=offset, y_offset=-7,
                    text_font_size="13px",
                    source=source_of(
                        wait=[row["mean_wait"] / scale for row in chosen],
                        cost=[row["cost"] for row in chosen],
                        row=[row["name"] for row in chosen],
                    ),
                )
            )  # fmt: skip
    hover(
        figure,
        [("", "@row"), ("cost", "@cost{0,0}"), (with_unit("mean wait", shown), "@wait{0.000}")],
    )
    legend_above(figure)
    return embedded(figure)


def with_unit(name: str, unit: str | None) -> str:
    """Return a name with the unit of its values behind it, if they have one.

    Units come from files. In names that is harmless; in what a tooltip says of a value, Bokeh takes
    everything around the value for HTML.
    """
    return f"{name} ({unit})" if unit else name


def new_figure(**settings: Any) -> Any:
    """Return an empty figure as wide as its column of text."""
    from bokeh.models import PlainText
    from bokeh.plotting import figure

    # Dollars in a unit are no formula.
    labels = {
        key: PlainText(text=settings.pop(key))
        for key in ("x_axis_label", "y_axis_label")
        if key in settings
    }
    empty = figure(
        sizing_mode="stretch_width",
        toolbar_location=None,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
        **labels,
        **settings,
    )
    for axis in (*empty.xaxis, *empty.yaxis):
        axis.axis_label_text_font_size = axis.major_label_text_font_size = "13px"
        axis.axis_label_text_font_style = "normal"
    return empty


def source_of(**columns: Sequence[Any]) -> Any:
    """Return the columns of a chart."""
    from bokeh.models import ColumnDataSource

    return ColumnDataSource({name: list(values) for name, values in columns.items()})


def hover(figure: Any, tooltips: list[tuple[str, str]]) -> None:
    """Let points say what they are."""
    from bokeh.models import HoverTool, Scatter

    points = [renderer for renderer in figure.renderers if isinstance(renderer.glyph, Scatter)]
    figure.add_tools(HoverTool(tooltips=tooltips, renderers=points))


def legend_above(figure: Any) -> None:
    """Move the legend above the axes, where it hides nothing."""
    legend = figure.legend[0]
    legend.orientation = "horizontal"
    legend.background_fill_color = legend.border_line_color = None
    legend.label_text_font_size = "13px"
    legend.padding = legend.margin = 2
    figure.add_layout(legend, "above")


def embedded(figure: Any) -> dict[str, Any]:
    """Return a figure as Bokeh's own JSON."""
    from bokeh.embed import json_item

    item: dict[str, Any] = json_item(figure)
    return item
