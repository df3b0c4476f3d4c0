"""The formats of dfopt's own documents: one list, which of them a file has, and their schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from dfopt.checks import did_you_mean
from dfopt.errors import DfoptError, FileError
from dfopt.files.storage import PEEK, first_bytes, naming, read_text
from dfopt.files.strict import Document, parse_document, parse_toml
from dfopt.type_reader import described_value


def _commands(names: str) -> str:
    """Return how a sentence names commands that are separated by commas."""
    *first, last = (f"'dfopt {name}'" if name else "" for name in names.split(", "))
    return f"{', '.join(first)} and {last}" if first else last


class Format(StrEnum):
    """A format and its version, as it stands in a document under ``format``.

    Attributes
    ----------
    content
        What a document of this format holds, such as ``"an instance"``.
    takers, makers
        How a sentence names the commands that read such a file, and those that write one; empty
        where there are none.
    """

    content: str
    takers: str
    makers: str

    def __new__(cls, name: str, content: str, takers: str, makers: str) -> Format:
        """Return a member that is its name and knows the rest."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.content = content
        member.takers, member.makers = _commands(takers), _commands(makers)
        return member

    INSTANCE = "dfopt-instance/1", "an instance", "solve", "import, trace to-instance, generate"
    INSTANCE_INDEX = "dfopt-instance-index/1", "an index of instances", "bench", ""
    RESULT = "dfopt-result/2", "a result", "verify, plot schedule", "solve"
    VERIFICATION = "dfopt-verification/1", "a verification", "", "verify"
    INFO = "dfopt-info/1", "a summary of a file", "", "info"
    BENCH_SUMMARY = "dfopt-bench-summary/1", "the summary of a benchmark", "", "bench"
    TRACE = "dfopt-trace/1", "a trace", "compare, report", "trace convert, trace import"
    COMPARISON = "dfopt-comparison/1", "a comparison", "report, plot frontier", "compare"
    WAITING_PROOF = "dfopt-waiting-proof/2", "a proof of a bound for a trace", "verify", "compare"
    SCENARIO = "dfopt-scenario/1", "a scenario", "simulate run-queue", ""
    RUN_QUEUE = (
        "dfopt-run-queue/1",
        "the figures of run-queue simulations",
        "",
        "simulate run-queue",
    )
    MIX = "dfopt-mix/1", "a mix of jobs", "simulate space-sharing", ""
    THREAD_GRAPH = "dfopt-thread-graph/1", "a thread graph", "", ""
    SIMULATION = "dfopt-simulation/1", "the figures of a simulation", "", "simulate space-sharing"
    RESPONSE_MODEL = (
        "dfopt-response-model/1",
        "a response-time model",
        "model response-time, plot crossover",
        "simulate space-sharing, model from-trace",
    )
    RESPONSE_TIME = "dfopt-response-time/1", "a table of response times", "", "model response-time"
    MACHINE = (
        "dfopt-machine/1",
        "a measured machine",
        "compare, model response-time",
        "measure machine",
    )
    PENALTIES = (
        "dfopt-penalties/1",
        "a file of penalties",
        "compare, model response-time",
        "measure penalties",
    )
    CROSSOVER = "dfopt-crossover/1", "a table of crossovers", "", "model crossover"
    CONTENTION_MODEL = (
        "dfopt-contention-model/1",
        "a contention model",
        "model contention, plot contention",
        "",
    )
    CONTENTION = "dfopt-contention/1", "a table of contention for locks", "", "model contention"
    BATCHING_MODEL = (
        "dfopt-batching-model/1",
        "a batching model",
        "model batching, plot batching",
        "",
    )
    BATCHING = "dfopt-batching/1", "a table of gains by batches", "", "model batching"
    COUNTERS_MODEL = (
        "dfopt-counters-model/1",
        "a model of counters",
        "model counters, plot counters",
        "",
    )
    COUNTERS = "dfopt-counters/1", "figures of counters", "", "model counters"
    QUEUEING_MODEL = (
        "dfopt-queueing-model/1",
        "a queueing model",
        "model queueing, plot queueing",
        "",
    )
    QUEUEING = "dfopt-queueing/1", "a table of queueing times", "", "model queueing"


OLDER = {"dfopt-result/1": Format.RESULT}
"""Versions that are still read, and what they are read as."""

UNNAMED = "JSON"
"""Stands for a JSON object without a format near its beginning: most likely a faulty instance."""

_JSON_FORMAT = re.compile(rb'"format"\s*:\s*"(dfopt-[a-z-]+/[0-9]+)"')
_TOML_FORMAT = re.compile(rb"""^\s*format\s*=\s*["'](dfopt-[a-z-]+/[0-9]+)["']""", re.MULTILINE)
_SCHEDULER = re.compile(rb"^# tracer: |: (sched:)?sched_[a-z_]+: ", re.MULTILINE)
_CHROME = re.compile(rb'"traceEvents"\s*:|^\s*\{\s*"name"\s*:.*"ph"\s*:')


