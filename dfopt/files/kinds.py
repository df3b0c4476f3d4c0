"""What kind of file it is, told by its first bytes and not by its name."""

from __future__ import annotations

import re
from pathlib import Path

from dfopt.files.streams import first_bytes

INSTANCE = "dfopt-instance/1"
RESULT = "dfopt-result/1"
COMPARISON = "dfopt-comparison/1"

UNNAMED = "JSON"
"""A JSON object that names no format early on: most likely an instance, and a bad one."""

_FORMAT = re.compile(rb'"format"\s*:\s*"(dfopt-[a-z-]+/[0-9]+)"')
_CHROME = re.compile(rb'"traceEvents"\s*:|^\s*\{\s*"name"\s*:.*"ph"\s*:')


_TOML_FORMAT = re.compile(rb"""^\s*format\s*=\s*["'](dfopt-[a-z-]+/[0-9]+)["']""", re.MULTILINE)


def toml_format(path: str | Path) -> str | None:
    """Return which of dfopt's TOML formats a file has; None for anything else.

    The file is looked at and not consumed, as by :func:`document_format`.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    named = _TOML_FORMAT.search(first_bytes(path))
    return None if named is None else named[1].decode()


def document_format(path: str | Path) -> str | None:
    """Return which of dfopt's JSON formats a file has; None for anything else, such as a trace.

    Of an object that names none early on it is :data:`UNNAMED`. The file is looked at and not
    consumed, also where it is a pipe.

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
