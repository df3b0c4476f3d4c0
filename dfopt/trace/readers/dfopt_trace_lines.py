"""The lines of a ``dfopt-trace/1`` one by one, to say exactly what is wrong with them."""

from __future__ import annotations

from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import at, choice, fields_of, integer, string
from dfopt.files.strict_json import Document, described_json, parse_document
from dfopt.problem.cache_state import Leaves

REQUIRED = ("cpu", "start", "end", "task", "df")
DISPATCH_KEYS = (*REQUIRED, "lines", "leaves")
GAP_KEYS = ("cpu", "gap", "reason")

GAP_ENDS = 2

_leaves = choice(Leaves)


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
    """Return what a line says of a dispatch or gap, without keys of one's own.

    Parameters
    ----------
    line, number
        The line and its number, counted from 1.
    cpus
        How many CPUs the header declares.

    Raises
    ------
    FileError
        With line and remedy, when it is neither.
    """
    document = parsed_line(line, number)
    try:
        row = _gap(document) if "gap" in document else _dispatch(document)
        if row["cpu"] >= cpus:
            raise FileError(
                f"is {row['cpu']}, but the header declares {cpus} CPUs, numbered from 0; "
                "correct one of them",
                place="cpu",
            )
    except DfoptError as error:
        raise on_line(number, error) from None
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
    ):
        if key in row:
            at(key, read, row[key])
    if row["df"] is not None:
        at("df", string, row["df"])
    _check_end(row["start"], row["end"], "end")
    return row


def _gap(document: Document) -> Document:
    row = fields_of(document, GAP_KEYS, required=GAP_KEYS)
    at("cpu", integer, row["cpu"])
    at("reason", string, row["reason"])
    ends = row["gap"]
    if not isinstance(ends, list) or len(ends) != GAP_ENDS:
        raise FileError(f"must be an array [start, end], not {described_json(ends)}", place="gap")
    for position, time in enumerate(ends):
        at(f"gap[{position}]", integer, time)
    _check_end(ends[0], ends[1], "gap[1]")
    return row


def _check_end(start: int, end: int, place: str) -> None:
    if end < start:
        raise FileError(f"is {end}, before the start at {start}; swap them", place=place)
