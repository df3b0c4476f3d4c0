"""Traces from the command line, compared one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

import typer

from dfopt_cli.common import naming, say, shows_progress
from dfopt_cli.labelling import labelled_trace, named
from dfopt_cli.trace_options import (
    LabelOptions,
    ModelOptions,
    WindowOptions,
    model_choice,
    model_instance,
)

if TYPE_CHECKING:
    from dfopt.compare import Comparison, Window
    from dfopt.compare.choosing import ModelChoice
    from dfopt.problem.instance import Instance
    from dfopt_cli.progress import WindowLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How every trace is compared.

    Parameters
    ----------
    labels, windows
        The options.
    choice, instance
        What they say of the model.
    lengths
        The windows; None for the ladder of the foresight curve.
    has_options
        Whether any option was given at all.
    """

    labels: LabelOptions
    windows: WindowOptions
    choice: ModelChoice
    instance: Instance | None
    lengths: tuple[Window, ...] | None
    has_options: bool


def planned(
    labels: LabelOptions,
    model: ModelOptions,
    windows: WindowOptions,
    *,
    default: Literal["whole", "foresight"],
) -> Plan:
    """Return what the options ask for; contradictions are wrong usage."""
    if model.objective == "makespan":
        raise typer.BadParameter(
            "traces are compared by their penalties; give total-penalty or max-penalty",
            param_hint="--objective",
        )
    return Plan(
        labels=labels,
        windows=windows,
        choice=model_choice(model),
        lengths=windows.chosen(default=default),
        instance=model_instance(model),
        has_options=(labels, model, windows) != (LabelOptions(), ModelOptions(), WindowOptions()),
    )


def compare_traces(
    files: Sequence[str], plan: Plan, *, quiet: bool, saved: Collection[str] = ()
) -> tuple[list[Comparison], bool]:
    """Return the comparison of each trace, and whether Ctrl-C came before all was done.

    Files that are ``saved`` comparisons are read and not compared.

    Raises
    ------
    DfoptError
        When a trace cannot be compared.
    KeyboardInterrupt
        When it came before anything was known.
    """
    from dfopt.compare.saved import read_comparisons

    if plan.labels.labels_out is not None and len(files) > 1:
        raise typer.BadParameter("--labels-out is for one trace; there are several")
    labels = iter(plan.labels.of_each(sum(file not in saved for file in files)))
    done: list[tuple[str, Comparison]] = []
    interrupted = False
    with progress_of(quiet=quiet) as line:
        try:
            for file, name in zip(files, names_of(files), strict=True):
                if line is not None:
                    line.begin(name if len(files) > 1 else "")
                if file in saved:
                    done += [(name, comparison) for comparison in read_comparisons(file)]
                    continue
                done.append((name, compare_file(file, name, plan, next(labels), line)))
                if not done[-1][1].is_complete:
                    interrupted = True
                    break
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
    return told_apart(done), interrupted


def told_apart(done: Sequence[tuple[str, Comparison]]) -> list[Comparison]:
    """Return comparisons; those whose traces call themselves the same are called by their files."""
    count = Counter(comparison.name for _, comparison in done)
    return [
        replace(comparison, name=name) if count[comparison.name] > 1 else comparison
        for name, comparison in done
    ]


def saved_among(files: Sequence[str]) -> set[str]:
    """Return which of the files are comparisons that were printed before."""
    from dfopt.errors import FileError
    from dfopt.files.kinds import COMPARISON, INSTANCE, RESULT, document_format

    refuse_second_reading(files)
    saved = set()
    for file in files:
        with naming(file):
            kind = document_format(file)
            if kind in (INSTANCE, RESULT):
                what = "an instance" if kind == INSTANCE else "a result"
                raise FileError(f"is {what} and no trace; see 'dfopt plot schedule'")
        if kind == COMPARISON:
            saved.add(file)
    return saved


def refuse_second_reading(files: Sequence[str]) -> None:
    """Refuse standard input twice, which nobody can read twice."""
    if files.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once only; name files")


def compare_file(
    file: str, name: str, plan: Plan, labels: LabelOptions, line: WindowLine | None
) -> Comparison:
    """Return the comparison of one trace; what makes it doubtful goes to standard error."""
    from dfopt.compare import compare_trace, foresight_windows
    from dfopt.compare.choosing import chosen_model

    trace = named(labelled_trace(file, labels), name)
    tell_warnings(file, trace.quality.warnings)
    with naming(file):
        return compare_trace(
            trace,
            chosen_model(plan.choice, header=trace.header, instance=plan.instance),
            windows=foresight_windows(trace) if plan.lengths is None else plan.lengths,
            time_limit=plan.windows.time_limit,
            workers=plan.windows.workers,
            scheduler=plan.windows.scheduler,
            on_progress=None if line is None else line.show,
        )


def tell_warnings(file: str, warnings: Sequence[str]) -> None:
    """Say in a line each what makes a trace doubtful."""
    from dfopt.files.streams import shown_name

    for warning in warnings:
        say(f"dfopt: {shown_name(file)}: warning: {warning}")


def names_of(files: Sequence[str]) -> list[str]:
    """Return what to call traces that do not name themselves: no longer than needed."""
    files = ["standard input" if file == "-" else file for file in files]
    # Of descriptors, such as of <(zcat …), the last part says nothing.
    short = [file if file.startswith("/dev/") else PurePath(file).name for file in files]
    return short if len(set(short)) == len(short) else list(files)


def progress_of(*, quiet: bool) -> AbstractContextManager[WindowLine | None]:
    """Return the live line, or nothing where nobody would see it."""
    if not shows_progress(quiet):
        return nullcontext()
    from dfopt_cli.progress import WindowLine

    return WindowLine()
