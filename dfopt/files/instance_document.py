"""Instances as JSON documents of the format ``dfopt-instance/1``.

Here a document is taken apart and its shape checked; whether the values make sense together is
for :class:`~dfopt.problem.instance.Instance` to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError
from dfopt.files.fields import at, choice, each, fields_of, fields_of_kind
from dfopt.files.formats import Format, check_format, read_json
from dfopt.files.json_text import document_digest, document_text
from dfopt.files.storage import write_text
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, check_document
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix

FORMAT = Format.INSTANCE

LABELS = ("name", "description", "source", "time_unit")
INSTANCE_KEYS = (
    "format", *LABELS, "cpus", "capacity", "objective", "penalty", "initial",
    "cold_start", "final_write_back", "tasks",
)  # fmt: skip
PENALTY_KEYS = {
    "f": ("read_line", "write_back"),
    "g": ("fill", "write_back"),
    "matrix": ("types", "switch", "start", "finish"),
}
PENALTY_KINDS = "g is one setup time for all, f a setup by 'lines', matrix has setups s_ij"
OPTIONAL_PENALTY_KEYS = ("start", "finish")
STATE_KEYS = ("df", "leaves", "type")
TASK_KEYS = ("id", "df", "type", "lines", "leaves", "exec", "release", "after", "count", "size")
DEFAULTS = {"leaves": Leaves.CLEAN, "exec": 0, "release": 0, "after": (), "size": 1}
"""What is left out of the entry of a task or a cache state."""

_leaves = choice(Leaves)
_objective = choice(Objective)


def read_instance(path: str | Path) -> Instance:
    """Return the instance in a file.

    Parameters
    ----------
    path
        A file of the format ``dfopt-instance/1``; ``-`` is standard input, and a name that ends
        in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when the file is not a valid instance.
    """
    document = read_json(path, FORMAT)
    try:
        return _read(document)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def write_instance(instance: Instance, path: str | Path) -> None:
    """Write an instance to a file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, document_text(instance_to_document(instance)))


def fingerprint(instance: Instance) -> str:
    """Return the SHA-256 by which results name an instance.

    It is that of the document the instance was read from, or of the one that
    :func:`instance_to_document` gives when it was built in Python.
    """
    return instance.document_sha256 or document_digest(instance_to_document(instance))


def instance_from_document(document: Document) -> Instance:
    """Return the instance that a parsed document describes.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when the document is not a valid instance.
    """
    check_document(document)
    return _read(document)


def _read(document: Document) -> Instance:
    check_format(document, FORMAT)
    fields = fields_of(document, INSTANCE_KEYS, required=("cpus", "penalty", "tasks"))
    del fields["format"]
    fields["penalty"] = at("penalty", penalty_from_document, fields["penalty"])
    # Under a matrix "family" is a type, otherwise a fragment.
    unlikely = "df" if isinstance(fields["penalty"], PenaltyMatrix) else "type"
    fields["tasks"] = each("tasks", partial(_task, unlikely), fields["tasks"])
    if "objective" in fields:
        fields["objective"] = at("objective", _objective, fields["objective"])
    if "initial" in fields:
        fields["initial"] = each("initial", partial(_state, unlikely), fields["initial"])
    instance = Instance(**fields)
    # Not a parameter: a copy with other values must not inherit the digest of this document.
    object.__setattr__(instance, "document_sha256", document_digest(document))
    return instance


def penalty_from_document(document: object) -> Penalty:
    """Return the switch penalty that the ``penalty`` object of a document describes.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when it is not a valid penalty.
    """
    kind, fields = fields_of_kind(
        document,
        PENALTY_KEYS,
        what="penalty",
        optional=OPTIONAL_PENALTY_KEYS,
        meanings=PENALTY_KINDS,
    )
    match kind:
        case "f":
            return PenaltyF(**fields)
        case "g":
            return PenaltyG(**fields)
    return _matrix(fields)


def _matrix(fields: Document) -> PenaltyMatrix:
    return PenaltyMatrix(
        types=each("types", _as_it_is, fields["types"]),
        switch=each("switch", _costs, fields["switch"]),
        start=at("start", _costs, fields["start"]) if "start" in fields else None,
        finish=at("finish", _costs, fields["finish"]) if "finish" in fields else None,
    )


def _costs(value: object) -> tuple[Any, ...]:
    return each("", _as_it_is, value)


def _as_it_is(value: Any) -> Any:
    """Leave a value for the data model to check."""
    return value


def _state(unlikely: str, value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value  # the data model refuses words other than "unknown"
    fields = fields_of(value, STATE_KEYS, unlikely=(unlikely,))
    if "leaves" in fields:
        fields["leaves"] = at("leaves", _leaves, fields["leaves"])
    return CacheState(**fields)


def _task(unlikely: str, value: object) -> Task:
    fields = fields_of(value, TASK_KEYS, required=("id",), unlikely=(unlikely,))
    if "leaves" in fields:
        fields["leaves"] = at("leaves", _leaves, fields["leaves"])
    if "after" in fields:
        fields["after"] = each("after", _as_it_is, fields["after"])
    return Task(**fields)


def instance_to_document(instance: Instance) -> Document:
    """Return the document that describes an instance; what has its default value is left out."""
    document: Document = {"format": FORMAT}
    document |= _given(instance, LABELS)
    document["cpus"] = instance.cpus
    if instance.capacity != "balanced":
        document["capacity"] = instance.capacity
    if instance.objective is not Objective.MAX_PENALTY:
        document["objective"] = str(instance.objective)
    document["penalty"] = penalty_to_document(instance.penalty)
    if instance.initial:
        document["initial"] = [
            _without_defaults(state, STATE_KEYS) if isinstance(state, CacheState) else state
            for state in instance.initial
        ]
    for flag in ("cold_start", "final_write_back"):
        if getattr(instance, flag):
            document[flag] = True
    document["tasks"] = [_without_defaults(task, TASK_KEYS) for task in instance.tasks]
    return document


def penalty_to_document(penalty: Penalty) -> Document:
    """Return the ``penalty`` object that describes a switch penalty."""
    match penalty:
        case PenaltyF():
            return {"kind": "f", **_given(penalty, PENALTY_KEYS["f"])}
        case PenaltyG():
            return {"kind": "g", **_given(penalty, PENALTY_KEYS["g"])}
    rows = {"types": list(penalty.types), "switch": [list(row) for row in penalty.switch]}
    ends = {key: list(row) for key, row in _given(penalty, OPTIONAL_PENALTY_KEYS).items()}
    return {"kind": "matrix", **rows, **ends}


def _given(holder: object, keys: Sequence[str]) -> Document:
    values = ((key, getattr(holder, key)) for key in keys)
    return {key: value for key, value in values if value is not None}


def _without_defaults(holder: Task | CacheState, keys: Sequence[str]) -> Document:
    document = {
        key: value
        for key in keys
        if (value := getattr(holder, key)) is not None and value != DEFAULTS.get(key)
    }
    if "leaves" in document:
        document["leaves"] = str(document["leaves"])
    if "after" in document:
        document["after"] = list(document["after"])
    return document
