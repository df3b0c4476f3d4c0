"""Proofs of bounds as JSON documents of the format ``dfopt-waiting-proof/2``, and back again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.proof import StretchPrices, WaitingProof
from dfopt.compare.cost_model import CostModel, model_from_document, model_to_document
from dfopt.errors import DfoptError, FileError
from dfopt.files import write_text
from dfopt.files.fields import (
    at,
    boolean,
    each,
    fields_of,
    integer,
    signed_integer,
    string,
)
from dfopt.files.formats import Format, read_json
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, described_json
from dfopt.trace.events import Integers

FORMAT = Format.WAITING_PROOF

KEYS = (
    "trace", "sha256", "model", "wait", "uses_lengths", "lower_bound", "scale", "stretches",
)  # fmt: skip
TABLES = tuple(field.name for field in fields(StretchPrices))[2:]

ARRIVAL_COLUMNS = (
    "cpu_number", "row", "fragment", "task", "cpu", "start", "length", "ready_from", "ready_by",
    "previous", "previous_end", "waker", "waker_offset", "continues", "latest", "cut_cpu",
    "cut_time",
)  # fmt: skip
"""What the digest of arrivals covers, besides costs and blocks."""

Table = TypeVar("Table")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavedProof:
    """A proof, and what it speaks about.

    Parameters
    ----------
    trace
        The name of the trace, for people.
    sha256
        The digest of the arrivals, see :func:`arrivals_digest`.
    model
        What switches cost.
    lower_bound
        What the proof claims to prove.
    proof
        The prices.
    """

    trace: str
    sha256: str
    model: CostModel
    lower_bound: int
    proof: WaitingProof


def arrivals_digest(arrivals: Arrivals) -> str:
    """Return the SHA-256 of dispatches, their labels, when each was ready, and all costs."""
    digest = hashlib.sha256()
    for name, column in _columns(arrivals):
        values = np.ascontiguousarray(column, dtype="<i8")
        digest.update(f"{name} {values.shape} ".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def _columns(arrivals: Arrivals) -> Iterator[tuple[str, Any]]:
    for name in ARRIVAL_COLUMNS:
        yield name, getattr(arrivals, name)
    for part in ("costs", "blocks"):
        table = getattr(arrivals, part)
        for field in fields(table):
            yield f"{part}.{field.name}", getattr(table, field.name)


def proof_document(saved: SavedProof) -> Document:
    """Return the document of a proof. Tables without rows are left out."""
    proof = saved.proof
    return {
        "format": FORMAT,
        "trace": saved.trace,
        "sha256": saved.sha256,
        "model": model_to_document(saved.model),
        "wait": proof.wait,
        "uses_lengths": proof.uses_lengths,
        "lower_bound": saved.lower_bound,
        "scale": proof.scale,
        "stretches": [_stretch_document(stretch) for stretch in proof.stretches],
    }


def _stretch_document(stretch: StretchPrices) -> Document:
    tables = {name: _table_document(getattr(stretch, name)) for name in TABLES}
    return {
        "begin": stretch.begin,
        "end": stretch.end,
        **{name: table for name, table in tables.items() if any(table.values())},
    }


def _table_document(table: object) -> Document:
    assert is_dataclass(table)
    return {field.name: getattr(table, field.name).tolist() for field in fields(table)}


def write_proof(path: str | Path, saved: SavedProof) -> None:
    """Write a proof, compressed if the name ends in ``.gz``.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, json.dumps(proof_document(saved), separators=(",", ":")) + "\n")


def read_proof(path: str | Path) -> SavedProof:
    """Return the proof in a file.

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
        return _saved(document)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def _saved(document: Document) -> SavedProof:
    found = fields_of(document, ("format", *KEYS), required=KEYS)
    return SavedProof(
        trace=at("trace", string, found["trace"]),
        sha256=at("sha256", string, found["sha256"]),
        model=at("model", model_from_document, found["model"]),
        lower_bound=at("lower_bound", integer, found["lower_bound"]),
        proof=WaitingProof(
            wait=at("wait", integer, found["wait"]),
            uses_lengths=at("uses_lengths", boolean, found["uses_lengths"]),
            scale=at("scale", integer, found["scale"]),
            stretches=each("stretches", _stretch, found["stretches"]),
        ),
    )


def _stretch(value: object) -> StretchPrices:
    found = fields_of(value, ("begin", "end", *TABLES), required=("begin", "end"))
    tables = {
        field.name: at(field.name, _reader_of(field.default_factory), found[field.name])
        for field in fields(StretchPrices)[2:]
        if field.name in found
    }
    return StretchPrices(
        begin=at("begin", signed_integer, found["begin"]),
        end=at("end", signed_integer, found["end"]),
        **tables,
    )


def _reader_of(table: Any) -> Any:
    """Return a function that reads the columns of a table."""
    names = tuple(field.name for field in fields(table))

    def read(value: object) -> Any:
        found = fields_of(value, names, required=names)
        return table(**{name: at(name, _integers, found[name]) for name in names})

    return read


def _integers(value: object) -> Integers:
    """Return a column; refuse anything but an array of integers from -2^62 to 2^62."""
    if not isinstance(value, list):
        raise FileError(f"must be an array […], not {described_json(value)}")
    for position, entry in enumerate(value):
        if type(entry) is not int or not -LARGEST_TOTAL <= entry <= LARGEST_TOTAL:
            raise FileError(
                f"must be an integer from -2^62 to 2^62, not {described_json(entry)}",
                place=f"[{position}]",
            )
    return np.array(value, np.int64)
