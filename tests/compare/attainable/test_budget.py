"""Schedules within a budget of waiting: by hand, valid always, none below the optimum."""

import math
from random import Random

import numpy as np
import pytest

from dfopt.compare.attainable.budget import improve_within_budget, recorded_budget
from dfopt.compare.attainable.check import check_schedule
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.timed_schedule import cost_of, recorded_schedule, waits_of
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from tests.compare.attainable.drawn import random_arrivals
from tests.compare.attainable.enumeration import cheapest_schedule

SEEDS = range(40)


def test_the_recorded_schedule_keeps_its_budget_and_no_less():
    arrivals = random_arrivals(Random(5), most=300)
    recorded = recorded_schedule(arrivals)
    limit = recorded_budget(arrivals)
    waits = np.sort(waits_of(arrivals, recorded))
    assert limit.total == waits.sum()
    assert limit.long == waits[math.ceil(0.99 * len(waits)) - 1]
    assert check_schedule(arrivals, recorded, limit) == []
    assert check_schedule(arrivals, recorded, recorded_budget(arrivals, share=0.9)) != []


@pytest.mark.parametrize("seed", SEEDS)
def test_recorded_budget(seed):
    arrivals = random_arrivals(Random(seed))
    limit = recorded_budget(arrivals)
    patient = run_patiently(arrivals, 3)
    found = improve_within_budget(arrivals, limit, [patient], steps=1_000)
    assert found is not None
    assert check_schedule(arrivals, found, limit) == []
    optimum, _ = cheapest_schedule(arrivals, limit)
    assert optimum <= cost_of(arrivals, found) <= cost_of(arrivals, recorded_schedule(arrivals))


def test_smaller_budgets():
    # Neither the recorded nor the patient schedule need be within these.
    found = unknown = 0
    for seed in SEEDS:
        arrivals = random_arrivals(Random(seed))
        limit = recorded_budget(arrivals, share=0.5)
        optimum = cheapest_schedule(arrivals, limit)
        schedule = improve_within_budget(arrivals, limit, [run_patiently(arrivals, 0)], steps=1_000)
        if schedule is None:
            unknown += optimum is not None
            continue
        assert check_schedule(arrivals, schedule, limit) == []
        assert optimum is not None
        assert cost_of(arrivals, schedule) >= optimum[0]
        found += 1
    assert found > 3 * unknown


def test_costs_less_with_more_waiting():
    arrivals = random_arrivals(Random(8), most=150, most_cpus=2, costs="counting")
    recorded = int(waits_of(arrivals, recorded_schedule(arrivals)).sum())
    costs = []
    for total in (recorded, 10 * recorded):
        found = improve_within_budget(arrivals, WaitingLimit(total=total), steps=20_000)
        assert found is not None
        costs.append(cost_of(arrivals, found))
    assert costs[1] < costs[0] < cost_of(arrivals, recorded_schedule(arrivals))
