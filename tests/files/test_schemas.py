"""The published JSON Schemas and the readers agree, but for what a schema cannot say."""

import copy
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dfopt.errors import DfoptError, DfoptWarning
from dfopt.files import (
    instance_from_document,
    instance_to_document,
    result_from_document,
    result_to_document,
    schema,
)
from tests.strategies import instances, json_values, results

NAMES = ("instance", "result", "verification")
INSTANCE = Draft202012Validator(schema("instance"))
RESULT = Draft202012Validator(schema("result"))
READERS = {"instance": (INSTANCE, instance_from_document), "result": (RESULT, result_from_document)}

VERIFICATION = {
    "format": "dfopt-verification/1",
    "ok": True,
    "objective": 34,
    "lower_bound": 34,
    "bound_checked": True,
    "problems": [],
}


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name):
    document = schema(name)
    Draft202012Validator.check_schema(document)
    assert document["properties"]["format"] == {"const": f"dfopt-{name}/1"}
    assert schema(f"dfopt-{name}/1") == document


@pytest.mark.parametrize("name", NAMES)
def test_every_object_in_a_schema_is_closed_but_for_keys_of_ones_own(name):
    objects = [part for part in parts(schema(name)) if part.get("type") == "object"]
    assert objects
    for part in objects:
        assert part["patternProperties"] == {"^(x-|\\$schema$)": True}
        assert part["additionalProperties"] in (False, {"type": "string"})  # versions: any name


@pytest.mark.parametrize("name", ["trace", "instnace", "dfopt-instance/2", "", "../instance"])
def test_unknown_schema(name):
    with pytest.raises(DfoptError, match="known are instance, result, verification"):
        schema(name)


def test_unknown_schema_has_a_hint():
    with pytest.raises(DfoptError, match=r"did you mean 'instance'\?"):
        schema("instnace")


def test_importing_the_files_is_light():
    heavy = {"jsonschema", "numpy", "ortools", "pandas", "matplotlib", "typer"}
    code = "import sys, dfopt.files; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert heavy.isdisjoint(loaded.stdout.split())


def test_verification():
    validator = Draft202012Validator(schema("verification"))
    assert validator.is_valid(VERIFICATION)
    assert validator.is_valid(VERIFICATION | {"objective": None, "problems": ["It is wrong"]})
    assert not validator.is_valid(VERIFICATION | {"ok": 1})
    assert not validator.is_valid(VERIFICATION | {"problem": "It is wrong"})


@given(instances(adorned=True) | instances(adorned=True, timed=True))
def test_what_is_written_of_an_instance_is_valid(instance):
    INSTANCE.validate(instance_to_document(instance))


@given(results())
def test_what_is_written_of_a_result_is_valid(result):
    RESULT.validate(result_to_document(result))


def accepted(read, document):
    """Whether the reader takes a document; what it says otherwise."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DfoptWarning)
            read(document)
    except DfoptError as error:
        return False, error.problem
    return True, ""


# What the readers say where a schema must be silent: it knows no other value of the document,
# no text of a number, and no key given twice.
BEYOND_THE_SCHEMA = (
    "is also",  # ids are unique
    "no task has the id",
    "the tasks wait for each other in a cycle",
    "is not one of penalty.types",
    "give one row a type",
    "give one entry a type",
    "give one a CPU",
    "give one a task",
    "the costs can add up to",
    "tasks; at most 10000000 are supported",
)


def has_whole_floats(value):
    """Whether a document holds numbers such as 4.0, which a schema takes for integers."""
    if isinstance(value, dict):
        return any(has_whole_floats(item) for item in value.values())
    if isinstance(value, list):
        return any(has_whole_floats(item) for item in value)
    return isinstance(value, float) and value.is_integer()


def assert_agreement(name, document):
    validator, read = READERS[name]
    taken, problem = accepted(read, document)
    valid = validator.is_valid(document)
    if taken:
        assert valid, f"the reader takes it, the schema says {validator.iter_errors(document)}"
    elif valid:
        beyond = any(words in problem for words in BEYOND_THE_SCHEMA)
        assert beyond or has_whole_floats(document), problem


def places(value, path=()):
    """Return the paths of all values inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def parts(schema_part):
    """Return all objects that a schema is made of."""
    if isinstance(schema_part, dict):
        yield schema_part
        schema_part = list(schema_part.values())
    if isinstance(schema_part, list):
        for inner in schema_part:
            yield from parts(inner)


