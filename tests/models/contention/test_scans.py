"""Scans, bands and borrowing, against enumeration and simulation."""

import random
from heapq import heappop, heappush
from itertools import product

import pytest

from dfopt_models.errors import ModelError
from dfopt_models.locks import all_busy, borrowing, expected_looks, look_time, loss, third_band


@pytest.mark.parametrize("chances", [(0.2, 0.5, 0.9), (0.0, 0.3), (0.4, 0.4, 1.0), (1.0, 1.0)])
@pytest.mark.parametrize("cpus", [1, 3])
def test_looks_are_those_of_all_cases(chances, cpus):
    """Each queue has its first thread in some band, or none; scans look until they find one."""
    steps = [now - before for before, now in zip((0.0, *chances), (*chances, 1.0), strict=True)]
    expected = [0.0] * len(chances)
    for bands in product(range(len(steps)), repeat=cpus):
        weight = 1.0
        for band in bands:
            weight *= steps[band]
        for scan in range(len(chances)):
            found = next((place for place, band in enumerate(bands) if band <= scan), None)
            expected[scan] += weight * (cpus if found is None else found + 1)
            if found is not None:
                break
    assert expected_looks(chances, cpus) == pytest.approx(expected)


def test_a_band_that_is_never_there_costs_a_look_into_every_queue():
    assert expected_looks((0.0, 0.7), 10)[0] == 10


def test_chances_never_fall():
    with pytest.raises(ModelError, match=r"chances\[1\]: must be from 0.5 to 1"):
        expected_looks((0.5, 0.2), 4)
    with pytest.raises(ModelError):
        expected_looks((float("nan"),), 4)
    with pytest.raises(ModelError):
        expected_looks((0.5,), 0)


def test_a_third_scan_on_more_cpus():
    look = look_time(1.03, 4)
    assert look == pytest.approx(0.0075)
    assert 10 * look == pytest.approx(0.075)


def test_waits_of_a_single_cpu():
    """Where one CPU serves everything, all are busy as often as it is."""
    assert all_busy(1, 0.6) == pytest.approx(0.6)
    # Waits 0.6/0.4 = 1.5 without bands, and 1.5·0.4/0.7 with half of the load before the rest.
    assert third_band(1, 0.6, 0.5, 1.0) == pytest.approx((1 + 0.6 / 0.7) / 2.5)


def test_bands_change_no_mean_wait():
    """What the first band gains the other one loses (conservation), on four CPUs too."""
    cpus, load, first = 4, 0.8, 0.3
    together = all_busy(cpus, load) / (cpus * (1 - load))
    ahead = together * (1 - load) / (1 - first * load)
    behind = ahead / (1 - load)
    assert first * ahead + (1 - first) * behind == pytest.approx(together)
    assert third_band(cpus, load, first, 2.0) == pytest.approx((2 + ahead) / (2 + together))


def test_parameters_of_bands():
    for wrong in ((1.0, 0.5, 1.0), (0.5, 1.5, 1.0), (0.5, 0.5, 0.0)):
        with pytest.raises(ModelError):
            third_band(4, *wrong)


def test_erlang_by_hand():
    assert loss(1, 2.0) == pytest.approx(2 / 3)
    assert loss(2, 2.0) == pytest.approx(2 / 5)
    assert loss(0, 2.0) == 1


@pytest.mark.parametrize(("cpus", "each", "used"), [(4, 8, 4.0), (10, 4, 3.0), (4, 3, 6.0)])
def test_borrowing_as_simulated(cpus, each, used):
    rng = random.Random(3)
    free = [each] * cpus
    returned = []
    now, empty, none, requests = 0.0, 0, 0, 30_000
    for _ in range(requests):
        now += rng.expovariate(cpus * used)
        while returned and returned[0][0] <= now:
            free[heappop(returned)[1]] += 1
        own = rng.randrange(cpus)
        empty += not free[own]
        home = next((h % cpus for h in range(own, own + cpus) if free[h % cpus]), None)
        if home is None:
            none += 1
            continue
        free[home] -= 1
        heappush(returned, (now + rng.expovariate(1.0), home))
    found = borrowing(cpus, each, used)
    assert found.none == pytest.approx(none / requests, abs=0.015)
    assert found.own_empty == pytest.approx(empty / requests, abs=0.03)
    assert found.none <= loss(each, used) <= found.own_empty
    assert found.borrowed == found.own_empty - found.none


def test_a_single_cpu_borrows_nothing():
    assert borrowing(1, 5, 3.0).borrowed == pytest.approx(0, abs=1e-9)


def test_parameters_of_borrowing():
    for wrong in ((0, 5, 3.0), (4, 0, 3.0), (4, 5, 0.0)):
        with pytest.raises(ModelError):
            borrowing(*wrong)
