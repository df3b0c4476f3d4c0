"""Results of the format ``dfopt-result/1`` are read, and what they claim is checked as before."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dfopt.errors import DfoptError
from dfopt.files import (
    instance_from_document,
    read_result,
    result_from_document,
    result_to_document,
    write_result,
)
from dfopt.problem.certificate import Over
from dfopt.verify import verify
from dfopt_cli.app import app
from tests.files.examples import changed
from tests.proofs import over_of

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("results_of_version_1.json").read_text("utf-8")
)
"""Instances, with results that an earlier version wrote: every kind of certificate is there."""


def kind(case: dict[str, Any]) -> str:
    return str(case["result"]["certificate"]["kind"])


each_case = pytest.mark.parametrize("case", CASES, ids=kind)


@each_case
def test_they_are_verified(case: dict[str, Any]) -> None:
    instance, result = (
        instance_from_document(case["instance"]),
        result_from_document(case["result"]),
    )
    found = verify(instance, result, require_certificate=True)
    assert found.ok, found.problems
    assert found.bound_checked
    bound = result.lower_bound
    if bound is not None:
        document = changed(case["result"], ("lower_bound",), bound + 1)
        assert not verify(instance, result_from_document(document)).bound_checked


@each_case
def test_they_are_written_as_results_of_today(case: dict[str, Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(case["result"]), "utf-8")
    result = read_result(old)
    write_result(result, new)
    assert read_result(new) == result
    assert result_to_document(result)["format"] == "dfopt-result/2"


def test_every_kind_becomes_one_of_today() -> None:
    seen = {
        (kind(case), over_of(result_from_document(case["result"]).certificate)) for case in CASES
    }
    assert seen == {
        ("dual-weights", Over.CONTENTS),
        ("branching", Over.CONTENTS),
        ("supports", Over.SUPPORTS),
        ("tour", Over.ORDERS),
        ("full-groups", Over.GROUPS),
        ("size-weights", Over.SIZES),
        ("counting", None),
        ("exhaustive", None),
        ("even-shares", None),
    }


def test_commands_take_them(tmp_path: Path) -> None:
    case = next(case for case in CASES if kind(case) == "dual-weights")
    files = tmp_path / "instance.json", tmp_path / "result.json"
    for file, key in zip(files, ("instance", "result"), strict=True):
        file.write_text(json.dumps(case[key]), "utf-8")
    outcome = CliRunner().invoke(app, ["verify", *map(str, files)])
    assert outcome.exit_code == 0, outcome.stderr
    assert "proven by dual weights (checked)" in outcome.stdout


FORMS = "certificate: has none of the forms that results of the format dfopt-result/1 have"
TREE = {
    "kind": "branching",
    "classes": [{"df": "A"}],
    "counts": [{"kind": "entries", "classes": [0]}],
    "nodes": [{"count": 0, "at_most": 1}, {"weights": [[0, 1]]}, {}],
}
BAD = [
    ({"kind": "faith"}, "certificate.kind: must be one of 'proof', 'counting'"),
    ({}, FORMS),
    ([], FORMS),
    ({"kind": "dual-weights", "bin_weights": [1], "weights": [{"df": "A"}]}, FORMS),
    (
        {"kind": "dual-weights", "bin_weights": [1], "weights": [{"df": "A", "weight": 0.5}]},
        "certificate.nodes[0].weights[0][1]: must be an integer, not 0.5",
    ),
    (changed(TREE, ("nodes", 0, "count"), 3), FORMS),
    (changed(TREE, ("counts", 0, "classes"), [1]), FORMS),
    ({"kind": "supports", "proof": {}}, FORMS),
    (
        {"kind": "tour", "nodes": [], "tree": [{"leaving": [], "entering": [], "cuts": [[0, 1]]}]},
        FORMS,
    ),
]


@pytest.mark.parametrize(("certificate", "problem"), BAD)
def test_wrong_certificates_are_named(certificate: Any, problem: str) -> None:
    document = CASES[0]["result"] | {"certificate": certificate}
    with pytest.raises(DfoptError) as caught:
        result_from_document(document)
    assert str(caught.value).startswith(problem)
