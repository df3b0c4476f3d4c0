"""Certificates as the ``certificate`` object of a result document."""

from __future__ import annotations

from functools import partial

from dfopt.errors import FileError
from dfopt.files.branching_document import branching_fields, branching_from_fields, pair
from dfopt.files.fields import (
    at,
    each,
    fields_of,
    fields_of_kind,
    integer,
    signed_integer,
    string,
)
from dfopt.files.strict_json import Document
from dfopt.files.task_class_document import CLASS_KEYS, class_fields, task_class
from dfopt.files.tour_document import tour_fields, tour_from_fields
from dfopt.problem.certificate import (
    Branching,
    Certificate,
    CompleteSearch,
    Counting,
    DualWeights,
    EvenShares,
    Exhaustive,
    FullGroups,
    SharedCertificate,
    SizeWeights,
    SupportProof,
    Supports,
    SupportSplit,
    SupportWeights,
    TaskClass,
)
from dfopt.problem.tour_certificate import Tour

CERTIFICATE_KEYS = {
    "dual-weights": (
        "threshold", "lower_bound", "bin_weights", "weights", "entry_charges", "visit_prices",
        "scale",
    ),
    "supports": ("threshold", "proof"),
    "tour": ("threshold", "nodes", "cuts", "tree"),
    "branching": ("threshold", "classes", "counts", "nodes"),
    "full-groups": ("threshold", "sizes", "room", "longer", "plain"),
    "size-weights": ("weights", "cpu_weight"),
    "counting": ("threshold", "argument"),
    "exhaustive": ("threshold",),
    "even-shares": ("threshold", "total_penalty", "proof"),
    "search": ("threshold", "solver"),
}  # fmt: skip
OPTIONAL_KEYS = (
    "threshold", "lower_bound", "entry_charges", "visit_prices", "scale", "counts", "solver",
    "sizes", "room", "longer", "plain", "cuts",
)  # fmt: skip

UNSHARED_KINDS = ("even-shares", "size-weights", "search")
"""Kinds that do not prove, or cannot prove, that no total penalty is below a bound."""

SPLIT_KEYS = ("types", "most", "below", "above")
SUPPORT_KEYS = ("unit", "tasks", "counted", "least_costs", "sets", "bin_weights")

DEEPEST_PROOF = 100
"""At most this number of cases stand within each other."""


def certificate_from_document(  # noqa: PLR0911 - one for each kind
    document: object,
) -> Certificate:
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
        case "counting":
            argument = at("argument", string, fields["argument"])
            return Counting(argument=argument, threshold=fields.get("threshold"))
        case "full-groups":
            prices = {
                key: at(key, integer, fields.get(key, 0)) for key in ("room", "longer", "plain")
            }
            return FullGroups(
                threshold=fields.get("threshold"),
                sizes=each("sizes", pair, fields.get("sizes", [])),
                **prices,
            )
        case "size-weights":
            return SizeWeights(
                weights=each("weights", pair, fields["weights"]),
                cpu_weight=at("cpu_weight", integer, fields["cpu_weight"]),
            )
        case "branching":
            return branching_from_fields(fields)
        case "tour":
            return tour_from_fields(fields)
        case "even-shares":
            return EvenShares(
                threshold=fields.get("threshold"),
                total_penalty=at("total_penalty", integer, fields["total_penalty"]),
                proof=at("proof", _shared_certificate, fields["proof"]),
            )
    return _dual_weights(fields)


def _shared_certificate(document: object) -> SharedCertificate:
    # Looked at first: certificates within certificates have no end.
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind in UNSHARED_KINDS:
        raise FileError(
            f"must be a proof of a total penalty that can be checked, not {kind!r}", place="kind"
        )
    certificate = certificate_from_document(document)
    assert not isinstance(certificate, EvenShares | SizeWeights | CompleteSearch)
    return certificate


