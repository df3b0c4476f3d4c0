"""Instances, results and traces, read from the files that the command line names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError, DfoptWarning, FileError
from dfopt.files import fingerprint, read_instance, read_result
from dfopt.files.storage import shown_name
from dfopt.problem.instance import Instance
from dfopt.problem.schedule import Schedule
from dfopt.structs import replace
from dfopt_cli.failures import naming
from dfopt_cli.options import given
from dfopt_cli.printing import check_output, say
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.trace import Trace
    from dfopt.trace.labels import Labelled


def read_instance_and_warn(file: str) -> Instance:
    """Return the instance in a file; warn where it has no tasks.

    Raises
    ------
    FileError, InstanceError
        When the file is not a valid instance.
    """
    instance = read_instance(file)
    if not instance.tasks:
        warnings.warn(
            "there are no tasks to schedule; add some under 'tasks'", DfoptWarning, stacklevel=2
        )
    return instance


def read_solved(instance_file: str, result_file: str) -> tuple[Instance, Schedule, str | None]:
    """Return an instance, the schedule that a result has for it, and the method that found it.

    Raises
    ------
    FileError
        When the result belongs to another instance, or has no schedule.
    """
    with naming(instance_file):
        instance = read_instance(instance_file)
    with naming(result_file):
        result = read_result(result_file)
        if result.instance_sha256 != fingerprint(instance):
            raise FileError(
                f"belongs to another instance, {result.instance_name or 'without a name'}; "
                "name the instance it was solved from",
                place="instance.sha256",
            )
        if result.schedule is None:
            raise FileError(
                f"is null: this result is {result.status}, there is nothing to show",
                place="schedule",
            )
    return instance, result.schedule, result.method


def read_trace_file(path: str) -> Trace:
    """Return the trace in a file; the error for another document says what it is."""
    from dfopt.trace.formats import read_trace

    with naming(path):
        return read_trace(path)


def labelled_trace(path: str, options: LabelOptions) -> Trace:
    """Return the trace in a file, with labels from where the options say; a guess is said."""
    found = labelled_and_source(path, options)
    if options.source is None and found.inferred is not None:
        tell_source(path, found.source)
    return found.trace


def labelled_and_source(path: str, options: LabelOptions) -> Labelled:
    """Return the trace in a file with labels, and where these come from."""
    from dfopt.trace.labels import keep_only, labelled
    from dfopt.trace.labels.files import save_labels

    source = options.source
    check_output(options.labels_out, path)
    trace = read_trace_file(path)
    with naming_both(path):
        found = labelled(trace, source)
        if options.only is not None:
            is_chosen = found.source == "own"
            kept = keep_only(found.trace, options.only, is_chosen=is_chosen)
            found = replace(found, trace=kept)
    if options.labels_out is not None:
        save_labels(options.labels_out, found.trace, found.inferred)
    return found


@contextmanager
def naming_both(path: str) -> Iterator[None]:
    """Let errors name a trace, also those that name its file of labels already."""
    with naming(path):
        try:
            yield
        except DfoptError as error:
            raise type(error)(str(error)) from None


def labelled_if_possible(path: str, options: LabelOptions) -> tuple[Trace, str | None]:
    """Return a trace and the source of its labels, None if it has none and none is asked for."""
    from dfopt.trace.labels import default_source, labelled

    if given(options):
        asked = labelled_and_source(path, options)
        return asked.trace, asked.source
    trace = read_trace_file(path)
    source = default_source(trace)
    if source is None:
        return trace, None
    try:
        return labelled(trace, source).trace, source
    except FileError:  # only threads that are not managed
        return trace, None


def tell_source(path: str, source: str | None) -> None:
    """Say where labels come from that are not the trace's own and that no option asked for."""
    if source not in (None, "own"):
        say(f"dfopt: {shown_name(path)}: labels are taken from {source}; --df takes others")


def named(trace: Trace, name: str) -> Trace:
    """Return a trace that has a name, this one if it does not give its own."""
    if trace.header.name is not None:
        return trace
    return replace(trace, header=replace(trace.header, name=name))


def named_trace(path: str, options: LabelOptions) -> Trace:
    """Return the trace in a file with labels; it has the name of its file if it has none."""
    return named(labelled_trace(path, options), *names_of([path]))


def names_of(files: Sequence[str]) -> list[str]:
    """Return short names for traces that have none of their own."""
    files = ["standard input" if file == "-" else file for file in files]
    # The last part of a descriptor, such as that of <(zcat …), says nothing.
    short = [file if file.startswith("/dev/") else PurePath(file).name for file in files]
    return short if len(set(short)) == len(short) else list(files)


def tell_warnings(file: str, warnings: Sequence[str]) -> None:
    """Show each warning about a trace in one line."""
    for warning in warnings:
        say(f"dfopt: {shown_name(file)}: warning: {warning}")
