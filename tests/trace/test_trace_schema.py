"""The published schema and the reader agree about every line, but for what a schema cannot say."""

import io
import json

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.trace.dfopt_trace import read_dfopt_trace, write_dfopt_trace
from tests.files.test_schemas import changes, has_whole_floats
from tests.trace.test_dfopt_trace import DISPATCH, FORK, GAP, HEADER, WAKEUP
from tests.trace.traces import traces_with_events

SCHEMA = schema("trace")
REGISTRY = Registry().with_resource(SCHEMA["$id"], Resource.from_contents(SCHEMA))


def validator(part):
    reference = {"$ref": f"{SCHEMA['$id']}{part}"}
    return Draft202012Validator(reference, registry=REGISTRY)


HEADERS, DISPATCHES, *OTHERS = (
    validator(part and f"#/$defs/{part}")
    for part in (
        "",
        "DispatchLine",
        "GapLine",
        "WeightLine",
        "WakeupLine",
        "FirstWakeupLine",
        "ForkLine",
    )
)
KINDS = dict(zip(("gap", "weight", "wakeup", "first_wakeup", "fork"), OTHERS, strict=True))
FULL_HEADER = HEADER | {
    "name": "n", "time_unit": "ns", "source": "s", "policy": "p",
    "penalty": {"kind": "f", "read_line": 1, "write_back": 4},
    "objective": "makespan", "capacity": 2, "cold_start": True, "final_write_back": False,
    "lengths": "without-switches", "assumed": "cpus",
}  # fmt: skip
FULL_DISPATCH = DISPATCH | {"lines": 3, "leaves": "dirty", "stop": "ends", "comm": "c"}
FIRST_WAKEUP = {"first_wakeup": 5, "task": "a", "waker": "b"}
LINES = {
    "header": FULL_HEADER, "dispatch": FULL_DISPATCH, "gap": GAP, "wakeup": WAKEUP,
    "first_wakeup": FIRST_WAKEUP, "fork": FORK, "task": {"task": "a", "weight": 512},
}  # fmt: skip

BEYOND_THE_SCHEMA = ("before the start at", "but the header declares")


def problem(*lines):
    """Return what the reader says about lines; nothing if it takes them."""
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    try:
        read_dfopt_trace(io.BytesIO(data))
    except DfoptError as error:
        return error.problem
    return ""


def validator_of(line):
    """Return the part of the schema for a line; the reader tells lines apart in the same way."""
    kind = next((kind for kind in KINDS if kind in line), None)
    if kind is None or (kind != "gap" and "cpu" in line):
        return DISPATCHES
    return KINDS[kind]


@pytest.mark.slow
@given(traces_with_events())
def test_what_is_written_is_valid(trace):
    stream = io.BytesIO()
    write_dfopt_trace(trace, stream)
    header, *lines = map(json.loads, stream.getvalue().splitlines())
    HEADERS.validate(header)
    for line in lines:
        validator_of(line).validate(line)


@pytest.mark.parametrize("kind", LINES)
def test_schema_and_reader_agree_on_every_single_change(kind):
    document = LINES[kind]
    assert problem(*((document,) if kind == "header" else (HEADER, document))) == ""
    verdicts = set()
    for change in changes(document):
        if kind == "header":
            valid, said = HEADERS.is_valid(change), problem(change)
        else:
            valid = validator_of(change).is_valid(change)
            said = problem(HEADER, change)
        verdicts.add(valid)
        beyond = has_whole_floats(change) or any(words in said for words in BEYOND_THE_SCHEMA)
        assert valid == (not said) or (valid and beyond), (change, said)
    assert verdicts == {True, False}
