"""Every wrong value is refused in one line that names the file, the place and the remedy."""

import gzip
import json

import pytest

from dfopt.errors import FileError
from dfopt.files import instance_from_document, read_document, read_result
from tests.files.refused import GOOD, MATRIX, refusal, refusal_of


def test_missing_format(tmp_path):
    assert refusal_of(tmp_path, '{"cpus": 2}') == (
        "format: is missing; an instance has 'dfopt-instance/1' here"
    )


def test_instance_where_a_result_is_due(tmp_path):
    path = tmp_path / "i.json"
    path.write_text(GOOD)
    assert refusal(path, read_result) == (
        f"{path}: format: the file holds an instance (dfopt-instance/1), for 'dfopt solve'; "
        "a result is due here, as made by 'dfopt solve'"
    )


# What is wrong, the text of GOOD that is replaced, by what, and the line without the file.
VALUES = [
    # keys
    ('"cpus"', '"cpu"', "cpu: unknown key; did you mean 'cpus'?"),
    ('"tasks"', '"TASKS"', "TASKS: unknown key; did you mean 'tasks'?"),
    ('"read_line"', '"readline"', "penalty.readline: unknown key; did you mean 'read_line'?"),
    ('"lines": 3', '"lnies": 3', "tasks[1].lnies: unknown key; did you mean 'lines'?"),
    ('"df": "B"', '"fragment": "B"', "tasks[1].fragment: unknown key; did you mean 'df'?"),
    ('"df": "B"', '"Data fragment": "B"', "unknown key; did you mean 'df'?"),
    ('"df": "B"', '"setup": "B"', "tasks[1].setup: unknown key; did you mean 'df' or 'type'?"),
    ('"lines": 3', '"p": 3', "tasks[1].p: unknown key; did you mean 'exec'?"),
    ('"lines": 3', '"release_date": 3', "unknown key; did you mean 'release'?"),
    ('"cpus"', '"machines"', "machines: unknown key; did you mean 'cpus'?"),
    ('"tasks"', '"jobs"', "jobs: unknown key; did you mean 'tasks'?"),
    ('"read_line"', '"setup_times"', "setup_times: unknown key; did you mean 'fill' or 'switch'?"),
    ('"lines": 3', '"x_own": 3', "tasks[1].x_own: unknown key; known are id, df, type,"),
    ('"lines": 3', '"x_own": 3', "and your own may begin with 'x-'"),
    ('"lines": 3', '"a\\nb": 3', "tasks[1]['a\\nb']: unknown key"),
    ('"cpus": 2', f'"{"k" * 10**6}": 2', "['kkkkk"),
    ('"cpus": 2, ', "", "cpus: is missing; it is required"),
    ('"id": "v1", ', "", "tasks[1].id: is missing; it is required"),
    ('"df": "B", ', "", "tasks[1].df: is missing; name the task's fragment"),
    (', "lines": 3', "", "tasks[1].lines: is missing; say how many lines the task reads"),
    ('"read_line": 1, ', "", "penalty.read_line: is missing; the kind 'f' needs it"),
    ('"kind": "f", ', "", "penalty.kind: is missing; it is required"),
    # keys that are there twice, at every level
    ('"cpus": 2', '"cpus": 2, "cpus": 2', "cpus: this key is there more than once; keep one"),
    ('"id": "v1"', '"id": "v1", "id": "v2"', "tasks[1].id: this key is there more than once"),
    ('"kind": "f"', '"kind": "f", "kind": "g"', "penalty.kind: this key is there more than once"),
    ('"cpus"', '"x-a": [{"b": {"c d": 1, "c d": 1}}], "cpus"', "x-a[0].b['c d']: this key is"),
    ('"cpus"', '"x-a": 1, "x-a": 1, "cpus"', "x-a: this key is there more than once"),
    # numbers
    ("2,", "2.0,", "cpus: must be an integer, not 2.0"),
    ("2,", "2e0,", "cpus: must be an integer, not 2.0"),
    ("2,", "-1,", "cpus: must be at least 1, not -1"),
    ("2,", "0,", "cpus: must be at least 1, not 0"),
    ("2,", "true,", "cpus: must be an integer, not True"),
    ("2,", '"2",', "cpus: must be an integer, not '2'"),
    ("2,", "[2],", "cpus: must be an integer, not [2]"),
    ("2,", "null,", "cpus: must not be null; give it a value"),
    ('"lines": 3', '"lines": 4.0', "tasks[1].lines: must be an integer, not 4.0"),
    ('"lines": 3', '"lines": -3', "tasks[1].lines: must be at least 0, not -3"),
    ('"lines": 3', '"lines": false', "tasks[1].lines: must be an integer, not False"),
    ('"lines": 3', '"lines": "3"', "tasks[1].lines: must be an integer, not '3'"),
    ('"lines": 3', '"lines": null', "tasks[1].lines: must not be null; leave the key out"),
    ('"lines": 3', f'"lines": {10**30}', f"tasks[1].lines: is {10**30}, more than 2^62"),
    ('"lines": 3', f'"lines": {10**300}', "tasks[1].lines: is a huge integer, more than 2^62"),
    ('"lines": 3', f'"lines": {"9" * 5000}', "tasks[1].lines: has more than 1000 digits"),
    ('"lines": 3', f'"lines": -{"9" * 5000}', "tasks[1].lines: has more than 1000 digits"),
    ('"lines": 3', f'"lines": 3, "x-a": {"9" * 5000}', "tasks[1].x-a: has more than 1000 digits"),
    ('"lines": 3', f'"lines": {2**62}', "tasks: the costs can add up to "),
    ('"lines": 3', f'"lines": 3, "count": {10**9}', "tasks: stand for 1000000001 tasks"),
    ("2,", f"{10**12},", f"cpus: is {10**12}; at most 1000000 are supported"),
    # what is no number
    ('"lines": 3', '"lines": NaN', "tasks[1].lines: NaN and infinite or huge numbers are not"),
    ('"lines": 3', '"lines": Infinity', "tasks[1].lines: NaN and infinite or huge numbers are"),
    ('"lines": 3', '"lines": -Infinity', "tasks[1].lines: NaN and infinite or huge numbers are"),
    ('"lines": 3', '"lines": 1e999', "tasks[1].lines: NaN and infinite or huge numbers are not"),
    ('"lines": 3', '"lines": 3, "x-a": [1, NaN]', "tasks[1].x-a[1]: NaN and infinite or huge"),
    ('"cpus"', '"x-a": {"b": -1e999}, "cpus"', "x-a.b: NaN and infinite or huge numbers are not"),
    # text
    ('"id": "v1"', '"id": "\\ud800"', "tasks[1].id: holds half a surrogate pair, which is no text"),
    ('"id": "v1"', '"id": "v1", "x-a": ["\\udfff!"]', "tasks[1].x-a[0]: holds half a surrogate"),
    ('"cpus"', '"x-\\udc00": 1, "cpus"', "the key 'x-\\udc00' is no text; rename it"),
    ('"id": "v1"', '"id": "v0"', "tasks[1].id: the id 'v0' is also that of tasks[0]"),
    ('"id": "v1"', '"id": 1', "tasks[1].id: must be a string, not 1"),
    ('"df": "B"', '"df": ["B"]', "tasks[1].df: must be a string, not ['B']"),
    ('"cpus"', '"name": 7, "cpus"', "name: must be a string, not 7"),
    # words
    ('"f"', '"h"', "penalty.kind: must be one of 'f', 'g', 'matrix', not 'h'"),
    ('"f"', '"setup"', "not 'setup'; g is one setup time for all, f a setup by 'lines', matrix"),
    ('"f"', "{}", "penalty.kind: must be one of 'f', 'g', 'matrix', not an object"),
    ('"lines": 3', '"lines": 3, "leaves": "dirt"', "tasks[1].leaves: must be one of 'clean'"),
    ('"lines": 3', '"lines": 3, "leaves": []', "tasks[1].leaves: must be one of 'clean'"),
    ('"cpus"', '"objective": "span", "cpus"', "objective: must be one of 'max-penalty', 'total-"),
    ('"cpus"', '"objective": "Cmax", "cpus"', "not 'Cmax'; did you mean 'makespan'?"),
    ('"lines": 3', '"lines": 3, "family": "A"', ".family: unknown key; did you mean 'df' or 'type"),
    ('"cpus"', '"capacity": "full", "cpus"', "capacity: must be 'balanced', 'unlimited' or an int"),
    ('"cpus"', '"capacity": 0, "cpus"', "capacity: must be at least 1, not 0"),
    ('"cpus"', '"capacity": 1.5, "cpus"', "or an integer, not 1.5"),
    ('"cpus"', '"cold_start": 1, "cpus"', "cold_start: must be true or false"),
    ('"cpus"', '"final_write_back": "no", "cpus"', "final_write_back: must be true or false"),
    # shapes
    ('"cpus"', '"initial": {}, "cpus"', "initial: must be an array […], not an object"),
    ('"cpus"', '"initial": [null, 4], "cpus"', "must be 'unknown' or an object {…}, not 4"),
    ('"cpus"', '"initial": [null], "cpus"', "initial: has 1 entries but there are 2 CPUs"),
    ('"cpus"', '"initial": [null, {}], "cpus"', "initial[1].df: is missing; name the fragment"),
    ('"cpus"', '"initial": [{"fd": "A"}], "cpus"', "initial[0].fd: unknown key; did you mean 'df"),
    ('[{"id": "v0"', '["v0", {"id": "v0"', "tasks[0]: must be an object {…}, not 'v0'"),
    ('"tasks": [', '"tasks": 5, "x-a": [', "tasks: must be an array […], not 5"),
    ('"lines": 3', '"lines": 3, "after": "v0"', "tasks[1].after: must be an array […], not 'v0'"),
    ('"lines": 3', '"lines": 3, "after": [["v0"]]', "tasks[1].after[0]: must be a string, not ["),
    # values that contradict each other
    ('"lines": 3', '"lines": 3, "after": ["v0"]', "tasks[1].after: only the objective 'makespan'"),
    ('"lines": 3', '"lines": 3, "release": 1', "tasks[1].release: only the objective 'makespan'"),
    # another kind's keys
    (
        '"write_back": 4',
        '"write_back": 4, "fill": 1',
        "penalty.fill: belongs to the kind 'g', and this one is 'f'; remove it or change",
    ),
    ('"write_back": 4', '"write_back": 4, "types": []', "penalty.types: belongs to the kind"),
]  # fmt: skip
MATRIX_VALUES = [
    ('"types"', '"write_back": 1, "types"', "write_back: belongs to the kind 'f' or 'g'"),
    ('["a", "b"]', '["a", "a"]', "penalty.types[1]: the type 'a' is there twice"),
    ('["a", "b"]', '["a", 1]', "penalty.types[1]: must be a string, not 1"),
    ('["a", "b"]', '"ab"', "penalty.types: must be an array […], not 'ab'"),
    ('["a", "b"]', "[]", "penalty.types: needs at least one type"),
    ("[2, 3]", "[2]", "penalty.switch[1]: has 1 entries but there are 2 types; give one entry"),
    (", [2, 3]", "", "penalty.switch: has 1 rows but there are 2 types; give one row per type"),
    ("[2, 3]", "5", "penalty.switch[1]: must be an array […], not 5"),
    ("[2, 3]", "[2, 3.0]", "penalty.switch[1][1]: must be an integer, not 3.0"),
    ('"types"', '"start": 3, "types"', "penalty.start: must be an array […], not 3"),
    ('"types"', '"start": [3], "types"', "penalty.start: has 1 entries but there are 2 types"),
    ('"types"', '"finish": [3, -1], "types"', "penalty.finish[1]: must be at least 0, not -1"),
    ('"type"', '"family"', "tasks[0].family: unknown key; did you mean 'df' or 'type'?"),
    ('"tasks"', '"initial": [null, {"colour": "a"}], "tasks"', "colour: unknown key; did you mean"),
    ('"type": "a"', '"type": "c"', "tasks[0].type: 'c' is not one of penalty.types"),
    (', "type": "a"', "", "tasks[0].type: is missing; name one of penalty.types"),
]  # fmt: skip
MAKESPAN_VALUES = [
    ('"lines": 3', '"lines": 3, "after": ["v2"]', "tasks[1].after[0]: no task has the id 'v2'"),
    (
        '"lines": 3',
        '"lines": 3, "after": ["v1"]',
        "tasks: the tasks wait for each other in a cycle",
    ),
]


