"""Proofs of bounds as JSON documents of the format ``dfopt-waiting-proof/2``, and back again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.proof import WaitingProof
from dfopt.compare.cost_model import CostModel
from dfopt.files import write_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import Natural

ARRIVAL_COLUMNS = (
    "cpu_number", "row", "fragment", "task", "cpu", "start", "length", "ready_from", "ready_by",
    "previous", "previous_end", "waker", "waker_offset", "continues", "latest", "cut_cpu",
    "cut_time",
)  # fmt: skip
"""What the digest of arrivals covers, besides costs and blocks."""


class SavedProof(WaitingProof, eq=False):
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
    """

    trace: str
    sha256: str
    model: CostModel
    lower_bound: Natural


PROOFS = DocumentType(Format.WAITING_PROOF, SavedProof)


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


def proof_document(saved: SavedProof) -> dict[str, Any]:
    """Return the document of a proof; tables without rows are left out."""
    document = PROOFS.to_document(saved)
    for stretch in document["stretches"]:
        for table in ("hits", "held", "services"):
            if not any(stretch[table].values()):
                del stretch[table]
    return document


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
    return PROOFS.read(path)
