"""Comparisons read back from JSON documents of the format ``dfopt-comparison/1``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import (
    Cause,
    CpuResult,
    FragmentResult,
    OrderKept,
    Realised,
    WindowResult,
)
from dfopt.compare.cost_model import CostModel
from dfopt.compare.document import FORMAT
from dfopt.compare.domains.domain_pairs import DomainComparison, DomainWindow, FragmentShare
from dfopt.compare.window_length import parse_window
from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import at, boolean, choice, each, fields_of, integer, number, string
from dfopt.files.fields import optional as or_null
from dfopt.files.formats import read_json
from dfopt.files.streams import shown_name
from dfopt.structs import reader
from dfopt.trace import Quality
from dfopt.trace.assumed import Assumed
from dfopt.trace.fragment_titles import CommCount
from dfopt.trace.lengths import Lengths
from dfopt.trace.service import Service, WaitFigures

Holder = TypeVar("Holder")
Reader = Callable[[Any], Any]

TRACE_KEYS = (
    "trace", "model", "cost_unit", "time_unit", "dispatches", "managed", "realised", "windows",
    "complete", "causes", "fragments", "cpus", "quality",
)  # fmt: skip
ADDED = (
    (FragmentResult, "name"), (FragmentResult, "comms"), (Service, "response"),
    (DomainComparison, "far_migrations"), (FrontierRow, "switches"),
    (FrontierRow, "with_switches"),
)  # fmt: skip
"""Fields that were added later: older documents do not have them."""

OPTIONAL_KEYS = (
    "policy",
    "frontier",
    "order_kept",
    "service",
    "domains",
    "parallel_share",
    "lengths",
    "assumed",
)


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
    document = read_json(path, FORMAT)
    try:
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
        model=at("model", reader(CostModel), fields["model"]),
        cost_unit=at("cost_unit", string, fields["cost_unit"]),
        time_unit=at("time_unit", or_null(string), fields["time_unit"]),
        dispatches=at("dispatches", integer, fields["dispatches"]),
        managed=at("managed", integer, fields["managed"]),
        realised=at("realised", _realised, fields["realised"]),
        frontier=at("frontier", or_null(_read_frontier), fields.get("frontier")),
        order_kept=at("order_kept", or_null(_order_kept), fields.get("order_kept")),
        service=at("service", or_null(_service), fields.get("service")),
        domains=at("domains", or_null(_domains), fields.get("domains")),
        parallel_share=at("parallel_share", or_null(number), fields.get("parallel_share")),
        lengths=at("lengths", or_null(choice(Lengths)), fields.get("lengths")),
        assumed=at("assumed", or_null(choice(Assumed)), fields.get("assumed")),
        windows=each("windows", _window, fields["windows"]),
        causes=at("causes", _causes, fields["causes"]),
        fragments=each(
            "fragments",
            _reader(
                FragmentResult,
                df=string,
                name=_text_or_null,
                comms=partial(each, "", _reader(CommCount, comm=string)),
            ),
            fields["fragments"],
        ),
        cpus=each("cpus", _reader(CpuResult), fields["cpus"]),
        is_complete=at("complete", boolean, fields["complete"]),
        unlabelled_share=unlabelled,
        quality=at("quality", _quality, quality),
    )


def _reader(
    holder: Callable[..., Holder], extra: tuple[str, ...] = (), **readers: Reader
) -> Callable[[object], Holder]:
    """Return a function that reads the fields of a dataclass from a JSON object.

    Parameters
    ----------
    holder
        The dataclass.
    extra
        Keys of the object that follow from others, and are not read.
    readers
        The functions that read fields; a field without one is an integer.
    """
    names = tuple(
        field.name
        for field in dataclasses.fields(holder)  # type: ignore[arg-type]
        if field.compare
    )
    required = [name for name in names if (holder, name) not in ADDED]
    nullable = (*extra, *readers)  # their readers say whether they are
    readers = {"causes": _causes, **readers}

    def read(value: object) -> Holder:
        fields = fields_of(value, (*names, *extra), required=required, nullable=nullable)
        return holder(
            **{
                name: at(name, readers.get(name, integer), fields[name])
                for name in names
                if name in fields
            }
        )

    return read


def _causes(value: object) -> dict[Cause, int]:
    words = tuple(map(str, Cause))
    # Documents from before there were matrices lack this cause: it cost nothing.
    fields = fields_of(value, words, required=[word for word in words if word != Cause.SAME_TYPE])
    return {cause: at(str(cause), integer, fields.get(str(cause), 0)) for cause in Cause}


def _realised(value: object) -> Realised:
    keys = ("total", "max", "switches")
    fields = fields_of(value, keys, required=keys)
    total, worst, switches = (at(key, integer, fields[key]) for key in keys)
    return Realised(total=total, worst=worst, switches=switches)


def _read_frontier(value: object) -> WaitingFrontier:
    keys = ("rows", "patience", "left_out", "unknown", "kept", "warnings", "complete")
    fields = fields_of(value, keys, required=keys, nullable=("left_out",))
    return WaitingFrontier(
        rows=each("rows", _frontier_rows, fields["rows"]),
        patience=each("patience", _frontier_rows, fields["patience"]),
        left_out=at("left_out", or_null(string), fields["left_out"]),
        unknown=at("unknown", integer, fields["unknown"]),
        kept=at("kept", integer, fields["kept"]),
        warnings=each("warnings", string, fields["warnings"]),
        is_complete=at("complete", boolean, fields["complete"]),
    )


def _length(value: object) -> str:
    """Return the length of a window as it is written."""
    try:
        return parse_window(string(value)).label
    except DfoptError as error:
        raise FileError(error.problem) from None


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FileError("must be an object {…}", place=place)
    return MappingProxyType(value)


_integer_or_null = or_null(integer)
_number_or_null = or_null(number)
_text_or_null = or_null(string)
_numbers = partial(each, "", integer)
_waits_or_null = or_null(_reader(WaitFigures, mean=number))
_with_switches_or_null = or_null(_reader(WithSwitches, extra=("mean_wait",)))
_frontier_rows = _reader(
    FrontierRow,
    extra=("mean_wait", "optimal"),
    scheduling=choice(Scheduling),
    wait=_integer_or_null,
    patience=_integer_or_null,
    bound=_integer_or_null,
    bound_with_lengths=_integer_or_null,
    total_wait=_integer_or_null,
    p99_wait=_integer_or_null,
    parallel_share=_number_or_null,
    switches=_integer_or_null,
    with_switches=_with_switches_or_null,
)
_window = _reader(WindowResult, extra=("ratio", "rolling_ratio", "difference"), window=_length)
_order_kept = _reader(OrderKept, extra=("optimal",), best=_integer_or_null, bound=_integer_or_null)
_domain_window = _reader(
    DomainWindow,
    extra=("ratio",),
    window=_length,
    allotment=or_null(partial(each, "", _reader(FragmentShare, df=string))),
)
_domains = _reader(
    DomainComparison,
    domains=partial(each, "", _numbers),
    windows=partial(each, "", _domain_window),
    far_migrations=_integer_or_null,
)
_service = _reader(
    Service,
    wakeup_latency=_waits_or_null,
    wait=_waits_or_null,
    response=_waits_or_null,
    fairness=_number_or_null,
    problem=_text_or_null,
    warnings=partial(each, "", string),
)
_quality = _reader(Quality, first_unparsed=_integer_or_null, silent_cpus=_numbers)
