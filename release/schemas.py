"""Write the JSON Schemas of dfopt's documents from their types: ``make schemas``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
from msgspec.structs import fields

from dfopt.bench.summary import BENCH_SUMMARY
from dfopt.compare.attainable.bound.proof_document import PROOFS
from dfopt.compare.compare_schedules import OF_SCHEDULES
from dfopt.compare.comparison import ONE_TRACE, SEVERAL_TRACES
from dfopt.files.documents import INSTANCES, RESULTS, DocumentType
from dfopt.files.formats import Format
from dfopt.files.strict import document_text
from dfopt.info import INSTANCE_INFO, TRACE_INFO
from dfopt.simulate.runs import RUN_QUEUE
from dfopt.simulate.scenario import DomainRow
from dfopt.simulate.scenario_document import ScenarioDocument
from dfopt.structs import parts_of
from dfopt.trace.dfopt_trace import KINDS, HeaderLine
from dfopt.type_reader import derived_key, keys_of
from dfopt.verify.verification import VERIFICATIONS
from dfopt_models.measure.machine import MACHINES
from dfopt_models.measure.penalties import PENALTIES
from dfopt_models.model import MODELS, model_named
from dfopt_models.space_sharing.mix import MixDocument
from dfopt_models.space_sharing.simulation import SIMULATIONS
from dfopt_models.space_sharing.structures import GRAPHS

TYPES: tuple[DocumentType[Any], ...] = (
    INSTANCES,
    RESULTS,
    VERIFICATIONS,
    DocumentType(Format.TRACE, HeaderLine),
    *(model_named(name).parameters for name in MODELS),
    *(model_named(name).results for name in MODELS),
    PROOFS,
    DocumentType(Format.MIX, MixDocument),
    GRAPHS,
    MACHINES,
    PENALTIES,
    DocumentType(Format.SCENARIO, ScenarioDocument),
    RUN_QUEUE,
    SIMULATIONS,
    ONE_TRACE,
    SEVERAL_TRACES,
    OF_SCHEDULES,
    INSTANCE_INFO,
    TRACE_INFO,
    BENCH_SUMMARY,
)

MORE_PARTS = {Format.TRACE: tuple(KINDS.values()), Format.SCENARIO: (DomainRow,)}
"""What else a schema has as parts: what stands on the lines after the first, or is read apart."""

FOLDER = Path(__file__).parent.parent / "dfopt" / "files" / "schemas"

OWN_KEYS = {"^(x-|\\$schema$)": True}
"""Users may add keys of their own to any object."""

PARAMETER = re.compile(r"^(\w[\w, ]*)$\n((?:^(?:    .*)?$\n?)+)", re.MULTILINE)


def schemas() -> dict[Format, dict[str, Any]]:
    """Return the JSON Schema of each format."""
    of_format: dict[Format, list[DocumentType[Any]]] = {}
    for document in dict.fromkeys(TYPES):  # models share parameters
        of_format.setdefault(document.format, []).append(document)
    return {given: schema_of(given, documents) for given, documents in of_format.items()}


def schema_of(given: Format, documents: Sequence[DocumentType[Any]]) -> dict[str, Any]:
    """Return the JSON Schema of a format, whose documents are of one of these types."""
    more = MORE_PARTS.get(given, ())
    roots = (*(document.type for document in documents), *more)
    types = {part.__name__: part for each in roots for part in parts_of(each)}
    _, parts = msgspec.json.schema_components(
        types.values(), schema_hook=lambda _: {"type": "array"}, ref_template="#/$defs/{name}"
    )
    for title, part in parts.items():
        _finish(part, types.get(title))
    tops = [_with_format(parts[document.type.__name__], given) for document in documents]
    used = _used([*tops, *(parts[part.__name__] for part in more)], parts)
    parts = {name: part for name, part in parts.items() if name in used or types.get(name) in more}
    if "base" in tops[0]["properties"]:
        _require_rows_only(tops[0], parts)
    if len(tops) > 1:
        properties = {"format": {"const": str(given)}}
        tops = [
            {"title": str(given), "required": ["format"], "properties": properties, "oneOf": tops}
        ]
    short, _, version = given.removeprefix("dfopt-").partition("/")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dfopt:{short}:{version}",
        **tops[0],
        **({"$defs": parts} if parts else {}),
    }


def _used(schemas: Sequence[dict[str, Any]], parts: dict[str, Any]) -> set[str]:
    """Return the names of the parts that schemas name, at any depth."""
    used: set[str] = set()
    open_schemas = list(schemas)
    while open_schemas:
        found = set(re.findall(r"'#/\$defs/(\w+)'", str(open_schemas.pop()))) - used
        used |= found
        open_schemas += [parts[name] for name in found]
    return used


def _with_format(part: dict[str, Any], given: Format) -> dict[str, Any]:
    """Return the schema of a part that is a document by itself."""
    return {
        **{key: value for key, value in part.items() if key in ("description", "type")},
        "title": str(given),
        "required": ["format", *part["required"]],
        "properties": {"format": {"const": str(given)}, **part["properties"]},
        "patternProperties": OWN_KEYS,
        "additionalProperties": False,
    }


def _require_rows_only(top: dict[str, Any], parts: dict[str, Any]) -> None:
    """Let a base have what a document on it leaves out; rows of arrays stand by themselves."""
    rows = set(re.findall(r"'items': {'\$ref': '#/\$defs/(\w+)'", str([top, parts])))
    for name, part in parts.items():
        if name not in rows:
            part.pop("required", None)
    top["required"] = ["format"]


def _finish(part: dict[str, Any], kind: Any) -> None:
    """Describe a part in the words of its docstring, and allow keys of one's own."""
    part.pop("title", None)
    if "enum" in part and "properties" not in part:
        return
    for name in getattr(kind, "UNWRITTEN", ()):
        del part["properties"][name]
    words = inspect.getdoc(kind) or "" if kind else ""
    if words:
        part["description"] = " ".join(words.partition("\n\n")[0].replace("``", "`").split())
    keys = {} if kind is None else {each.name: each.encode_name for each in fields(kind)}
    texts = {
        keys.get(name.strip(), name.strip()): " ".join(text.replace("``", "`").split())
        for each in reversed([] if kind is None else kind.mro())
        for names, text in PARAMETER.findall(inspect.cleandoc(each.__doc__ or ""))
        for name in names.split(",")
    }
    if "properties" not in part or kind is None:
        return
    _, required, tag = keys_of(kind)
    part["required"] = [*([tag] if tag else []), *required]
    for name, field in part["properties"].items():
        _replace(field)
        if name in required:
            field.pop("default", None)
        field.pop("required", None)
        if isinstance(field.get("default"), float) and isnan(field["default"]):
            del field["default"]
        if field.get("default", ...) is None and kind.__struct_config__.omit_defaults:
            _refuse_null(field)
        elif field.pop("nullable", False):  # an infinite number is written as null
            field["type"] = [field["type"], "null"]
        if name in texts and "const" not in field:
            field["description"] = re.sub(r":\w+:`~?([^`]*)`", r"\1", texts[name])
            if {"type": "null"} in field.get("anyOf", ()):
                field["description"] = re.sub(r"\bNone\b", "null", field["description"])
    _add_derived(part, kind)
    part["patternProperties"] = OWN_KEYS


