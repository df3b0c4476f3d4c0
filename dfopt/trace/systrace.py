"""Traces in the web pages that Android's systrace writes.

The text of ftrace stands in a ``<script class="trace-data">``, in older pages in a JavaScript
string ``linuxPerfData``. The rest of the page is a viewer, and scripts with other data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from dfopt.errors import FileError
from dfopt.trace.kernel_lines import FTRACE, read_ftrace_pieces
from dfopt.trace.kernel_text import Piece, pieces_of
from dfopt.trace.trace import Trace

_BEGIN = re.compile(
    rb"(?P<script><script\b[^>]*\bclass=\"trace-data\"[^>]*>)|\blinuxPerfData\s*=\s*(?P<quote>[\"'])"
)
_END_OF_SCRIPT = re.compile(rb"</script\s*>")
_END_OF_STRING = {quote: re.compile(rb"(?<!\\)" + quote) for quote in (b'"', b"'")}

_FTRACE = re.compile(
    rb"(?:[ \t\r]*\n)*(?:# tracer|TRACE:|version = |cpus=|%b)" % FTRACE.head.pattern
)
_COMPRESSED = re.compile(rb"\s*(?:TRACE:\s*)?(?:eJ|eNo|eF4|eAE|H4sI)[A-Za-z0-9+/]{20}")
"""The beginnings of zlib and gzip data in base64."""

_ESCAPE = re.compile(rb"\\(.|\n)")
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def read_systrace(stream: BinaryIO) -> Trace:
    """Return the trace in a web page of systrace.

    Raises
    ------
    FileError
        With line and remedy, when the page holds no text of ftrace.
    """
    return read_ftrace_pieces(_sections(pieces_of(stream)))


def _sections(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the parts of a page that are text of ftrace."""
    found = False
    end: re.Pattern[bytes] | None = None
    wanted: bool | None = None
    for piece in pieces:
        page, position = piece.text, 0
        while position < len(page):
            if end is None:
                begin = _BEGIN.search(page, position)
                if begin is None:
                    break
                position, wanted = begin.end(), None
                end = _END_OF_SCRIPT if begin["script"] else _END_OF_STRING[begin["quote"]]
                continue
            over = end.search(page, position)
            text = page[position : over.start() if over else len(page)]
            line = piece.first_line + page.count(b"\n", 0, position)
            text = _plain(text, escaped=end is not _END_OF_SCRIPT)
            if wanted is None and text.strip():
                wanted = _is_ftrace(text, line)
            if wanted:
                found = True
                yield Piece(first_line=line, text=text, cut=piece.cut and over is None)
            position = over.end() if over else len(page)
            end = None if over else end
    if not found:
        raise FileError(
            "is a web page without the text of ftrace; name a trace that systrace or atrace wrote"
        )


def _plain(text: bytes, *, escaped: bool) -> bytes:
    """Return the text of a section without escapes; its last line has an end."""
    # Some versions escape the ends of lines even outside of strings.
    text = text.replace(b"\\n\\\n", b"\n")
    if escaped:
        text = _ESCAPE.sub(_unescaped, text)
    return text if text.endswith(b"\n") else text + b"\n"


def _unescaped(escape: re.Match[bytes]) -> bytes:
    # Within a string systrace ends a line only at the end of a line of the trace.
    return _ESCAPED.get(escape[1], escape[1])


def _is_ftrace(text: bytes, line: int) -> bool:
    if _COMPRESSED.match(text):
        raise FileError(
            "the trace in this web page is compressed; record it again without compression, "
            "such as by systrace --no-compress",
            place=f"line {line}",
        )
    return _FTRACE.match(text) is not None
