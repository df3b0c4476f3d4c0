"""Traces from files, with the labels that the options ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dfopt_cli.common import naming, refuse_overwriting, say
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.trace import Trace
    from dfopt.trace.labels import Labelled


def read_trace_file(path: str) -> Trace:
    """Return the trace in a file; what another command reads is told apart from it."""
    from dfopt.errors import FileError
    from dfopt.files.kinds import UNNAMED, document_format, may_be_trace
    from dfopt.trace.reading import read_trace

    with naming(path):
        kind = document_format(path)
        if not may_be_trace(kind) and kind != UNNAMED:
            raise FileError(f"is a {kind} document and no trace; name a trace")
        return read_trace(path)


def labelled_trace(path: str, options: LabelOptions) -> Trace:
    """Return the trace in a file, with labels from where the options say."""
    return labelled_and_source(path, options).trace


def labelled_and_source(path: str, options: LabelOptions) -> Labelled:
    """Return the trace in a file with labels, and where these come from."""
    from dataclasses import replace

    from dfopt.files import check_writable
    from dfopt.trace.labels import keep_only, labelled
    from dfopt.trace.labels.listing import save_labels

    source = options.source
    if options.labels_out is not None:
        refuse_overwriting(options.labels_out, path)
        check_writable(options.labels_out)
    trace = read_trace_file(path)
    with naming_both(path):
        found = labelled(trace, source)
        if options.only is not None:
            found = replace(found, trace=keep_only(found.trace, options.only))
    if options.labels_out is not None:
        save_labels(options.labels_out, found.trace, found.inferred)
    return found


@contextmanager
def naming_both(path: str) -> Iterator[None]:
    """Let errors name a trace, also those that name its file of labels already."""
    from dfopt.errors import DfoptError

    with naming(path):
        try:
            yield
        except DfoptError as error:
            raise type(error)(str(error)) from None


def labelled_if_possible(path: str, options: LabelOptions) -> tuple[Trace, str | None]:
    """Return a trace and where its labels come from; it goes without if nobody asks for them."""
    from dfopt.errors import FileError
    from dfopt.trace.labels import default_source, labelled

    if options != LabelOptions():
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
    """Say where labels come from that nobody asked for and that the trace does not have."""
    if source not in (None, "own"):
        from dfopt.files.streams import shown_name

        say(f"dfopt: {shown_name(path)}: labels are taken from {source}; --df takes others")


def named(trace: Trace, name: str) -> Trace:
    """Return a trace that has a name, this one if it does not give its own."""
    from dataclasses import replace

    if trace.header.name is not None:
        return trace
    return replace(trace, header=replace(trace.header, name=name))
