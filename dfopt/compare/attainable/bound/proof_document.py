"""Proofs of bounds as JSON documents of the format ``dfopt-waiting-proof/2``, and back again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from dfopt.compare.attainable.bound.proof import WaitingProof
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches
from dfopt.files import write_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import Natural
from dfopt.trace.trace import UNMANAGED


class SavedProof(WaitingProof, eq=False):
    """A proof, and what it speaks about.

    Parameters
    ----------
    trace
        The name of the trace, for people.
    sha256
        The digest of the dispatches, see :func:`digest_of`.
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


def digest_of(dispatches: Dispatches) -> str:
    """Return the SHA-256 of dispatches, their labels, when each was ready, and all costs."""
    fixed, order = dispatches.fixed, np.lexsort((dispatches.cuts.time, dispatches.cuts.cpu))
    cuts, costs = dispatches.cuts.chosen(order), ("entry", "exit", "always", "first", "last")
    of_each = (
        "row", "fragment", "task", "cpu", "start", "length", "ready_from", "ready_by", "previous",
        "previous_end", "waker", "waker_offset", "continues", "latest",
    )  # fmt: skip
    columns = {
        "cpu_number": dispatches.cpu_number,
        **{name: getattr(dispatches, name) for name in of_each},
        "cut_cpu": cuts.cpu,
        "cut_time": cuts.time,
        **{f"costs.{name}": getattr(dispatches, name) for name in (*costs, "matrix")},
        **{f"blocks.{name}": getattr(fixed, name) for name in ("row", "cpu", "start", "end")},
        "blocks.evicts": fixed.fragment == UNMANAGED,
        **{f"blocks.{name}": getattr(fixed, name) for name in costs if name != "always"},
    }
    digest = hashlib.sha256()
    for name, column in columns.items():
        values = np.ascontiguousarray(column, dtype="<i8")
        digest.update(f"{name} {values.shape} ".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


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
