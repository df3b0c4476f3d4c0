"""``dfopt report``: what ``dfopt compare`` finds out, as one page to send around."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from dfopt.errors import FileError
from dfopt.files.storage import write_text
from dfopt.structs import replace
from dfopt_cli.compare_traces import (
    SAVED_HAVE_OPTIONS,
    compare_traces,
    is_comparison,
    planned,
    refuse_second_reading,
)
from dfopt_cli.cost_options import ModelOptions
from dfopt_cli.options import DomainsOption, QuietOption, domains_of
from dfopt_cli.output_files import check_output
from dfopt_cli.trace_options import FrontierOptions, LabelOptions, WindowOptions

if TYPE_CHECKING:
    from dfopt.trace import Trace

PageOption = Annotated[
    str,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write the page; its name ends in .html.",
    ),
]

OrderFreeOption = Annotated[
    bool,
    Option(
        "--order-free",
        help="Leave out schedules that keep cause and effect, which take most of the time.",
    ),
]


SUFFIXES = (".html", ".htm")
"""How the name of a page may end."""


def report(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE",
            help="Traces (text of perf or ftrace, systrace, Perfetto, Chrome JSON or "
            "dfopt-trace/1), or comparisons that 'dfopt compare -o' wrote.",
        ),
    ],
    *,
    output: PageOption,
    labels: LabelOptions,
    model: ModelOptions,
    attainable: FrontierOptions,
    order_free: OrderFreeOption = False,
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
    """
    from dfopt.report import check_packages, report_page

    check_packages()
    if not output.lower().endswith(SUFFIXES):
        raise FileError("is no name of a page; let it end in .html", file=output or "''")
    refuse_second_reading(files)
    check_output(output, *files)
    if order_free and attainable.wait:
        raise BadParameter("--order-free leaves out what --wait is about; give one of them")
    plan = planned(labels, model, windows, None if order_free else attainable, default="whole")
    plan = replace(plan, domains=domains_of(domains))
    saved = {file for file in files if is_comparison(file)}
    if plan.has_options and saved == set(files):
        raise BadParameter(SAVED_HAVE_OPTIONS)
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
