"""Reads and writes traces of every format.

The first bytes of a file that is read tell its format, and the ending of a file's name that is
written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from dfopt.errors import FileError
from dfopt.files.formats import Format, named_format, other_kind
from dfopt.files.storage import (
    BYTE_ORDER_MARK,
    GZIP_MAGIC,
    PEEK,
    naming,
    opened,
    replacing,
)
from dfopt.structs import replace
from dfopt.trace.chrome import read_chrome, write_chrome
from dfopt.trace.dfopt_trace import read_dfopt_trace, write_dfopt_trace
from dfopt.trace.events import Integers
from dfopt.trace.kernel_text import FTRACE, PERF, SWITCH, read_ftrace, read_perf, read_systrace
from dfopt.trace.perfetto import read_perfetto, write_perfetto
from dfopt.trace.trace import Trace


class TraceFormat(Enum):
    """The formats of traces that dfopt reads."""

    PERF = "perf script text"
    FTRACE = "ftrace or trace-cmd text"
    SYSTRACE = "systrace HTML"
    PERFETTO = "Perfetto protobuf"
    CHROME = "Chrome trace JSON"
    DFOPT = "dfopt-trace/1 JSON lines"


_FOREIGN = {
    b"PERFILE2": "is a perf.data file; read the output of `perf script` or `perf sched script`",
    b"\x17\x08\x44tracing": "is a trace.dat file; read the output of `trace-cmd report`",
    GZIP_MAGIC: "is compressed with gzip twice; unpack it once",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"\xfd7zXZ\0": "is compressed with xz; unpack it first",
    b"BZh": "is compressed with bzip2; unpack it first",
    b"PK\x03\x04": "is a zip archive; unpack it first",
    BYTE_ORDER_MARK: "begins with a byte order mark; save it as UTF-8 without one",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
}
"""The beginnings of files that may hold a trace, but in a form that dfopt does not read."""

_TAR, _TAR_AT = b"ustar", 257

_REPORTS = (
    (
        re.compile(
            rb"^ +time +cpu .*task name .*wait time|^Runtime summary$"
            rb"|^ +Task +\| +Runtime ms +\|"
            rb"|^ +\*A0 .*\d\.\d+ secs"
            rb"|^ +\d+\.\d{3} .*/\d+ sched:sched_[a-z_]+\("
            rb"|^# To display the perf\.data header info",
            re.MULTILINE,
        ),
        "is a report that perf made of a trace; save the trace itself by `perf script`",
    ),
    (
        re.compile(rb'\A\s*\{\s*"linux-perf-json-version"'),
        "is perf.data as JSON; save the output of `perf script`",
    ),
    (
        re.compile(rb"\A.+: cpus=\d+\n"),
        "is about several recordings; make a report of each (trace-cmd report -i FILE)",
    ),
    (
        re.compile(rb"^\[[0-9:. -]+\] (?:\(\+[0-9?.]+\) )?.*: \{ cpu_id = \d+ \}", re.MULTILINE),
        "is babeltrace's text of an LTTng trace; record with perf or ftrace, or rewrite its "
        "switches as ftrace text",
    ),
)
"""Files that look like a trace, or are made from one, but cannot be read as a trace."""

_DFOPT_TRACE = re.compile(rb'"format"\s*:\s*"dfopt-trace/[0-9]+"')
_HTML = re.compile(rb"\s*<(!doctype|html|head|script)\b", re.IGNORECASE)
_JSON = re.compile(rb'\s*(?:\[\s*(?:\]|\Z)|(?:\[\s*)?\{\s*(?:\}|\Z|"[^"\n]*"\s*:))')
_FTRACE_HEADER = re.compile(rb"^[ \t]*(# tracer:|TRACE:|version = \d|cpus=\d)", re.MULTILINE)
_PERF_HEADER = re.compile(rb"^[ \t]*(# ========|# captured on)", re.MULTILINE)
_PERF_WITHOUT_CPU = re.compile(
    rb"^ *.+ (?:(?:-1|\d+)/)?\d+ +\d+\.\d{6,9}: +(?:\d+ +)?(?:sched:)?sched_", re.MULTILINE
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""A byte that no text has."""

_PACKET = 0x0A
"""The tag of a packet, the only field of a Perfetto trace."""

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
    with naming(path), opened(path) as stream:
        trace = READERS[format_of(stream.peek(PEEK))](stream)
    if name is None:
        return trace
    return replace(trace, header=replace(trace.header, name=name))