@pytest.mark.parametrize(
    ("base", "old", "new", "expected"),
    [
        pytest.param(base, *case, id=case[-1][:40])
        for base, cases in (
            (GOOD, VALUES),
            (MATRIX, MATRIX_VALUES),
            (GOOD.replace('"cpus"', '"objective": "makespan", "cpus"'), MAKESPAN_VALUES),
        )
        for case in cases
    ],
)
def test_wrong_value(tmp_path, base, old, new, expected):
    assert old in base
    content = base.replace(old, new, 1)
    line = refusal_of(tmp_path, content)
    assert expected in line
    assert refusal_of(tmp_path, gzip.compress(content.encode()), name="bad.json.gz") == line


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ((1, 2), "x-own: JSON has no tuple; use a list or a dict"),
        ({1}, "x-own: JSON has no set; use a list or a dict"),
        ({1: 2}, "x-own: the key 1 is no text; rename it"),
        ([float("nan")], "x-own[0]: NaN and infinite or huge numbers are not allowed"),
        (10**5000, "x-own: has more than 1000 digits; numbers may go up to 2^62"),
    ],
    ids=["tuple", "set", "key", "nan", "digits"],
)
def test_python_values_that_json_has_not(value, problem):
    with pytest.raises(FileError) as caught:
        instance_from_document(json.loads(GOOD) | {"x-own": value})
    assert str(caught.value).startswith(problem)


def test_read_document_takes_any_format(tmp_path):
    path = tmp_path / "any.json"
    path.write_text('{"format": "other/1", "a": [1, null, 2.5, "é"]}', encoding="utf-8")
    assert read_document(path) == {"format": "other/1", "a": [1, None, 2.5, "é"]}