def _add_derived(part: dict[str, Any], kind: Any) -> None:
    """Describe the properties that documents have, too."""
    for name in getattr(kind, "DERIVED", ()):
        getter = getattr(kind, name).fget
        part["properties"][derived_key(name)] = {
            **msgspec.json.schema(get_type_hints(getter, include_extras=True)["return"]),
            "description": " ".join((inspect.getdoc(getter) or "").split()),
        }
        part["required"].append(derived_key(name))


def _replace(field: dict[str, Any]) -> None:
    """Take what a type says in place of its schema, if it says something."""
    for one in (field, *field.get("anyOf", ())):
        if "replaced_by" in one:
            given = one["replaced_by"]
            one.clear()
            one.update(given)
        if one.get("type") == "object":
            one["patternProperties"] = OWN_KEYS


def _refuse_null(field: dict[str, Any]) -> None:
    """Take null from a key that has None where it is missing, unless its type allows both."""
    del field["default"]
    if field.pop("nullable", False):
        return
    kept = [one for one in field.get("anyOf", []) if one != {"type": "null"}]
    if "anyOf" in field and len(kept) < len(field["anyOf"]):
        del field["anyOf"]
        field |= kept[0] if len(kept) == 1 else {"anyOf": kept}


def main() -> None:
    """Write all schemas."""
    for given, schema in schemas().items():
        short = given.removeprefix("dfopt-").partition("/")[0]
        (FOLDER / f"{short}.schema.json").write_text(document_text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
