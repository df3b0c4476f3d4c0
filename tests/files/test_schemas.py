"""The published JSON Schemas and the readers agree, but for what a schema cannot say."""

import functools
import json
import operator
import runpy
import subprocess
import sys
import warnings
from itertools import cycle
from pathlib import Path

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
from dfopt.files.formats import Format, schema_names
from tests.files.examples import (
    INSTANCE,
    MATRIX_INSTANCE,
    PLAIN_INSTANCE,
    RESULT,
    RESULT_BY_HAND,
    SMALLEST_INSTANCE,
    changed,
)
from tests.result_strategies import results
from tests.strategies import instances, json_values

ROOT = Path(__file__).parents[2]
NAMES = (
    "bench-summary",
    "comparison",
    "crossover",
    "info",
    "instance",
    "response-time",
    "result",
    "simulation",
    "thread-graph",
    "trace",
    "verification",
    "waiting-proof",
)
READERS = {
    "instance": (Draft202012Validator(schema("instance")), instance_from_document),
    "result": (Draft202012Validator(schema("result")), result_from_document),
}

VERIFICATION = {
    "format": "dfopt-verification/1",
    "ok": True,
    "objective": 34,
    "lower_bound": 34,
    "bound_checked": True,
    "problems": [],
}


def parts(schema_part):
    """Return all objects that a schema is made of."""
    if isinstance(schema_part, dict):
        yield schema_part
        schema_part = list(schema_part.values())
    if isinstance(schema_part, list):
        for inner in schema_part:
            yield from parts(inner)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name):
    document = schema(name)
    Draft202012Validator.check_schema(document)
    (named,) = [known for known in Format if known.startswith(f"dfopt-{name}/")]
    assert document["properties"]["format"] == {"const": named}
    assert schema(named) == document


def test_schemas_are_those_of_the_types():
    generated = runpy.run_path(str(ROOT / "release" / "schemas.py"))
    schemas = generated["schemas"]()
    assert {schema(given)["title"] for given in schema_names()} == {*schemas}
    for name, made in schemas.items():
        assert schema(name) == json.loads(json.dumps(made)), "run 'make schemas'"


@pytest.mark.parametrize("name", NAMES)
def test_every_object_in_a_schema_is_closed_but_for_keys_of_ones_own(name):
    closed = [part for part in parts(schema(name)) if part.get("type") == "object"]
    assert closed
    for part in closed:
        assert part["patternProperties"] == {"^(x-|\\$schema$)": True}
        # Versions, and reasons for gaps, may have any name.
        assert part["additionalProperties"] in (
            False,
            {"type": "string"},
            {"type": "integer", "minimum": 0, "maximum": 2**62},
        )


@pytest.mark.parametrize("name", ["tables", "xyz/2", "", "../xyz"])
def test_unknown_schema(name):
    with pytest.raises(
        DfoptError, match=r"there are ([a-z-]+, )*comparison, ([a-z-]+, )*info, instance, "
    ):
        schema(name)


@pytest.mark.parametrize("name", ["instnace", "dfopt-instance/2", "../instance"])
def test_unknown_schema_has_a_hint(name):
    with pytest.raises(DfoptError, match=r"did you mean 'instance'\?"):
        schema(name)


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


@pytest.mark.slow
@given(instances(adorned=True) | instances(adorned=True, timed=True))
def test_what_is_written_of_an_instance_is_valid(instance):
    READERS["instance"][0].validate(instance_to_document(instance))


@pytest.mark.slow
@given(results())
def test_what_is_written_of_a_result_is_valid(result):
    READERS["result"][0].validate(result_to_document(result))


def accepted(read, document):
    """Return whether the reader takes a document, and its message if not."""
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
    "name one of penalty.types",
    "name the task's fragment",
    "name the fragment in the cache",
    "say how many lines the task reads",
    "knows it, and this one is",
    "needs at least one type",
    "is there twice",
    "have sizes that add up to",
    "at most 1000000 are supported",
    "give one row per type",
    "give one entry per type",
    "give one per CPU",
    "give one a task",
    "give either this or",
    "classes, from 0 on",
    "must be finite and at most 2^62",
    "the costs can add up to",
    "tasks; at most 10000000 are supported",
)


def has_whole_floats(value):
    """Return whether a document holds numbers such as 4.0, which a schema takes for integers."""
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
        validator.validate(document)
    elif valid:
        beyond = any(words in problem for words in BEYOND_THE_SCHEMA)
        assert beyond or has_whole_floats(document), problem
    return taken


