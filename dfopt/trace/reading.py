"""Reads traces of every format; the content of a file tells its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from dfopt.errors import DfoptError
from dfopt.files.streams import PEEK, opened, shown_name
from dfopt.structs import replace
from dfopt.trace.readers.chrome import read_chrome
from dfopt.trace.readers.dfopt_trace import read_dfopt_trace
from dfopt.trace.readers.ftrace import FTRACE
from dfopt.trace.readers.kernel_text import pieces_of, read_kernel_text
from dfopt.trace.readers.perf import PERF
from dfopt.trace.readers.perfetto import read_perfetto
from dfopt.trace.readers.systrace import read_systrace
from dfopt.trace.trace import Trace
from dfopt.trace.trace_format import TraceFormat, format_of


def read_trace(path: str | Path, *, name: str | None = None) -> Trace:
    """Return the trace in a file of any format that dfopt knows; the content tells the format.

    Parameters
    ----------
    path
        The file, plain or compressed by gzip; ``-`` is standard input.
    name
        The trace's name; None leaves the one that the file gives, if it gives one.

    Raises
    ------
    DfoptError
        When there is no such file, or when it holds no trace that can be trusted.
    """
    try:
        with opened(path) as stream:
            trace = READERS[format_of(stream.peek(PEEK))](stream)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None
    if name is None:
        return trace
    return replace(trace, header=replace(trace.header, name=name))


def read_perf(stream: BinaryIO) -> Trace:
    """Return the trace in the text of ``perf script`` or ``perf sched script``.

    Raises
    ------
    FileError
        With line and remedy, when it is no such trace.
    """
    return read_kernel_text(pieces_of(stream), PERF, other=FTRACE)


def read_ftrace(stream: BinaryIO) -> Trace:
    """Return the trace in the text of tracefs or ``trace-cmd report``.

    Raises
    ------
    FileError
        With line and remedy, when it is no such trace.
    """
    return read_kernel_text(pieces_of(stream), FTRACE, other=PERF)


READERS: dict[TraceFormat, Callable[[BinaryIO], Trace]] = {
    TraceFormat.PERF: read_perf,
    TraceFormat.FTRACE: read_ftrace,
    TraceFormat.SYSTRACE: read_systrace,
    TraceFormat.PERFETTO: read_perfetto,
    TraceFormat.CHROME: read_chrome,
    TraceFormat.DFOPT: read_dfopt_trace,
}
"""The reader of each format.

A reader gets the stream, unpacked and at its beginning. Its errors do not name the file.
"""
