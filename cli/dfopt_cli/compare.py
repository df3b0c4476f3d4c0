"""``dfopt compare`` and ``dfopt report``: how far schedules are from the optimum."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import BadParameter, Exit

from dfopt.errors import DfoptError, FileError
from dfopt.files import document_text, read_instance, read_result
from dfopt.files.formats import UNNAMED, Format, document_format
from dfopt.files.storage import write_text
from dfopt.problem.cache_domains import CacheDomains
from dfopt.structs import replace
from dfopt.table import Table
from dfopt_cli.cluster import cluster_at
from dfopt_cli.exit_codes import CONDITION_MET, NOT_PROVEN
from dfopt_cli.failures import naming
from dfopt_cli.input_files import labelled_trace, named, names_of, tell_warnings
from dfopt_cli.options import (
    DomainsOption,
    JsonOption,
    QuietOption,
    given,
    read_by,
    refuse_second_reading,
)
from dfopt_cli.printing import check_output, output_folder, print_json, print_tables, say
from dfopt_cli.trace_options import (
    FrontierOptions,
    LabelOptions,
    ModelOptions,
    WindowOptions,
    WorkOptions,
    model_choice,
)

if TYPE_CHECKING:
    from dfopt.compare import CompareProgress, Comparison, Window
    from dfopt.compare.conditions import Condition
    from dfopt.compare.cost_model_choice import ModelChoice
    from dfopt.compare.written_times import PermittedWait
    from dfopt.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings under which every trace is compared.

    Parameters
    ----------
    labels, work
        The options.
    choice
        The model that the options about costs ask for.
    windows
        The windows; None for the ladder of the foresight curve.
    waits
        Permitted waits of the frontier beside its other limits; None: no frontier is wanted.
    effort
        How much work is done on it, in proportion to the usual one.
    time_limit
        Seconds that the search may take.
    domains
        The CPUs that share a last-level cache, if they were given.
    folder
        Where the schedules of the frontier are written; None: nowhere.
    """

    labels: LabelOptions
    work: WorkOptions
    choice: ModelChoice
    windows: Sequence[Window] | None = ()
    waits: Sequence[PermittedWait] | Literal["usual"] | None = None
    effort: float = 1.0
    time_limit: float | None = None
    domains: CacheDomains | None = None
    folder: Path | None = None


