"""All searches together: nearly all schedules of few dispatches cost the least."""

from random import Random

import pytest

from dfopt.compare.attainable.check import WaitingLimit, check_schedule, checked_cost
from dfopt.compare.attainable.frontier_of import limits_of
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.errors import DfoptError
from tests.compare.attainable.drawn import random_arrivals, random_case
from tests.compare.attainable.enumeration import cheapest_schedule


@pytest.mark.slow
def test_nearly_all_schedules_of_few_dispatches_cost_the_least() -> None:
    cases, optimal = 200, 0
    for seed in range(cases):
        arrivals, limit = random_case(seed, most=6, budgets=seed % 4 == 0)
        schedule = schedule_within(arrivals, limit)
        assert check_schedule(schedule, limit) == []
        found = cheapest_schedule(arrivals, limit)
        assert found is not None
        cost = checked_cost(schedule)
        assert cost >= found[0]
        optimal += cost == found[0]
    assert optimal >= 0.98 * cases


def test_a_larger_limit_costs_no_more_if_the_schedule_of_the_smaller_one_is_known() -> None:
    for seed in range(10):
        arrivals, _ = random_case(seed, most=12)
        before = None
        for wait in (0, 3, 10):
            known = [] if before is None else [before]
            schedule = schedule_within(arrivals, WaitingLimit(each=wait), known=known, effort=0.1)
            if before is not None:
                assert checked_cost(schedule) <= checked_cost(before)
            before = schedule


def test_a_limit_that_no_known_schedule_keeps() -> None:
    arrivals, _ = random_case(3, most=6)
    with pytest.raises(DfoptError, match="no schedule was found"):
        schedule_within(arrivals, WaitingLimit(total=-1))


def test_what_keeps_the_recorded_waiting_costs_at_least_the_least() -> None:
    for seed in range(40):
        arrivals = random_arrivals(Random(seed))
        (limit,) = limits_of(arrivals, ())[1:]
        known = [run_patiently(arrivals, 3)]
        found = schedule_within(arrivals, limit, known=known, effort=0.1)
        assert check_schedule(found, limit) == []
        optimum, _ = cheapest_schedule(arrivals, limit)
        assert optimum <= checked_cost(found)
        for schedule in (arrivals, *known):
            if not check_schedule(schedule, limit):
                assert checked_cost(found) <= checked_cost(schedule)


def test_more_waiting_costs_less() -> None:
    arrivals = random_arrivals(Random(8), most=150, most_cpus=2, costs="counting")
    recorded = arrivals
    total = int(recorded.waits.sum())
    costs = [
        checked_cost(schedule_within(arrivals, WaitingLimit(total=most), effort=0.3))
        for most in (total, 10 * total)
    ]
    assert costs[1] <= costs[0] < checked_cost(recorded)


def test_the_same_arguments_give_the_same_schedule() -> None:
    arrivals, limit = random_case(5, most=12)
    first, second = (schedule_within(arrivals, limit) for _ in range(2))
    assert (first.cpu == second.cpu).all()
    assert (first.start == second.start).all()
    assert checked_cost(first) <= checked_cost(arrivals)
