"""The greedy rule against the flow, on timelines that are too long to enumerate."""

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare.attainable.placement.farthest_use import costs_are_equal, place_by_farthest_use
from dfopt.compare.attainable.placement.relaxation import relaxation
from dfopt.compare.attainable.placement.timeline import timeline_of, with_cpus
from dfopt.compare.attainable.same_timeline import best_placement
from dfopt.compare.attainable.timed_schedule import cost_of, recorded_schedule
from tests.compare.attainable.drawn import random_arrivals


@given(st.integers(0, 2**32))
def test_the_greedy_rule_costs_what_the_flow_costs(seed: int) -> None:
    arrivals = random_arrivals(Random(seed), most=60, most_cpus=5, costs="counting", blocks=False)
    items = timeline_of(arrivals, recorded_schedule(arrivals))
    # A final write-back costs nothing here, as nothing is dirty.
    assert costs_are_equal(items)
    schedule = with_cpus(arrivals, recorded_schedule(arrivals), items, place_by_farthest_use(items))
    relaxed = relaxation(items, lambda: None)
    assert cost_of(arrivals, schedule) == relaxed.bound
    by_flow = with_cpus(arrivals, recorded_schedule(arrivals), items, relaxed.cpus(items.cpus))
    assert cost_of(arrivals, by_flow) == relaxed.bound


def test_the_rule_is_not_used_where_a_fresh_cpu_is_cheaper_than_a_hold() -> None:
    arrivals = random_arrivals(Random(1), most_cpus=2, costs="counting", blocks=False)
    always = np.ones(len(arrivals), np.int64)
    nothing = np.zeros(len(arrivals), np.int64)
    costs = replace(arrivals.costs, always=always, last=nothing)
    # Whatever follows another dispatch pays for it, the first of a CPU does not.
    expensive = replace(arrivals, cpus=len(arrivals), costs=costs)
    assert not costs_are_equal(timeline_of(expensive, recorded_schedule(expensive)))
    assert best_placement(expensive).bound == 0
