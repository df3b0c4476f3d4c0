"""``dfopt report``: what ``dfopt compare`` finds out, as one page to send around."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from typer import BadParameter

from dfopt.errors import FileError
from dfopt.files.storage import write_text
from dfopt_cli.compare_traces import Plan, choice_for_traces, compare_traces, saved_among
from dfopt_cli.cost_options import ModelOptions
from dfopt_cli.options import DomainsOption, QuietOption
from dfopt_cli.output_files import check_output
from dfopt_cli.trace_options import FrontierOptions, LabelOptions, WindowOptions

if TYPE_CHECKING:
    from dfopt.trace import Trace

SUFFIXES = (".html", ".htm")
"""How the name of a page may end."""


def report(
    files: list[str],
    *,
    output: str,
    labels: LabelOptions,
    model: ModelOptions,
    frontier: FrontierOptions,
    windows: WindowOptions,
    domains: DomainsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write what 'dfopt compare' says of a trace as a page of HTML.

    It is one file to send around. It has what was paid and what it was lost to, the bounds, the
    curves, the costliest fragments, a Gantt chart to pan and zoom, and how all this was computed.
    It needs no network and can be read on a phone. Of a comparison that 'dfopt compare -o' wrote
    nothing is computed anew, and the page has no Gantt chart, which needs the trace. Several traces
    stand below each other, after a table of all. The figures are those of 'dfopt compare --json'
    with the same options, and that document is part of the page.

    Exit code 4: Ctrl-C came first; the page has what is known by then.

    Example: dfopt report trace.txt --df tgid --wait 1ms --foresight -o report.html

    Arguments
    ---------
    files : FILE
        Traces (text of perf or ftrace, systrace, Perfetto, Chrome JSON or dfopt-trace/1), or
        comparisons that 'dfopt compare -o' wrote.

    Options
    -------
    output : -o FILE
        Where to write the page; its name ends in .html.
    """
    from dfopt.report import check_packages, report_page

    check_packages()
    if not output.lower().endswith(SUFFIXES):
        raise FileError("is no name of a page; let it end in .html", file=output or "''")
    check_output(output, *files)
    if frontier.order_free and frontier.wait:
        raise BadParameter("--order-free leaves out what --wait is about; give one of them")
    plan = Plan(
        labels=labels,
        work=windows,
        choice=choice_for_traces(model),
        windows=windows.chosen(default="whole"),
        waits=frontier.wanted,
        time_limit=windows.time_limit,
        domains=domains,
    )
    saved = saved_among(files, labels, model, windows, frontier.waits)
    traces: list[Trace | None] = []
    compared = compare_traces(files, plan, quiet=quiet, saved=saved, on_trace=traces.append)
    page = report_page(
        compared.comparisons,
        traces[: len(compared.comparisons)],
        command=shlex.join(["dfopt", *sys.argv[1:]]),
        interrupted=len(compared.comparisons) < len(files),
    )
    write_text(output, page)
    compared.end("the page has what is finished")
