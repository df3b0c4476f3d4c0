"""Comparisons as a page of HTML that needs nothing beside itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from dfopt._version import __version__
from dfopt.compare import Comparison, comparison_tables
from dfopt.compare.document import comparison_document, comparisons_document
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.render import caption, cell_text, heading, html
from dfopt.table import Table
from dfopt.trace.fragment_titles import title
from dfopt.trace.trace import Trace


def report_page(
    comparisons: Sequence[Comparison],
    traces: Sequence[Trace | None],
    *,
    command: str,
    interrupted: bool = False,
) -> str:
    """Return the page.

    Parameters
    ----------
    comparisons
        The figures of each trace.
    traces
        The traces that were compared, for the Gantt charts; None leaves a chart out.
    command
        The command line that made the page.
    interrupted
        Whether there were more traces, which were not compared.

    Returns
    -------
    str
        HTML. The document of the comparison, or of all, is in the element with the id
        ``comparison``.
    """
    from bokeh.resources import Resources
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dfopt.report.gantt_columns import MOST_BARS

    alone = len(comparisons) == 1
    parts = [
        part_of(one, trace, "" if alone else f"-{number}", most=MOST_BARS // len(comparisons))
        for number, (one, trace) in enumerate(zip(comparisons, traces, strict=True))
    ]
    documents = [part["document"] for part in parts]
    # The template's own escaping: in HTML every name is text, in scripts "<" is a code.
    loader = PackageLoader("dfopt.report", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Bokeh needs its keys in their order: an object is described where it first occurs.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.globals |= {"caption": caption, "table_html": table_html}
    program, _, _ = loader.get_source(environment, "report.js")
    scripts = [*Resources(mode="inline", components=["bokeh"], log_level="error").js_raw, program]
    return environment.get_template("report.html.j2").render(
        title=" | ".join(part["name"] for part in parts),
        parts=parts,
        everything=documents[0] if len(parts) == 1 else comparisons_document(comparisons),
        all_charts={name: chart for part in parts for name, chart in part["charts"].items()},
        interrupted=interrupted or not all(comparison.is_complete for comparison in comparisons),
        same_costs=all(document["model"] == documents[0]["model"] for document in documents),
        beside=[] if alone else comparison_tables(comparisons),
        command=command,
        version=__version__,
        scripts=scripts,
        script_sources=" ".join(map(script_source, scripts)),
    )


def script_source(script: str) -> str:
    """Return what permits a script in the page's Content-Security-Policy: its digest.

    So a browser runs these scripts and no others, should a name of a trace ever become HTML.
    """
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def table_html(table: Table) -> str:
    """Return a table whose title stands above it already."""
    return html(replace(table, title=""))


def part_of(
    comparison: Comparison, trace: Trace | None, suffix: str, *, most: int
) -> dict[str, Any]:
    """Return what the template needs to know of a trace.

    Parameters
    ----------
    comparison, trace
        The figures, and the trace if it is there.
    suffix
        What the names of its elements end with.
    most
        At most this many bars are in its Gantt chart.
    """
    from dfopt.report.charts import foresight_chart, frontier_chart, gantt_chart

    document, frontier = comparison_document(comparison), comparison.frontier
    outcome = comparison.outcome()
    rows = (
        [
            {**own, "name": row.name(comparison.time_unit)}
            for row, own in zip(frontier.rows, document["frontier"]["rows"], strict=True)
        ]
        if frontier
        else []
    )
    titles = {part.df: title(part.df, part.name, part.comms) for part in comparison.fragments}
    gantt, bars = None, ""
    legend: list[Any] = []
    if trace is not None:
        gantt, legend, bars = gantt_chart(trace, titles, name=f"gantt{suffix}", most=most)
    charts = {
        "windows": foresight_chart(document),
        "frontier": frontier_chart(document, rows),
        "gantt": gantt,
    }
    return {
        "name": comparison.name,
        "suffix": suffix,
        "document": document,
        "tables": comparison.shown(with_windows=True, verbose=True),
        "tiles": [
            (heading(replace(column, format="")), cell_text(value, column))
            for column, value in zip(outcome.columns, outcome.rows[0], strict=True)
            if value is not None
        ],
        "charts": {name + suffix: chart for name, chart in charts.items() if chart is not None},
        "legend": legend,
        "bars": bars,
        "can_evict": not isinstance(comparison.model.penalty, PenaltyMatrix),
    }
