"""The checker of proofs: no prices prove more than is true, and faulty proofs are refused."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare.attainable.bound.bound import lower_bound
from dfopt.compare.attainable.bound.proof import (
    DispatchPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
    check_proof,
)
from dfopt.compare.dispatches import Dispatches
from tests.compare.attainable.bound.random_proofs import (
    improved_proofs,
    random_proof,
    tampered_proof,
)
from tests.compare.attainable.drawn import random_arrivals, random_limit
from tests.compare.attainable.enumeration import cheapest_schedule
from tests.compare.attainable.tables import fixed, table


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_no_prices_prove_more_than_the_cheapest_schedule_costs(seed: int) -> None:
    random = Random(seed)
    arrivals = random_arrivals(random, most=5)
    limit = random_limit(random, arrivals)
    cheapest = cheapest_schedule(arrivals, limit)
    assert cheapest is not None
    checked = check_proof(arrivals, random_proof(random, arrivals, limit.each))
    assert checked.problems == ()
    assert checked.value is not None
    assert checked.value <= cheapest[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_prices_that_were_improved_prove_no_more_either(seed: int) -> None:
    random = Random(seed)
    arrivals = random_arrivals(random, most=5)
    limit = random_limit(random, arrivals)
    cheapest = cheapest_schedule(arrivals, limit)
    assert cheapest is not None
    proof = random_proof(random, arrivals, limit.each)
    for _, value in improved_proofs(random, arrivals, proof, 100):
        assert value <= cheapest[0]


@pytest.mark.parametrize("seed", range(25))
def test_tampered_proofs_are_refused_or_valid(seed: int) -> None:
    random = Random(seed)
    arrivals = random_arrivals(random, most=5)
    limit = random_limit(random, arrivals)
    cheapest = cheapest_schedule(arrivals, limit)
    assert cheapest is not None
    proof = lower_bound(arrivals, limit.each, uses_lengths=True).proof
    for _ in range(5):
        checked = check_proof(arrivals, tampered_proof(random, proof))
        assert (checked.value is None) == (checked.problems != ())
        assert checked.value is None or checked.value <= cheapest[0]


@pytest.mark.parametrize("seed", range(25))
def test_bounds_without_lengths_hold_for_all_lengths(seed: int) -> None:
    random = Random(seed)
    arrivals = random_arrivals(random, most=5, zero_lengths=False)
    limit = random_limit(random, arrivals)
    bound = lower_bound(arrivals, limit.each, uses_lengths=False).value
    for _ in range(3):
        length = [random.randint(1, int(recorded) + 3) for recorded in arrivals.length]
        cheapest = cheapest_schedule(replace(arrivals, length=column(*length)), limit)
        # With longer dispatches there may be no schedule at all.
        assert cheapest is None or bound <= cheapest[0]


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def recorded(
    *dispatches: tuple[int, int, int], cpus: int = 1, cuts: tuple[int, ...] = ()
) -> Dispatches:
    """Return dispatches of own tasks (fragment, start, length), all ready when they start."""
    fragment, start, length = zip(*dispatches, strict=True)
    return table(
        cpus=cpus,
        fragment=fragment,
        start=start,
        length=length,
        entry=1,
        cuts=[(0, time) for time in cuts],
    )


ALTERNATING = recorded((0, 0, 2), (1, 2, 2), (0, 4, 2), (1, 6, 2), (0, 8, 2))
"""One CPU that must change its fragment four times, if nobody may be later."""

HITS = StretchPrices(
    begin=0,
    end=10,
    hits=DispatchPrices(dispatch=column(0, 1, 2, 3, 4), price=column(2, 2, 2, 2, 2)),
)


def proof_of(*stretches: StretchPrices, **others: object) -> WaitingProof:
    """Return a proof that nobody waits longer than recorded; one unit of cost is one of price."""
    whole = {"wait": 0, "uses_lengths": True, "scale": 1} | others
    return WaitingProof(stretches=stretches or (HITS,), **whole)  # type: ignore[arg-type]


def test_prices_of_hits_prove_every_switch() -> None:
    # 5 hits at 2 each; the CPU has them all, and pays for 4 entries.
    assert check_proof(ALTERNATING, proof_of(HITS)).value == 4


def test_prices_of_services_prove_every_switch() -> None:
    services = DispatchPrices(dispatch=column(0, 1, 2, 3, 4), price=column(2, 2, 2, 2, 2))
    stretch = replace(HITS, hits=DispatchPrices(), services=services)
    assert check_proof(ALTERNATING, proof_of(stretch)).value == 4


def test_prices_of_what_runs_prove_every_switch() -> None:
    held = TimePrices(
        fragment=column(0, 1, 0, 1, 0), time=column(1, 3, 5, 7, 9), price=column(2, 2, 2, 2, 2)
    )
    stretch = replace(HITS, hits=DispatchPrices(), held=held)
    assert check_proof(ALTERNATING, proof_of(stretch)).value == 4


def test_a_cpu_runs_nothing_across_its_blocks() -> None:
    # The last dispatch can run before the second one, unless a block leaves too little time.
    waiting = recorded((0, 0, 4), (1, 20, 4), (0, 24, 4))
    free = replace(waiting, ready_from=waiting.ready_from * 0, ready_by=waiting.ready_by * 0)
    blocked = replace(free, around=fixed([(0, 6, 20, False)]))
    services = DispatchPrices(dispatch=column(0, 1, 2), price=column(2, 2, 2))
    stretch = StretchPrices(begin=0, end=40, services=services)
    # The last dispatch before and after the second one: that is rewarded twice.
    assert check_proof(free, proof_of(stretch)).value == 0
    assert check_proof(blocked, proof_of(stretch)).value == 2


def test_bounds_of_stretches_add_up() -> None:
    first = replace(
        HITS, end=5, hits=DispatchPrices(dispatch=column(0, 1, 2), price=column(2, 2, 2))
    )
    second = replace(HITS, begin=5, hits=DispatchPrices(dispatch=column(3, 4), price=column(2, 2)))
    # The switch between the stretches belongs to neither.
    assert check_proof(ALTERNATING, proof_of(first, second)).value == 2 + 1


def test_each_stretch_is_rounded_up() -> None:
    third = replace(HITS, hits=DispatchPrices(dispatch=column(0, 1), price=column(1, 1)))
    # 1 + 1 - 1 = 1 of a scale of 3.
    assert check_proof(ALTERNATING, proof_of(third, scale=3)).value == 1


def test_rewards_above_the_cost_of_an_entry_are_refused() -> None:
    greedy = StretchPrices(
        begin=0, end=20, hits=DispatchPrices(dispatch=column(0, 2, 4), price=column(2, 2, 2))
    )
    assert check_proof(ALTERNATING, proof_of(greedy, wait=0)).value == 0
    (problem,) = check_proof(ALTERNATING, proof_of(greedy, wait=4)).problems
    assert problem.endswith("exceed its cost; write the proof anew with the comparison")


def test_many_long_dispatches_need_many_cpus() -> None:
    arrivals = recorded((0, 0, 9), (0, 0, 9), (0, 0, 9), (1, 20, 9), (1, 20, 9), cpus=3)
    running = StretchPrices(
        begin=0,
        end=40,
        held=TimePrices(fragment=column(0, 1), time=column(4, 22), price=column(1, 1)),
    )
    # 3 CPUs hold fragment 0 at time 4, so that the 2 that hold fragment 1 at time 22 change to it.
    assert check_proof(arrivals, proof_of(running)).value == 2


FAULTY = {
    "hits.dispatch: must be from 0 to 4": {
        "hits": DispatchPrices(dispatch=column(5), price=column(1))
    },
    "hits: must have columns of one length": {
        "hits": DispatchPrices(dispatch=column(0), price=column())
    },
    "hits.price: must be from 0": {"hits": DispatchPrices(dispatch=column(0), price=column(-1))},
    "held.time: must be from 0 to 9": {
        "held": TimePrices(fragment=column(0), time=column(10), price=column(1))
    },
    "held.fragment: must be from 0 to 1": {
        "held": TimePrices(fragment=column(7), time=column(1), price=column(1))
    },
    "held: nothing of the fragment must run at 3": {
        "held": TimePrices(fragment=column(0), time=column(3), price=column(1))
    },
    "hits.dispatch: one may start outside the stretch": {"begin": 1},
    "services.dispatch: one may start outside the stretch": {
        "begin": 1,
        "hits": DispatchPrices(),
        "services": DispatchPrices(dispatch=column(0), price=column(1)),
    },
    "services.dispatch: names a dispatch twice": {
        "services": DispatchPrices(dispatch=column(0, 0), price=column(1, 1))
    },
    "end: must be after begin": {"end": 0},
    "hits: the sum of prices can exceed 2^59; take a smaller scale": {
        "hits": DispatchPrices(dispatch=column(1, 2), price=column(2**58, 2**58 + 1))
    },
}


@pytest.mark.parametrize("problem", FAULTY)
def test_faulty_stretches_are_refused(problem: str) -> None:
    checked = check_proof(ALTERNATING, proof_of(replace(HITS, **FAULTY[problem])))
    assert checked.value is None
    assert len(checked.problems) == 1
    assert checked.problems[0].startswith(f"stretches[0]: {problem}")


def test_stretches_must_not_overlap_nor_contain_a_cut() -> None:
    checked = check_proof(ALTERNATING, proof_of(HITS, HITS))
    assert checked.problems == ("stretches[1]: it begins before the stretch before it ends",)
    cut = recorded((0, 0, 2), (1, 2, 2), (0, 4, 2), (1, 6, 2), (0, 8, 2), cuts=(5,))
    assert "a cut of the recording" in check_proof(cut, proof_of(HITS)).problems[0]


def test_a_proof_without_lengths_may_not_use_them() -> None:
    lengths = replace(
        HITS,
        services=DispatchPrices(dispatch=column(0), price=column(1)),
    )
    checked = check_proof(ALTERNATING, proof_of(lengths, uses_lengths=False))
    assert checked.problems == (
        "stretches[0]: services: must be empty, since lengths are not used",
    )


def test_a_dispatch_without_length_is_no_service() -> None:
    short = recorded((0, 0, 2), (1, 2, 0))
    stretch = replace(
        HITS, hits=DispatchPrices(), services=DispatchPrices(dispatch=column(1), price=column(1))
    )
    checked = check_proof(short, proof_of(stretch))
    assert checked.problems == ("stretches[0]: services.dispatch: one has no length",)


def test_the_whole_of_a_proof_is_checked() -> None:
    whole = {
        "scale: must be at least 1": proof_of(scale=0),
        "wait: must be from 0 to 2^59": proof_of(wait=-1),
        "a cost x scale can exceed 2^59; take a smaller scale": proof_of(scale=2**60),
    }
    assert check_proof(ALTERNATING, proof_of(wait=2**62)).problems == tuple(whole)[1:2]
    for problem, proof in whole.items():
        assert check_proof(ALTERNATING, proof).problems == (problem,)
