"""``dfopt info``: what a file holds."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt.errors import FileError
from dfopt.files.formats import document_format, may_be_trace, toml_format
from dfopt.files.streams import first_bytes
from dfopt_cli.failures import naming
from dfopt_cli.instance_files import read_instance_and_warn
from dfopt_cli.options import JsonOption, with_option_groups
from dfopt_cli.printing import print_json, print_rich
from dfopt_cli.trace_files import labelled_if_possible, named, names_of, tell_warnings
from dfopt_cli.trace_options import LabelOptions

SHOWN_ELSEWHERE = {
    "dfopt-result/1": "is a result; 'dfopt verify' and 'dfopt plot schedule' take it, behind its "
    "instance",
    "dfopt-comparison/1": "is a comparison; 'dfopt plot gap' and 'dfopt plot foresight' draw it",
    "dfopt-scenario/1": "is a scenario; 'dfopt simulate run-queue' takes it",
    "dfopt-mix/1": "is a mix of jobs; 'dfopt simulate space-sharing' takes it",
    "dfopt-response-model/1": "is a response-time model; 'dfopt model' and 'dfopt plot crossover' "
    "take it",
    "dfopt-machine/1": "is a measured machine; 'dfopt compare' and 'dfopt trace to-instance' take "
    "it (--machine)",
    "dfopt-penalties/1": "is a file of penalties; 'dfopt model' and 'dfopt compare' take it "
    "(--penalties)",
    "dfopt-contention-model/1": "is a contention model; 'dfopt model contention' and 'dfopt plot "
    "contention' take it",
    "dfopt-batching-model/1": "is a batching model; 'dfopt model batching' and 'dfopt plot "
    "batching' take it",
    "dfopt-counters-model/1": "is a model of counters; 'dfopt model counters' and 'dfopt plot "
    "counters' take it",
    "dfopt-queueing-model/1": "is a queueing model; 'dfopt model queueing' and 'dfopt plot "
    "queueing' take it",
}
"""Files that are neither instance nor trace."""


@with_option_groups
def info(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="An instance, or a trace of any kind; it may be gzipped, and - is standard input.",
            show_default=False,
        ),
    ],
    *,
    labels: LabelOptions,
    as_json: JsonOption = False,
) -> None:
    """Show what a file holds: an instance or a trace.

    The options about labels are for traces.

    Example: dfopt info instances/hackbench-4-groups-100.json
    """
    with naming(file):
        file_format = document_format(file) or toml_format(file)
        if may_be_trace(file_format):
            show_trace(file, labels, as_json=as_json)
            return
        if file_format in SHOWN_ELSEWHERE:
            raise FileError(SHOWN_ELSEWHERE[file_format])
        if labels != LabelOptions():
            raise typer.BadParameter("options about labels are for traces")
        show_instance(file, as_json=as_json)


def show_instance(file: str, *, as_json: bool) -> None:
    """Print what an instance holds."""
    from dfopt.info import instance_info
    from dfopt_cli.info_view import instance_figures, largest_groups

    document = instance_info(read_instance_and_warn(file))
    if as_json:
        print_json(document)
    else:
        print_rich(instance_figures(document), "", largest_groups(document))


def show_trace(file: str, labels: LabelOptions, *, as_json: bool) -> None:
    """Print what a trace holds; what makes it doubtful goes to standard error."""
    from dfopt.info import trace_info
    from dfopt.trace.trace_format import format_of
    from dfopt_cli.info_view import largest_fragments, trace_figures

    content = format_of(first_bytes(file))
    trace, source = labelled_if_possible(file, labels)
    document = trace_info(named(trace, *names_of([file])), content=content.value, labels=source)
    tell_warnings(file, (*trace.quality.warnings, *document["waits"]["warnings"]))
    if as_json:
        print_json(document)
    else:
        print_rich(trace_figures(document), *largest_fragments(document))
