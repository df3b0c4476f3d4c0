"""Certificates as the ``certificate`` object of a result document."""

from __future__ import annotations

from functools import partial

from dfopt.errors import FileError
from dfopt.files.fields import (
    at,
    choice,
    each,
    fields_of,
    fields_of_kind,
    integer,
    signed_integer,
    string,
)
from dfopt.files.strict_json import Document
from dfopt.problem.cache_state import Leaves
from dfopt.problem.certificate import (
    Certificate,
    CompleteSearch,
    DualWeights,
    Exhaustive,
    SupportProof,
    Supports,
    SupportSplit,
    SupportWeights,
    TaskClass,
)

CERTIFICATE_KEYS = {
    "dual-weights": ("threshold", "lower_bound", "bin_weights", "weights", "entry_charges"),
    "supports": ("threshold", "proof"),
    "exhaustive": ("threshold",),
    "search": ("threshold", "solver"),
}
OPTIONAL_KEYS = ("threshold", "lower_bound", "entry_charges", "solver")
CLASS_KEYS = ("df", "leaves", "lines", "exec")
SPLIT_KEYS = ("types", "most", "below", "above")
SUPPORT_KEYS = ("unit", "tasks", "sets", "bin_weights")

DEEPEST_PROOF = 100
"""At most this number of cases stand within each other."""

_leaves = choice(Leaves)


def certificate_from_document(document: object) -> Certificate:
    """Return the certificate that an object describes.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when a key or the shape of a value is wrong.
    """
    kind, fields = fields_of_kind(
        document, CERTIFICATE_KEYS, what="certificate", optional=OPTIONAL_KEYS
    )
    for bound in ("threshold", "lower_bound"):
        if bound in fields:
            at(bound, signed_integer, fields[bound])
    match kind:
        case "exhaustive":
            return Exhaustive(threshold=fields.get("threshold"))
        case "search":
            solver = at("solver", string, fields["solver"]) if "solver" in fields else None
            return CompleteSearch(threshold=fields.get("threshold"), solver=solver)
        case "supports":
            proof = at("proof", _support_proof, fields["proof"])
            return Supports(threshold=fields.get("threshold"), proof=proof)
    return _dual_weights(fields)


def _dual_weights(fields: Document) -> DualWeights:
    if ("threshold" in fields) == ("lower_bound" in fields):
        raise FileError("give either this or, under total-penalty, lower_bound", place="threshold")
    return DualWeights(
        threshold=fields.get("threshold"),
        lower_bound=fields.get("lower_bound"),
        bin_weights=each("bin_weights", integer, fields["bin_weights"]),
        weights=each("weights", _weight, fields["weights"]),
        entry_charges=each("entry_charges", _charge, fields.get("entry_charges", [])),
    )


def _weight(row: object) -> tuple[TaskClass, int]:
    fields = fields_of(row, (*CLASS_KEYS, "weight"), required=("df", "weight"))
    return _task_class(fields), at("weight", signed_integer, fields["weight"])


def _charge(row: object) -> tuple[TaskClass, int]:
    fields = fields_of(row, (*CLASS_KEYS, "charge"), required=("df", "charge"))
    return _task_class(fields), at("charge", integer, fields["charge"])


def _task_class(fields: Document) -> TaskClass:
    return TaskClass(
        df=at("df", string, fields["df"]),
        leaves=at("leaves", _leaves, fields["leaves"]) if "leaves" in fields else None,
        lines=at("lines", integer, fields["lines"]) if "lines" in fields else None,
        exec=at("exec", integer, fields["exec"]) if "exec" in fields else None,
    )


def _support_proof(document: object, depth: int = 0) -> SupportProof:
    if isinstance(document, dict) and "types" in document:
        if depth > DEEPEST_PROOF:
            raise FileError(f"has more than {DEEPEST_PROOF} cases within each other")
        fields = fields_of(document, SPLIT_KEYS, required=SPLIT_KEYS)
        deeper = partial(_support_proof, depth=depth + 1)
        return SupportSplit(
            types=each("types", string, fields["types"]),
            most=at("most", integer, fields["most"]),
            below=at("below", deeper, fields["below"]),
            above=at("above", deeper, fields["above"]),
        )
    fields = fields_of(document, SUPPORT_KEYS, required=("sets", "bin_weights"))
    return SupportWeights(
        bin_weights=each("bin_weights", signed_integer, fields["bin_weights"]),
        set_weights=each("sets", _set_weight, fields["sets"]),
        task_weights=each("tasks", _task_weight, fields.get("tasks", [])),
        unit=at("unit", integer, fields.get("unit", 0)),
    )


def _set_weight(row: object) -> tuple[tuple[str, ...], int]:
    fields = fields_of(row, ("types", "weight"), required=("types", "weight"))
    return each("types", string, fields["types"]), at("weight", signed_integer, fields["weight"])


def _task_weight(row: object) -> tuple[str, int]:
    fields = fields_of(row, ("type", "weight"), required=("type", "weight"))
    return at("type", string, fields["type"]), at("weight", signed_integer, fields["weight"])


def certificate_to_document(certificate: Certificate) -> Document:
    """Return the object that describes a certificate."""
    document: Document
    match certificate:
        case Exhaustive():
            document = {"kind": "exhaustive", "threshold": certificate.threshold}
        case CompleteSearch():
            document = {
                "kind": "search",
                "threshold": certificate.threshold,
                "solver": certificate.solver,
            }
        case Supports():
            document = {
                "kind": "supports",
                "threshold": certificate.threshold,
                "proof": _support_fields(certificate.proof),
            }
        case DualWeights():
            document = {
                "kind": "dual-weights",
                "threshold": certificate.threshold,
                "lower_bound": certificate.lower_bound,
                "bin_weights": list(certificate.bin_weights),
                "weights": _rows(certificate.weights, "weight"),
                "entry_charges": _rows(certificate.entry_charges, "charge") or None,
            }
    return {key: value for key, value in document.items() if value is not None}


def _rows(rows: tuple[tuple[TaskClass, int], ...], column: str) -> list[Document]:
    return [_class_fields(tasks) | {column: value} for tasks, value in rows]


def _class_fields(tasks: TaskClass) -> Document:
    fields: Document = {"df": tasks.df, "leaves": tasks.leaves and str(tasks.leaves)}
    fields |= {"lines": tasks.lines, "exec": tasks.exec}
    return {key: value for key, value in fields.items() if value is not None}


def _support_fields(proof: SupportProof) -> Document:
    if isinstance(proof, SupportSplit):
        return {
            "types": list(proof.types),
            "most": proof.most,
            "below": _support_fields(proof.below),
            "above": _support_fields(proof.above),
        }
    return {
        "unit": proof.unit,
        "tasks": [{"type": name, "weight": weight} for name, weight in proof.task_weights],
        "sets": [{"types": list(types), "weight": weight} for types, weight in proof.set_weights],
        "bin_weights": list(proof.bin_weights),
    }
