"""Bounds of stretches add up, whoever works on them, and are never above the least cost."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from dfopt.compare.attainable.bound import bound as whole
from dfopt.compare.attainable.bound.bound import (
    StretchBound,
    lower_bound,
    proven_bound,
    stretch_bounds,
)
from dfopt.compare.attainable.bound.proof import check_proof
from tests.compare.attainable.drawn import random_arrivals, random_limit
from tests.compare.attainable.enumeration import cheapest_schedule


def check_stretches(monkeypatch: pytest.MonkeyPatch, seeds: range) -> int:
    """Return the largest number of stretches; they have about two dispatches each."""
    monkeypatch.setattr(whole, "DISPATCHES_A_STRETCH", 2)
    most = 0
    for seed in seeds:
        random = Random(seed)
        arrivals = random_arrivals(random, most=6)
        limit = random_limit(random, arrivals)
        cheapest = cheapest_schedule(arrivals, limit)
        assert cheapest is not None
        for uses_lengths in (False, True):
            bound = lower_bound(arrivals, limit.each, uses_lengths=uses_lengths)
            assert bound.value <= cheapest[0], (seed, uses_lengths)
            assert check_proof(arrivals, bound.proof).value == bound.value
            most = max(most, len(bound.proof.stretches))
    return most


def test_short_stretches_prove_no_more_than_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_stretches(monkeypatch, range(20)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_many_short_stretches_prove_no_more_than_is_true(
    monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    check_stretches(monkeypatch, range(20 + 30 * part, 50 + 30 * part))


def test_stretches_can_be_worked_on_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "DISPATCHES_A_STRETCH", 2)
    random = Random(3)
    arrivals = random_arrivals(random, most=6)
    limit = random_limit(random, arrivals)
    bound = lower_bound(arrivals, limit.each, uses_lengths=True)
    work = stretch_bounds(arrivals, limit.each, uses_lengths=True)
    proofs = []
    for stretch in reversed(work):
        elsewhere = pickle.loads(pickle.dumps(stretch))
        assert isinstance(elsewhere, StretchBound)
        proofs.append(elsewhere.perform())
    again = proven_bound(arrivals, proofs)
    assert again.value == bound.value
    assert len(again.proof.stretches) == len(bound.proof.stretches)
