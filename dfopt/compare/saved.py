"""Comparisons read back from the documents that ``dfopt compare --json`` prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from dfopt.compare.comparison import (
    Cause,
    Comparison,
    CpuResult,
    FragmentResult,
    Realised,
    WindowResult,
)
from dfopt.compare.cost_model import CostModel
from dfopt.compare.document import FORMAT
from dfopt.compare.window_length import parse_window
from dfopt.errors import DfoptError, FileError
from dfopt.files import penalty_from_document, read_document
from dfopt.files.fields import at, choice, each, fields_of, integer, number, string
from dfopt.files.fields import optional as or_null
from dfopt.files.formats import check_format
from dfopt.files.streams import shown_name
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective
from dfopt.trace import Quality

Holder = TypeVar("Holder")
Reader = Callable[[Any], Any]

TRACE_KEYS = (
    "trace", "model", "cost_unit", "time_unit", "dispatches", "managed", "realised", "windows",
    "complete", "causes", "fragments", "cpus", "quality",
)  # fmt: skip
OPTIONAL_KEYS = ("policy",)


def read_comparisons(path: str | Path) -> tuple[Comparison, ...]:
    """Return the comparisons of traces in a file that ``dfopt compare --json`` has printed.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, and one that ends in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError, MethodError
        With file, place and remedy, when the file holds no such document.
    """
    document = read_document(path)
    try:
        check_format(document, FORMAT)
        if "results" in document:
            raise FileError(
                "compares schedules of an instance; compare a trace, and save that", place="results"
            )
        if "traces" in document:
            fields = fields_of(document, ("format", "traces"))
            return each("traces", _comparison, fields["traces"])
        return (_comparison({key: document[key] for key in document if key != "format"}),)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def _comparison(value: object) -> Comparison:
    fields = fields_of(
        value,
        (*TRACE_KEYS, *OPTIONAL_KEYS),
        required=TRACE_KEYS,
        nullable=("time_unit", *OPTIONAL_KEYS),
    )
    quality = dict(_object(fields["quality"], "quality"))
    unlabelled = at("quality.unlabelled_share", number, quality.pop("unlabelled_share", 0))
    quality.pop("warnings", None)
    return Comparison(
        name=at("trace", string, fields["trace"]),
        policy=at("policy", or_null(string), fields.get("policy")),
        model=at("model", _model, fields["model"]),
        cost_unit=at("cost_unit", string, fields["cost_unit"]),
        time_unit=at("time_unit", or_null(string), fields["time_unit"]),
        dispatches=at("dispatches", integer, fields["dispatches"]),
        managed=at("managed", integer, fields["managed"]),
        realised=at("realised", _realised, fields["realised"]),
        windows=each("windows", _window, fields["windows"]),
        causes=at("causes", _causes, fields["causes"]),
        fragments=each("fragments", _reader(FragmentResult, df=string), fields["fragments"]),
        cpus=each("cpus", _reader(CpuResult), fields["cpus"]),
        is_complete=at("complete", _boolean, fields["complete"]),
        unlabelled_share=unlabelled,
        quality=at("quality", _quality, quality),
    )


def _reader(
    holder: Callable[..., Holder], extra: tuple[str, ...] = (), **readers: Reader
) -> Callable[[object], Holder]:
    """Return what reads the fields of a dataclass, integers unless ``readers`` say otherwise.

    Parameters
    ----------
    holder
        The dataclass.
    extra
        Keys of the document that follow from others.
    readers
        What reads a field.
    """
    names = tuple(field.name for field in dataclasses.fields(holder))  # type: ignore[arg-type]
    nullable = (*extra, *(name for name, read in readers.items() if read in NULLABLE))
    readers = {"causes": _causes, **readers}

    def read(value: object) -> Holder:
        fields = fields_of(value, (*names, *extra), required=names, nullable=nullable)
        return holder(
            **{name: at(name, readers.get(name, integer), fields[name]) for name in names}
        )

    return read


def _causes(value: object) -> dict[Cause, int]:
    words = tuple(map(str, Cause))
    # What a document of before there were matrices does not name was not paid.
    fields = fields_of(value, words, required=[one for one in words if one != Cause.SAME_TYPE])
    return {cause: at(str(cause), integer, fields.get(str(cause), 0)) for cause in Cause}


def _realised(value: object) -> Realised:
    keys = ("total", "max", "switches")
    fields = fields_of(value, keys, required=keys)
    total, worst, switches = (at(key, integer, fields[key]) for key in keys)
    return Realised(total=total, worst=worst, switches=switches)


def _length(value: object) -> str:
    """Return the length of a window as it is written."""
    try:
        return parse_window(string(value)).label
    except DfoptError as error:
        raise FileError(error.problem) from None


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise FileError("must be true or false")
    return value


def _capacity(value: object) -> int | str:
    if value in ("observed", "balanced", "unlimited"):
        return str(value)
    return integer(value)


def _numbers(value: object) -> tuple[int, ...]:
    return each("", integer, value)


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FileError("must be an object {…}", place=place)
    return MappingProxyType(value)


_integer_or_null = or_null(integer)
NULLABLE = (_integer_or_null,)
"""Readers that let null pass."""

_window = _reader(WindowResult, extra=("ratio", "rolling_ratio", "difference"), window=_length)
_quality = _reader(Quality, first_unparsed=_integer_or_null, silent_cpus=_numbers)
_model = _reader(
    CostModel,
    penalty=penalty_from_document,
    lines=_integer_or_null,
    lines_by_run_time=_boolean,
    leaves=choice(Leaves),
    objective=choice(Objective),
    cold_start=_boolean,
    final_write_back=_boolean,
    capacity=_capacity,
    unmanaged=string,
    broken_chains=string,
)
