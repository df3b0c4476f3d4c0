"""The JSON of Chrome's trace events: whole files, and those whose last bracket is missing."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from dfopt.checks import described
from dfopt.errors import FileError
from dfopt.files.strict_json import Document, described_json

Event = tuple[str, Document]
"""An event and its place in the file."""

MOST_DIGITS = 40
"""Numbers of more digits are too large in any case."""

CUT = "it may have been cut short, copy it again"


def events_in(data: bytes) -> list[Event]:
    """Return the events in a file, an array of them or an object that holds it.

    Raises
    ------
    FileError
        When the file is no JSON, or no such array.
    """
    document = _document(data)
    if isinstance(document, dict):
        if "traceEvents" not in document:
            raise FileError("is missing; Chrome's trace events stand here", place="traceEvents")
        document = document["traceEvents"]
    if not isinstance(document, list):
        raise FileError(
            f"must be an array of events, not {described_json(document)}", place="traceEvents"
        )
    events = [(f"traceEvents[{number}]", event) for number, event in enumerate(document)]
    for place, event in events:
        if not isinstance(event, dict):
            raise FileError(f"must be an object {{…}}, not {described_json(event)}", place=place)
    return events


def _document(data: bytes) -> object:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError("is not UTF-8 text; save it as UTF-8", place=f"line {line}") from None
    if "\0" in text:
        raise FileError("is a binary file; name one that holds a trace")
    if not text.strip():
        raise FileError("is empty; it should hold trace events")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise FileError("is nested too deep; flatten it") from None
    except json.JSONDecodeError as error:
        # Who records a trace need not close the array.
        if text.lstrip().startswith("["):
            try:
                return _DECODER.decode(text.rstrip().removesuffix(",") + "]")
            except (ValueError, RecursionError):
                pass
        ended = text.rstrip()
        ends = error.pos >= len(ended) or (
            error.msg != "Extra data" and not ended.endswith(("}", "]"))
        )
        problem = f"the document ends too early; {CUT}" if ends else f"{error.msg}; correct it"
        raise FileError(problem, place=f"line {error.lineno}, column {error.colno}") from None


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise FileError(f"holds the number {described(text)}; times go up to 2^62") from None


def _integer(text: str) -> int | Decimal:
    # Python itself refuses to read very long integers.
    return int(text) if len(text) <= MOST_DIGITS else _number(text)


def _no_number(text: str) -> None:
    raise FileError(f"holds {text}, which is no JSON; give a finite number")


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_no_number)
