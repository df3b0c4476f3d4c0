"""Traces from tracefs, ``trace-cmd report`` or systrace, as plain text."""

from __future__ import annotations

from typing import BinaryIO

from dfopt.trace.readers.ftrace_lines import FTRACE
from dfopt.trace.readers.kernel_text import read_kernel_text
from dfopt.trace.readers.perf_lines import PERF
from dfopt.trace.readers.pieces import pieces_of
from dfopt.trace.trace import Trace


def read_ftrace(stream: BinaryIO) -> Trace:
    """Return the trace in the kernel's own text, or in that of ``trace-cmd report``.

    Raises
    ------
    FileError
        With line and remedy, when it is no such trace.
    """
    return read_kernel_text(pieces_of(stream), FTRACE, other=PERF)
