"""Certificates of the kind ``branching`` as objects of a result document."""

from __future__ import annotations

from dfopt.errors import FileError
from dfopt.files.fields import at, each, fields_of, fields_of_kind, integer, signed_integer, string
from dfopt.files.strict_json import Document, described_json
from dfopt.files.task_class_document import CLASS_KEYS, class_fields, task_class
from dfopt.problem.certificate import (
    Branching,
    CpuCount,
    EntryCount,
    Fork,
    HoldingCount,
    MeetingCount,
    Refutation,
    TaskClass,
    VisitCount,
)

COUNT_KEYS = {
    "visits": ("df",),
    "meetings": ("df", "other"),
    "entries": ("classes",),
    "holdings": ("classes", "tasks"),
}
FORK_KEYS = ("count", "at_most")
LEAF_KEYS = ("weights", "prices", "scale")


def branching_from_fields(fields: Document) -> Branching:
    """Return the certificate that the fields of an object describe."""
    classes = each("classes", _class, fields["classes"])
    return Branching(
        threshold=fields.get("threshold"),
        classes=classes,
        counts=each("counts", lambda row: _count(row, classes), fields.get("counts", [])),
        nodes=each("nodes", _node, fields["nodes"]),
    )


def _class(row: object) -> TaskClass:
    return task_class(fields_of(row, CLASS_KEYS, required=("df",)))


def _count(row: object, classes: tuple[TaskClass, ...]) -> CpuCount:
    def named(number: object) -> TaskClass:
        position = integer(number)
        if position >= len(classes):
            raise FileError(f"is {position}, but there are {len(classes)} classes, from 0 on")
        return classes[position]

    kind, fields = fields_of_kind(row, COUNT_KEYS, what="count")
    match kind:
        case "visits":
            return VisitCount(df=at("df", string, fields["df"]))
        case "meetings":
            df, other = (at(key, string, fields[key]) for key in ("df", "other"))
            return MeetingCount(df=df, other=other)
        case "entries":
            return EntryCount(classes=each("classes", named, fields["classes"]))
    tasks = at("tasks", integer, fields["tasks"])
    return HoldingCount(classes=each("classes", named, fields["classes"]), tasks=tasks)


def _node(node: object) -> Fork | Refutation:
    if isinstance(node, dict) and "count" in node:
        fields = fields_of(node, FORK_KEYS, required=FORK_KEYS)
        return Fork(
            count=at("count", integer, fields["count"]),
            at_most=at("at_most", signed_integer, fields["at_most"]),
        )
    fields = fields_of(node, LEAF_KEYS)
    return Refutation(
        weights=each("weights", pair, fields.get("weights", [])),
        prices=each("prices", pair, fields.get("prices", [])),
        scale=at("scale", integer, fields["scale"]) if "scale" in fields else 1,
    )


def pair(value: object) -> tuple[int, int]:
    """Return a list of a number that is not negative and any other one."""
    match value:
        case [number, price]:
            return integer(number), signed_integer(price)
    raise FileError(f"must be a list of two integers, not {described_json(value)}")


def branching_fields(certificate: Branching) -> Document:
    """Return the fields of the object that describes a certificate."""
    numbers = {row: number for number, row in enumerate(certificate.classes)}
    return {
        "threshold": certificate.threshold,
        "classes": [class_fields(row) for row in certificate.classes],
        "counts": [_count_fields(count, numbers) for count in certificate.counts],
        "nodes": [_node_fields(node) for node in certificate.nodes],
    }


def _count_fields(count: CpuCount, numbers: dict[TaskClass, int]) -> Document:
    match count:
        case VisitCount(df=df):
            return {"kind": "visits", "df": df}
        case MeetingCount(df=df, other=other):
            return {"kind": "meetings", "df": df, "other": other}
        case EntryCount(classes=classes):
            return {"kind": "entries", "classes": [numbers[row] for row in classes]}
        case HoldingCount(classes=classes, tasks=tasks):
            rows = [numbers[row] for row in classes]
            return {"kind": "holdings", "classes": rows, "tasks": tasks}


def _node_fields(node: Fork | Refutation) -> Document:
    if isinstance(node, Fork):
        return {"count": node.count, "at_most": node.at_most}
    fields: Document = {
        "weights": [list(pair) for pair in node.weights],
        "prices": [list(pair) for pair in node.prices],
        "scale": node.scale if node.scale != 1 else None,
    }
    return {key: value for key, value in fields.items() if value not in (None, [])}
