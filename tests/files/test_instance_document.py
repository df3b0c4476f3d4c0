"""Instances go into files and come back the same."""

import copy
import io
import json
import pickle
import time
from types import SimpleNamespace

import pytest
from hypothesis import given

from dfopt import replace
from dfopt.errors import DfoptWarning
from dfopt.files import (
    fingerprint,
    instance_from_document,
    instance_to_document,
    read_instance,
    write_instance,
)
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from tests.files.examples import INSTANCE, MATRIX_INSTANCE, SMALLEST_INSTANCE
from tests.strategies import instances, json_values

EXAMPLE_INSTANCE = Instance(
    name="two fragments",
    description="Figures",
    source="A paper",
    time_unit="unit",
    cpus=2,
    capacity=3,
    objective=Objective.MAKESPAN,
    penalty=PenaltyF(read_line=1, write_back=4),
    initial=(None, CacheState(df="DF1", leaves=Leaves.INVALIDATED)),
    cold_start=True,
    final_write_back=True,
    tasks=(
        Task(id="v0", df="DF1", lines=4, exec=1, release=7, count=2),
        Task(id="v1", df="DF2", lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",)),
    ),
)


def test_every_key_is_read():
    assert instance_from_document(INSTANCE) == EXAMPLE_INSTANCE


def test_every_key_is_written():
    assert instance_to_document(EXAMPLE_INSTANCE) == INSTANCE


def test_defaults_are_filled_in_and_left_out_again():
    instance = instance_from_document(SMALLEST_INSTANCE)
    assert instance == Instance(
        cpus=1,
        penalty=PenaltyG(fill=1, write_back=0),
        tasks=(),
        capacity="balanced",
        objective=Objective.MAX_PENALTY,
        initial=(),
        cold_start=False,
        final_write_back=False,
    )
    assert instance_to_document(instance) == SMALLEST_INSTANCE


def test_matrix_is_read_row_by_row():
    instance = instance_from_document(MATRIX_INSTANCE)
    assert instance.penalty == PenaltyMatrix(
        types=("a", "b"), switch=((0, 1), (2, 3)), start=(4, 5), finish=(6, 7)
    )
    assert instance.initial == (CacheState(type="b"),)
    assert instance_to_document(instance) == MATRIX_INSTANCE


def test_an_unknown_state_is_a_word():
    document = SMALLEST_INSTANCE | {"initial": ["unknown"]}
    instance = instance_from_document(document)
    assert instance.initial == ("unknown",)
    assert instance_to_document(instance) == document


def test_costs_that_do_not_count_are_warned_of_and_kept():
    document = SMALLEST_INSTANCE | {
        "penalty": {"kind": "matrix", "types": ["a"], "switch": [[0]], "start": [4]}
    }
    with pytest.warns(DfoptWarning, match=r"penalty\.start .* 'cold_start'"):
        instance = instance_from_document(document)
    assert instance_to_document(instance) == document


def test_keys_that_do_not_matter_are_accepted_and_kept():
    document = SMALLEST_INSTANCE | {
        "tasks": [{"id": "t", "df": "A", "type": "x", "lines": 4, "leaves": "dirty", "exec": 9}]
    }
    assert instance_to_document(instance_from_document(document)) == document


def test_keys_of_ones_own_are_ignored_at_every_level():
    own = {"x-note": [{"deep": None}], "$schema": "instance.schema.json"}
    document = (
        INSTANCE
        | own
        | {
            "penalty": INSTANCE["penalty"] | own,
            "initial": [None, INSTANCE["initial"][1] | own],
            "tasks": [task | own for task in INSTANCE["tasks"]],
        }
    )
    assert instance_from_document(document) == EXAMPLE_INSTANCE


@pytest.mark.slow
@given(instances(adorned=True) | instances(adorned=True, timed=True))
def test_instance_document_instance(instance):
    document = instance_to_document(instance)
    again = instance_from_document(json.loads(json.dumps(document)))
    assert again == instance
    assert instance_to_document(again) == document
    assert fingerprint(again) == fingerprint(instance)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["instance.json", "instance.json.gz"])
@given(instance=instances(adorned=True, max_tasks=3))
def test_instance_file_instance(tmp_path_factory, name, instance):
    path = tmp_path_factory.getbasetemp() / name
    write_instance(instance, path)
    assert read_instance(path) == instance
    assert read_instance(str(path)) == instance
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")


def test_standard_input(monkeypatch):
    stream = io.BytesIO(json.dumps(INSTANCE).encode())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    assert read_instance("-") == EXAMPLE_INSTANCE


