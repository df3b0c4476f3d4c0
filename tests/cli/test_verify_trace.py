"""``dfopt verify`` of proofs that belong to traces."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable.bound.proof_document import proof_document, write_proof
from dfopt.compare.attainable.schedule_traces import schedule_trace
from dfopt.compare.dispatches import movable_dispatches
from dfopt.files import schema
from dfopt.trace import Trace, write_trace
from dfopt_cli.app import app
from tests.compare.attainable.bound.alternating import LABELS, saved_proof, written_trace


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    """The trace in the current folder, beside a proof that belongs to it."""
    monkeypatch.chdir(tmp_path)
    recorded = written_trace(tmp_path / "trace.txt")
    write_proof("proof.json", saved_proof(recorded))
    return recorded


def run(*arguments: str) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, ["verify", *arguments])
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    return outcome.exit_code, outcome.stdout, outcome.stderr


PROVEN = "verified: no schedule with these arrivals in which "


@pytest.mark.usefixtures("trace")
def test_says_what_is_proven() -> None:
    assert run("trace.txt", "proof.json", "--df", LABELS) == (
        0,
        f"{PROVEN}nobody waits longer than recorded has fewer than 4 switches, whatever the "
        "lengths of its dispatches; checked in integers\n",
        "",
    )


def test_says_which_waits_are_permitted(trace: Trace) -> None:
    saved = saved_proof(trace, bound=0)
    proof = replace(saved, wait=1500, uses_lengths=True, stretches=())
    write_proof("proof.json.gz", proof)
    code, out, _ = run("trace.txt", "proof.json.gz", "--df", LABELS)
    assert code == 0
    assert out == (
        f"{PROVEN}nobody waits longer than 1.5 µs, or than recorded has fewer than 0 switches, "
        "if its dispatches are as long as recorded; checked in integers\n"
    )


@pytest.mark.usefixtures("trace")
def test_prints_a_document() -> None:
    code, out, err = run("trace.txt", "proof.json", "--df", LABELS, "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    Draft202012Validator(schema("verification")).validate(document)
    assert document == {
        "format": "dfopt-verification/1",
        "ok": True,
        "objective": None,
        "lower_bound": 4,
        "bound_checked": True,
        "problems": [],
        "certificate_kind": "prices",
    }


def test_a_wrong_price_is_named(trace: Trace) -> None:
    document = proof_document(saved_proof(trace))
    document["stretches"][0]["hits"]["price"][2] = -1
    Path("proof.json").write_text(json.dumps(document))
    code, out, err = run("trace.txt", "proof.json", "--df", LABELS)
    assert (code, out) == (1, "")
    assert err == (
        "dfopt: proof.json: stretches[0]: hits.price: must be from 0 to 576460752303423488\n"
    )


@pytest.mark.usefixtures("trace")
def test_other_labels_are_refused() -> None:
    Path("labels.csv").write_text("tid,df\n10,x\n11,x\n")
    code, _, err = run("trace.txt", "proof.json", "--df", "labels.csv")
    assert code == 1
    assert err.startswith("dfopt: proof.json: sha256: is that of another trace, or of other labels")
    assert err.endswith("the labels that it had then (--df)\n")


def test_another_document_is_no_proof(trace: Trace) -> None:
    document = proof_document(saved_proof(trace)) | {"format": "dfopt-waiting-proof/1"}
    Path("proof.json").write_text(json.dumps(document))
    code, _, err = run("trace.txt", "proof.json", "--df", LABELS)
    assert code == 1
    assert err == (
        "dfopt: proof.json: format: must be 'dfopt-waiting-proof/2', not 'dfopt-waiting-proof/1'\n"
    )


@pytest.mark.usefixtures("trace")
def test_a_proof_comes_after_its_trace() -> None:
    code, _, err = run("proof.json", "trace.txt")
    assert code == 1
    assert err == (
        "dfopt: proof.json: format: the file holds a proof of a bound for a trace "
        "(dfopt-waiting-proof/2), for 'dfopt verify'; an instance is due here, as made by "
        "'dfopt import', 'dfopt trace to-instance' and 'dfopt generate'\n"
    )


@pytest.mark.usefixtures("trace")
def test_instances_have_their_own_fragments() -> None:
    Path("instance.json").write_text('{"format": "dfopt-instance/1"}')
    code, _, err = run("instance.json", "proof.json", "--df", "own")
    assert code == 2
    assert "are for traces; an instance" in " ".join(err.replace("│", " ").split())


def write_schedule(trace: Trace, later: int, file: str = "schedule.jsonl") -> None:
    """Write a schedule in which every dispatch starts later than recorded."""
    arrivals = movable_dispatches(trace, CostModel())
    schedule = arrivals.moved(arrivals.cpu, arrivals.start + later)
    write_trace(schedule_trace(trace, schedule), file)


def test_says_what_a_schedule_attains(trace: Trace) -> None:
    write_schedule(trace, 0)
    assert run("trace.txt", "schedule.jsonl", "--df", LABELS) == (
        0,
        "verified: a schedule with these arrivals has 4 switches (recorded: 4); nobody waits "
        "longer than recorded, the mean wait is 0, and 99 % wait at most 0\n",
        "",
    )
    write_schedule(trace, 1500)
    code, out, _ = run("trace.txt", "schedule.jsonl", "--df", LABELS, "--fill", "3")
    assert code == 0
    assert out == (
        "verified: a schedule with these arrivals costs 12 (recorded: 12); nobody waits longer "
        "than 1.5 µs, or than recorded, the mean wait is 1.5 µs, and 99 % wait at most 1.5 µs\n"
    )
    code, out, _ = run("trace.txt", "schedule.jsonl", "--df", LABELS, "--json")
    document = json.loads(out)
    Draft202012Validator(schema("verification")).validate(document)
    assert document["objective"] == 4
    assert document["schedule"] == {
        "recorded_cost": 4,
        "permitted_wait": 1500,
        "total_wait": 7500,
        "p99_wait": 1500,
    }


def test_a_schedule_that_breaks_a_rule_fails(trace: Trace) -> None:
    write_schedule(trace, -5)
    code, out, err = run("trace.txt", "schedule.jsonl", "--df", LABELS)
    assert (code, out) == (1, "")
    assert err.startswith("dfopt: schedule.jsonl: ")
    assert err.endswith(" (and 4 more; --json lists all)\n")


@pytest.mark.usefixtures("trace")
def test_a_schedule_of_another_trace_is_refused() -> None:
    other = written_trace(Path("other.txt"), "abab")
    write_schedule(other, 0)
    assert run("trace.txt", "schedule.jsonl", "--df", LABELS) == (
        1,
        "",
        "dfopt: schedule.jsonl: has 4 dispatches, and the recording has 5; name a schedule of "
        "this trace\n",
    )


@pytest.mark.usefixtures("trace")
def test_a_proof_has_its_own_costs() -> None:
    code, _, err = run("trace.txt", "proof.json", "--df", LABELS, "--fill", "2")
    assert code == 2
    assert "a proof contains its costs" in " ".join(err.replace("│", " ").split())


@pytest.mark.usefixtures("trace")
def test_certificates_are_for_results() -> None:
    code, _, err = run("trace.txt", "proof.json", "--df", LABELS, "--require-certificate")
    assert code == 2
    assert "is for results of an instance" in " ".join(err.replace("│", " ").split())
