"""The lines of a ``dfopt-trace/1``: its header, and all that follow it, one by one.

Each line is checked by itself, so that an error can name the exact mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dfopt.checks import check_integer
from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import at, choice, fields_of, integer, string
from dfopt.files.formats import Format, check_format
from dfopt.files.instance_document import penalty_from_document, penalty_to_document
from dfopt.files.strict_json import Document, described_json, parse_document
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import LARGEST_CPU_COUNT, Objective
from dfopt.trace.assumed import Assumed
from dfopt.trace.lengths import Lengths
from dfopt.trace.trace import STOPS, Trace, TraceHeader

FORMAT = Format.TRACE

REQUIRED = ("cpu", "start", "end", "task", "df")
DISPATCH_KEYS = (*REQUIRED, "lines", "leaves", "stop", "comm")
GAP_REQUIRED = ("cpu", "gap", "reason")
GAP_KEYS = (*GAP_REQUIRED, "task")
EVENTS = {"wakeup": "waker", "first_wakeup": "waker", "fork": "parent"}
"""The keys that tell the time of an event, and for each the key of the task that caused it."""

TASK_KEYS = ("task", "weight")
"""The keys of what is said about a task."""

GAP_ENDS = 2

_leaves = choice(Leaves)


def header_from_document(document: Document) -> tuple[TraceHeader, int]:
    """Return the header that a parsed line describes, and the number of CPUs.

    Raises
    ------
    DfoptError
        With place and remedy, when it is not a valid header.
    """
    check_format(document, FORMAT)
    fields = fields_of(document, ("format", "cpus", *_READERS), required=("cpus",))
    cpus = at("cpus", _cpus, fields["cpus"])
    given = {key: at(key, read, fields[key]) for key, read in _READERS.items() if key in fields}
    return TraceHeader(**given), cpus


def header_to_document(trace: Trace) -> Document:
    """Return the first line of a trace, without the keys about which it says nothing."""
    document: Document = {"format": FORMAT, "cpus": trace.cpus}
    for key in _READERS:
        value = getattr(trace.header, key)
        if key == "penalty" and value is not None:
            value = penalty_to_document(value)
        if value is not None:
            document[key] = value
    return document


def _cpus(value: object) -> int:
    check_integer(value, "", least=1)
    cpus = integer(value)
    if cpus > LARGEST_CPU_COUNT:
        raise FileError(f"is {cpus}; at most {LARGEST_CPU_COUNT} are supported")
    return cpus


def _capacity(value: object) -> int | str:
    if isinstance(value, str):
        if value not in ("balanced", "unlimited"):
            raise FileError(
                f"must be 'balanced', 'unlimited' or an integer, not {described_json(value)}"
            )
        return value
    check_integer(value, "", least=1)
    return integer(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise FileError(f"must be true or false, not {described_json(value)}")
    return value


def parsed_line(line: bytes, number: int) -> Document:
    """Return the object on a line."""
    place = f"line {number}"
    if b"\0" in line:
        raise FileError("is a binary file; name one that holds a trace", place=place)
    try:
        return parse_document(line.decode("utf-8").rstrip())
    except UnicodeDecodeError:
        raise FileError("is not UTF-8 text; save it as UTF-8", place=place) from None
    except FileError as error:
        # The parser counts lines too, but it is given a single one.
        inner = error.place.removeprefix("line 1, ")
        raise FileError(error.problem, place=f"{place}, {inner}" if inner else place) from None


def on_line(number: int, error: DfoptError) -> FileError:
    """Return an error about a field of the object on a line."""
    if error.place.startswith("line "):
        return FileError(error.problem, place=error.place)
    place = f"line {number}"
    return FileError(error.problem, place=f"{place}, {error.place}" if error.place else place)


def checked_line(line: bytes, number: int, cpus: int) -> Document:
    """Return the dispatch, gap, event or task on a line, without the keys of users (``x-``).

    Parameters
    ----------
    line, number
        The line and its number, counted from 1.
    cpus
        The number of CPUs that the header declares.

    Raises
    ------
    FileError
        With line and remedy, when the line is none of them.
    """
    document = parsed_line(line, number)
    try:
        row = _row(document)
        if row.get("cpu", 0) >= cpus:
            raise FileError(
                f"is {row['cpu']}, but the header declares {cpus} CPUs, numbered from 0; "
                "correct one of them",
                place="cpu",
            )
    except DfoptError as error:
        raise on_line(number, error) from None
    return row


def _row(document: Document) -> Document:
    if "gap" in document:
        return _gap(document)
    if "weight" in document and "cpu" not in document:
        return _task(document)
    event = next((event for event in EVENTS if event in document), None)
    if event is None or "cpu" in document:
        return _dispatch(document)
    return _event(document, event)


def _event(document: Document, event: str) -> Document:
    keys = (event, "task", EVENTS[event])
    row = fields_of(document, keys, required=keys if event == "fork" else keys[:2])
    at(event, integer, row[event])
    for key in keys[1:]:
        if key in row:
            at(key, string, row[key])
    return row


def _task(document: Document) -> Document:
    row = fields_of(document, TASK_KEYS, required=TASK_KEYS)
    at("task", string, row["task"])
    at("weight", partial(check_integer, place="", least=1), row["weight"])
    return row


def _dispatch(document: Document) -> Document:
    row = fields_of(document, DISPATCH_KEYS, required=REQUIRED, nullable=("df",))
    for key, read in (
        ("cpu", integer),
        ("start", integer),
        ("end", integer),
        ("task", string),
        ("lines", integer),
        ("leaves", _leaves),
        ("stop", _stop),
        ("comm", string),
    ):
        if key in row:
            at(key, read, row[key])
    if row["df"] is not None:
        at("df", string, row["df"])
    _check_end(row["start"], row["end"], "end")
    return row


def _gap(document: Document) -> Document:
    row = fields_of(document, GAP_KEYS, required=GAP_REQUIRED)
    at("cpu", integer, row["cpu"])
    for key in GAP_KEYS[2:]:
        if key in row:
            at(key, string, row[key])
    ends = row["gap"]
    if not isinstance(ends, list) or len(ends) != GAP_ENDS:
        raise FileError(f"must be an array [start, end], not {described_json(ends)}", place="gap")
    for position, time in enumerate(ends):
        at(f"gap[{position}]", integer, time)
    _check_end(ends[0], ends[1], "gap[1]")
    return row


def _stop(value: object) -> None:
    if not isinstance(value, str) or value not in STOPS:
        listed = ", ".join(map(repr, STOPS))
        raise FileError(f"must be one of {listed}, not {described_json(value)}")


def _check_end(start: int, end: int, place: str) -> None:
    if end < start:
        raise FileError(f"is {end}, before the start at {start}; swap them", place=place)


_READERS: dict[str, Callable[[Any], Any]] = {
    "name": string,
    "source": string,
    "policy": string,
    "time_unit": string,
    "penalty": penalty_from_document,
    "objective": choice(Objective),
    "cold_start": _flag,
    "final_write_back": _flag,
    "capacity": _capacity,
    "lengths": choice(Lengths),
    "assumed": choice(Assumed),
}
