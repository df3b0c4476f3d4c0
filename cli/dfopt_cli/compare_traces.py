"""The traces that a command line names, compared one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typer import BadParameter, Exit

from dfopt.errors import DfoptError, FileError
from dfopt.files.formats import Format, document_format
from dfopt.problem.cache_domains import CacheDomains
from dfopt.structs import replace
from dfopt_cli.cluster import cluster_at
from dfopt_cli.cost_options import ModelOptions, model_choice
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import naming
from dfopt_cli.output_files import output_folder
from dfopt_cli.printing import say
from dfopt_cli.trace_files import labelled_trace, named, names_of, tell_warnings
from dfopt_cli.trace_options import FrontierOptions, LabelOptions, WindowOptions

if TYPE_CHECKING:
    from dfopt.compare import Comparison, Window
    from dfopt.compare.attainable.frontier import FrontierProgress
    from dfopt.compare.attainable.permitted_wait import PermittedWait
    from dfopt.compare.cost_model_choice import ModelChoice
    from dfopt.compare.window_length import CompareProgress
    from dfopt.trace import Trace


SAVED_HAVE_OPTIONS = (
    "saved comparisons have their labels, costs and windows already; give traces, or no options "
    "about them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings under which every trace is compared.

    Parameters
    ----------
    labels, windows
        The options.
    choice
        The model that they ask for.
    lengths
        The windows; None for the ladder of the foresight curve.
    waits
        Permitted waits of the frontier beside its other limits; None: no frontier is wanted.
    domains
        The CPUs that share a last-level cache, if they were given.
    folder
        Where the schedules of the frontier are written; None: nowhere.
    has_options
        Whether any option was given at all.
    """

    labels: LabelOptions
    windows: WindowOptions
    choice: ModelChoice
    lengths: tuple[Window, ...] | None
    waits: tuple[PermittedWait, ...] | Literal["usual"] | None = None
    domains: CacheDomains | None = None
    folder: Path | None = None
    has_options: bool


def planned(
    labels: LabelOptions,
    model: ModelOptions,
    windows: WindowOptions,
    frontier: FrontierOptions | None = None,
    *,
    default: Literal["whole", "foresight", "none"],
) -> Plan:
    """Return what the options ask for; contradictions are wrong usage.

    Without options about a frontier none is wanted. ``default`` are the windows if no option names
    any.
    """
    if model.objective == "makespan":
        raise BadParameter(
            "traces are compared by their penalties; give total-penalty or max-penalty",
            param_hint="--objective",
        )
    return Plan(
        labels=labels,
        windows=windows,
        choice=model_choice(model),
        lengths=windows.chosen(default=default),
        waits=None if frontier is None else frontier.waits(),
        has_options=(labels, model, windows) != (LabelOptions(), ModelOptions(), WindowOptions())
        or frontier not in (None, FrontierOptions()),
    )


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
    on_trace: Callable[[Trace | None], None] | None = None,
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
    from dfopt.compare.document import read_comparisons
    from dfopt_cli.progress import comparison_status, live_line

    if plan.labels.labels_out is not None and len(files) > 1:
        raise BadParameter("--labels-out is for one trace; there are several")
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
                        if on_trace is not None:
                            on_trace(None)
                    continue
                own = plan if len(files) == 1 else with_own_folder(plan, name)
                trace = named(labelled_trace(file, next(labels)), name)
                if on_trace is not None:
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
    return Compared(comparisons=told_apart(done), interrupted=interrupted, error=failed)


def with_own_folder(plan: Plan, name: str) -> Plan:
    """Return the plan for one of several traces: its schedules go to a folder of their own."""
    if plan.folder is None:
        return plan
    return replace(plan, folder=output_folder(str(plan.folder / name.strip("/").replace("/", "-"))))


def told_apart(done: Sequence[tuple[str, Comparison]]) -> list[Comparison]:
    """Return comparisons; where traces have the same name, each gets the name of its file."""
    count = Counter(comparison.name for _, comparison in done)
    return [
        replace(comparison, name=name) if count[comparison.name] > 1 else comparison
        for name, comparison in done
    ]


def saved_among(files: Sequence[str]) -> set[str]:
    """Return which of the files are comparisons that were printed before."""
    refuse_second_reading(files)
    saved = set()
    for file in files:
        with naming(file):
            file_format = document_format(file)
            if file_format in (Format.INSTANCE, Format.RESULT):
                what = "an instance" if file_format == Format.INSTANCE else "a result"
                raise FileError(f"is {what} and no trace; see 'dfopt plot schedule'")
        if file_format == Format.COMPARISON:
            saved.add(file)
    return saved


def is_comparison(file: str) -> bool:
    """Return whether a file holds comparisons that were made before."""
    with naming(file):
        return document_format(file) == Format.COMPARISON


def refuse_second_reading(files: Sequence[str]) -> None:
    """Refuse standard input that is named twice: it can be read only once."""
    if files.count("-") > 1:
        raise BadParameter("standard input (-) can be read once only; name files")


def compare_file(
    file: str,
    trace: Trace,
    plan: Plan,
    on_progress: Callable[[CompareProgress | FrontierProgress], None] | None,
) -> Comparison:
    """Return the comparison of one trace; doubts about the trace go to standard error."""
    from dfopt.compare import compare_trace, foresight_windows
    from dfopt.compare.attainable.permitted_wait import usual_waits
    from dfopt.compare.attainable.save_frontier import save_frontier
    from dfopt.compare.cost_model_choice import chosen_model
    from dfopt.compare.document import ONE_TRACE

    tell_warnings(file, trace.quality.warnings)
    with cluster_at(plan.windows.scheduler) as executor, naming(file):
        compared = compare_trace(
            trace,
            chosen_model(plan.choice, trace.header),
            windows=foresight_windows(trace) if plan.lengths is None else plan.lengths,
            waits=usual_waits(trace) if plan.waits == "usual" else plan.waits,
            domains=plan.domains,
            time_limit=plan.windows.time_limit,
            workers=plan.windows.workers,
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