ALL_PARTS = [part for name in ("instance", "result") for part in parts(schema(name))]
WORDS = sorted(
    {word for part in ALL_PARTS for word in part.get("enum", [part.get("const", "A")])} - {0}
)
KEYS = sorted({key for part in ALL_PARTS for key in part.get("properties", {})})
keys = st.sampled_from([*KEYS, "x-own", "$schema", "x_own"])
replacements = (
    st.sampled_from(WORDS)
    | st.integers(-2, 5)
    | st.sampled_from([2**62, 2**62 + 1, -(2**62) - 1, 4.0, 0.5, None, True, [], {}, [0], ["t0"]])
    | json_values
)


@st.composite
def mutated(draw, document):
    """Draw a document with one or two values dropped, replaced, renamed or added."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 2))):
        *path, key = draw(st.sampled_from(list(places(document))))
        holder = document
        for step in path:
            holder = holder[step]
        match draw(st.sampled_from(["drop", "replace", "rename", "add"])):
            case "drop":
                del holder[key]
            case "replace":
                holder[key] = draw(replacements)
            case "rename" if isinstance(holder, dict):
                holder[draw(keys)] = holder.pop(key)
            case _ if isinstance(holder, dict):
                holder[draw(keys)] = draw(replacements)
            case _:
                holder.insert(0, draw(replacements))
        if not document:
            break
    return document


documents = {
    "instance": (
        instances(adorned=True, max_tasks=3) | instances(adorned=True, max_tasks=3, timed=True)
    ).map(instance_to_document),
    "result": results().map(result_to_document),
}


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_schema_and_reader_agree_on_changed_documents(name, data):
    assert_agreement(name, data.draw(documents[name].flatmap(mutated)))


FRAME = {"format": "dfopt-instance/1", "cpus": 1, "tasks": []}
G = {"kind": "g", "fill": 1, "write_back": 0}


@pytest.mark.parametrize(
    "document",
    [
        FRAME | {"penalty": G, "cpus": 1.0},
        FRAME | {"penalty": G, "tasks": [{"id": "a", "df": "A"}, {"id": "a", "df": "A"}]},
        FRAME
        | {"penalty": G, "tasks": [{"id": "a", "df": "A", "count": 2}, {"id": "a#2", "df": "A"}]},
        FRAME
        | {
            "penalty": G,
            "objective": "makespan",
            "tasks": [{"id": "a", "df": "A", "after": ["b"]}],
        },
        FRAME
        | {
            "penalty": G,
            "objective": "makespan",
            "tasks": [{"id": "a", "df": "A", "after": ["a"]}],
        },
        FRAME | {"penalty": G, "initial": [None, None]},
        FRAME | {"penalty": {"kind": "matrix", "types": ["a", "b"], "switch": [[0, 0]]}},
        FRAME | {"penalty": {"kind": "matrix", "types": ["a", "b"], "switch": [[0], [0]]}},
        FRAME
        | {
            "penalty": {"kind": "matrix", "types": ["a"], "switch": [[0]]},
            "tasks": [{"id": "a", "type": "b"}],
        },
        FRAME
        | {
            "penalty": G | {"fill": 2**62},
            "tasks": [{"id": "a", "df": "A"}, {"id": "b", "df": "A"}],
        },
        FRAME
        | {
            "penalty": G,
            "tasks": [{"id": id, "df": "A", "count": 9_999_999} for id in ("a", "b")],
        },
    ],
)
def test_what_a_schema_cannot_say(document):
    assert INSTANCE.is_valid(document)
    assert not accepted(instance_from_document, document)[0]
    assert_agreement("instance", document)
