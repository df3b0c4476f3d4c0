"""Proofs as documents: what is written is read again, and what is wrong is named with its place."""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import asdict, fields

from dfopt.compare import CostModel
from dfopt.compare.attainable.bound.proof import StretchPrices, check_proof
from dfopt.compare.attainable.bound.proof_document import (
    SavedProof,
    digest_of,
    proof_document,
    read_proof,
    verify_proof,
    write_proof,
)
from dfopt.compare.dispatches import movable_dispatches
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF
from tests.compare.attainable.bound.alternating import saved_proof, written_trace
from tests.compare.attainable.bound.random_proofs import random_proof
from tests.compare.attainable.drawn import random_arrivals, random_limit

VALIDATOR = Draft202012Validator(schema("waiting-proof"))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["proof.json", "proof.json.gz"])
def test_what_is_written_is_read_again(seed: int, name: str, tmp_path: Path) -> None:
    random = Random(seed)
    arrivals = random_arrivals(random)
    proof = random_proof(random, arrivals, random_limit(random, arrivals).each)
    saved = SavedProof(
        trace="a trace",
        sha256=digest_of(arrivals),
        model=CostModel(penalty=PenaltyF(read_line=1, write_back=2)),
        lower_bound=3,
        **asdict(proof),
    )
    write_proof(tmp_path / name, saved)
    again = read_proof(tmp_path / name)
    assert (again.trace, again.sha256, again.model) == (saved.trace, saved.sha256, saved.model)
    assert again.wait == proof.wait
    for before, after in zip(proof.stretches, again.stretches, strict=True):
        for table in fields(StretchPrices)[2:]:
            for column in fields(getattr(before, table.name)):
                was, now = (getattr(getattr(s, table.name), column.name) for s in (before, after))
                assert np.array_equal(was, now)
                assert now.dtype == np.int64
    assert check_proof(arrivals, again) == check_proof(arrivals, proof)
    VALIDATOR.validate(proof_document(saved))


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    """A right document."""
    return proof_document(saved_proof(written_trace(tmp_path / "trace.txt")))


def changed(document: dict[str, Any], keys: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """Return a document with another value somewhere; None takes the key out."""
    other = copy.deepcopy(document)
    inner: Any = other
    for key in keys[:-1]:
        inner = inner[key]
    if value is None:
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = value
    return other


WRONG: list[tuple[tuple[str | int, ...], object, str]] = [
    (("format",), "dfopt-result/2", "format: the file holds a result (dfopt-result/2), for"),
    (("stretches",), None, "stretches: is missing; it is required"),
    (("stretches",), {}, "stretches: must be an array […], not an object"),
    (("stretches", 0, "end"), "soon", "stretches[0].end: "),
    (("stretches", 0, "hit"), {}, "stretches[0].hit: unknown key; did you mean 'hits'?"),
    (("stretches", 0, "hits", "price", 3), 2.5, "stretches[0].hits.price[3]: must be an integer"),
    (("stretches", 0, "hits", "price", 3), True, "stretches[0].hits.price[3]: must be an integer"),
    (("stretches", 0, "hits", "price", 3), 2**63, "stretches[0].hits.price[3]: must be an integer"),
    (("stretches", 0, "hits", "price"), None, "stretches[0].hits.price: is missing"),
    (("wait",), -1, "wait: "),
    (("model", "penalty", "kind"), "h", "model.penalty.kind: must be one of"),
    (("uses_lengths",), 1, "uses_lengths: must be true or false"),
    (("lower_bound",), -4, "lower_bound: "),
]


@pytest.mark.parametrize(("keys", "value", "said"), WRONG)
def test_what_is_wrong_is_named_with_its_place(
    keys: tuple[str | int, ...], value: object, said: str, document: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "proof.json"
    wrong = changed(document, keys, value)
    file.write_text(json.dumps(wrong))
    with pytest.raises(DfoptError) as caught:
        read_proof(file)
    assert str(caught.value).startswith(f"{file}: {said}")
    assert not VALIDATOR.is_valid(wrong)


def test_a_proof_is_verified_against_its_trace(tmp_path: Path) -> None:
    trace = written_trace(tmp_path / "trace.txt")
    found = verify_proof(trace, saved_proof(trace))
    assert found.ok
    assert (found.objective, found.lower_bound, found.bound_checked) == (None, 4, True)


def test_a_proof_may_claim_less_but_not_more(tmp_path: Path) -> None:
    trace = written_trace(tmp_path / "trace.txt")
    assert verify_proof(trace, saved_proof(trace, bound=3)).ok
    found = verify_proof(trace, saved_proof(trace, bound=5))
    assert found.problems == ("lower_bound: is 5, but the prices prove only 4",)
    assert not found.bound_checked


def test_a_proof_speaks_of_one_trace_alone(tmp_path: Path) -> None:
    trace = written_trace(tmp_path / "trace.txt")
    other = written_trace(tmp_path / "other.txt", "abaaa")
    assert verify_proof(other, saved_proof(trace)).problems[0].startswith("sha256: is that of ano")


def test_a_proof_adds_costs_up(tmp_path: Path) -> None:
    trace = written_trace(tmp_path / "trace.txt")
    model = CostModel(objective=Objective.MAX_PENALTY)
    assert verify_proof(trace, saved_proof(trace, model)).problems == (
        "model.objective: must be total-penalty, since costs are added up",
    )


def test_the_digest_depends_on_everything_that_a_bound_needs(tmp_path: Path) -> None:
    trace = written_trace(tmp_path / "trace.txt")
    digests = {
        digest_of(movable_dispatches(trace, model))
        for model in (CostModel(), CostModel(cold_start=True), CostModel(unmanaged="evict"))
    }
    # Nothing is unmanaged here.
    assert len(digests) == 2
