"""Comparisons as a page of HTML that needs nothing beside itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

from dfopt._version import __version__
from dfopt.compare import Comparison, comparison_tables
from dfopt.compare.comparison import comparisons_document
from dfopt.errors import DfoptError
from dfopt.plot import Picture, picture_of, plot_frontier, plot_look_ahead
from dfopt.plot.frontier import is_drawable
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.render import caption, cell_text, heading, html
from dfopt.report.zoom import MOST_BARS, gantt_chart
from dfopt.table import Table
from dfopt.trace.fragment_titles import title
from dfopt.trace.trace import Trace


def check_packages() -> None:
    """Check that the packages are installed.

    Raises
    ------
    DfoptError
        When one is missing.
    """
    for name in ("bokeh", "jinja2"):
        if find_spec(name) is None:
            raise DfoptError(
                f"a report needs the package {name}; type 'make solve' in a checkout, or "
                "python -m pip install 'dfopt[report]' in dfopt's environment"
            )


FEWEST_WINDOWS = 2
"""Fewer windows make no curve."""


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

    alone = len(comparisons) == 1
    parts = [
        part_of(one, trace, "" if alone else f"-{number}", most=MOST_BARS // len(comparisons))
        for number, (one, trace) in enumerate(zip(comparisons, traces, strict=True))
    ]
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
        everything=comparisons_document(comparisons),
        charts={f"gantt{part['suffix']}": part["gantt"] for part in parts if part["gantt"]},
        interrupted=interrupted or not all(comparison.is_complete for comparison in comparisons),
        same_costs=all(one.model == comparisons[0].model for one in comparisons),
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
    outcome = comparison.outcome()
    titles = {part.df: title(part.df, part.name, part.comms) for part in comparison.fragments}
    gantt, bars = None, ""
    legend: list[Any] = []
    if trace is not None:
        gantt, legend, bars = gantt_chart(trace, titles, name=f"gantt{suffix}", most=most)
    return {
        "name": comparison.name,
        "suffix": suffix,
        "comparison": comparison,
        "tables": comparison.shown(with_windows=True, verbose=True),
        "tiles": [
            (heading(replace(column, format="")), cell_text(value, column))
            for column, value in zip(outcome.columns, outcome.rows[0], strict=True)
            if value is not None
        ],
        "pictures": {name: each._repr_html_() for name, each in pictures_of(comparison).items()},
        "gantt": gantt,
        "legend": legend,
        "bars": bars,
        "can_evict": not isinstance(comparison.model.penalty, PenaltyMatrix),
    }


def pictures_of(comparison: Comparison) -> dict[str, Picture]:
    """Return the pictures that stand above tables, by the keys of these."""
    words = "Costs against {}; the table below has the figures"
    pictures = {}
    if is_drawable(comparison):
        axes = plot_frontier([comparison])
        pictures["frontier"] = picture_of(axes, words.format("the mean wait"))
    if len(comparison.windows) >= FEWEST_WINDOWS:
        axes = plot_look_ahead([comparison])
        pictures["windows"] = picture_of(axes, words.format("look-ahead"))
    return pictures
