"""Results as JSON documents of the format ``dfopt-result/1``.

The reader checks the shape alone. Whether a result is true, even whether its figures agree with
each other, is for the checker to say: it must be able to read a wrong result.
"""

from __future__ import annotations

import re
from pathlib import Path

from dfopt.errors import DfoptError, FileError
from dfopt.files.certificate_document import certificate_from_document, certificate_to_document
from dfopt.files.fields import (
    at,
    choice,
    each,
    fields_of,
    integer,
    number,
    optional,
    signed_integer,
    string,
)
from dfopt.files.formats import Format, check_format, read_json
from dfopt.files.json_text import document_text
from dfopt.files.storage import write_text
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import (
    Document,
    check_document,
    described_json,
)
from dfopt.problem.result import Progress, Result, Status, StopReason, relative_gap
from dfopt.problem.schedule import CpuSchedule, Schedule
from dfopt.structs import is_free, shown_place

FORMAT = Format.RESULT

REQUIRED_KEYS = ("format", "instance", "status", "objective", "schedule")
NULLABLE_KEYS = ("objective", "lower_bound", "gap", "schedule", "certificate")
RESULT_KEYS = (
    "format", "instance", "status", "stop_reason", "objective", "lower_bound", "gap", "schedule",
    "certificate", "method", "seed", "wall_time_s", "history", "versions",
)  # fmt: skip
DIGEST = re.compile("[0-9a-f]{64}")


def read_result(path: str | Path) -> Result:
    """Return the result in a file, true or not.

    Parameters
    ----------
    path
        A file of the format ``dfopt-result/1``; ``-`` is standard input, and a name that ends
        in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when the file is not a result.
    """
    document = read_json(path, FORMAT)
    try:
        return _read(document)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def write_result(result: Result, path: str | Path) -> None:
    """Write a result to a file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, document_text(result_to_document(result)))


def result_from_document(document: Document) -> Result:
    """Return the result that a parsed document describes.

    One written by hand may leave out all but format, instance, status, objective and schedule:
    its lower bound is then 0, and its gap follows from objective and lower bound.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when the document is not a result.
    """
    check_document(document)
    return _read(document)


def _read(document: Document) -> Result:
    check_format(document, FORMAT)
    fields = fields_of(document, RESULT_KEYS, required=REQUIRED_KEYS, nullable=NULLABLE_KEYS)
    del fields["format"]
    name, sha256 = at("instance", _instance, fields.pop("instance"))
    readers = {
        "status": choice(Status),
        "stop_reason": choice(StopReason),
        "objective": optional(integer),
        "lower_bound": optional(integer),
        "gap": optional(number),
        "schedule": optional(_schedule),
        "certificate": optional(certificate_from_document),
        "method": string,
        "seed": signed_integer,
        "wall_time_s": number,
        "versions": _versions,
    }
    for key, read in readers.items():
        if key in fields:
            fields[key] = at(key, read, fields[key])
    fields.setdefault("stop_reason", StopReason.GIVEN)
    fields.setdefault("lower_bound", 0)
    fields.setdefault("gap", relative_gap(fields["objective"], fields["lower_bound"]))
    fields["history"] = each("history", _progress, fields.get("history", []))
    return Result(instance_name=name, instance_sha256=sha256, **fields)


def _instance(value: object) -> tuple[str | None, str]:
    fields = fields_of(value, ("name", "sha256"), required=("sha256",))
    name = at("name", string, fields["name"]) if "name" in fields else None
    return name, at("sha256", _digest, fields["sha256"])


def _digest(value: object) -> str:
    digest = string(value)
    if not DIGEST.fullmatch(digest):
        raise FileError(
            f"must be 64 hexadecimal digits in lower case, not {described_json(value)}; "
            "'dfopt info' prints those of an instance"
        )
    return digest


def _schedule(value: object) -> Schedule:
    fields = fields_of(value, ("cpus",), required=("cpus",))
    return Schedule(cpus=each("cpus", _cpu, fields["cpus"]))


def _cpu(value: object) -> CpuSchedule:
    fields = fields_of(value, ("tasks", "cost", "starts"), required=("tasks", "cost"))
    tasks = each("tasks", string, fields["tasks"])
    starts = each("starts", integer, fields["starts"]) if "starts" in fields else None
    if starts is not None and len(starts) != len(tasks):
        raise FileError(
            f"has {len(starts)} entries but there are {len(tasks)} tasks; give one a task",
            place="starts",
        )
    return CpuSchedule(tasks=tasks, cost=at("cost", integer, fields["cost"]), starts=starts)


def _progress(value: object) -> Progress:
    fields = fields_of(
        value,
        ("time_s", "lower_bound", "objective"),
        required=("time_s", "lower_bound"),
        nullable=("objective",),
    )
    return Progress(
        time_s=at("time_s", number, fields["time_s"]),
        lower_bound=at("lower_bound", integer, fields["lower_bound"]),
        objective=at("objective", optional(integer), fields.get("objective")),
    )


def _versions(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise FileError(f"must be an object {{…}}, not {described_json(value)}")
    return {
        key: at(shown_place((key,)), string, item)
        for key, item in value.items()
        if not is_free(key)
    }


def result_to_document(result: Result) -> Document:
    """Return the document that describes a result."""
    document: Document = {"format": FORMAT, "instance": {"sha256": result.instance_sha256}}
    if result.instance_name is not None:
        document["instance"] = {"name": result.instance_name, **document["instance"]}
    document |= {
        "status": str(result.status),
        "stop_reason": str(result.stop_reason),
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "schedule": None,
        "certificate": None,
    }
    if result.schedule is not None:
        document["schedule"] = {"cpus": [_cpu_fields(cpu) for cpu in result.schedule.cpus]}
    if result.certificate is not None:
        document["certificate"] = certificate_to_document(result.certificate)
    for key in ("method", "seed", "wall_time_s"):
        if getattr(result, key) is not None:
            document[key] = getattr(result, key)
    if result.history:
        document["history"] = [
            {"time_s": step.time_s, "lower_bound": step.lower_bound, "objective": step.objective}
            for step in result.history
        ]
    if result.versions:
        document["versions"] = dict(result.versions)
    return document


def _cpu_fields(cpu: CpuSchedule) -> Document:
    document: Document = {"tasks": list(cpu.tasks), "cost": cpu.cost}
    if cpu.starts is not None:
        document["starts"] = list(cpu.starts)
    return document