def places(value, path=()):
    """Return the paths of all values inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def objects(document):
    """Return the paths of all objects in a document, itself included."""
    for path in ((), *places(document)):
        if isinstance(functools.reduce(operator.getitem, path, document), dict):
            yield path


ALL_PARTS = [part for name in ("instance", "result") for part in parts(schema(name))]
WORDS = sorted(
    {word for part in ALL_PARTS for word in part.get("enum", [part.get("const", "A")])} - {0}
)
KEYS = sorted({key for part in ALL_PARTS for key in part.get("properties", {})})
# Around every limit, and of every type.
VALUES = [
    None, True, -1, 0, 1, 10**7 + 1, 2**62, 2**62 + 1, -(2**62), -(2**62) - 1, 0.5, 4.0,
    "", "a", "a" * 64, [], [0], ["A"], [None], [{}], {}, {"A": "A"}, {"A": 0},
]  # fmt: skip


def changes(document):
    """Return copies of a document that differ in one value, or have one key more or less."""
    for path in places(document):
        for value in (..., *VALUES):
            yield changed(document, path, value)
    for path in objects(document):
        for key, value in zip((*KEYS, "x-own", "$schema", "x_own"), cycle((1, "a", ["s"]))):
            yield changed(document, (*path, key), value)


EXAMPLES = {
    "f, makespan": ("instance", INSTANCE),
    "f, total penalty": ("instance", PLAIN_INSTANCE),
    "g": ("instance", PLAIN_INSTANCE | {"penalty": SMALLEST_INSTANCE["penalty"]}),
    "matrix": ("instance", MATRIX_INSTANCE),
    "proof": ("result", RESULT),
    "exhaustive": (
        "result",
        RESULT_BY_HAND | {"certificate": {"kind": "exhaustive", "threshold": 3}},
    ),
    "even shares": (
        "result",
        RESULT_BY_HAND
        | {
            "certificate": {
                "kind": "even-shares",
                "threshold": 3,
                "total_penalty": 2,
                "proof": {"kind": "exhaustive", "threshold": 1},
            }
        },
    ),
    "search": ("result", RESULT_BY_HAND | {"certificate": {"kind": "search", "solver": "S"}}),
}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_schema_and_reader_agree_on_every_single_change(example):
    name, document = EXAMPLES[example]
    assert accepted(READERS[name][1], document) == (True, "")
    verdicts = {assert_agreement(name, change) for change in changes(document)}
    assert verdicts == {True, False}


keys = st.sampled_from([*KEYS, "x-own", "$schema", "x_own"])
replacements = st.sampled_from(WORDS) | st.sampled_from(VALUES) | json_values


@st.composite
def mutated(draw, document):
    """Draw a document with one value dropped or replaced, and perhaps a key added."""
    path = draw(st.sampled_from(list(places(document))))
    document = changed(document, path, draw(st.just(...) | replacements))
    if draw(st.booleans()):
        path = draw(st.sampled_from(list(objects(document))))
        document = changed(document, (*path, draw(keys)), draw(replacements))
    return document


documents = {
    "instance": (
        instances(adorned=True, max_tasks=3) | instances(adorned=True, max_tasks=3, timed=True)
    ).map(instance_to_document),
    "result": results().map(result_to_document),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_schema_and_reader_agree_on_changed_documents(name, data):
    assert_agreement(name, data.draw(documents[name].flatmap(mutated)))


def tasks(*entries, **fields):
    return {"tasks": [{"df": "A"} | entry for entry in entries]} | fields


def table(switch, **fields):
    return {"penalty": {"kind": "matrix", "types": ["a", "b"], "switch": switch}} | fields


@pytest.mark.parametrize(
    "fields",
    [
        {"cpus": 1.0},
        {"initial": [None, None]},
        {"penalty": {"kind": "g", "fill": 2**62, "write_back": 1}} | tasks({"id": "a"}),
        tasks({"id": "a"}, {"id": "a"}),
        tasks({"id": "a", "count": 2}, {"id": "a#2"}),
        tasks({"id": "a", "count": 9_999_999}, {"id": "b", "count": 2}),
        tasks({"id": "a", "after": ["b"]}, objective="makespan"),
        tasks({"id": "a", "after": ["a"]}, objective="makespan"),
        table([[0, 0]]),
        table([[0], [0]]),
        table([[0, 0], [0, 0]], tasks=[{"id": "a", "type": "c"}]),
    ],
)
def test_what_a_schema_cannot_say(fields):
    document = SMALLEST_INSTANCE | fields
    assert READERS["instance"][0].is_valid(document)
    assert not assert_agreement("instance", document)
