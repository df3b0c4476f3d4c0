"""``dfopt info``: what a file holds."""

from __future__ import annotations

from typer import BadParameter

from dfopt.errors import FileError
from dfopt.files.formats import Format, described, document_format, may_be_trace, named_format
from dfopt.files.storage import first_bytes
from dfopt_cli.failures import naming
from dfopt_cli.input_files import (
    labelled_if_possible,
    named,
    names_of,
    read_instance_and_warn,
    tell_warnings,
)
from dfopt_cli.options import JsonOption, given
from dfopt_cli.printing import print_json, print_tables
from dfopt_cli.trace_options import LabelOptions


def info(
    file: str,
    *,
    labels: LabelOptions,
    verbose: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a file holds: an instance or a trace.

    The options about labels are for traces.

    Example: dfopt info instances/hackbench-4-groups-100.json

    Arguments
    ---------
    file : FILE
        An instance, or a trace of any kind; it may be gzipped, and - is standard input.

    Options
    -------
    verbose : -v
        Also show which threads of a trace waited longest.
    """
    with naming(file):
        kind = named_format(first_bytes(file))
        if kind not in (None, Format.INSTANCE, Format.TRACE):
            raise FileError(f"holds {described(kind)}; 'dfopt info' shows instances and traces")
        if may_be_trace(document_format(file)):
            show_trace(file, labels, verbose=verbose, as_json=as_json)
            return
        if given(labels):
            raise BadParameter("options about labels are for traces")
        show_instance(file, as_json=as_json)


def show_instance(file: str, *, as_json: bool) -> None:
    """Print what an instance holds."""
    from dfopt.info import INSTANCE_INFO, instance_info

    found = instance_info(read_instance_and_warn(file))
    if as_json:
        print_json(INSTANCE_INFO.to_document(found))
    else:
        print_tables(found.tables())


def show_trace(file: str, labels: LabelOptions, *, verbose: bool, as_json: bool) -> None:
    """Print what a trace holds; what makes it doubtful goes to standard error."""
    from dfopt.info import TRACE_INFO, trace_info
    from dfopt.trace.formats import format_of
    from dfopt.trace.service import longest_waits

    content = format_of(first_bytes(file))
    trace, source = labelled_if_possible(file, labels)
    trace = named(trace, *names_of([file]))
    found = trace_info(trace, content=content.value, labels=source)
    tell_warnings(file, (*trace.quality.warnings, *found.waits.warnings))
    if as_json:
        print_json(TRACE_INFO.to_document(found))
    else:
        print_tables([*found.tables(), *([longest_waits(trace)] if verbose else [])])
