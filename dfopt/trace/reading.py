"""One entrance to traces of every kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

from dfopt.errors import DfoptError
from dfopt.files.streams import PEEK, opened, shown_name
from dfopt.trace.content import Content, content_of
from dfopt.trace.trace import Trace

READERS = {
    Content.PERF: ("perf", "read_perf"),
    Content.FTRACE: ("ftrace", "read_ftrace"),
    Content.SYSTRACE: ("systrace", "read_systrace"),
    Content.PERFETTO: ("perfetto", "read_perfetto"),
    Content.CHROME: ("chrome", "read_chrome"),
    Content.DFOPT: ("dfopt_trace", "read_dfopt_trace"),
}
"""For each kind of trace the module in :mod:`dfopt.trace.readers` and its function.

It is given the stream, plain and at its beginning. Naming the file in an error is not its task.
"""

Reader = Callable[[BinaryIO], Trace]


def read_trace(path: str | Path, *, name: str | None = None) -> Trace:
    """Read a trace of any kind that dfopt knows; its content says which one it is.

    Parameters
    ----------
    path
        The file, plain or compressed by gzip; ``-`` is standard input.
    name
        The trace's name; None leaves the one that the file gives, if it gives one.

    Raises
    ------
    DfoptError
        When there is no such file, or it is no trace that can be trusted.
    """
    try:
        with opened(path) as stream:
            trace = _reader(content_of(stream.peek(PEEK)))(stream)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None
    if name is None:
        return trace
    return replace(trace, header=replace(trace.header, name=name))


def _reader(content: Content) -> Reader:
    # Imported when asked for: nobody pays for the kinds that he does not read.
    module, function = READERS[content]
    return cast(Reader, getattr(import_module(f"dfopt.trace.readers.{module}"), function))