def choice_for_traces(model: ModelOptions) -> ModelChoice:
    """Return the model that options ask for; a makespan is wrong usage."""
    if model.objective == "makespan":
        raise BadParameter(
            "traces are compared by their penalties; give total-penalty or max-penalty",
            param_hint="--objective",
        )
    return model_choice(model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The comparisons that are done, and what ended the work before all were.

    Parameters
    ----------
    comparisons
        One for each trace.
    interrupted
        Whether Ctrl-C came.
    error
        Why a trace cannot be compared; those after it are left out, too.
    """

    comparisons: list[Comparison]
    interrupted: bool = False
    error: DfoptError | None = None

    def end(self, what_is_finished: str) -> None:
        """End the command with a word and an exit code if not all is done."""
        if self.error is not None:
            raise self.error
        if self.interrupted:
            say(f"dfopt: interrupted; {what_is_finished}")
            raise Exit(NOT_PROVEN)


def compare_traces(
    files: Sequence[str],
    plan: Plan,
    *,
    quiet: bool,
    saved: Collection[str] = (),
    on_trace: Callable[[Trace | None], None] = lambda _: None,
) -> Compared:
    """Return the comparison of each trace, and whether something came before all was done.

    Files that are ``saved`` comparisons are read and not compared. ``on_trace`` gets the trace of
    each comparison, with its labels, before it is compared; None for a saved one.

    Raises
    ------
    DfoptError
        When the first trace cannot be compared.
    KeyboardInterrupt
        When it came before anything was known.
    """
    from dfopt.compare.comparison import read_comparisons
    from dfopt_cli.progress import comparison_status, live_line

    labels = iter(plan.labels.of_each(sum(file not in saved for file in files)))
    done: list[tuple[str, Comparison]] = []
    interrupted, failed = False, None
    with live_line(comparison_status, quiet=quiet, beginning="reading") as show:
        try:
            for file, name in zip(files, names_of(files), strict=True):
                shown = partial(show, name if len(files) > 1 else "") if show else None
                if shown:
                    shown(None)
                if file in saved:
                    for comparison in read_comparisons(file):
                        done.append((name, comparison))
                        on_trace(None)
                    continue
                own = plan
                if plan.folder is not None and len(files) > 1:
                    folder = plan.folder / name.strip("/").replace("/", "-")
                    own = replace(plan, folder=output_folder(str(folder)))
                trace = named(labelled_trace(file, next(labels)), name)
                on_trace(trace)
                done.append((name, compare_file(file, trace, own, shown)))
                if not done[-1][1].is_complete:
                    interrupted = True
                    break
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        except DfoptError as error:
            if not done:
                raise
            failed = error
    # Where traces have the same name, each gets the name of its file.
    count = Counter(comparison.name for _, comparison in done)
    told_apart = [
        replace(comparison, name=name) if count[comparison.name] > 1 else comparison
        for name, comparison in done
    ]
    return Compared(comparisons=told_apart, interrupted=interrupted, error=failed)


def saved_among(files: Sequence[str], *groups: object) -> set[str]:
    """Return which files are comparisons that were made before.

    If all of them are, options in these groups are wrong usage.
    """
    refuse_second_reading(files)
    saved = set()
    for file in files:
        with naming(file):
            if document_format(file) == Format.COMPARISON:
                saved.add(file)
    if saved == set(files) and given(*groups):
        raise BadParameter(
            "saved comparisons have their labels, costs and windows already; give traces, or no "
            "options about them"
        )
    return saved


def compare_file(
    file: str,
    trace: Trace,
    plan: Plan,
    on_progress: Callable[[CompareProgress], None] | None,
) -> Comparison:
    """Return the comparison of one trace; doubts about the trace go to standard error."""
    from dfopt.compare import compare_trace, foresight_windows
    from dfopt.compare.attainable.schedule_traces import save_frontier
    from dfopt.compare.comparison import ONE_TRACE
    from dfopt.compare.cost_model_choice import chosen_model
    from dfopt.compare.written_times import usual_waits

    tell_warnings(file, trace.quality.warnings)
    with cluster_at(plan.work.scheduler) as executor, naming(file):
        compared = compare_trace(
            trace,
            chosen_model(plan.choice, trace.header),
            windows=foresight_windows(trace) if plan.windows is None else plan.windows,
            waits=usual_waits(trace) if plan.waits == "usual" else plan.waits,
            effort=plan.effort,
            domains=plan.domains,
            time_limit=plan.time_limit,
            workers=plan.work.workers,
            executor=executor,
            on_progress=on_progress,
        )
    if plan.domains is not None:
        tell_warnings(file, plan.domains.doubts(trace.cpus))
    if compared.frontier is not None:
        tell_warnings(file, compared.frontier.warnings)
        if plan.folder is not None:
            save_frontier(plan.folder, compared.frontier, trace, compared.model)
            ONE_TRACE.write(compared, plan.folder / "comparison.json")
    return compared


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

    if frontier.order_free and (frontier.wait or save is not None or frontier.effort != 1):
        raise BadParameter(
            "--order-free leaves out what --wait, --effort and --save are about; give one of them"
        )
    plan = Plan(
        labels=labels,
        work=windows,
        choice=choice_for_traces(model),
        windows=windows.chosen(default="whole"),
        waits=frontier.wanted,
        effort=frontier.effort,
        time_limit=windows.time_limit,
        domains=domains,
        folder=output_folder(save),
    )
    if plan.folder is not None:
        refuse_saved_schedules(files, plan.folder)
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
    if frontier.order_free and (frontier.wait or frontier.effort != 1):
        raise BadParameter(
            "--order-free leaves out what --wait and --effort are about; give one of them"
        )
    plan = Plan(
        labels=labels,
        work=windows,
        choice=choice_for_traces(model),
        windows=windows.chosen(default="whole"),
        waits=frontier.wanted,
        effort=frontier.effort,
        time_limit=windows.time_limit,
        domains=domains,
    )
    saved = saved_among(files, labels, model, windows, frontier.waits, frontier.effort != 1)
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
