"""Proofs of bounds as JSON documents (``dfopt-waiting-proof/2``), back again, and checked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from dfopt.compare.attainable.bound.proof import WaitingProof, check_proof
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches, movable_dispatches
from dfopt.files import write_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.problem.instance import Objective
from dfopt.structs import Natural
from dfopt.trace import Trace
from dfopt.trace.trace import UNMANAGED
from dfopt.verify import Verification


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


def verify_proof(trace: Trace, saved: SavedProof) -> Verification:
    """Return what the checker of proofs finds.

    Parameters
    ----------
    trace
        The recorded trace, with its labels.
    saved
        The proof, and what it claims.

    Raises
    ------
    DfoptError
        When no proof can speak of this trace.
    """
    dispatches = movable_dispatches(trace, saved.model)
    if saved.model.objective is not Objective.TOTAL_PENALTY:
        return _found(saved, ["model.objective: must be total-penalty, since costs are added up"])
    if digest_of(dispatches) != saved.sha256:
        return _found(
            saved,
            [
                "sha256: is that of another trace, or of other labels; name the trace of the proof "
                f"({saved.trace}) and the labels that it had then (`labels`)"
            ],
        )
    checked = check_proof(dispatches, saved)
    problems = list(checked.problems)
    if checked.value is not None and checked.value < saved.lower_bound:
        problems.append(
            f"lower_bound: is {saved.lower_bound}, but the prices prove only {checked.value}"
        )
    return _found(saved, problems)


def _found(saved: SavedProof, problems: list[str]) -> Verification:
    return Verification(
        ok=not problems,
        objective=None,
        lower_bound=saved.lower_bound,
        bound_checked=not problems,
        certificate_kind="prices",
        problems=tuple(problems),
    )
