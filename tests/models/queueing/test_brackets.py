"""Response times of queues: known values, and where a global queue beats partitions."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt_models.errors import ModelError
from dfopt_models.locks import all_busy
from dfopt_models.queueing import (
    crossings,
    global_queue,
    ideal,
    largest_reload,
    moving_service,
    partition,
    two_cpu_crossings,
)

loads = st.floats(0.01, 0.97)


@given(loads)
def test_one_and_two_cpus_have_closed_forms(load: float) -> None:
    assert all_busy(1, load) == pytest.approx(load)
    assert ideal(3.0, 1, load) == pytest.approx(partition(3.0, load))
    assert ideal(3.0, 2, load) == pytest.approx(3 / (1 - load**2))


@given(loads, st.integers(1, 40))
def test_erlang_c_by_its_sum(load: float, cpus: int) -> None:
    work = cpus * load
    terms = [work**count / math.factorial(count) for count in range(cpus + 1)]
    expected = terms[-1] / ((1 - load) * sum(terms[:-1]) + terms[-1])
    assert all_busy(cpus, load) == pytest.approx(expected)


@given(loads, st.integers(1, 32), st.floats(0, 2))
def test_brackets_are_in_order(load: float, cpus: int, reload: float) -> None:
    least = ideal(1.0, cpus, load) * (1 - 1e-12)
    assert least <= partition(1.0, load)
    assert least <= global_queue(1.0, reload, cpus, load)


PUBLISHED = {
    (2, 0.1): (0.0503, 0.9021),
    (2, 0.2): (0.102, 0.807),
    (4, 0.1): (0.070, 0.9055),
    (4, 0.5): (0.3035, 0.580),
    (16, 0.1): (0.086, 0.908),
    (16, 0.5): (0.320, 0.645),
}
"""For CPUs and reload over service: the loads between which a global queue is better."""


@pytest.mark.parametrize(("cpus", "reload"), PUBLISHED)
def test_where_a_global_queue_beats_partitions(cpus: int, reload: float) -> None:
    found = crossings(1.0, reload, cpus)
    assert found == pytest.approx(PUBLISHED[cpus, reload], abs=0.0005)


@given(st.sampled_from([2, 3, 4, 16]), st.floats(0.01, 1.0), st.floats(0.01, 10))
def test_crossings_are_where_both_are_equal(cpus: int, reload: float, service: float) -> None:
    found = crossings(service, reload * service, cpus)
    if found is None:
        assert reload > largest_reload(cpus) - 1e-5
        return
    for load in found:
        shared = global_queue(service, reload * service, cpus, load)
        assert shared == pytest.approx(partition(service, load), rel=1e-6)
    middle = sum(found) / 2
    assert global_queue(service, reload * service, cpus, middle) < partition(service, middle)
    if cpus == 2:
        assert found == pytest.approx(two_cpu_crossings(service, reload * service), abs=1e-6)


def test_reloads_that_are_too_long() -> None:
    assert [largest_reload(cpus) for cpus in (2, 4, 16)] == pytest.approx(
        [0.5, 0.599, 0.7605], abs=0.0001
    )
    assert two_cpu_crossings(1.0, 0.5) == pytest.approx((0.4, 0.4))
    assert crossings(1.0, 0.5, 2) is None
    assert crossings(1.0, 0.0, 4) is None
    assert crossings(1.0, 0.1, 1) is None
    assert largest_reload(1) == pytest.approx(0, abs=1e-9)


def test_the_global_queue_saturates_earlier() -> None:
    ratio = moving_service(1.0, 0.2, 4)
    assert ratio == pytest.approx(1.15)
    assert math.isfinite(global_queue(1.0, 0.2, 4, 0.999 / ratio))
    assert math.isinf(global_queue(1.0, 0.2, 4, 1.001 / ratio))


def test_no_order_falls_below_the_ideal() -> None:
    """A simulation: three CPUs; arrivals last come first served, without reloads."""
    random, cpus, load, jobs = Random(1), 3, 0.8, 60_000
    waiting: list[float] = []
    serving: list[float] = []
    clock, total, done, arrived = 0.0, 0.0, 0, 0
    while done < jobs:
        rate = cpus * load + len(serving)
        clock += random.expovariate(rate)
        if random.random() * rate < cpus * load:
            arrived += 1
            waiting.append(clock)
        else:
            total += clock - serving.pop(random.randrange(len(serving)))
            done += 1
        while waiting and len(serving) < cpus:
            serving.append(waiting.pop())
    assert total / done == pytest.approx(ideal(1.0, cpus, load), rel=0.05)


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(ModelError, match="service: must be positive"):
        crossings(0.0, 1.0, 2)
    with pytest.raises(ModelError, match="reload: must be at least 0"):
        crossings(1.0, -1.0, 2)
    with pytest.raises(ModelError, match="cpus: must be positive"):
        crossings(1.0, 1.0, 0)
