"""Local search: every schedule is valid, none costs less than the optimum, most cost as much."""

import zlib
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from dfopt.compare.attainable import local_search
from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.local_search import improve
from dfopt.compare.paid import cost_of
from tests.compare.attainable.drawn import drawn_cases, random_arrivals, random_case
from tests.compare.attainable.enumeration import cheapest_schedule
from tests.compare.attainable.tables import table

SAMPLE = 100
STEPS = 5_000


@settings(max_examples=30)
@given(drawn_cases(budgets=True, most=12))
def test_is_valid_and_no_more_expensive(case):
    arrivals, limit = case
    recorded = arrivals
    found = improve(recorded, limit, steps=500)
    assert check_schedule(found, limit) == []
    assert cost_of(found) <= cost_of(recorded)


@pytest.mark.slow
def test_finds_most_optima():
    equal = 0
    for seed in range(SAMPLE):
        arrivals, limit = random_case(seed, budgets=seed % 2 == 1)
        found = improve(arrivals, limit, steps=STEPS, seed=seed)
        assert check_schedule(found, limit) == []
        optimum, _ = cheapest_schedule(arrivals, limit)
        assert cost_of(found) >= optimum
        equal += cost_of(found) == optimum
    assert equal >= 0.98 * SAMPLE


def larger(seed=0):
    return random_arrivals(Random(seed), most=120, most_cpus=3, costs="counting")


def test_same_seed_same_schedule():
    arrivals = larger(3)
    recorded = arrivals
    found = [improve(recorded, WaitingLimit(each=5), steps=20_000, seed=seed) for seed in (1, 1, 2)]
    assert np.array_equal(found[0].start, found[1].start)
    assert np.array_equal(found[0].cpu, found[1].cpu)
    assert not np.array_equal(found[0].start, found[2].start)


def test_changes_are_the_same_on_every_machine():
    """Each compiler has to round alike, and no library may decide about random numbers."""
    answers = []
    for seed, costs in enumerate(("counting", "g", "f", "matrix")):
        arrivals = random_arrivals(Random(seed), most=120, most_cpus=3, costs=costs)
        recorded = arrivals
        found = improve(recorded, WaitingLimit(each=5), steps=5_000, seed=seed)
        answers.append(zlib.crc32(str((found.cpu.tolist(), found.start.tolist())).encode()))
    assert answers == [2492337321, 1464931617, 519683723, 2626973356]


@pytest.mark.parametrize("seed", range(4))
def test_stretches(monkeypatch, seed):
    # What is short of a stretch in use: dispatches outside that wait, and are waited for.
    monkeypatch.setattr(local_search, "STRETCH", 12)
    arrivals = random_arrivals(Random(seed), most=120)
    recorded = arrivals
    for limit in (WaitingLimit(each=3), WaitingLimit(total=10**6, long=4, most_long=10**6)):
        found = improve(recorded, limit, steps=5_000)
        assert check_schedule(found, limit) == []
        assert cost_of(found) <= cost_of(recorded)


def test_more_waiting_for_fewer_switches():
    # On one CPU A and B take turns, each 1 long and ready at once. Without a limit: one switch.
    arrivals = turns()
    recorded = arrivals
    assert cost_of(recorded) == 7
    found = improve(recorded, WaitingLimit(total=28), steps=5_000)
    assert cost_of(found) == 1
    # Nobody later: the last one must not wait any longer, and so does each before it.
    found = improve(recorded, WaitingLimit(each=0), steps=5_000)
    assert cost_of(found) == 7


def test_few_changes_are_tried_too():
    arrivals = turns()
    assert cost_of(improve(arrivals, WaitingLimit(total=28), steps=99)) < cost_of(arrivals)


def test_refuses_a_schedule_beyond_the_limit():
    arrivals = turns()
    late = arrivals.moved(arrivals.cpu, arrivals.start + 1)
    with pytest.raises(ValueError, match="not within the limit"):
        improve(late, WaitingLimit(each=0), steps=1)


def turns():
    """Return arrivals of eight dispatches of two fragments on one CPU, all ready at 0."""
    numbers = np.arange(8)
    return table(start=numbers, fragment=numbers % 2, length=1, ready_from=0, ready_by=0, entry=1)
