"""Contention for locks, against closed forms, other methods and simulations."""

import random
from heapq import heapify, heapreplace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt_models.errors import ModelError
from dfopt_models.locks import (
    Holds,
    SpinLocks,
    constant_holds,
    contention,
    loss,
    own_lock_first,
    think_for,
)

TIMES = st.floats(0.1, 50)


def uses_of(found, think, hold=1.0):
    """Return rounds in a unit of time: in each the CPU computes and holds a lock."""
    return found.work / (think + hold)


@given(st.integers(1, 40), TIMES, TIMES)
def test_one_lock_is_the_loss_system_seen_from_the_other_side(cpus, think, hold):
    """The lock is free where all CPUs compute: Erlang's formula, with CPUs for servers."""
    found = contention(cpus, think, [SpinLocks(hold)])
    assert uses_of(found, think, hold) * hold == pytest.approx(
        1 - loss(cpus, think / hold), abs=1e-9
    )


@given(st.integers(2, 40), TIMES, st.integers(1, 40), st.sampled_from(Holds))
def test_a_lock_is_found_as_busy_as_the_others_keep_it(cpus, think, copies, holds):
    if holds is Holds.CONSTANT and copies == 1:
        return  # exact, and then the law does not hold
    found = contention(cpus, think, [SpinLocks(1.0, copies)], holds)
    fewer = contention(cpus - 1, think, [SpinLocks(1.0, copies)], holds)
    assert found.miss == pytest.approx(uses_of(fewer, think) / copies)


@given(st.integers(1, 30), TIMES, st.sampled_from(Holds))
def test_work_and_spinning_are_all_cpus(cpus, think, holds):
    for copies in (1, cpus):
        found = contention(cpus, think, [SpinLocks(1.0, copies)], holds)
        assert found.work + found.spinning * cpus == pytest.approx(cpus)
        assert 0 <= found.miss <= 1
        assert uses_of(found, think) <= copies * (1 + 1e-9)


@given(st.integers(1, 30), TIMES, TIMES)
def test_own_locks_used_alike_are_several_locks(cpus, think, hold):
    own = own_lock_first(cpus, think, hold, 1.0)
    alike = contention(cpus, think, [SpinLocks(hold, cpus)])
    assert own.miss == pytest.approx(alike.miss)
    assert own.work == pytest.approx(alike.work)


def test_who_takes_only_its_own_lock_never_waits():
    found = own_lock_first(10, 3.0, 1.0, 0.0)
    assert (found.miss, found.spinning) == (0, pytest.approx(0, abs=1e-12))


@given(st.integers(2, 20), st.floats(0.05, 0.95), st.sampled_from(Holds))
def test_a_think_time_is_found_again(cpus, misses, holds):
    think = think_for(misses, cpus, 2.0, holds)
    assert contention(cpus, think, [SpinLocks(2.0)], holds).miss == pytest.approx(misses)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: contention(0, 1.0, [SpinLocks(1.0)]),
        lambda: contention(2, float("nan"), [SpinLocks(1.0)]),
        lambda: contention(2, 1.0, [SpinLocks(0.0)]),
        lambda: contention(2, 1.0, []),
        lambda: contention(2, 1.0, [SpinLocks(1.0, 0)]),
        lambda: own_lock_first(2, 1.0, 1.0, 1.5),
        lambda: think_for(1.0, 10),
        lambda: think_for(0.5, 1),
    ],
)
def test_what_is_no_number_of_the_model_is_refused(wrong):
    with pytest.raises(ModelError):
        wrong()


def test_extremes_are_no_errors():
    assert constant_holds(1, 5.0, 1.0).miss == 0
    assert constant_holds(12, 1e-6, 1.0).work == pytest.approx(1)
    assert constant_holds(300, 1000.0, 1.0).work == pytest.approx(300, rel=0.01)


def simulated(cpus, think, choose, hold, *, uses):
    """Return how often a lock is found taken, and uses in a unit of time."""
    free = [0.0] * cpus
    asking = [(random_think(think), cpu) for cpu in range(cpus)]
    heapify(asking)
    misses = 0
    for _ in range(uses):
        now, cpu = asking[0]
        lock = choose(cpu)
        misses += free[lock] > now
        free[lock] = max(free[lock], now) + hold()
        heapreplace(asking, (free[lock] + random_think(think), cpu))
    return misses / uses, uses / now


RANDOM = random.Random(5)


def random_think(think):
    return RANDOM.expovariate(1 / think)


@pytest.mark.parametrize("spread", [0.2, 0.5])
def test_own_locks_first_as_simulated(spread):
    cpus = 6

    def choose(cpu):
        return RANDOM.randrange(cpus) if RANDOM.random() < spread else cpu

    misses, uses = simulated(cpus, 1.0, choose, lambda: RANDOM.expovariate(1.0), uses=40_000)
    found = own_lock_first(cpus, 1.0, 1.0, spread)
    assert misses == pytest.approx(found.miss, abs=0.012)
    assert uses == pytest.approx(uses_of(found, 1.0), rel=0.02)


def test_constant_holds_as_simulated():
    misses, uses = simulated(8, 5.0, lambda _: 0, lambda: 1.0, uses=40_000)
    found = constant_holds(8, 5.0, 1.0)
    assert misses == pytest.approx(found.miss, abs=0.012)
    assert uses == pytest.approx(uses_of(found, 5.0), rel=0.02)


def test_constant_holds_of_several_locks_are_nearly_as_simulated():
    misses, uses = simulated(8, 5.0, lambda _: RANDOM.randrange(8), lambda: 1.0, uses=40_000)
    found = contention(8, 5.0, [SpinLocks(1.0, 8)], Holds.CONSTANT)
    assert misses == pytest.approx(found.miss, abs=0.012)
    assert uses == pytest.approx(uses_of(found, 5.0), rel=0.02)
