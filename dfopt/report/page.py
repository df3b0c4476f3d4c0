"""A comparison as a page of HTML that needs nothing beside itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dfopt._version import __version__
from dfopt.compare import Comparison
from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.comparison import cost_ratio
from dfopt.compare.document import comparison_document
from dfopt.plot.frontier import point_name, wait_text
from dfopt.trace.trace import Trace

MOST_FRAGMENTS = 20
"""At most this many fragments have a row; the document in the page has all of them."""

BEFORE_NAMES = {
    Scheduling.LONGEST_WAIT: "wait at most ",
    Scheduling.PATIENCE: "patience ",
    Scheduling.LEAST_RECENTLY_USED: "same timeline, ",
}
"""What stands before the name of a row."""


def report_page(
    comparison: Comparison, trace: Trace, *, facts: Mapping[str, str], command: str
) -> str:
    """Return the page.

    Parameters
    ----------
    comparison
        The figures.
    trace
        The trace that was compared, for the Gantt chart.
    facts
        What was compared, and under which assumptions: names and texts.
    command
        The command line that made the page.

    Returns
    -------
    str
        HTML. The document of the comparison is in the element with the id ``comparison``.
    """
    from bokeh.resources import Resources
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dfopt.report.charts import foresight_chart, frontier_chart, gantt_chart

    document = comparison_document(comparison)
    rows = frontier_rows(comparison, document)
    gantt, legend, bars = gantt_chart(trace, [part["df"] for part in document["fragments"]])
    charts = {
        "foresight": foresight_chart(document),
        "frontier": frontier_chart(document, rows),
        "gantt": gantt,
    }
    # The template's own escaping: in HTML every name is text, in scripts "<" is a code.
    environment = Environment(
        loader=PackageLoader("dfopt.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Bokeh needs its keys in their order: an object is described where it first occurs.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["ratio"] = lambda value: "–" if value is None else f"{value:.2f}"
    environment.filters["share"] = lambda part, whole: f"{part / whole:.1%}" if whole else "–"
    return environment.get_template("report.html.j2").render(
        document=document,
        facts=facts,
        command=command,
        version=__version__,
        causes=sorted(
            ((name, cost) for name, cost in document["causes"].items() if cost),
            key=lambda item: -item[1],
        ),
        rows=rows,
        kept_ratio=kept_ratio(comparison),
        fragments=document["fragments"][:MOST_FRAGMENTS],
        charts={name: chart for name, chart in charts.items() if chart is not None},
        legend=legend,
        bars=bars,
        library=Resources(mode="inline", components=["bokeh"], log_level="error").js_raw,
    )


def frontier_rows(comparison: Comparison, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a frontier's document, with names and waits in words."""
    if comparison.frontier is None:
        return []
    unit = comparison.time_unit
    found = []
    for row, own in zip(comparison.frontier.rows, document["frontier"]["rows"], strict=True):
        waits = {
            key: "–" if wait is None else wait_text(round(wait), unit)
            for key, wait in (("mean", row.mean_wait), ("p99", row.p99_wait))
        }
        before = BEFORE_NAMES.get(row.scheduling, "")
        found.append({**own, **waits, "name": f"{before}{point_name(row, unit)}"})
    return found


def kept_ratio(comparison: Comparison) -> dict[str, float | None]:
    """Return how many times as much was paid as where the order is kept, at best and online."""
    kept = comparison.order_kept
    if kept is None:
        return {}
    paid = comparison.realised.total
    return {
        name: cost_ratio(paid, cost)
        for name, cost in (("best", kept.best), ("online", kept.online))
        if cost is not None
    }
