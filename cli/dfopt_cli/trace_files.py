"""Traces from files, with the labels that the options ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError, FileError
from dfopt.files.streams import shown_name
from dfopt.structs import replace
from dfopt_cli.failures import naming
from dfopt_cli.options import given
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import say
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.trace import Trace
    from dfopt.trace.labels import Labelled


def read_trace_file(path: str) -> Trace:
    """Return the trace in a file; the error for another document says what it is."""
    from dfopt.trace.reading import read_trace

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
    if options.labels_out is not None:
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