def format_of(first: bytes) -> TraceFormat:
    """Return the format of a trace.

    Parameters
    ----------
    first
        The first bytes of its file: 64 KiB or all.

    Raises
    ------
    FileError
        When dfopt does not read such a file.
    """
    if not first.strip():
        raise FileError("is empty; name a trace")
    for beginning, problem in _FOREIGN.items():
        if first.startswith(beginning):
            raise FileError(problem)
    if first[_TAR_AT:].startswith(_TAR):
        raise FileError("is a tar archive; unpack it first")
    if _is_packets(first):
        return TraceFormat.PERFETTO
    if _HTML.match(first):
        return TraceFormat.SYSTRACE
    for form, problem in _REPORTS:
        if form.search(first):
            raise FileError(problem)
    # A string in JSON may look like the line of an event.
    if _JSON.match(first):
        return _json_of(first)
    text = _text_of(first)
    if text is not None:
        return text
    if _PERF_WITHOUT_CPU.search(first):
        raise FileError(
            "does not say on which CPU; record all of them (perf record -a, perf sched record) and "
            "print comm, tid, cpu, time, event and trace"
        )
    if SWITCH in first:
        raise FileError(
            "holds switches, but neither as `perf script -F comm,tid,cpu,time,event,trace` nor as "
            "tracefs or trace-cmd report print them; print them so"
        )
    known = ", ".join(known_format.value for known_format in TraceFormat)
    log = (
        "; a log of requests? `dfopt trace import` makes a trace of it" if _is_table(first) else ""
    )
    raise FileError(f"holds no trace that dfopt knows; it reads {known}{log}")


def _is_table(first: bytes) -> bool:
    """Whether these bytes begin like a CSV file whose first line names the columns."""
    names, row, *_ = (*first.splitlines()[:2], b"", b"")
    return any(0 < names.count(mark) <= row.count(mark) for mark in (b",", b";", b"\t"))


def _text_of(first: bytes) -> TraceFormat | None:
    for line in first.splitlines():
        if PERF.head.match(line):
            return TraceFormat.PERF
        if FTRACE.head.match(line):
            return TraceFormat.FTRACE
    if _FTRACE_HEADER.search(first):
        return TraceFormat.FTRACE
    if _PERF_HEADER.search(first):
        return TraceFormat.PERF
    named = named_format(first)
    if named is not None:
        raise other_kind(named, Format.TRACE)
    return None


def _json_of(first: bytes) -> TraceFormat:
    if _DFOPT_TRACE.search(first, 0, (first + b"\n").index(b"\n")):
        return TraceFormat.DFOPT
    named = named_format(first)
    if named not in (None, Format.TRACE):
        raise other_kind(named, Format.TRACE)
    return TraceFormat.CHROME


def _is_packets(first: bytes) -> bool:
    """Whether these bytes are packets, each behind its tag and its length."""
    position = packets = 0
    while position < len(first):
        if first[position] != _PACKET:
            return False
        position, size, shift = position + 1, 0, 0
        while position < len(first) and first[position] & 0x80:
            size |= (first[position] & 0x7F) << shift
            position, shift = position + 1, shift + 7
        if position < len(first):
            size |= first[position] << shift
        position += 1 + size
        packets += 1
    return packets > 1 or _CONTROL.search(first) is not None


WRITERS: dict[str, Callable[..., None]] = {
    ".jsonl": write_dfopt_trace,
    ".jsonl.gz": write_dfopt_trace,
    ".perfetto-trace": write_perfetto,
    ".pftrace": write_perfetto,
    ".json": write_chrome,
    ".json.gz": write_chrome,
}
"""The writer for each ending; it gets the trace and a stream."""

WITH_COSTS = (write_perfetto, write_chrome)
"""Writers of formats that can show the costs of switches."""


def write_trace(trace: Trace, path: str | Path, *, costs: Integers | None = None) -> None:
    """Write a trace as a whole or not at all; the ending of the name is the format.

    ``.jsonl`` is dfopt-trace/1, ``.perfetto-trace`` and ``.pftrace`` are for Perfetto's viewer,
    ``.json`` is for Chrome's. All but Perfetto's may have ``.gz`` after it.

    Parameters
    ----------
    trace
        The trace.
    path
        The file.
    costs
        The cost of the switch to each dispatch, for the counters of viewers; other formats leave
        it out.

    Raises
    ------
    FileError
        When the ending is unknown, or the file cannot be written.
    """
    write = writer_of(path)
    try:
        with naming(path), replacing(path) as stream:
            if write in WITH_COSTS:
                write(trace, stream, costs=costs)
            else:
                write(trace, stream)
    except UnicodeEncodeError as error:
        raise FileError(
            f"a name in the trace holds {error.object[error.start]!a}, which is no text; rename it",
            file=str(path),
        ) from None


def writer_of(path: str | Path) -> Callable[..., None]:
    """Return the writer of the format that the ending of a file's name means.

    Raises
    ------
    FileError
        When no format has this ending.
    """
    name = Path(path).name.lower()
    for ending, write in WRITERS.items():
        if name.endswith(ending):
            return write
    known = ", ".join(ending for ending in WRITERS if not ending.endswith(".gz"))
    raise FileError(
        f"its ending says no format of traces; choose one of {known}", file=str(path) or "''"
    )
