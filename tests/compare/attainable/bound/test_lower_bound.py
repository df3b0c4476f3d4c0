"""Bounds within a waiting limit: never above the least cost, and often equal to it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from dfopt import replace
from dfopt.compare.attainable.bound import bound as search
from dfopt.compare.attainable.bound import prices, proof
from dfopt.compare.attainable.bound.bound import lower_bound, proven_bound, stretch_bounds
from dfopt.compare.attainable.bound.proof import check_proof
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.trace import read_trace
from dfopt.trace.labels import label
from tests.compare.attainable.drawn import random_arrivals, random_case, random_limit
from tests.compare.attainable.enumeration import cheapest_schedule

FEW = 20
FEWEST_BITS = 2**24


def check_bounds(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        arrivals = random_arrivals(random, most=6)
        limit = random_limit(random, arrivals)
        cheapest = cheapest_schedule(arrivals, limit)
        assert cheapest is not None
        for uses_lengths in (False, True):
            bound = lower_bound(arrivals, limit.each, uses_lengths=uses_lengths)
            assert bound.value <= cheapest[0], (seed, uses_lengths)
            checked = check_proof(arrivals, bound.proof)
            assert checked.problems == ()
            assert checked.value == bound.value


def test_bounds_are_never_above_the_least_cost() -> None:
    check_bounds(range(FEW))


def test_prices_that_add_up_to_too_much_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    coarser = 0
    for seed in range(8):
        random = Random(seed)
        arrivals = random_arrivals(random, most=6)
        limit = random_limit(random, arrivals)
        cheapest = cheapest_schedule(arrivals, limit)
        assert cheapest is not None
        fine = lower_bound(arrivals, limit.each, uses_lengths=True)
        with monkeypatch.context() as patched:
            for module in (search, prices, proof):
                patched.setattr(module, "LARGEST", FEWEST_BITS)
            bound = lower_bound(arrivals, limit.each, uses_lengths=True)
            coarser += bound.proof.scale < fine.proof.scale
            assert check_proof(arrivals, bound.proof).value == bound.value
        assert fine.value - 1 <= bound.value <= cheapest[0]
    assert coarser >= 4


def test_a_fragment_of_which_nothing_can_start_in_a_stretch() -> None:
    arrivals, limit = random_case(5_050_927, most=6)
    cheapest = cheapest_schedule(arrivals, limit)
    bound = lower_bound(arrivals, limit.each, uses_lengths=True)
    assert cheapest is not None
    assert bound.value <= cheapest[0]
    assert check_proof(arrivals, bound.proof).value == bound.value


def test_more_effort_raises_a_bound() -> None:
    arrivals, limit = random_case(18, most=30)
    found = []
    for effort in (0.01, 1.0):
        work = stretch_bounds(arrivals, limit.each, uses_lengths=True, effort=effort)
        found.append(proven_bound(arrivals, [stretch.perform() for stretch in work]).value)
    assert found[0] < found[1]


def test_nothing_can_be_moved_in_a_trace_without_idle_time(shared: Path) -> None:
    """Of 242 dispatches it is open when they were ready; no schedule runs them sooner."""
    trace = read_trace(
        shared / "data/traces/hackbench_thread_g4_l30.perf_sched_script_pidtid.txt.gz"
    )
    recorded = movable_dispatches(label(trace, "wakeups"), CostModel())
    open_when = int((recorded.ready_from < recorded.ready_by).sum())
    assert (len(recorded), open_when, cost_of(recorded)) == (2_283, 242, 717)
    bound = lower_bound(recorded, 0, uses_lengths=True)
    assert bound.value == 710
    # Proofs from before leave that open: then the same prices prove nothing.
    assert check_proof(recorded, replace(bound.proof, as_in_schedules=False)).value is None


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_bounds_of_many_traces_are_never_above_the_least_cost(part: int) -> None:
    check_bounds(range(FEW + 50 * part, FEW + 50 * (part + 1)))
