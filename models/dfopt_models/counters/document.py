"""Models of counters as TOML documents of the format ``dfopt-counters-model/1``."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from dfopt.errors import FileError
from dfopt.files import write_text
from dfopt.files.fields import at, choice, integer, optional, string
from dfopt.files.formats import Format, parse_toml_of
from dfopt_models.counters.figures import CounterFigures
from dfopt_models.counters.model import (
    AfterType,
    CountedType,
    CountersModel,
    OwnCpu,
    WarmUpPoints,
)
from dfopt_models.counters.warm_up import Reading, WarmUpPoint
from dfopt_models.parameter_fields import is_assumed, number, sources_in, table_fields, tables_of
from dfopt_models.parameter_files import read_parameters

FORMAT = Format.COUNTERS_MODEL

TYPE_NUMBERS = ("dispatches", "best_ipc", "best_dispatch")
SHARES = ("time_share", "saving", "harmed_share")


def read_counters_model(path: str | Path) -> CountersModel:
    """Return the model in a file, or one that comes with the package.

    Parameters
    ----------
    path
        A file of the format ``dfopt-counters-model/1``; ``-`` is standard input, and a name that
        ends in ``.gz`` is gunzipped. Where there is no such file, the name of a model that comes
        with dfopt.

    Raises
    ------
    FileError, ModelError
        With file, place and remedy, when the file is not a valid model.
    """
    return read_parameters(path, FORMAT, parse_counters_model)


def parse_counters_model(text: str, name: str = "model") -> CountersModel:
    """Return the model that a TOML document describes; ``name`` if it does not give one."""
    document = parse_toml_of(text, FORMAT)
    fields = table_fields(
        document, ("format", "name", "type", "warm_up", "segregation"), required=("type",)
    )
    segregation = fields.get("segregation")
    return CountersModel(
        name=at("name", string, fields.get("name", name)),
        types=tables_of("type", _task_type, fields["type"]),
        warm_up=tables_of("warm_up", _warm_up, fields.get("warm_up", [])),
        segregation=(None if segregation is None else at("segregation", _segregation, segregation)),
    )


def _task_type(value: Any) -> CountedType:
    known = ("name", *TYPE_NUMBERS, "after")
    fields = table_fields(value, known, required=known)
    return CountedType(
        name=at("name", string, fields["name"]),
        after=tables_of("after", _after_type, fields["after"]),
        sources=sources_in(value),
        **{name: at(name, number, fields[name]) for name in TYPE_NUMBERS},
    )


def _after_type(value: Any) -> AfterType:
    fields = table_fields(
        value, ("type", "ipc", "dispatches", "standard_error"), required=("type", "ipc")
    )
    return AfterType(
        type=at("type", string, fields["type"]),
        ipc=at("ipc", number, fields["ipc"]),
        dispatches=at("dispatches", optional(integer), fields.get("dispatches")),
        standard_error=at("standard_error", optional(number), fields.get("standard_error")),
        sources=sources_in(value),
    )


def _warm_up(value: Any) -> WarmUpPoints:
    known = ("type", "reading", "points")
    fields = table_fields(value, known, required=known)
    return WarmUpPoints(
        type=at("type", string, fields["type"]),
        reading=at("reading", choice(Reading), fields["reading"]),
        points=tables_of("points", _point, fields["points"]),
        sources=sources_in(value),
    )


def _point(value: Any) -> WarmUpPoint:
    """Return a point: ``begin`` without ``end`` is one instant, ``limit`` is where it leads."""
    fields = table_fields(value, ("begin", "end", "limit", "ipc"), required=("ipc",))
    begin = at("begin", number, fields.get("begin", 0.0))
    end = at("end", number, fields.get("end", begin))
    if fields.get("limit", False) is not False:
        end = math.inf
    elif "begin" not in fields:
        raise FileError("is missing; give the time in milliseconds", place="begin")
    if not 0 <= begin <= end:
        raise FileError("must be from 0 to 'end'", place="begin")
    return WarmUpPoint(begin=begin, end=end, ipc=at("ipc", number, fields["ipc"]))


def _segregation(value: Any) -> OwnCpu:
    known = ("type", "cpus", "longest_queue", "harmful_type", *SHARES)
    fields = table_fields(value, known, required=known)
    return OwnCpu(
        type=at("type", string, fields["type"]),
        harmful_type=at("harmful_type", string, fields["harmful_type"]),
        cpus=at("cpus", integer, fields["cpus"]),
        longest_queue=at("longest_queue", integer, fields["longest_queue"]),
        sources=sources_in(value),
        **{name: at(name, number, fields[name]) for name in SHARES},
    )


def write_counters_model(model: CountersModel, path: str | Path) -> None:
    """Write the task types of a model to a TOML file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, counters_model_text(model))


def counters_model_text(model: CountersModel) -> str:
    """Return the TOML document that describes the task types of a model."""
    import tomli_w

    return tomli_w.dumps(
        {
            "format": str(FORMAT),
            "name": model.name,
            "type": [
                {
                    "name": task_type.name,
                    **{name: getattr(task_type, name) for name in TYPE_NUMBERS},
                    "after": [_cell(cell) for cell in task_type.after],
                }
                for task_type in model.types
            ],
        }
    )


def _cell(cell: AfterType) -> dict[str, Any]:
    values = {
        "type": cell.type,
        "ipc": cell.ipc,
        "dispatches": cell.dispatches,
        "standard_error": cell.standard_error,
    }
    return {name: value for name, value in values.items() if value is not None}


def counters_document(model: CountersModel, figures: CounterFigures | None) -> dict[str, Any]:
    """Return a model, what follows from it, and the figures it comes from, as a document."""
    segregation = model.segregation_figures()
    document: dict[str, Any] = {
        "format": str(Format.COUNTERS),
        "model": model.name,
        "types": [
            {"name": each.name, **{name: getattr(each, name) for name in TYPE_NUMBERS}}
            for each in model.types
        ],
        "penalties": [
            {
                "before": before,
                "after": after,
                "penalty": penalty,
                "standard_error": model.type_named(after).penalty_error(before),
                "dispatches": None if cell is None else cell.dispatches,
                "assumed": cell is not None and is_assumed(cell.sources.get("ipc")),
            }
            for (before, after), penalty in model.penalties.items()
            for cell in (model.type_named(after).after_type(before),)
        ],
        "warm_up": [
            {
                "type": points.type,
                "reading": str(points.reading),
                **{name: getattr(points.curve, name) for name in WARM_UP_NUMBERS},
            }
            for points in model.warm_up
        ],
        "segregation": None if segregation is None else dataclasses.asdict(segregation),
    }
    if figures is not None:
        document["figures"] = {
            name: [_row(row) for row in rows] for name, rows in _tables_of(figures).items()
        }
    return document


WARM_UP_NUMBERS = ("limit", "deficit", "time_constant", "initial", "lost", "error")


def _tables_of(figures: CounterFigures) -> dict[str, tuple[Any, ...]]:
    """Return the tables of figures by their names."""
    return {table.name: getattr(figures, table.name) for table in dataclasses.fields(figures)}


def _row(row: Any) -> dict[str, Any]:
    values = dataclasses.asdict(row)
    if "group" in values:
        values["group"] = dict(row.group)
    # JSON has no infinity: a range without an end has null there.
    return {
        name: None if isinstance(value, float) and math.isinf(value) else value
        for name, value in values.items()
    }
