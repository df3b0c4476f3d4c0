"""``dfopt verify``: what it prints, where, and with which exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from dfopt.files import schema, write_instance
from dfopt_cli.app import app
from tests.claims import THREE_FRAGMENTS, crowded, optimal_document


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with an instance in it."""
    monkeypatch.chdir(tmp_path)
    write_instance(THREE_FRAGMENTS, "instance.json")
    return tmp_path


def run(document: dict[str, Any], *options: str) -> tuple[int, str, str]:
    Path("result.json").write_text(json.dumps(document))
    outcome = CliRunner().invoke(app, ["verify", "instance.json", "result.json", *options])
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    return outcome.exit_code, outcome.stdout, outcome.stderr


SEARCH = {"certificate": {"kind": "search", "threshold": 7, "solver": "cp-sat"}}
REMARK = "the lower bound 8 rests on a search by 'cp-sat', which is not repeated here"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "objective 8, lower bound 8 proven by dual weights (checked)"),
        (
            {"certificate": {"kind": "exhaustive"}},
            "objective 8, lower bound 8 proven by enumeration (checked)",
        ),
        (
            {
                "status": "unknown",
                "stop_reason": "time-limit",
                "objective": None,
                "gap": None,
                "schedule": None,
                "history": [],
            },
            "no schedule, lower bound 8 proven by dual weights (checked)",
        ),
        (
            {
                "status": "feasible",
                "stop_reason": "interrupt",
                "lower_bound": 0,
                "gap": 1.0,
                "certificate": None,
                "history": [],
            },
            "objective 8, lower bound 0 (nothing to prove)",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_says_what_is_proven(changes: dict[str, Any], said: str) -> None:
    document = optimal_document() | changes
    assert run(document, "--require-certificate") == (0, f"verified: {said}\n", "")


@pytest.mark.usefixtures("folder")
def test_says_what_it_could_not_check() -> None:
    document = optimal_document() | SEARCH
    code, out, err = run(document)
    assert (code, out) == (0, "verified: objective 8, but its lower bound 8 is not checked\n")
    assert err == f"dfopt: result.json: {REMARK}\n"
    code, out, err = run(document, "--require-certificate")
    assert (code, out, err) == (1, "", f"dfopt: result.json: {REMARK}\n")


@pytest.mark.usefixtures("folder")
def test_says_in_one_line_what_is_wrong() -> None:
    code, out, err = run(optimal_document() | {"objective": 7, "lower_bound": 7})
    assert (code, out) == (1, "")
    assert err == (
        "dfopt: result.json: objective: is 7, but the schedule's is 8 "
        "(and 4 more; --json lists all)\n"
    )


@pytest.mark.parametrize(("changes", "code"), [({}, 0), ({"objective": 9}, 1), (SEARCH, 0)])
@pytest.mark.usefixtures("folder")
def test_json_is_the_published_document(changes: dict[str, Any], code: int) -> None:
    found, out, err = run(optimal_document() | changes, "--json")
    document = json.loads(out)
    Draft202012Validator(schema("verification")).validate(document)
    assert found == code
    assert document["ok"] is (code == 0)
    assert bool(document["problems"]) is (code == 1)
    assert document["bound_checked"] is (changes is not SEARCH)
    assert err.count("\n") == (1 if changes else 0)


@pytest.mark.usefixtures("folder")
def test_infeasible_result() -> None:
    instance, result = crowded()
    write_instance(instance, "instance.json")
    document = {
        "format": "dfopt-result/2",
        "instance": {"sha256": result.instance_sha256},
        "status": "infeasible",
        "stop_reason": "proof",
        "objective": None,
        "lower_bound": None,
        "schedule": None,
    }
    said = "verified: infeasible, 3 tasks do not fit on 2 CPUs that hold 1 each\n"
    assert run(document, "--require-certificate") == (0, said, "")


@pytest.mark.parametrize("missing", ["instance.json", "result.json"])
def test_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / "result.json").write_text(json.dumps(optimal_document()))
    (folder / missing).unlink()
    outcome = CliRunner().invoke(app, ["verify", "instance.json", "result.json", "--json"])
    assert outcome.exit_code == 1
    assert outcome.stdout == ""
    assert missing in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_help_has_an_example() -> None:
    outcome = CliRunner().invoke(app, ["verify", "--help"])
    assert outcome.exit_code == 0
    assert "dfopt verify instance.json result.json" in " ".join(outcome.stdout.split())