def test_file_reads_well(tmp_path):
    write_instance(replace(EXAMPLE_INSTANCE, name="Größe\n"), tmp_path / "i.json")
    assert (
        (tmp_path / "i.json").read_text(encoding="utf-8")
        == """\
{
  "format": "dfopt-instance/1",
  "name": "Größe\\n",
  "description": "Figures",
  "source": "A paper",
  "time_unit": "unit",
  "cpus": 2,
  "capacity": 3,
  "objective": "makespan",
  "penalty": {"kind": "f", "read_line": 1, "write_back": 4},
  "initial": [null, {"df": "DF1", "leaves": "invalidated"}],
  "cold_start": true,
  "final_write_back": true,
  "tasks": [
    {"id": "v0", "df": "DF1", "lines": 4, "exec": 1, "release": 7, "count": 2},
    {"id": "v1", "df": "DF2", "lines": 4, "leaves": "dirty", "exec": 1, "after": ["v0"]}
  ]
}
"""
    )


# The text that is hashed, written by hand, and its digest as sha256sum prints it.
DIGESTS = {
    "smallest": (
        '{"tasks": [], "penalty": {"write_back": 0, "fill": 1, "kind": "g"},\n'
        ' "cpus": 1, "format": "dfopt-instance/1"}',
        '{"cpus":1,"format":"dfopt-instance/1",'
        '"penalty":{"fill":1,"kind":"g","write_back":0},"tasks":[]}',
        "7dcfd5c003d9a30d36f95095a95c6873d02c43c11099e8ff714b329bc2d84ea9",
    ),
    "own keys, defaults as given, non-ASCII, escapes": (
        '{"format": "dfopt-instance/1", "name": "Gr\\u00f6\\u00dfe \\"x\\"", "cpus": 1,'
        ' "x-b": 1.50, "x-a": {"z": null, "\u00e9": "\U0001f600"}, "capacity": "balanced",'
        ' "penalty": {"kind": "g", "fill": 1, "write_back": 0}, "tasks": []}',
        '{"capacity":"balanced","cpus":1,"format":"dfopt-instance/1","name":"Größe \\"x\\"",'
        '"penalty":{"fill":1,"kind":"g","write_back":0},"tasks":[],'
        '"x-a":{"z":null,"é":"😀"},"x-b":1.5}',
        "4891660a070963ada36b3eb9c67f09c185e0db4e39a5e00e0894b40a1700e2ff",
    ),
}


@pytest.mark.parametrize("case", DIGESTS)
def test_fingerprint_is_that_of_the_document_as_given(tmp_path, case):
    text, _, digest = DIGESTS[case]
    path = tmp_path / "instance.json"
    path.write_text(text, encoding="utf-8")
    assert fingerprint(read_instance(path)) == digest
    assert fingerprint(instance_from_document(json.loads(text))) == digest


def test_fingerprint_of_an_instance_built_in_python_is_that_of_its_document():
    built = Instance(cpus=1, penalty=PenaltyG(fill=1, write_back=0))
    assert built.document_sha256 is None
    assert fingerprint(built) == DIGESTS["smallest"][2]


def test_fingerprint_stays_with_copies_but_not_with_changes():
    instance = instance_from_document(SMALLEST_INSTANCE | {"x-note": "own"})
    for same in (
        copy.copy(instance),
        copy.deepcopy(instance),
        pickle.loads(pickle.dumps(instance)),
    ):
        assert fingerprint(same) == fingerprint(instance)
    changed = replace(instance, cpus=2)
    assert fingerprint(changed) == fingerprint(
        Instance(cpus=2, penalty=PenaltyG(fill=1, write_back=0))
    )


@given(json_values)
def test_fingerprint_depends_on_every_value_but_not_on_the_order_of_keys(value):
    document = SMALLEST_INSTANCE | {"x-value": value}
    turned = dict(reversed(document.items()))
    assert fingerprint(instance_from_document(document)) == fingerprint(
        instance_from_document(turned)
    )
    assert fingerprint(instance_from_document(document)) != fingerprint(
        instance_from_document(document | {"x-value": [value]})
    )


@pytest.mark.slow
def test_a_hundred_thousand_tasks_are_read_quickly(tmp_path):
    tasks = [{"id": f"v{k}", "df": f"DF{k % 50}", "lines": k % 7} for k in range(100_000)]
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(INSTANCE | {"tasks": tasks, "capacity": "balanced"}))
    begun = time.process_time()
    assert len(read_instance(path).tasks) == 100_000
    # About one second on a machine of today; a scan per task takes minutes.
    assert time.process_time() - begun < 60
