"""The lines of a ``dfopt-trace/1``: its header, and what may stand on those that follow it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dfopt.checks import LARGEST_TOTAL, check_integer
from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import at, boolean, choice, fields_of, integer, string
from dfopt.files.formats import Format, check_format
from dfopt.files.instance_document import penalty_from_document, penalty_to_document
from dfopt.files.strict_json import Document, described_json, parse_document
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import LARGEST_CPU_COUNT, Objective
from dfopt.trace.assumed import Assumed
from dfopt.trace.lengths import Lengths
from dfopt.trace.trace import STOPS, Trace, TraceHeader

FORMAT = Format.TRACE

KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "dispatch": (("cpu", "start", "end", "task", "df"), ("lines", "leaves", "stop", "comm")),
    "first_wakeup": (("first_wakeup", "task"), ("waker",)),
    "fork": (("fork", "task", "parent"), ()),
    "gap": (("cpu", "gap", "reason"), ("task",)),
    "weight": (("task", "weight"), ()),
    "wakeup": (("wakeup", "task"), ("waker",)),
}
"""What may stand on a line: the keys that it must have, and those that it may have."""

EVENTS = ("first_wakeup", "fork", "wakeup")
"""The kinds that are events: what stands under this key is their time."""

GAP_ENDS = 2

NULLABLE = ("df",)
"""The keys that may be null."""


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
    """Return the object on a line, without the keys of users (``x-``).

    Parameters
    ----------
    line, number
        The line and its number, counted from 1.
    cpus
        The number of CPUs that the header declares.

    Raises
    ------
    FileError
        With line and remedy, when nothing that may stand on a line looks so.
    """
    document = parsed_line(line, number)
    kind = "gap" if "gap" in document else "dispatch"
    if "cpu" not in document:
        kind = next((kind for kind in ("weight", *EVENTS) if kind in document), kind)
    required, more = KINDS[kind]
    try:
        row = fields_of(document, (*required, *more), required=required, nullable=NULLABLE)
        for key in (*required, *more):
            if row.get(key) is not None:
                at(key, _CELLS[key], row[key])
        _check_end(row.get("start", 0), row.get("end", LARGEST_TOTAL), "end")
        if row.get("cpu", 0) >= cpus:
            raise FileError(
                f"is {row['cpu']}, but the header declares {cpus} CPUs, numbered from 0; "
                "correct one of them",
                place="cpu",
            )
    except DfoptError as error:
        raise on_line(number, error) from None
    return row


def _gap(value: object) -> None:
    if not isinstance(value, list) or len(value) != GAP_ENDS:
        raise FileError(f"must be an array [start, end], not {described_json(value)}")
    for position, time in enumerate(value):
        at(f"[{position}]", integer, time)
    _check_end(value[0], value[1], "[1]")


def _stop(value: object) -> None:
    if not isinstance(value, str) or value not in STOPS:
        listed = ", ".join(map(repr, STOPS))
        raise FileError(f"must be one of {listed}, not {described_json(value)}")


def _check_end(start: int, end: int, place: str) -> None:
    if end < start:
        raise FileError(f"is {end}, before the start at {start}; swap them", place=place)


_CELLS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("cpu", "start", "end", "lines", *EVENTS), integer),
    **dict.fromkeys(("task", "df", "comm", "reason", "waker", "parent"), string),
    "gap": _gap,
    "leaves": choice(Leaves),
    "stop": _stop,
    "weight": partial(check_integer, place="", least=1),
}
"""By key what refuses a wrong value."""

_READERS: dict[str, Callable[[Any], Any]] = {
    "name": string,
    "source": string,
    "policy": string,
    "time_unit": string,
    "penalty": penalty_from_document,
    "objective": choice(Objective),
    "cold_start": boolean,
    "final_write_back": boolean,
    "capacity": _capacity,
    "lengths": choice(Lengths),
    "assumed": choice(Assumed),
}