def _dual_weights(fields: Document) -> DualWeights:
    if ("threshold" in fields) == ("lower_bound" in fields):
        raise FileError("give either this or, under total-penalty, lower_bound", place="threshold")
    return DualWeights(
        threshold=fields.get("threshold"),
        lower_bound=fields.get("lower_bound"),
        bin_weights=each("bin_weights", integer, fields["bin_weights"]),
        weights=each("weights", _weight, fields["weights"]),
        entry_charges=each("entry_charges", _charge, fields.get("entry_charges", [])),
        visit_prices=each("visit_prices", _visit_price, fields.get("visit_prices", [])),
        scale=at("scale", integer, fields["scale"]) if "scale" in fields else 1,
    )


def _weight(row: object) -> tuple[TaskClass, int]:
    fields = fields_of(row, (*CLASS_KEYS, "weight"), required=("df", "weight"))
    return task_class(fields), at("weight", signed_integer, fields["weight"])


def _charge(row: object) -> tuple[TaskClass, int]:
    fields = fields_of(row, (*CLASS_KEYS, "charge"), required=("df", "charge"))
    return task_class(fields), at("charge", integer, fields["charge"])


def _visit_price(row: object) -> tuple[str, int]:
    fields = fields_of(row, ("df", "price"), required=("df", "price"))
    return at("df", string, fields["df"]), at("price", signed_integer, fields["price"])


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
        counted_weights=each("counted", _task_weight, fields.get("counted", [])),
        least_costs=each("least_costs", _least_cost, fields.get("least_costs", [])),
    )


def _set_weight(row: object) -> tuple[tuple[str, ...], int]:
    fields = fields_of(row, ("types", "weight"), required=("types", "weight"))
    return each("types", string, fields["types"]), at("weight", signed_integer, fields["weight"])


def _task_weight(row: object) -> tuple[str, int]:
    fields = fields_of(row, ("type", "weight"), required=("type", "weight"))
    return at("type", string, fields["type"]), at("weight", signed_integer, fields["weight"])


def _least_cost(row: object) -> tuple[str, int]:
    fields = fields_of(row, ("type", "cost"), required=("type", "cost"))
    return at("type", string, fields["type"]), at("cost", integer, fields["cost"])


def certificate_to_document(certificate: Certificate) -> Document:
    """Return the object that describes a certificate."""
    document: Document
    match certificate:
        case FullGroups():
            document = {
                "kind": "full-groups",
                "threshold": certificate.threshold,
                "sizes": [list(row) for row in certificate.sizes] or None,
                "room": certificate.room or None,
                "longer": certificate.longer or None,
                "plain": certificate.plain or None,
            }
        case SizeWeights():
            document = {
                "kind": "size-weights",
                "weights": [list(row) for row in certificate.weights],
                "cpu_weight": certificate.cpu_weight,
            }
        case Counting():
            document = {
                "kind": "counting",
                "threshold": certificate.threshold,
                "argument": certificate.argument,
            }
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
                "visit_prices": [
                    {"df": df, "price": price} for df, price in certificate.visit_prices
                ]
                or None,
                "scale": certificate.scale if certificate.scale != 1 else None,
            }
        case Tour():
            document = {"kind": "tour", **tour_fields(certificate)}
        case Branching():
            document = {"kind": "branching", **branching_fields(certificate)}
        case EvenShares():
            document = {
                "kind": "even-shares",
                "threshold": certificate.threshold,
                "total_penalty": certificate.total_penalty,
                "proof": certificate_to_document(certificate.proof),
            }
    return {key: value for key, value in document.items() if value is not None}


def _rows(rows: tuple[tuple[TaskClass, int], ...], column: str) -> list[Document]:
    return [class_fields(tasks) | {column: value} for tasks, value in rows]


def _support_fields(proof: SupportProof) -> Document:
    if isinstance(proof, SupportSplit):
        return {
            "types": list(proof.types),
            "most": proof.most,
            "below": _support_fields(proof.below),
            "above": _support_fields(proof.above),
        }
    counted = [{"type": name, "weight": weight} for name, weight in proof.counted_weights]
    costs = [{"type": name, "cost": cost} for name, cost in proof.least_costs]
    return {
        "unit": proof.unit,
        "tasks": [{"type": name, "weight": weight} for name, weight in proof.task_weights],
        **({"counted": counted} if counted else {}),
        **({"least_costs": costs} if costs else {}),
        "sets": [{"types": list(types), "weight": weight} for types, weight in proof.set_weights],
        "bin_weights": list(proof.bin_weights),
    }