def other_kind(given: Format, expected: Format) -> FileError:
    """Return the error for a file that holds something else than what is due."""
    return FileError(f"the file holds {described(given)}; {due(expected)}", place="format")


def described(given: Format) -> str:
    """Say what a file holds, and which commands take it."""
    return f"{given.content} ({given})" + (f", for {given.takers}" if given.takers else "")


def due(expected: Format) -> str:
    """Say what a file should hold, and which commands make that."""
    made = f", as made by {expected.makers}" if expected.makers else ""
    return f"{expected.content} is due here{made}"


def check_format(document: Document, expected: Format) -> None:
    """Refuse a document of another format."""
    given = document.get("format")
    if expected in (given, OLDER.get(str(given))):
        return
    if isinstance(given, str) and given in list(Format):
        raise other_kind(Format(given), expected)  # type: ignore[call-arg]
    if "format" not in document:
        problem = f"is missing; {expected.content} has {str(expected)!r} here"
    else:
        problem = f"must be {str(expected)!r}, not {described_value(given)}"
    raise FileError(problem, place="format")


def read_json(path: str | Path, expected: Format) -> Document:
    """Return the JSON document in a file; another kind of file is told by its name.

    Raises
    ------
    FileError
        When the file cannot be read, or is no strict JSON of this format.
    """
    text = read_text(path)
    with naming(path):
        with telling_kinds(text, expected):
            document = _parsed(text, expected)
        check_format(document, expected)
    return document


def _parsed(text: str, expected: Format) -> Document:
    try:
        return parse_document(text)
    except FileError:
        if not re.match(r"\s*(?!null|true|false)[A-Za-z#]", text):
            raise
        raise FileError(f"is not JSON; {due(expected)}") from None


def parse_toml_of(text: str, expected: Format) -> Document:
    """Return the TOML document that a text holds; another kind of file is told by its name.

    Raises
    ------
    FileError
        When the text is no strict TOML of this format.
    """
    with telling_kinds(text, expected):
        document = parse_toml(text, what=expected.content)
    check_format(document, expected)
    return document


@contextmanager
def telling_kinds(text: str, expected: Format) -> Iterator[None]:
    """Let the error of a parser say what the text is, if it is known, and not what it is not."""
    try:
        yield
    except FileError:
        first = text[:PEEK].encode()
        given = named_format(first)
        if given is None and (_CHROME.search(first) or _SCHEDULER.search(first)):
            given = Format.TRACE
        if given in (None, expected):
            raise
        raise other_kind(given, expected) from None


def named_format(first: bytes) -> Format | None:
    """Return the format that a document names early on; None where it names none that is known."""
    name = _json_name(first) or _toml_name(first)
    return Format(name) if name in list(Format) else None  # type: ignore[call-arg]


def document_format(path: str | Path) -> str | None:
    """Return the format that a JSON file names early on; None for anything else, such as a trace.

    For an object that names none it is :data:`UNNAMED`. The next reader of the file finds all of
    it, also where it is a pipe.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    return _json_name(first_bytes(path))


def toml_format(path: str | Path) -> str | None:
    """Return the format that a TOML file names early on; None for anything else.

    The next reader of the file finds all of it.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    return _toml_name(first_bytes(path))


def _json_name(first: bytes) -> str | None:
    if not first.lstrip().startswith(b"{"):
        return None
    named = _JSON_FORMAT.search(first)
    if named is not None:
        name = named[1].decode()
        return OLDER.get(name, name)
    return None if _CHROME.search(first) else UNNAMED


def _toml_name(first: bytes) -> str | None:
    named = _TOML_FORMAT.search(first)
    return None if named is None else named[1].decode()


def may_be_trace(file_format: str | None) -> bool:
    """Whether a file goes to the readers of traces; their errors name the versions they read."""
    return file_format is None or file_format.startswith("dfopt-trace/")


ENDING = ".schema.json"


def schema_names() -> list[str]:
    """Return the short names of all schemas, such as ``instance``."""
    files = (file.name for file in _folder().iterdir())
    return sorted(name.removesuffix(ENDING) for name in files if name.endswith(ENDING))


def schema(name: str) -> Document:
    """Return the JSON Schema (Draft 2020-12) of a format.

    Parameters
    ----------
    name
        Such as ``instance`` or ``dfopt-instance/1``.

    Raises
    ------
    DfoptError
        When there is no such schema; the message names those there are.
    """
    known = schema_names()
    short_name = name
    if name in list(Format):
        short_name = name.removeprefix("dfopt-").partition("/")[0]
    if short_name not in known:
        raise DfoptError(f"there is no schema {name!r}; {did_you_mean(short_name, known)}")
    text = (_folder() / f"{short_name}{ENDING}").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def _folder() -> Traversable:
    return resources.files("dfopt") / "files" / "schemas"
