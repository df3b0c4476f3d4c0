"""``dfopt compare``: how far schedules are from the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Exit

from dfopt.errors import FileError
from dfopt.files import document_text, read_instance, read_result
from dfopt.files.formats import UNNAMED, Format, document_format
from dfopt.files.storage import write_text
from dfopt.table import Table
from dfopt_cli.compare_traces import Plan, choice_for_traces, compare_traces
from dfopt_cli.cost_options import ModelOptions
from dfopt_cli.exit_codes import CONDITION_MET, NOT_PROVEN
from dfopt_cli.failures import naming
from dfopt_cli.options import (
    DomainsOption,
    JsonOption,
    QuietOption,
    given,
    read_by,
    refuse_second_reading,
)
from dfopt_cli.output_files import check_output, output_folder
from dfopt_cli.printing import print_json, print_tables, say
from dfopt_cli.trace_options import FrontierOptions, LabelOptions, WindowOptions

if TYPE_CHECKING:
    from dfopt.compare.conditions import Condition

MORE = "-v shows what the columns mean and assume, how tasks were served, and each CPU."

DEFAULT_SECONDS = 60.0
"""Seconds that the search for the optimum of an instance may take."""


def compare(
    files: list[str],
    *,
    labels: LabelOptions,
    frontier: FrontierOptions,
    save: str | None = None,
    windows: WindowOptions,
    model: ModelOptions,
    domains: DomainsOption = None,
    fail_if: Annotated[
        list[Any] | None, read_by("dfopt.compare.conditions:parse_condition")
    ] = None,
    output: str | None = None,
    verbose: bool = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show how far a trace, or a schedule, is from the best possible.

    For a trace: what its switches cost, what was attainable with nobody waiting longer, what no
    schedule can go below, and what a simple rule would have paid; then where the difference was
    lost. -v shows the rest. With --window, --foresight or --order-free also the least cost if
    dispatches could run in any order within windows, which --json always has. With --domains also
    in how many caches fragments ran, and how often they arrived in another one, beside the least;
    and how often threads crossed over. --df says which threads share data. Unless costs are given,
    every change from one fragment of data to another costs 1. Several traces stand side by side.

    For an instance and results of it: each schedule against the optimum. Of the options only
    --time-limit (60 s by default), --workers and --fail-if matter there.

    Exit code 4: Ctrl-C came first, or for an instance the time limit; what is known by then is
    shown. A bound is valid even if there was no time to prove that it is attained. Exit code 5: a
    condition of --fail-if is true, or its figure could not be computed.

    Example: dfopt compare trace.txt --df tgid --wait 1ms --window 10ms --window whole

    Arguments
    ---------
    files : FILE
        Traces, or an instance and results of it; the content says which it is.

    Options
    -------
    save : FOLDER
        Write the schedules there as traces, the proofs of their bounds, and the comparison, of
        which plot attainable and plot frontier draw: comparison.json.
    fail_if : CONDITION
        End with exit code 5 if this is true of a figure of any trace, named by the keys of --json:
        'realised.total>=200', 'windows.*.ratio>1.5', 'service.wait.p99>10ms'. May be given several
        times.
    output : -o FILE
        Also write the comparison there as JSON, of which 'dfopt plot foresight', 'attainable' and
        'frontier' and 'dfopt report' make pictures and pages at once.
    verbose : -v
        Also show what columns mean and assume, how tasks were served, and each CPU.
    """
    if holds_instance(files):
        plain = WindowOptions(time_limit=windows.time_limit, workers=windows.workers)
        others = (save, domains, output)
        if given(labels, model, frontier) or windows != plain or others != (None,) * len(others):
            raise BadParameter(
                "an instance is compared with its results under its own model; apart from "
                "--time-limit, --workers and --fail-if the options are for traces"
            )
        compare_schedules(files, windows, fail_if or [], as_json=as_json, quiet=quiet)
        return
    from dfopt.compare import comparison_tables
    from dfopt.compare.comparison import comparisons_document
    from dfopt.trace.service import longest_waits

    if frontier.order_free and (frontier.wait or save is not None):
        raise BadParameter(
            "--order-free leaves out what --wait and --save are about; give one of them"
        )
    plan = Plan(
        labels=labels,
        work=windows,
        choice=choice_for_traces(model),
        windows=windows.chosen(default="whole"),
        waits=frontier.wanted,
        time_limit=windows.time_limit,
        domains=domains,
        folder=output_folder(save),
    )
    if plan.folder is not None:
        refuse_saved_schedules(files, plan.folder)
    if output is not None:
        check_output(output, *files)
    waited: list[Table] = []
    compared = compare_traces(
        files,
        plan,
        quiet=quiet,
        on_trace=lambda trace: waited.append(longest_waits(trace)) if trace and verbose else None,
    )
    found = compared.comparisons
    document = comparisons_document(found)
    if output is not None:
        write_text(output, document_text(document))
    if as_json:
        print_json(document)
    else:
        with_windows = bool(windows.window) or windows.foresight
        tables = comparison_tables(found, with_windows=with_windows, verbose=verbose)
        print_tables([*tables, *(waited[: len(found)] if verbose else [Table("", notes=[MORE])])])
    failed = [tell_failures(fail_if, each) for each in document.get("traces", [document])]
    if compared.error is None and any(failed):
        raise Exit(CONDITION_MET)
    compared.end("what is finished is shown")


