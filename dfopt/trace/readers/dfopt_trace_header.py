"""The first line of a ``dfopt-trace/1``: what the trace says about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dfopt.checks import check_integer
from dfopt.errors import FileError
from dfopt.files.fields import at, check_format, choice, fields_of, integer, string
from dfopt.files.instance_document import penalty_from_document, penalty_to_document
from dfopt.files.strict_json import Document, described_json
from dfopt.problem.instance import LARGEST_CPU_COUNT, Objective
from dfopt.trace.trace import Trace, TraceHeader

FORMAT = "dfopt-trace/1"


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
    """Return the first line of a trace; what it does not say is left out."""
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
}
