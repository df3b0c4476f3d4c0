"""The traces that a command line names, compared one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typer import BadParameter, Exit

from dfopt.errors import DfoptError
from dfopt.files.formats import Format, document_format
from dfopt.problem.cache_domains import CacheDomains
from dfopt.structs import replace
from dfopt_cli.cluster import cluster_at
from dfopt_cli.cost_options import ModelOptions, model_choice
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import naming
from dfopt_cli.options import given, refuse_second_reading
from dfopt_cli.output_files import output_folder
from dfopt_cli.printing import say
from dfopt_cli.trace_files import labelled_trace, named, names_of, tell_warnings
from dfopt_cli.trace_options import LabelOptions, WorkOptions

if TYPE_CHECKING:
    from dfopt.compare import CompareProgress, Comparison, Window
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
    from dfopt.compare.attainable.export import save_frontier
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
