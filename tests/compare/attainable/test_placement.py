"""The best CPUs for dispatches that keep their starts."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable import placement as module
from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.placement import best_placement, least_recently_used
from dfopt.compare.dispatches import Cuts, Dispatches, movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.errors import DfoptError
from tests.compare.attainable.drawn import drawn_arrivals, random_arrivals
from tests.compare.attainable.every_placement import cheapest_placement
from tests.compare.attainable.hackbench import hackbench
from tests.compare.attainable.tables import dearer, fixed

NO_LIMIT = WaitingLimit()


@given(drawn_arrivals(most=6))
def test_placements_of_tiny_recordings_are_proven_best(arrivals: Dispatches) -> None:
    placement = best_placement(arrivals)
    assert check_schedule(placement.schedule, NO_LIMIT) == []
    assert placement.schedule.start is arrivals.start
    best = cheapest_placement(arrivals)
    assert placement.bound == best == cost_of(placement.schedule)


@given(drawn_arrivals(most=6), st.data())
def test_cuts_may_lie_anywhere(arrivals: Dispatches, data: st.DataObject) -> None:
    ends = arrivals.start + arrivals.length
    cut = st.tuples(st.integers(0, arrivals.cpus - 1), st.integers(0, int(ends.max())))
    cpu, time = np.array(sorted(data.draw(st.lists(cut, min_size=1, max_size=3)))).T
    by_time = np.argsort(time, kind="stable")
    drawn = Cuts(cpu=cpu[by_time].astype(np.int32), time=time[by_time])
    cuts = replace(arrivals, cuts=drawn)
    placement = best_placement(cuts)
    assert placement.bound == cheapest_placement(cuts) == cost_of(placement.schedule)


@given(drawn_arrivals(most=6), st.integers(1, 2))
def test_bounds_of_narrow_searches_hold(arrivals: Dispatches, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WIDTH", width)
        patch.setattr(module, "MOST_KEPT", 0)
        placement = best_placement(arrivals)
    assert check_schedule(placement.schedule, NO_LIMIT) == []
    assert placement.bound is not None
    cost = cost_of(placement.schedule)
    recorded = cost_of(arrivals)
    assert placement.bound <= cheapest_placement(arrivals) <= cost <= recorded


@given(drawn_arrivals(blocks=False), st.randoms(use_true_random=False))
def test_names_change_nothing(arrivals: Dispatches, random: Random) -> None:
    names = list(range(arrivals.cpus))
    random.shuffle(names)
    fragments = list(range(int(arrivals.fragment.max()) + 1))
    if not arrivals.matrix.size:
        random.shuffle(fragments)
    renamed = replace(
        arrivals,
        cpu=np.array(names, np.int32)[arrivals.cpu],
        fragment=np.array(fragments, np.int32)[arrivals.fragment],
    )
    assert best_placement(renamed).bound == best_placement(arrivals).bound


@given(drawn_arrivals(), st.integers(2, 10**9))
def test_costs_scale(arrivals: Dispatches, factor: int) -> None:
    larger = dearer(arrivals, factor)
    assert best_placement(larger).bound == factor * best_placement(arrivals).bound


def test_a_schedule_through_a_block_is_refused() -> None:
    arrivals = random_arrivals(Random(1), blocks=False)
    block = (int(arrivals.cpu[0]), int(arrivals.start[0]), int(arrivals.end[0]), False)
    with pytest.raises(DfoptError, match="keeps its place"):
        best_placement(replace(arrivals, around=fixed([block])))


@settings(max_examples=30)
@given(drawn_arrivals(most=5, most_cpus=5))
def test_bounds_hold_where_many_cpus_are_placed_in_groups(arrivals: Dispatches) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WIDTH", 1)
        patch.setattr(module, "MOST_KEPT", 0)
        patch.setattr(module, "GROUPS", (2, 3))
        patch.setattr(module, "FAILURES", 20)
        placement = best_placement(arrivals)
    assert check_schedule(placement.schedule, NO_LIMIT) == []
    assert placement.bound is not None
    best = cheapest_placement(arrivals)
    assert placement.bound <= best <= cost_of(placement.schedule)


@given(drawn_arrivals(most=40, most_cpus=6, blocks=False))
def test_where_no_cpu_differs_from_another_the_best_placement_is_proven(
    arrivals: Dispatches,
) -> None:
    placement = best_placement(arrivals)
    assert check_schedule(placement.schedule, NO_LIMIT) == []
    assert placement.bound == cost_of(placement.schedule)
    assert placement.bound <= cost_of(least_recently_used(arrivals))


def test_of_too_many_dispatches_the_cheaper_of_two_placements_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_FOR_A_FLOW", 0)
    arrivals = random_arrivals(Random(5), most=80, most_cpus=6)
    placement = best_placement(arrivals)
    both = arrivals, least_recently_used(arrivals)
    assert placement.bound is None
    cheaper = min(cost_of(schedule) for schedule in both)
    assert cost_of(placement.schedule) == cheaper


@pytest.mark.parametrize(
    ("groups", "recorded", "best", "without_blocks"), [(4, 191, 186, 174), (16, 1914, 1908, 1875)]
)
def test_recordings_of_hackbench(
    groups: int, recorded: int, best: int, without_blocks: int
) -> None:
    """The last figures were found by another program, too."""
    arrivals = movable_dispatches(hackbench(groups), CostModel())
    assert cost_of(arrivals) == recorded
    placement = best_placement(arrivals)
    assert check_schedule(placement.schedule, NO_LIMIT) == []
    assert placement.bound == best == cost_of(placement.schedule)
    assert best <= cost_of(least_recently_used(arrivals)) <= recorded
    assert best_placement(replace(arrivals, around=None)).bound == without_blocks