def holds_instance(files: Sequence[str]) -> bool:
    """Return whether the first file is an instance and the others are its results, not traces."""
    refuse_second_reading(files)
    formats = {}
    for file in files:
        with naming(file):
            formats[file] = document_format(file)
    if formats[files[0]] == UNNAMED:
        formats[files[0]] = Format.INSTANCE  # its reader says what is wrong
    first = formats[files[0]]
    for file, file_format in formats.items():
        if first != Format.INSTANCE and file_format in (Format.INSTANCE, Format.RESULT):
            problem = (
                "is an instance among traces; leave it out, or name it first and after it only "
                "results of it"
                if file_format == Format.INSTANCE
                else "is a result; name its instance first"
            )
            raise FileError(problem, file=file)
        if first == Format.INSTANCE and file != files[0] and file_format != Format.RESULT:
            raise FileError("is no result; after an instance only results follow", file=file)
        if file_format == Format.COMPARISON:
            raise FileError("is a comparison already; name the trace it was made from", file=file)
    return first == Format.INSTANCE


def refuse_saved_schedules(files: Sequence[str], folder: Path) -> None:
    """Refuse to read schedules from the folder in which schedules are to be written."""
    from dfopt.compare import Scheduling

    names = tuple(str(scheduling).replace(" ", "-") for scheduling in Scheduling)
    for file in map(Path, files):
        if file.name.startswith(names) and file.parent.samefile(folder):
            raise FileError(
                "is a saved schedule, and schedules would be written over it; save into another "
                "folder (--save)",
                file=str(file),
            )


def tell_failures(conditions: Sequence[Condition] | None, document: Mapping[str, Any]) -> bool:
    """Say which conditions are true of a comparison, a line each; return whether any is."""
    if not conditions or not document.get("complete", True):
        return False
    from dfopt.compare.conditions import failures

    lines = [line for condition in conditions for line in failures(condition, document)]
    for line in lines:
        say(f"dfopt: {line}")
    return bool(lines)


def compare_schedules(
    files: Sequence[str],
    windows: WindowOptions,
    conditions: Sequence[Condition],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare the schedules of results with the optimum of their instance."""
    from dfopt.compare.compare_schedules import OF_SCHEDULES, compare_schedules
    from dfopt_cli.progress import live_line, search_status

    instance_file, *result_files = files
    with naming(instance_file):
        instance = read_instance(instance_file)
    if not result_files:
        raise BadParameter(
            f"{instance_file} is an instance; name results of it too", param_hint="RESULT"
        )
    results = {}
    for file in result_files:
        with naming(file):
            results[file] = read_result(file)
    limit = DEFAULT_SECONDS if windows.time_limit is None else windows.time_limit
    line = live_line(search_status, quiet=quiet, hint="Ctrl-C stops with the best so far")
    with naming(instance_file), line as show:
        compared = compare_schedules(
            instance,
            results,
            time_limit=limit,
            workers=windows.workers,
            on_progress=show,
        )
    document = OF_SCHEDULES.to_document(compared)
    if as_json:
        print_json(document)
    else:
        print_tables(compared.tables())
    if tell_failures(conditions, document):
        raise Exit(CONDITION_MET)
    if not compared.is_proven:
        raise Exit(NOT_PROVEN)
