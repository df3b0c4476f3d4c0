"""The formats of dfopt's own documents: one list, and which of them a file has."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files.streams import first_bytes
from dfopt.files.strict_json import Document, described_json


class Format(StrEnum):
    """A format and its version, as it stands in a document under ``format``.

    Attributes
    ----------
    content
        What a document of this format holds, such as ``"an instance"``.
    """

    content: str

    def __new__(cls, name: str, content: str) -> Format:
        """Return a member that is its name and knows its content."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.content = content
        return member

    INSTANCE = "dfopt-instance/1", "an instance"
    INSTANCE_INDEX = "dfopt-instance-index/1", "an index of instances"
    RESULT = "dfopt-result/1", "a result"
    VERIFICATION = "dfopt-verification/1", "a verification"
    INFO = "dfopt-info/1", "a summary of a file"
    BENCH_SUMMARY = "dfopt-bench-summary/1", "the summary of a benchmark"
    TRACE = "dfopt-trace/1", "a trace"
    COMPARISON = "dfopt-comparison/1", "a comparison"
    WAITING_PROOF = "dfopt-waiting-proof/1", "a proof of a bound for a trace"
    SCENARIO = "dfopt-scenario/1", "a scenario"
    RUN_QUEUE = "dfopt-run-queue/1", "the figures of run-queue simulations"
    MIX = "dfopt-mix/1", "a mix of jobs"
    THREAD_GRAPH = "dfopt-thread-graph/1", "a thread graph"
    SIMULATION = "dfopt-simulation/1", "the figures of a simulation"
    RESPONSE_MODEL = "dfopt-response-model/1", "a response-time model"
    RESPONSE_TIME = "dfopt-response-time/1", "a table of response times"
    MACHINE = "dfopt-machine/1", "measured costs of a machine"
    PENALTIES = "dfopt-penalties/1", "penalties of reallocations"
    CROSSOVER = "dfopt-crossover/1", "a table of crossovers"
    CONTENTION_MODEL = "dfopt-contention-model/1", "a contention model"
    CONTENTION = "dfopt-contention/1", "a table of contention for locks"
    BATCHING_MODEL = "dfopt-batching-model/1", "a batching model"
    BATCHING = "dfopt-batching/1", "a table of gains by batches"
    COUNTERS_MODEL = "dfopt-counters-model/1", "a model of counters"
    COUNTERS = "dfopt-counters/1", "figures of counters"
    QUEUEING_MODEL = "dfopt-queueing-model/1", "a queueing model"
    QUEUEING = "dfopt-queueing/1", "a table of queueing times"


UNNAMED = "JSON"
"""Stands for a JSON object without a format near its beginning: most likely a faulty instance."""

_JSON_FORMAT = re.compile(rb'"format"\s*:\s*"(dfopt-[a-z-]+/[0-9]+)"')
_TOML_FORMAT = re.compile(rb"""^\s*format\s*=\s*["'](dfopt-[a-z-]+/[0-9]+)["']""", re.MULTILINE)
_CHROME = re.compile(rb'"traceEvents"\s*:|^\s*\{\s*"name"\s*:.*"ph"\s*:')


def check_format(document: Document, expected: Format) -> None:
    """Refuse a document of another format."""
    given = document.get("format")
    if given == expected:
        return
    if "format" not in document:
        problem = f"is missing; {expected.content} has {str(expected)!r} here"
    elif isinstance(given, str) and given in list(Format):
        content = Format(given).content  # type: ignore[call-arg]
        problem = f"the file holds {content} ({given}); {expected.content} is due here"
    else:
        problem = f"must be {str(expected)!r}, not {described_json(given)}"
    raise FileError(problem, place="format")


def document_format(path: str | Path) -> str | None:
    """Return the format that a JSON file names early on; None for anything else, such as a trace.

    For an object that names none it is :data:`UNNAMED`. The next reader of the file finds all of
    it, also where it is a pipe.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    first = first_bytes(path)
    if not first.lstrip().startswith(b"{"):
        return None
    named = _JSON_FORMAT.search(first)
    if named is not None:
        return named[1].decode()
    return None if _CHROME.search(first) else UNNAMED


def toml_format(path: str | Path) -> str | None:
    """Return the format that a TOML file names early on; None for anything else.

    The next reader of the file finds all of it.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    named = _TOML_FORMAT.search(first_bytes(path))
    return None if named is None else named[1].decode()


def may_be_trace(file_format: str | None) -> bool:
    """Whether a file goes to the readers of traces; their errors name the versions they read."""
    return file_format is None or file_format.startswith("dfopt-trace/")
