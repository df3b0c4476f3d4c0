"""Batching models as TOML documents of the format ``dfopt-batching-model/1``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dfopt.files.fields import Reader, at, each, integer, string
from dfopt.files.formats import Format, parse_toml_of
from dfopt_models.batching.model import COUNTS, PARAMETERS, BatchingModel
from dfopt_models.parameter_fields import number, sources_in, table_fields
from dfopt_models.parameter_files import read_parameters, shipped_parameters

FORMAT = Format.BATCHING_MODEL

OPTIONAL = ("batch_switch",)
LISTS = ("granularities", "lengths")


def read_batching(path: str | Path) -> BatchingModel:
    """Return the batching model in a file, or one that comes with the package.

    Parameters
    ----------
    path
        A file of the format ``dfopt-batching-model/1``; ``-`` is standard input, and a name that
        ends in ``.gz`` is gunzipped. Where there is no such file, the name of a model of
        :func:`shipped_batching`.

    Raises
    ------
    FileError, ModelError
        With file, place and remedy, when the file is not a valid model.
    """
    return read_parameters(path, FORMAT, parse_batching)


def shipped_batching() -> tuple[str, ...]:
    """Return the names of the models that come with the package."""
    return shipped_parameters(FORMAT)


def parse_batching(text: str, name: str = "model") -> BatchingModel:
    """Return the batching model that a text describes.

    Parameters
    ----------
    text
        A TOML document of the format ``dfopt-batching-model/1``.
    name
        The model's name if the document does not give one.

    Raises
    ------
    FileError, ModelError
        With place and remedy, when the text is not a valid model.
    """
    document = parse_toml_of(text, FORMAT)
    fields = table_fields(
        document,
        ("format", "name", *PARAMETERS, *LISTS),
        required=[key for key in PARAMETERS if key not in OPTIONAL],
    )
    readers: dict[str, Reader] = {key: integer if key in COUNTS else number for key in PARAMETERS}
    lists: dict[str, Any] = {key: each(key, integer, fields[key]) for key in LISTS if key in fields}
    return BatchingModel(
        name=at("name", string, fields.get("name", name)),
        **{key: at(key, read, fields[key]) for key, read in readers.items() if key in fields},
        **lists,
        sources=sources_in(document),
    )
