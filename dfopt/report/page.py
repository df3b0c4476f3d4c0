"""Comparisons as a page of HTML that needs nothing beside itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from dfopt._version import __version__
from dfopt.compare import Comparison
from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.comparison_parts import Cause, cost_ratio
from dfopt.compare.document import comparison_document, comparisons_document
from dfopt.plot.frontier import point_name, wait_text
from dfopt.problem.cache_domains import cpu_ranges
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.time_units import NANOSECONDS
from dfopt.trace.fragment_titles import title
from dfopt.trace.trace import Trace

MOST_FRAGMENTS = 20
"""At most this many fragments have a row; the document in the page has all of them."""

BEFORE_NAMES = {
    Scheduling.LONGEST_WAIT: "longest wait ",
    Scheduling.PATIENCE: "patience ",
}
"""What stands before the name of a row."""

MEANINGS = {
    Cause.FIRST_LOAD: "nothing has used the fragment before",
    Cause.REVISITED: "it was last used on this CPU, but another fragment came between",
    Cause.SPLIT: "it was last used on another CPU, while this task stayed on its own",
    Cause.MIGRATION: "it was last used on another CPU, and this task comes from another CPU, too",
    Cause.UNMANAGED: "a task without a fragment ran, and evicted what it found",
    Cause.WRITE_BACK: "what was changed had to be written to memory",
    Cause.SAME_TYPE: "one of the same type ran before on this CPU",
}
"""What happened before a charge."""


def report_page(  # noqa: PLR0913 - all but two by keyword
    comparisons: Sequence[Comparison],
    traces: Sequence[Trace | None],
    *,
    facts: Sequence[Mapping[str, str]],
    command: str,
    conclusions: Sequence[Mapping[str, str]] = (),
    interrupted: bool = False,
) -> str:
    """Return the page.

    Parameters
    ----------
    comparisons
        The figures of each trace.
    traces
        The traces that were compared, for the Gantt charts; None leaves a chart out.
    facts
        What was compared, and under which assumptions, trace by trace: names and texts.
    command
        The command line that made the page.
    conclusions
        What each comparison comes to, trace by trace: names and texts.
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

    parts = []
    for number, (comparison, trace, own) in enumerate(zip(comparisons, traces, facts, strict=True)):
        is_alone = len(comparisons) == 1
        suffix, at = ("", "") if is_alone else (f"-{number}", f"traces.{number}.")
        part = part_of(comparison, trace, suffix, most=MOST_BARS // len(comparisons))
        conclusion = conclusions[number] if conclusions else {}
        parts.append({**part, "facts": own, "conclusion": conclusion, "at": at})
    costs = [part["document"]["realised"]["total"] for part in parts]
    for part, cost in zip(parts, costs, strict=True):
        part["width"] = percentage(cost, max(costs))
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
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["ratio"] = lambda value: "–" if value is None else f"{value:.2f}"
    environment.filters["share"] = share
    program, _, _ = loader.get_source(environment, "report.js")
    scripts = [*Resources(mode="inline", components=["bokeh"], log_level="error").js_raw, program]
    return environment.get_template("report.html.j2").render(
        title=" | ".join(part["name"] for part in parts),
        parts=parts,
        everything=documents[0] if len(parts) == 1 else comparisons_document(comparisons),
        all_charts={name: chart for part in parts for name, chart in part["charts"].items()},
        interrupted=interrupted or not all(comparison.is_complete for comparison in comparisons),
        same_costs=all(document["model"] == documents[0]["model"] for document in documents),
        meanings=MEANINGS,
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

    document = comparison_document(comparison)
    total = document["realised"]["total"]
    rows = frontier_rows(comparison, document)
    fragments = [
        {
            **part,
            "title": title(own.df, own.name, own.comms),
            "main_cause": main_cause(part["causes"], part["cost"]),
        }
        for part, own in zip(document["fragments"], comparison.fragments, strict=True)
    ]
    titles = {part["df"]: part["title"] for part in fragments}
    gantt, bars = None, ""
    legend: list[Any] = []
    if trace is not None:
        gantt, legend, bars = gantt_chart(trace, titles, name=f"gantt{suffix}", most=most)
    charts = {
        "foresight": foresight_chart(document),
        "frontier": frontier_chart(document, rows),
        "gantt": gantt,
    }
    latency = comparison.service.wakeup_latency if comparison.service else None
    later = [row["cost"] for row in rows if row["scheduling"] == Scheduling.NOBODY_LATER]
    domains = comparison.domains
    return {
        "name": comparison.name,
        "suffix": suffix,
        "document": document,
        "rows": rows,
        "charts": {name + suffix: chart for name, chart in charts.items() if chart is not None},
        "causes": sorted(
            ((name, cost) for name, cost in document["causes"].items() if cost),
            key=lambda item: -item[1],
        ),
        "kept_ratio": kept_ratio(comparison),
        "fragments": fragments[:MOST_FRAGMENTS],
        "other_cost": sum(part["cost"] for part in fragments[MOST_FRAGMENTS:]),
        "domains": "; ".join(map(cpu_ranges, domains.domains)) if domains else "",
        "legend": legend,
        "bars": bars,
        "each": f"{total / max(1, comparison.managed):,.3g}",
        "main_cause": main_cause(document["causes"], total),
        "nobody_later": f"{later[0]:,}" if later else "–",
        "latency": short_wait(latency.p99 if latency else None, comparison.time_unit),
        "parallel": known_share(comparison.parallel_share),
        "can_evict": not isinstance(comparison.model.penalty, PenaltyMatrix),
        "unlabelled": comparison.unlabelled_share and known_share(comparison.unlabelled_share),
    }


def main_cause(causes: Mapping[str, int], total: int) -> str:
    """Return what most was paid for, with its share; write-backs only if there is nothing else."""
    name, cost = max(causes.items(), key=lambda item: (item[0] != Cause.WRITE_BACK, item[1]))
    if not cost:
        name, cost = Cause.WRITE_BACK, causes.get(Cause.WRITE_BACK, 0)
    return f"{name} {share(cost, total)}" if cost else "–"


def share(part: int, whole: int) -> str:
    """Return a part as a percentage; a dash if the whole is 0."""
    return f"{part / whole:.1%}" if whole else "–"


def known_share(found: float | None) -> str:
    """Return a share as a percentage; a dash if it is not known."""
    return "–" if found is None else f"{found:.1%}"


def percentage(part: int | None, whole: int) -> float:
    """Return how long a bar is beside the longest one."""
    return round(100 * (part or 0) / whole, 1) if whole else 0.0


def short_wait(wait: float | None, unit: str | None) -> str:
    """Return a time in words; where its unit is known, with three digits."""
    if wait is None:
        return "–"
    return wait_text(float(f"{wait:.3g}") if unit in NANOSECONDS else round(wait), unit)


def frontier_rows(comparison: Comparison, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a frontier's document, with names and waits in words."""
    if comparison.frontier is None:
        return []
    unit = comparison.time_unit
    most = max((row.cost for row in comparison.frontier.rows), default=0)
    found = []
    for row, own in zip(comparison.frontier.rows, document["frontier"]["rows"], strict=True):
        waits = {
            key: short_wait(wait, unit)
            for key, wait in (("mean", row.mean_wait), ("p99", row.p99_wait))
        }
        before = BEFORE_NAMES.get(row.scheduling, "")
        widths = {
            "width": percentage(row.cost, most),
            "proven": percentage(row.bound_with_lengths, row.cost),
        }
        name = f"{before}{point_name(row, unit)}"
        timed = row.with_switches
        if timed is not None:
            waits |= {
                "latest_by": short_wait(timed.latest_by, unit),
                "mean_with_switches": short_wait(row.mean_wait_with_switches, unit),
                "p99_with_switches": short_wait(timed.p99_wait, unit),
            }
        parallel = known_share(row.parallel_share)
        found.append({**own, **waits, **widths, "name": name, "parallel": parallel})
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
