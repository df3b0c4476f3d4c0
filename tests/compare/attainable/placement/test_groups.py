"""Improvement in groups of CPUs."""

from dataclasses import replace
from random import Random

import pytest

from dfopt.compare.attainable.check import check_schedule
from dfopt.compare.attainable.placement.groups import improve_in_groups
from dfopt.compare.attainable.placement.timeline import timeline_of, with_cpus
from dfopt.compare.attainable.timed_schedule import cost_of, recorded_schedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from tests.compare.attainable.drawn import random_arrivals


@pytest.mark.parametrize("costs", ["counting", "g", "f", "matrix"])
def test_groups_lower_the_cost_and_keep_the_blocks(costs: str) -> None:
    random = Random(1)
    saved = 0
    for _ in range(10):
        arrivals = random_arrivals(random, most=80, most_cpus=6, costs=costs)
        recorded = recorded_schedule(arrivals)
        items = timeline_of(arrivals, recorded)
        assert items.cost() == cost_of(arrivals, recorded)
        better = improve_in_groups(items, bound=0, most_steps=10_000, check=lambda: None)
        schedule = with_cpus(arrivals, recorded, items, better.given)
        assert check_schedule(arrivals, schedule, WaitingLimit()) == []
        assert better.cost() == cost_of(arrivals, schedule)
        assert better.cost() <= items.cost()
        saved += items.cost() - better.cost()
    assert saved > 0


def test_no_group_is_searched_where_the_bound_is_met() -> None:
    arrivals = random_arrivals(Random(2), most=80, most_cpus=6)
    items = timeline_of(arrivals, recorded_schedule(arrivals))

    def fail() -> None:
        pytest.fail("searched")

    same = improve_in_groups(items, bound=items.cost(), most_steps=10_000, check=fail)
    assert (same.given == items.given).all()
    assert replace(same, given=items.given).cost() == items.cost()
