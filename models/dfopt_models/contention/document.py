"""Contention models as TOML documents of the format ``dfopt-contention-model/1``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dfopt.errors import FileError
from dfopt.files.fields import Reader, at, choice, each, integer, string
from dfopt.files.formats import Format, parse_toml_of
from dfopt_models.contention.locks import Holds
from dfopt_models.contention.model import SPREADS, ContentionModel, Measurement, Published
from dfopt_models.contention.parts import Buffers, Lock, Scans, ThirdBand
from dfopt_models.parameter_fields import number, sources_in, table_fields
from dfopt_models.parameter_files import read_parameters, shipped_parameters

FORMAT = Format.CONTENTION_MODEL

FITTED = "fitted"


def read_contention(path: str | Path) -> ContentionModel:
    """Return the contention model in a file, or one that comes with the package.

    Parameters
    ----------
    path
        A file of the format ``dfopt-contention-model/1``; ``-`` is standard input, and a name
        that ends in ``.gz`` is gunzipped. Where there is no such file, the name of a model of
        :func:`shipped_contention`.

    Raises
    ------
    FileError, ModelError
        With file, place and remedy, when the file is not a valid model.
    """
    return read_parameters(path, FORMAT, parse_contention)


def shipped_contention() -> tuple[str, ...]:
    """Return the names of the models that come with the package."""
    return shipped_parameters(FORMAT)


def parse_contention(text: str, name: str = "model") -> ContentionModel:
    """Return the contention model that a text describes.

    Parameters
    ----------
    text
        A TOML document of the format ``dfopt-contention-model/1``.
    name
        The model's name if the document does not give one.

    Raises
    ------
    FileError, ModelError
        With place and remedy, when the text is not a valid model.
    """
    document = parse_toml_of(text, FORMAT)
    parts: dict[str, Reader] = {"buffers": _buffers, "scans": _scans, "third_band": _third_band}
    fields = table_fields(
        document,
        ("format", "name", "cpus", "lock", "spreads", *parts, "published"),
        required=("cpus", "lock"),
    )
    return ContentionModel(
        name=at("name", string, fields.get("name", name)),
        cpus=each("cpus", integer, fields["cpus"]),
        lock=at("lock", _lock, fields["lock"]),
        spreads=each("spreads", number, fields["spreads"]) if "spreads" in fields else SPREADS,
        published=each("published", _published, fields.get("published", [])),
        **{key: at(key, read, fields[key]) for key, read in parts.items() if key in fields},
    )


def _lock(value: Any) -> Lock:
    keys = ("hold", "think", "holds")
    fields = table_fields(value, (*keys, FITTED), required=())
    fitted = _fitted(fields, {"misses": number, "cpus": integer})
    readers: dict[str, Reader] = {"hold": number, "think": number, "holds": choice(Holds)}
    return Lock(
        **{key: at(key, readers[key], fields[key]) for key in keys if key in fields},
        misses=fitted.get("misses"),
        misses_of=fitted.get("cpus"),
        sources=sources_in(value),
    )


def _buffers(value: Any) -> Buffers:
    readers: dict[str, Reader] = {"hold": number, "each": integer, "used": number}
    fields = table_fields(value, (*readers, "cpus", FITTED), required=())
    return Buffers(
        **{key: at(key, read, fields[key]) for key, read in readers.items() if key in fields},
        cpus=each("cpus", integer, fields.get("cpus", [])),
        slope=_fitted(fields, {"slope": number}).get("slope"),
        sources=sources_in(value),
    )


def _scans(value: Any) -> Scans:
    fields = table_fields(value, ("chances", "look", FITTED), required=("chances",))
    fitted = _fitted(fields, {"slowdown": number, "cpus": integer})
    if fitted.get("cpus") == 0:
        raise FileError("must be at least 1, not 0", place=f"{FITTED}.cpus")
    return Scans(
        chances=each("chances", number, fields["chances"]),
        look=at("look", number, fields["look"]) if "look" in fields else None,
        slowdown=fitted.get("slowdown"),
        slowdown_of=fitted.get("cpus"),
        sources=sources_in(value),
    )


def _third_band(value: Any) -> ThirdBand:
    readers: dict[str, Reader] = {"cpus": integer, "first": number, "rest": number, "load": number}
    required = ("cpus", "first", "rest")
    fields = table_fields(value, (*readers, FITTED), required=required)
    return ThirdBand(
        **{key: at(key, read, fields[key]) for key, read in readers.items() if key in fields},
        ratio=_fitted(fields, {"ratio": number}).get("ratio"),
        sources=sources_in(value),
    )


def _published(value: object) -> Published:
    fields = table_fields(value, ("what", "value", "cpus", "source"), required=("what", "value"))
    return Published(
        what=at("what", choice(Measurement), fields["what"]),
        value=at("value", number, fields["value"]),
        cpus=at("cpus", integer, fields["cpus"]) if "cpus" in fields else None,
        source=at("source", string, fields.get("source", "")),
    )


def _fitted(fields: Mapping[str, Any], readers: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a parameter is fitted to; nothing if it is given."""
    if FITTED not in fields:
        return {}

    def read(value: object) -> dict[str, Any]:
        given = table_fields(value, tuple(readers), required=tuple(readers))
        return {key: at(key, reader, given[key]) for key, reader in readers.items()}

    return at(FITTED, read, fields[FITTED])
