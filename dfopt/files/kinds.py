"""What kind of file it is, told by its first bytes and not by its name."""

from __future__ import annotations

import re
import sys
import zlib
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.storage import GZIP_MAGIC, PEEK, STANDARD_INPUT, opened

INSTANCE = "dfopt-instance/1"
RESULT = "dfopt-result/1"
COMPARISON = "dfopt-comparison/1"

UNNAMED = "JSON"
"""A JSON object that names no format early on: most likely an instance, and a bad one."""

_FORMAT = re.compile(rb'"format"\s*:\s*"(dfopt-[a-z-]+/[0-9]+)"')
_CHROME = re.compile(rb'"traceEvents"\s*:|^\s*\{\s*"name"\s*:.*"ph"\s*:')
_GUNZIP = 31
"""What zlib takes as its window for gzip."""


def document_format(path: str | Path) -> str | None:
    """Return which of dfopt's JSON formats a file has; None for anything else, such as a trace.

    Of an object that names none early on it is :data:`UNNAMED`. Standard input is looked at and
    not consumed.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    first = first_bytes(path)
    if not first.lstrip().startswith(b"{"):
        return None
    named = _FORMAT.search(first)
    if named is not None:
        return named[1].decode()
    return None if _CHROME.search(first) else UNNAMED


def may_be_trace(kind: str | None) -> bool:
    """Whether a file of this kind is for the readers of traces, who say which version they know."""
    return kind is None or kind.startswith("dfopt-trace/")


def first_bytes(path: str | Path) -> bytes:
    """Return how a file begins, unpacked; standard input is looked at and not consumed.

    Raises
    ------
    FileError
        When the file cannot be read, or is a pipe, of which nothing would be left to its reader.
    """
    if str(path) != STANDARD_INPUT:
        if Path(path).is_fifo():
            raise FileError(
                "is a pipe, which can be read only once; feed it to standard input and name it -",
                file=str(path),
            )
        with opened(path) as stream:
            return stream.peek(PEEK)
    buffer = sys.stdin.buffer
    if hasattr(buffer, "peek"):
        first = bytes(buffer.peek(PEEK))
    else:
        position = buffer.tell()
        first = buffer.read(PEEK)
        buffer.seek(position)
    if first.startswith(GZIP_MAGIC):
        return zlib.decompressobj(_GUNZIP).decompress(first, PEEK)
    return first
